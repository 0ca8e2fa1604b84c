"""The evidence store: documents as content-addressed blobs outside any workflow's history.

The key of a blob is the SHA-256 of its bytes, so writing twice is harmless, a retry stores nothing new and
what is read can be checked against its own name. A local folder by default; any address that `obstore`
knows (`s3://`, `gs://`, `az://`) by configuration. Small blobs are remembered by the process: the sections
of a run find and judge the same works, and a blob is never out of date.
"""

import asyncio
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import ObjectStore, from_url

from activities.contracts.errors import DamagedEvidence, DiskFull, NoSuchKey, StoreError
from activities.contracts.evidence import Evidence, EvidenceRef, Work, fields_of
from activities.credentials import without_credentials
from activities.proxies import spare_this_machine

TITLE_CHARS = 300
MAX_REMEMBERED = 512
"""Blobs that are remembered, those that were read or written last."""
MAX_REMEMBERED_BYTES = 16 * 2**10
"""Bytes of a blob that is remembered: an abstract or a page, and no article."""
AT_ONCE = 16
"""Documents read at the same time where there may be many."""
NO_SPACE = ("no space left", "quota exceeded", "os error 28", "os error 122")
"""Error texts of a full disk or an exhausted quota."""


_BLOB = re.compile(r"blobs/[0-9a-f]{2}/[0-9a-f]{64}\.[a-z0-9.]{1,16}")


def open_store(url: str) -> ObjectStore:
    """Open the store behind a folder's path or an address.

    Raises StoreError when the address is not understood or the folder cannot be made.
    """
    try:
        if "://" not in url or url.startswith("file://"):
            folder = Path(unquote(url.removeprefix("file://"))).expanduser().absolute()
            folder.mkdir(parents=True, exist_ok=True)
            url = folder.as_uri()
        else:
            spare_this_machine()
        return from_url(url)
    except (OSError, ValueError, BaseError) as error:
        # without the parsed address that obstore prints below it
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        address = without_credentials(url)
        raise StoreError(f"cannot open the evidence store at {address}: {reason}") from error


class EvidenceStore:
    """Content-addressed blobs, and a small keyed area for answers already paid for."""

    def __init__(self, store: ObjectStore, place: str = "here", folder: Path | None = None) -> None:
        """`folder` is that of a store on this machine."""
        self._store = store
        self._place = place
        self._folder = folder
        self._memory: dict[str, bytes] = {}

    @classmethod
    def at(cls, url: str) -> "EvidenceStore":
        folder = None if "://" in url else Path(url).expanduser().absolute()
        return cls(open_store(url), f"at {without_credentials(url)}", folder)

    async def put_bytes(self, data: bytes, suffix: str = "json") -> str:
        """Store bytes under their digest and return the key."""
        digest = hashlib.sha256(data).hexdigest()
        key = f"blobs/{digest[:2]}/{digest}.{suffix}"
        if key in self._memory and self._has(key, len(data)):
            return key
        await self.put_named(key, data)
        self._remember(key, data)
        return key

    def _remember(self, key: str, data: bytes) -> None:
        if len(data) <= MAX_REMEMBERED_BYTES:
            self._memory[key] = data
            if len(self._memory) > MAX_REMEMBERED:
                del self._memory[next(iter(self._memory))]

    def _has(self, key: str, size: int) -> bool:
        """Whether a folder on this machine has a blob of that size; a bucket is not asked."""
        try:
            return self._folder is not None and (self._folder / key).stat().st_size == size
        except OSError:
            return False

    async def get_bytes(self, key: str) -> bytes:
        """Read a blob and check it against its name.

        Raises NoSuchKey, StoreError when it is missing, DamagedEvidence when its content does not match the
        key.
        """
        body = self._memory.get(key)
        if body is not None:
            return body
        if not _BLOB.fullmatch(key):
            raise NoSuchKey(f"{key[:100]!r} is no key of an evidence store")
        data = await self.get_named(key)
        if data is None:
            raise StoreError(
                f"{key} is not in the evidence store {self._place}; workers and commands need the same store "
                "(DETERMINATOR_STORE_URL)"
            )
        digest = key.rsplit("/", 1)[-1].split(".", 1)[0]
        if hashlib.sha256(data).hexdigest() != digest:
            raise DamagedEvidence(
                f"{key} in the evidence store is damaged: its text is not the one that was stored"
            )
        self._remember(key, data)
        return data

    async def blob_keys(self) -> list[str]:
        """Return the keys of all blobs, in no order. Raises StoreError."""
        keys: list[str] = []
        try:
            async for page in obstore.list(self._store, prefix="blobs", chunk_size=1000):
                keys += [str(item["path"]) for item in page]
        except BaseError as error:
            raise StoreError(f"cannot list the evidence store {self._place}: {error}") from error
        return keys

    async def put(self, evidence: Evidence) -> EvidenceRef:
        blob = await self.put_bytes(evidence.model_dump_json().encode())
        return make_ref(evidence, blob)

    async def get(self, ref: EvidenceRef | str) -> Evidence:
        """Read a document back by its reference or key.

        A reference has more than the body it points to: the first id of the work, the names from all its
        records, and its worst standing. These replace the body's.
        """
        if isinstance(ref, str):
            return Evidence.model_validate_json(await self.get_bytes(ref))
        return Evidence.model_validate_json(await self.get_bytes(ref.blob)).replace(
            evidence_id=ref.evidence_id,
            identifiers=ref.identifiers,
            standing=ref.standing,
            evidence_type=ref.evidence_type,
        )

    async def get_many(self, refs: Sequence[EvidenceRef]) -> list[Evidence]:
        return list(await asyncio.gather(*map(self.get, refs)))

    async def read_all(self, refs: Sequence[EvidenceRef]) -> list[Evidence | StoreError | ValueError]:
        """Read documents, a few at once, in the order of the references: each, or why it cannot be read."""
        results: list[Evidence | StoreError | ValueError] = []
        for start in range(0, len(refs), AT_ONCE):
            part = map(self.get, refs[start : start + AT_ONCE])
            for answer in await asyncio.gather(*part, return_exceptions=True):
                if not isinstance(answer, Evidence | StoreError | ValueError):
                    raise answer
                results.append(answer)
        return results

    def _not_written(self, name: str, error: Exception) -> StoreError:
        if any(mark in str(error).lower() for mark in NO_SPACE):
            return DiskFull(f"there is no space left for the evidence store {self._place}; free some")
        return StoreError(f"cannot write {name} to the evidence store: {error}")

    async def put_named(self, name: str, data: bytes) -> None:
        """Store under a chosen name (`answers/...`, `reports/...`); the last writer wins."""
        try:
            await obstore.put_async(self._store, name, data)
        except BaseError as error:
            raise self._not_written(name, error) from error

    def put_named_now(self, name: str, data: bytes) -> bool:
        """Return the same before it returns, in a store on this machine, where it takes a millisecond.

        False for another one. Raises StoreError.
        """
        if self._folder is None:
            return False
        try:
            obstore.put(self._store, name, data)
        except BaseError as error:
            raise self._not_written(name, error) from error
        return True

    async def create_named(self, name: str, data: bytes) -> bool:
        """Store under a chosen name that nothing is stored under yet; False when something is.

        Of several writers at the same moment one succeeds.
        """
        try:
            await obstore.put_async(self._store, name, data, mode="create")
        except AlreadyExistsError:
            return False
        except BaseError as error:
            raise self._not_written(name, error) from error
        return True

    async def get_named(self, name: str) -> bytes | None:
        """Read by name; None when there is nothing under it."""
        try:
            answer = await obstore.get_async(self._store, name)
            return bytes(await answer.bytes_async())
        except (FileNotFoundError, NotFoundError):
            return None
        except BaseError as error:
            raise StoreError(f"cannot read {name} from the evidence store: {error}") from error


def make_ref(evidence: Evidence, blob: str) -> EvidenceRef:
    from activities.contracts.identifiers import figures, fingerprint, first_author

    return EvidenceRef(
        **fields_of(Work, evidence) | {"title": evidence.title[:TITLE_CHARS]},
        blob=blob,
        chars=len(evidence.text),
        fingerprint=fingerprint(evidence.title, evidence.year),
        first_author=first_author(evidence.authors),
        figures=figures(evidence.text),
        queries=tuple(f"{p.source}: {p.query}"[:200] for p in evidence.provenance[:8]),
    )
