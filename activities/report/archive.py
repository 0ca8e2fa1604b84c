"""Finished runs in the evidence store: reports by run id, the input of their publishing, later versions.

The store keeps a run longer than the server does (90 days) and can be read without a server.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence

import obstore
from obstore.exceptions import BaseError

from activities.contracts.errors import StoreError
from activities.contracts.evidence import (
    EvidenceRef,
    Frozen,
    SearchRecord,
    Standing,
    StandingNotice,
    Work,
)
from activities.contracts.publish import PublishInput
from activities.contracts.revise import Instruction
from activities.evidence_store import EvidenceStore, open_store
from activities.report.schema import Report

_REPORT = re.compile(r"reports/([^/]+)/report\.json")
MAX_NAME_BYTES = 220
"""Of one part of a path; file systems allow 255."""


def report_name(run_id: str, ending: str) -> str:
    """Name a run's report in the store; the same run overwrites its own."""
    name = re.sub(r"[^\w-]|(?<=/)\.+", "-", run_id.replace("/", "--")) or "run"
    if len(name.encode()) > MAX_NAME_BYTES:
        name = f"{name[:40]}-{hashlib.sha256(run_id.encode()).hexdigest()[:32]}"
    return f"reports/{name}/report.{ending}"


class TouchedClaim(Frozen):
    """A claim that cites a work whose standing has changed."""

    id: str
    text: str
    stands: bool
    """Whether it is still in the new version: it has other support, or the change lets it stand."""


class Change(Frozen):
    """A reference whose standing is not what it was."""

    evidence_id: str
    number: int
    """In the version before."""
    title: str
    before: Standing
    after: Standing
    notices: tuple[StandingNotice, ...] = ()
    """What was reported now."""
    claims: tuple[TouchedClaim, ...] = ()
    """The claims that cite it, in the report's order."""


class NewWork(Work):
    """A work that a repeated search found and the run had not."""

    queries: tuple[str, ...] = ()
    """`source: query` of the searches that found it."""


class Version(Frozen):
    """A later version of a report; the first is what the run published."""

    number: int
    made_at: str
    """ISO time."""
    of: str
    """`generated_at` of the first version: one run id may have been researched more than once."""
    blob: str = ""
    changes: tuple[Change, ...] = ()
    claims_lost: tuple[str, ...] = ()
    """Ids of claims that no longer stand."""
    new: tuple[NewWork, ...] = ()
    """Works that the searches of the report found when they were repeated."""
    searches: tuple[SearchRecord, ...] = ()
    asked: Instruction | None = None
    """What a person asked for; None for a refresh."""
    claims_changed: tuple[str, ...] = ()
    """Ids of sentences that are new or read otherwise."""
    calls: int = 0
    """Calls of a model, for what was asked."""


class Archive:
    """The store, read by names; raises StoreError when it cannot be opened or read."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._raw = open_store(url)
        self.store = EvidenceStore(self._raw)

    async def names(self) -> list[str]:
        """List the runs whose report is here, the one written last first."""
        pairs: list[tuple[str, object]] = []
        try:
            async for page in obstore.list(self._raw, prefix="reports"):
                rows = ((_REPORT.fullmatch(str(meta["path"])), meta["last_modified"]) for meta in page)
                pairs += [(match[1], time) for match, time in rows if match]
        except (OSError, BaseError) as error:
            raise StoreError(f"cannot list the reports in the evidence store: {error}") from error
        return [name for name, _ in sorted(pairs, key=lambda pair: str(pair[1]), reverse=True)]

    async def report(self, run_id: str) -> Report | None:
        """Read the report that a run published last, be it a draft; None when there is none."""
        data = await self.store.get_named(report_name(run_id, "json"))
        return None if data is None else Report.model_validate_json(data)

    async def versions(self, first: Report) -> tuple[Version, ...]:
        """Read the records of the later versions of a report, the oldest first."""
        versions: list[Version] = []
        while data := await self.store.get_named(_version_name(first, len(versions) + 2)):
            versions.append(Version.model_validate_json(data))
        return tuple(versions)

    async def version(self, version: Version) -> Report:
        return Report.model_validate_json(await self.store.get_bytes(version.blob))

    async def add_version(self, first: Report, report: Report, version: Version) -> bool:
        """Keep a later version under its number; return False when a faster refresh has used that number."""
        blob = await self.store.put_bytes(report.model_dump_json(indent=2).encode(), "json")
        record = version.replace(blob=blob)
        return await self.store.create_named(
            _version_name(first, version.number), record.model_dump_json(indent=2).encode()
        )

    async def inputs_of(self, report: Report) -> PublishInput:
        """Read what a version of a report was published from. Raises StoreError."""
        if not report.made_from:
            raise StoreError(f"the report of {report.run_id} does not say what it was published from")
        try:
            return PublishInput.model_validate_json(await self.store.get_bytes(report.made_from))
        except ValueError as error:
            message = f"what the report of {report.run_id} was published from cannot be read"
            raise StoreError(message) from error


async def load_latest(archive: Archive, first: Report) -> tuple[Report, tuple[Version, ...]]:
    """Read the latest version of a report, and the records of all later ones."""
    versions = await archive.versions(first)
    return (await archive.version(versions[-1]) if versions else first), versions


async def refs_in(store: EvidenceStore, blob: str) -> Sequence[EvidenceRef]:
    """Read the references in a blob, one a line; none without a blob."""
    if not blob:
        return ()
    lines = (await store.get_bytes(blob)).decode().splitlines()
    try:
        return [EvidenceRef.model_validate_json(line) for line in lines]
    except ValueError as error:
        raise StoreError(f"{blob} in the evidence store is no list of references") from error


def standings(report: Report, versions: Sequence[Version]) -> Mapping[str, Standing]:
    """Return the standing of works, by evidence id, as far as a report and its later versions know it."""
    changes: dict[str, Standing] = {c.evidence_id: c.after for v in versions for c in v.changes}
    return changes | {reference.evidence_id: reference.standing for reference in report.references}


def _version_name(first: Report, number: int) -> str:
    """Name a version, which is written once; one run id may have been researched more than once."""
    folder = report_name(first.run_id, "json").removesuffix("report.json")
    origin = hashlib.sha256(first.generated_at.encode()).hexdigest()[:12]
    return f"{folder}versions/{origin}/{number}.json"
