"""Later versions of a report: what it was published from is published again, with the standing that its works
have by now.

Invariants:

- A report is never unmade: what publishing was given is kept (`Report.made_from`) and published again.
- Refreshes at the same moment lose nothing. Each version is written under an unused number; the second writer
  reads the version of the first and adds only what that does not contain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from activities.contracts.errors import StoreError
from activities.contracts.evidence import EvidenceRef, SearchRecord, Standing, StandingNotice, Statement
from activities.contracts.publish import PublishInput
from activities.credentials import without_credentials
from activities.publish_activity import assembled
from activities.report.archive import Archive, Change, NewWork, TouchedClaim, Version, newest, standings
from activities.report.formats.references import STANDING_SENTENCES
from activities.report.formats.statements import sentences
from activities.report.formats.text import clean
from activities.report.schema import Report
from activities.retractions.rules import worst
from activities.sources.standing_lookup import StandingVerdict

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
    verdicts: Mapping[str, StandingVerdict],
    *,
    at: str,
    new: Sequence[NewWork] = (),
    searches: Sequence[SearchRecord] = (),
) -> Refreshed:
    """Keep what is not known yet as a new version, made at `at` (ISO time).

    `first` is the report as the run published it, `new` are works that its searches found and the run had
    not. Raises StoreError, also when something that the new version is made from is missing.
    """
    for _ in range(MAX_ATTEMPTS):
        report, versions = await newest(archive, first)
        changed = changes(report, verdicts)
        known = {work.evidence_id for version in versions for work in version.new}
        fresh = tuple(work for work in new if work.evidence_id not in known)
        if not changed and not fresh:
            return Refreshed((), (), None, report, len(versions) + 1)
        number = len(versions) + 2
        known_standings = standings(report, versions)
        later = await renewed(
            archive, report, known_standings, verdicts, changed, at=at, number=number, new=fresh
        )
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


async def renewed(
    archive: Archive,
    report: Report,
    known: Mapping[str, Standing],
    verdicts: Mapping[str, StandingVerdict],
    changed: Sequence[Change],
    *,
    at: str,
    number: int,
    new: Sequence[NewWork] = (),
) -> Report:
    """The report as version `number`, made at `at` (ISO time), from what it was published from. `known`: the
    standing of works as far as earlier versions know it. Raises StoreError where something is missing."""
    try:
        step = PublishInput.model_validate_json(await archive.store.get_bytes(report.made_from))
        later = await published_again(archive, step, known, verdicts, at=at)
    except (StoreError, ValueError) as error:
        raise StoreError(
            f"a new version cannot be written from the evidence store {without_credentials(archive.url)}: "
            f"{error}; changed: " + "; ".join(f"[{c.number}] {c.before} -> {c.after}" for c in changed)
        ) from error
    left = {claim.id for claim in later.claims()}
    gone = sum(claim.id not in left for claim in report.claims())
    statements = (_opening(report, changed, gone, new, at, number), *later.statements)
    return later.replace(statements=statements, limitations=sentences(statements), made_from=report.made_from)


async def published_again(
    archive: Archive,
    step: PublishInput,
    known: Mapping[str, Standing],
    verdicts: Mapping[str, StandingVerdict],
    *,
    at: str,
) -> Report:
    """The report of what publishing is given, at `at` (ISO time), with the standing that is `known` by now
    and what authorities say now. Raises StoreError."""
    refs = tuple(ref.replace(standing=known.get(ref.evidence_id, ref.standing)) for ref in step.evidence)

    async def known_now(_refs: Sequence[EvidenceRef]) -> Mapping[str, StandingVerdict]:
        return verdicts

    step = step.replace(evidence=refs, generated_at=at)
    return await assembled(archive.store, step, known_now, patient=True)


def changes(report: Report, verdicts: Mapping[str, StandingVerdict]) -> tuple[Change, ...]:
    """The references whose standing is no longer what the report says, in its order."""
    found = []
    for reference in report.references:
        verdict = verdicts.get(reference.evidence_id)
        after = _after(reference.standing, verdict) if verdict else reference.standing
        if verdict and after != reference.standing:
            found.append(
                Change(
                    evidence_id=reference.evidence_id,
                    number=reference.number,
                    title=reference.title,
                    before=reference.standing,
                    after=after,
                    notices=verdict.notices,
                )
            )
    return tuple(found)


def with_claims(changed: Sequence[Change], before: Report, later: Report) -> tuple[Change, ...]:
    """The changes with the claims that cite each work, and whether each is still in the later version."""
    left = {claim.id for claim in later.claims()}
    return tuple(
        change.replace(
            claims=tuple(
                TouchedClaim(id=claim.id, text=claim.text, stands=claim.id in left)
                for claim in before.claims()
                if any(support.evidence_id == change.evidence_id for support in claim.support)
            )
        )
        for change in changed
    )


def notice_line(notice: StandingNotice) -> str:
    """A notice in words: `retraction 2026-03-01, doi:10.1/x, reported by crossref`."""
    parts = [f"{notice.kind} {notice.date}" if notice.date else notice.kind]
    parts += [f"{kind}:{value}" for kind, value in (("doi", notice.doi), ("pmid", notice.pmid)) if value]
    return clean(", ".join([*parts, *([f"reported by {notice.reported_by}"] if notice.reported_by else [])]))


def _after(before: Standing, verdict: StandingVerdict) -> Standing:
    """An unknown standing changes nothing, and only a reinstatement improves a standing."""
    if verdict.standing == "unknown":
        return before
    if any(notice.kind == "reinstatement" for notice in verdict.notices):
        return verdict.standing
    return worst(before, verdict.standing)


def _opening(
    report: Report,
    changed: Sequence[Change],
    gone: int,
    new: Sequence[NewWork],
    at: str,
    number: int,
) -> Statement:
    """The opening notice of the new version."""
    works = tuple(
        f'[{c.number}] "{clean(c.title)}" is {STANDING_SENTENCES[c.after]}'
        + (f" ({notice_line(c.notices[-1])})" if c.notices and c.after not in ("none", "unknown") else "")
        for c in changed
    )
    return Statement.of(
        "new_version",
        version=number,
        at=at,
        first_at=report.generated_at,
        changes=works,
        claims_lost=gone,
        new_works=tuple(clean(work.title) for work in new),
    )
