"""Store the result of a refresh as a new version of the report beside the existing ones.

Invariant: refreshes at the same moment lose nothing. Each version is written under an unused number; the
second writer reads the version of the first and adds only what that does not contain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from activities.credentials import without_credentials
from activities.errors import StoreError
from activities.report.archive import Archive, Change, NewWork, Version, newest
from activities.report.revise import changes, restate, with_claims
from activities.report.schema import Report
from activities.retractions.lookup import StandingVerdict
from activities.types import Evidence, SearchRecord

MAX_ATTEMPTS = 100
"""Concurrent refreshes of one report that can each write a version; more are an error."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh found that the latest version did not contain."""

    changes: tuple[Change, ...]
    new: tuple[NewWork, ...]
    version: Version | None
    """The new version; None when nothing had changed."""
    report: Report
    """That version, or the latest one."""
    latest: int
    """The number of the latest version."""


async def keep(
    archive: Archive,
    first: Report,
    documents: Mapping[str, Evidence],
    verdicts: Mapping[str, StandingVerdict],
    *,
    at: str,
    new: Sequence[NewWork] = (),
    searches: Sequence[SearchRecord] = (),
) -> Refreshed:
    """Keep what is not known yet as a new version, made at `at` (ISO time).

    `first` is the report as the run published it, `documents` are the items it cites by id, `new` are works
    that its searches found and the run had not. Raises StoreError, also when a text that the new version is
    made from is missing.
    """
    for _ in range(MAX_ATTEMPTS):
        report, versions = await newest(archive, first)
        changed = changes(report, verdicts)
        known = {work.evidence_id for version in versions for work in version.new}
        fresh = tuple(work for work in new if work.evidence_id not in known)
        if not changed and not fresh:
            return Refreshed((), (), None, report, len(versions) + 1)
        if lost := [r.evidence_id for r in report.references if r.evidence_id not in documents]:
            raise StoreError(
                f"a new version cannot be written, since the stored text of {', '.join(lost)} is not in the "
                f"evidence store {without_credentials(archive.url)}; changed: "
                + "; ".join(f"[{c.number}] {c.before} -> {c.after}" for c in changed)
            )
        number = len(versions) + 2
        later = restate(report, documents, changed, at, number, fresh)
        changed = with_claims(changed, report, later)
        left = {claim.id for claim in later.claims()}
        version = Version(
            number=number,
            made_at=at,
            of=first.generated_at,
            changes=changed,
            claims_lost=tuple(claim.id for claim in report.claims() if claim.id not in left),
            new=fresh,
            searches=tuple(searches),
        )
        if await archive.add_version(first, later, version):
            return Refreshed(changed, fresh, version, later, number)
    raise StoreError(f"{MAX_ATTEMPTS} versions of the report of {first.run_id} were written meanwhile")
