"""Finished runs in the evidence store: reports by run id, cited items by their names, later versions.

The store keeps a run longer than the server does (90 days) and can be read without a server. Without the
run's own index a cited item is found by reading the store's blobs; what is not cited cannot be found that
way.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence

import obstore
import structlog
from obstore.exceptions import BaseError

from activities.contracts.errors import DamagedEvidence, StoreError
from activities.contracts.evidence import (
    Evidence,
    EvidenceRef,
    EvidenceType,
    Frozen,
    Identifiers,
    SearchRecord,
    Standing,
    StandingNotice,
)
from activities.contracts.revise import Instruction
from activities.evidence_store import EvidenceStore, make_ref, open_store
from activities.report.schema import Reference, Report
from activities.report.stored import report_name
from activities.text.normal_form import verbatim

log = structlog.get_logger()

MAX_BLOBS = 50_000
"""Largest number of blobs read in search of cited items."""
AT_ONCE = 16
"""Blobs read at the same time."""


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


class NewWork(Frozen):
    """A work that a repeated search found and the run had not."""

    evidence_id: str
    title: str
    source: str
    year: int | None = None
    url: str | None = None
    evidence_type: EvidenceType = "article"
    standing: Standing = "unknown"
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
    """The repeated searches."""
    asked: Instruction | None = None
    """What a person asked for; None for a refresh."""
    claims_changed: tuple[str, ...] = ()
    """Ids of sentences that are new or read otherwise."""
    calls: int = 0
    """Of a model, for what was asked."""


class Archive:
    """The store, read by names. Raises StoreError when it cannot be opened or read."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._raw = open_store(url)
        self.store = EvidenceStore(self._raw)
        self.damaged: list[str] = []
        """Keys of blobs that were read and are not what was stored."""

    async def names(self) -> list[str]:
        """Runs whose report is here, the one written last first."""
        found: list[tuple[str, object]] = []
        try:
            async for page in obstore.list(self._raw, prefix="reports"):
                for meta in page:
                    match = re.fullmatch(r"reports/([^/]+)/report\.json", str(meta["path"]))
                    if match:
                        found.append((match.group(1), meta["last_modified"]))
        except (OSError, BaseError) as error:
            raise StoreError(f"cannot list the reports in the evidence store: {error}") from error
        return [name for name, _ in sorted(found, key=lambda pair: str(pair[1]), reverse=True)]

    async def report(self, run_id: str) -> Report | None:
        """The report that a run published last, be it a draft; None when there is none."""
        data = await self.store.get_named(report_name(run_id, "json"))
        return None if data is None else Report.model_validate_json(data)

    async def versions(self, first: Report) -> tuple[Version, ...]:
        """The later versions of a report, the oldest first."""
        found: list[Version] = []
        while data := await self.store.get_named(_version_name(first, len(found) + 2)):
            found.append(Version.model_validate_json(data))
        return tuple(found)

    async def version(self, version: Version) -> Report:
        """A later version itself."""
        return Report.model_validate_json(await self.store.get_bytes(version.blob))

    async def add_version(self, first: Report, later: Report, version: Version) -> bool:
        """Keep a later version under its number; False when a faster refresh has used that number."""
        blob = await self.store.put_bytes(later.model_dump_json(indent=2).encode(), "json")
        whole = version.replace(blob=blob)
        return await self.store.create_named(
            _version_name(first, version.number), whole.model_dump_json(indent=2).encode()
        )

    async def cited(self, report: Report, wanted: Sequence[Reference]) -> list[tuple[EvidenceRef, Evidence]]:
        """The stored items of references, found by their names; those that are not here are missing.

        Of several records of one work, the one that has most of what is quoted from it is it.
        """
        if not wanted:
            return []
        by_name: dict[str, list[Reference]] = {}
        for reference in wanted:
            for name in _names(reference.evidence_id, reference.identifiers):
                by_name.setdefault(name, []).append(reference)
        quotes: dict[str, list[str]] = {}
        for support in report.cited_quotes():
            quotes.setdefault(support.evidence_id, []).append(support.quote)
        best: dict[str, tuple[int, str, Evidence]] = {}
        async for key, item in self._items():
            meant = {
                reference.evidence_id: reference
                for name in _names(item.evidence_id, item.identifiers)
                for reference in by_name.get(name, ())
                if reference.source == item.source
            }
            for identity in meant:
                holding = sum(verbatim(quote, item.text) for quote in quotes.get(identity, ()))
                if identity not in best or holding > best[identity][0]:
                    best[identity] = (holding, key, item)
        return [
            _as_cited(report, reference, *best[reference.evidence_id][1:])
            for reference in wanted
            if reference.evidence_id in best
        ]

    async def _items(self) -> AsyncIterator[tuple[str, Evidence]]:
        """Every item of the store with its key, read a few at once."""
        keys = await self._blobs()
        for start in range(0, len(keys), AT_ONCE):
            part = keys[start : start + AT_ONCE]
            for key, item in zip(part, await asyncio.gather(*map(self._item, part)), strict=True):
                if item is not None:
                    yield key, item

    async def _blobs(self) -> list[str]:
        keys: list[str] = []
        try:
            async for page in obstore.list(self._raw, prefix="blobs", chunk_size=1000):
                keys += [path for meta in page if (path := str(meta["path"])).endswith(".json")]
                if len(keys) > MAX_BLOBS:
                    raise StoreError(
                        f"the evidence store has more than {MAX_BLOBS:,} blobs, too many to search for what "
                        "the report cites; try again when a worker answers for the run"
                    )
        except (OSError, BaseError) as error:
            raise StoreError(f"cannot list the evidence store: {error}") from error
        return keys

    async def _item(self, key: str) -> Evidence | None:
        """The item behind a key; None for what is no item, or cannot be read."""
        try:
            data = await self.store.get_bytes(key)
            return Evidence.model_validate_json(data) if data.startswith(b'{"evidence_id"') else None
        except DamagedEvidence as error:
            log.warning("evidence_damaged", key=key, error=str(error))
            self.damaged.append(key)
            return None
        except (StoreError, ValueError):
            return None


async def newest(archive: Archive, first: Report) -> tuple[Report, tuple[Version, ...]]:
    """The latest version of a report, and all later ones."""
    versions = await archive.versions(first)
    return (await archive.version(versions[-1]) if versions else first), versions


def standings(report: Report, versions: Sequence[Version]) -> Mapping[str, Standing]:
    """The standing of works as far as a report and its later versions know it, by evidence id."""
    known: dict[str, Standing] = {change.evidence_id: change.after for v in versions for change in v.changes}
    return known | {reference.evidence_id: reference.standing for reference in report.references}


def _as_cited(report: Report, reference: Reference, key: str, item: Evidence) -> tuple[EvidenceRef, Evidence]:
    """An item as the report knows it."""
    sections = tuple(
        section.id
        for section in report.sections
        if any(s.evidence_id == reference.evidence_id for claim in section.claims for s in claim.support)
    )
    item = item.replace(
        evidence_id=reference.evidence_id,
        identifiers=reference.identifiers,
        standing=reference.standing,
        evidence_type=reference.evidence_type,
    )
    return make_ref(item, key).replace(sections=sections), item


def _names(evidence_id: str, identifiers: Identifiers) -> list[str]:
    return [evidence_id, *(f"{kind}:{value}" for kind, value in identifiers.items_in_order())]


def _version_name(first: Report, number: int) -> str:
    """Each version has a name of its own, which is written once. One run id may have been researched more
    than once, so the time of the first version is part of it."""
    folder = report_name(first.run_id, "json").removesuffix("report.json")
    of = hashlib.sha256(first.generated_at.encode()).hexdigest()[:12]
    return f"{folder}versions/{of}/{number}.json"
