"""Later versions of a report: it is published again, changed as a person asked, or with new standings.

Invariants:

- A report is never unmade: what publishing was given is kept (`Report.made_from`) and published again.
- Versions that are made at the same moment lose nothing: the second writer reads the version of the first.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from activities.contracts.errors import StoreError
from activities.contracts.evidence import SearchRecord, Standing, StandingNotice, Statement
from activities.contracts.publish import PublishInput
from activities.credentials import without_credentials
from activities.messages import N_, _, day, in_language
from activities.publish_activity import make_report, read_documents
from activities.report.archive import Archive, Change, NewWork, TouchedClaim, Version, load_latest, standings
from activities.report.formats.references import STANDING_SENTENCES
from activities.report.formats.statements import sentences, source_title
from activities.report.formats.text import clean
from activities.report.schema import Report
from activities.retractions.rules import worst
from activities.sources.standing_lookup import StandingVerdict

MAX_ATTEMPTS = 100
"""Versions of one report made at the same moment; more are an error."""


@dataclass(frozen=True, slots=True)
class Next:
    step: PublishInput
    made_from: str
    """Key of the blob of `step`."""
    describe: Callable[[Report, Version], tuple[Statement, Version]]
    """The notice that opens the version, and the whole record of it, from the version and the record that has
    its number and time."""
    verdicts: Mapping[str, StandingVerdict] | None = None
    """What authorities say now of its works."""


@dataclass(frozen=True, slots=True)
class Addition:
    before: Report
    report: Report
    version: Version | None
    """The record of the new version; None when nothing had changed."""
    latest: int


async def add_version(
    archive: Archive,
    first: Report,
    make: Callable[[Report, tuple[Version, ...]], Awaitable[Next | None]],
    *,
    at: str,
) -> Addition:
    """Publish again what `make` makes of the latest version, and keep it; nothing where it makes nothing.

    `first` is the report as the run published it, `at` an ISO time. Raises StoreError, also when
    something that the version is made from is missing.
    """
    for _attempt in range(MAX_ATTEMPTS):
        former, versions = await load_latest(archive, first)
        plan = await make(former, versions)
        if plan is None:
            return Addition(former, former, None, len(versions) + 1)
        report = await publish_again(archive, plan.step, standings(former, versions), plan.verdicts, at=at)
        number = len(versions) + 2
        with in_language(report.language):
            opening, version = plan.describe(
                report, Version(number=number, made_at=at, of=first.generated_at)
            )
            statements = (opening, *report.statements)
            texts = sentences(statements)
        report = report.replace(statements=statements, limitations=texts, made_from=plan.made_from)
        if await archive.add_version(first, report, version):
            return Addition(former, report, version, number)
    raise StoreError(f"{MAX_ATTEMPTS} versions of the report of {first.run_id} were written meanwhile")


async def publish_again(
    archive: Archive,
    step: PublishInput,
    standing: Mapping[str, Standing],
    verdicts: Mapping[str, StandingVerdict] | None = None,
    *,
    at: str,
) -> Report:
    """Publish the input again at `at` (ISO time), with standings and verdicts of now. Raises StoreError."""
    refs = tuple(ref.replace(standing=standing.get(ref.evidence_id, ref.standing)) for ref in step.evidence)
    step = step.replace(evidence=refs, generated_at=at)
    documents, _notes = await read_documents(archive.store, step, patient=True)
    return await make_report(archive.store, step, documents, verdicts or {}, (), patient=True)


async def refresh(
    archive: Archive,
    first: Report,
    verdicts: Mapping[str, StandingVerdict],
    *,
    at: str,
    new_works: Sequence[NewWork] = (),
    searches: Sequence[SearchRecord] = (),
) -> Addition:
    """Keep what no version says yet as a new one; `new_works` are those that repeated searches found.

    Raises StoreError, see `add_version`.
    """
    updates: tuple[Change, ...] = ()

    async def make(report: Report, versions: tuple[Version, ...]) -> Next | None:
        nonlocal updates
        updates = changes(report, verdicts)
        ids = {work.evidence_id for version in versions for work in version.new}
        fresh = tuple(work for work in new_works if work.evidence_id not in ids)
        if not updates and not fresh:
            return None

        def describe(new_report: Report, version: Version) -> tuple[Statement, Version]:
            claim_ids = {claim.id for claim in new_report.claims()}

            def citing(name: str) -> tuple[TouchedClaim, ...]:
                return tuple(
                    TouchedClaim(id=claim.id, text=claim.text, stands=claim.id in claim_ids)
                    for claim in report.claims()
                    if any(support.evidence_id == name for support in claim.support)
                )

            version = version.replace(
                changes=tuple(change.replace(claims=citing(change.evidence_id)) for change in updates),
                claims_lost=tuple(claim.id for claim in report.claims() if claim.id not in claim_ids),
                new=fresh,
                searches=tuple(searches),
            )
            return _opening(report, version), version

        return Next(await archive.inputs_of(report), report.made_from, describe, verdicts)

    try:
        return await add_version(archive, first, make, at=at)
    except StoreError as error:
        if not updates:
            raise
        raise StoreError(
            f"a new version cannot be written from the evidence store {without_credentials(archive.url)}: "
            f"{error}; changed: " + "; ".join(f"[{c.number}] {c.before} -> {c.after}" for c in updates)
        ) from error


def changes(report: Report, verdicts: Mapping[str, StandingVerdict]) -> tuple[Change, ...]:
    """List the references whose standing is no longer what the report says, in its order."""
    pairs = ((reference, verdicts.get(reference.evidence_id)) for reference in report.references)
    return tuple(
        Change(
            evidence_id=reference.evidence_id,
            number=reference.number,
            title=reference.title,
            before=reference.standing,
            after=after,
            notices=verdict.notices,
        )
        for reference, verdict in pairs
        if verdict and (after := _new_standing(reference.standing, verdict)) != reference.standing
    )


def notice_line(notice: StandingNotice) -> str:
    """Word a notice: `retraction 2026-03-01, doi:10.1/x, reported by crossref`."""
    parts = [f"{_(NOTICES[notice.kind])} {day(notice.date or '')}".strip()]
    parts += [f"{kind}:{value}" for kind, value in (("doi", notice.doi), ("pmid", notice.pmid)) if value]
    if notice.reported_by:
        parts.append(_("reported by {source}").format(source=source_title(notice.reported_by)))
    return clean(", ".join(parts))


NOTICES = {
    "retraction": N_("retraction"),
    "concern": N_("expression of concern"),
    "correction": N_("correction"),
    "withdrawal": N_("withdrawal"),
    "reinstatement": N_("reinstatement"),
}


def _new_standing(before: Standing, verdict: StandingVerdict) -> Standing:
    """Change no standing by an unknown one, and improve it by a reinstatement alone."""
    if verdict.standing == "unknown":
        return before
    if any(notice.kind == "reinstatement" for notice in verdict.notices):
        return verdict.standing
    return worst(before, verdict.standing)


def _opening(before: Report, version: Version) -> Statement:
    works = tuple(
        _("[{number}] “{title}” is {standing}").format(
            number=c.number, title=clean(c.title), standing=_(STANDING_SENTENCES[c.after])
        )
        + (f" ({notice_line(c.notices[-1])})" if c.notices and c.after not in ("none", "unknown") else "")
        for c in version.changes
    )
    return Statement.of(
        "new_version",
        version=version.number,
        at=version.made_at,
        first_at=before.generated_at,
        changes=works,
        claims_lost=len(version.claims_lost),
        new_works=tuple(clean(work.title) for work in version.new),
    )
