"""A new version of a report, with what is known by now of the standing of its references.

The same code that checks and numbers a report when it is published does it again here, on the same claims:
what rests on retracted work alone is dropped, the rest keeps its words and its claim ids.
"""

from collections.abc import Mapping, Sequence

from activities.drafts import DraftClaim, DraftParagraph, Edited, EditedSentence, Passage, SectionDraft
from activities.publication import PlannedSection, PublishInput
from activities.report.archive import Change, NewWork, TouchedClaim
from activities.report.assemble import build_report
from activities.report.claims import answer_id, claim_id
from activities.report.formats.prose import paragraphs_of, summary_text
from activities.report.formats.references import STANDING_SENTENCES
from activities.report.formats.statements import sentences
from activities.report.formats.text import clean
from activities.report.schema import Dropped, Report, ReportSection
from activities.retractions.lookup import StandingVerdict
from activities.retractions.rules import worst
from activities.types import (
    Claim,
    Evidence,
    ReportPlanSection,
    Standing,
    StandingNotice,
    Statement,
    Usage,
)

_COUNTED = frozenset({"claims_refused", "quotes_refused", "wordings_replaced", "draft_lost"})
"""Limitations that count what was refused: the new version would count only what it refuses itself."""


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
        change.model_copy(
            update={
                "claims": tuple(
                    TouchedClaim(id=claim.id, text=claim.text, stands=claim.id in left)
                    for claim in before.claims()
                    if any(support.evidence_id == change.evidence_id for support in claim.support)
                )
            }
        )
        for change in changed
    )


def restate(
    report: Report,
    documents: Mapping[str, Evidence],
    changed: Sequence[Change],
    at: str,
    number: int,
    new: Sequence[NewWork] = (),
) -> Report:
    """The report as version `number`, made at `at` (ISO time). `documents` are the cited items by id; `new`
    are works that were found since and that no claim of it rests on.

    The limitations of the same claims before and after decide which statements no longer hold and which are
    new.
    """
    standing = {r.evidence_id: r.standing for r in report.references}
    origins = {r.evidence_id: r.from_run for r in report.references}
    before = _with_standing(documents, standing)
    after = _with_standing(documents, standing | {c.evidence_id: c.after for c in changed})
    step, old_id = _draft(report, at)
    made, once = build_report(step, after), build_report(step, before)
    sections = tuple(
        _section(section, old_id) if was.claims or section.claims else _empty(was, section)
        for was, section in zip(report.sections, made.sections, strict=True)
    )
    left = {claim.id for section in sections for claim in section.claims}
    gone = [claim for claim in report.claims() if claim.id not in left]
    check, method = report.verification, report.methodology
    dropped = (*check.dropped, *made.verification.dropped)
    statements = (
        _opening(report, changed, gone, new, at, number),
        *_limitations(report, once.statements, made.statements, dropped),
    )
    later = report.model_copy(
        update={
            **{name: _renamed(getattr(made, name), old_id) for name in ("answer", "summary", "mechanism")},
            "unanswered": made.unanswered,
            "sections": sections,
            "candidates": made.candidates,
            "references": tuple(
                reference.model_copy(update={"from_run": origins.get(reference.evidence_id, "")})
                for reference in made.references
            ),
            "table": made.table,
            "works": made.works,
            "contexts": made.contexts,
            "verification": check.model_copy(
                update={
                    "verified": made.verification.verified,
                    "repaired": min(check.repaired, made.verification.verified),
                    "dropped": dropped,
                }
            ),
            "methodology": method.model_copy(
                update={
                    "counts": method.counts.model_copy(update={"included": len(made.references)}),
                    "read_in_full": made.methodology.read_in_full,
                }
            ),
            "statements": statements,
            "limitations": sentences(statements),
            "confidence": made.confidence,
            "confidence_reasons": made.confidence_reasons,
            "generated_at": at,
        }
    )
    return later.model_copy(update={"executive_summary": summary_text(later)})


def _empty(was: ReportSection, made: ReportSection) -> ReportSection:
    """A section that had no claim, with its reason."""
    kept = {"empty_because": was.empty_because, "markdown": was.markdown}
    return made.model_copy(update=kept)


def _renamed(claims: Sequence[Claim], old_id: Mapping[str, str]) -> tuple[Claim, ...]:
    """Claims under their present ids."""

    def names(given: Sequence[str]) -> tuple[str, ...]:
        return tuple(old_id.get(name, name) for name in given)

    return tuple(
        claim.model_copy(
            update={
                "id": old_id.get(claim.id, claim.id),
                "rests_on": names(claim.rests_on),
                "contradicts": names(claim.contradicts),
            }
        )
        for claim in claims
    )


def _limitations(
    report: Report, once: Sequence[Statement], now: Sequence[Statement], dropped: Sequence[Dropped]
) -> list[Statement]:
    """The report's limitations without those that no longer hold, after those that are new."""
    stale = [s for s in once if s not in now and s.code not in _COUNTED]
    fresh = [s for s in now if s not in once and s.code not in _COUNTED]
    refused = sum(item.kind == "claim" for item in dropped)
    recounted = Statement(code="claims_refused", values={"claims": refused})
    kept = [s for s in report.statements if s not in stale]
    return [*fresh, *(recounted if s.code == "claims_refused" else s for s in kept)]


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


def _with_standing(
    documents: Mapping[str, Evidence], standing: Mapping[str, Standing]
) -> dict[str, Evidence]:
    return {
        name: item.model_copy(update={"standing": standing.get(name, item.standing)})
        for name, item in documents.items()
    }


def _draft(report: Report, at: str) -> tuple[PublishInput, dict[str, str]]:
    """The report's claims as drafts, and the present id of each by its new id."""
    old_id = {
        claim_id(section.id, place): claim.id
        for section in report.sections
        for place, claim in enumerate(_in_order(section), start=1)
    } | {
        answer_id(section.id, place): claim.id
        for section in report.sections
        for place, claim in enumerate(_own_answer(report, section), start=1)
    }
    new_id = {old: new for new, old in old_id.items()}

    def draft(claim: Claim) -> DraftClaim:
        others = tuple(new_id[other] for other in claim.contradicts if other in new_id)
        return DraftClaim(text=claim.text, support=claim.support, contradicts=others)

    def restated(claims: Sequence[Claim]) -> tuple[EditedSentence, ...]:
        return tuple(
            EditedSentence(text=claim.text, claims=tuple(new_id[n] for n in claim.rests_on if n in new_id))
            for claim in claims
            if claim.rests_on
        )

    def section(one: ReportSection) -> PlannedSection:
        return PlannedSection(
            section=ReportPlanSection(id=one.id, title=one.title, key_question=one.key_question),
            draft=SectionDraft(
                paragraphs=tuple(
                    DraftParagraph(claims=tuple(map(draft, paragraph))) for paragraph in paragraphs_of(one)
                )
                if not one.passages
                else (),
                answer=tuple(map(draft, _own_answer(report, one))),
                passages=tuple(Passage.model_validate(p.model_dump()) for p in one.passages),
                related=tuple(Passage.model_validate(p.model_dump()) for p in one.related),
            ),
            status=one.status,
        )

    edited = Edited(
        answer=restated(report.answer),
        executive_summary=restated(report.summary),
        mechanism=restated(report.mechanism),
        transitions={one.id: one.lead for one in report.sections if one.lead},
    )
    step = PublishInput.model_validate(
        {
            "run_id": report.run_id,
            "question": report.question,
            "mode": report.mode,
            "profile": report.profile,
            "title": report.title,
            "sections": list(map(section, report.sections)),
            "candidates": report.candidates,
            "searches": report.methodology.searches,
            "counts": report.methodology.counts,
            "usage": Usage(),
            "models": report.methodology.models,
            "written_by": report.written_by,
            "edited": edited,
            "table": report.table,
            "confidence": report.confidence,
            "confidence_reasons": report.confidence_reasons,
            "stop_reason": report.stop_reason,
            "generated_at": at,
        }
    )
    return step, old_id


def _own_answer(report: Report, section: ReportSection) -> list[Claim]:
    """The sentences that answer a section's question, without those that the editor wrote."""
    given = section.answer or (report.answer if len(report.sections) == 1 else ())
    return [claim for claim in given if not claim.rests_on]


def _in_order(section: ReportSection) -> list[Claim]:
    return [claim for paragraph in paragraphs_of(section) for claim in paragraph]


def _section(section: ReportSection, old_id: Mapping[str, str]) -> ReportSection:
    update = {
        "claims": _renamed(section.claims, old_id),
        "paragraphs": tuple(tuple(old_id.get(name, name) for name in p) for p in section.paragraphs),
        "answer": _renamed(section.answer, old_id),
    }
    return section.model_copy(update=update)


def _opening(
    report: Report,
    changed: Sequence[Change],
    gone: Sequence[Claim],
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
    return Statement(
        code="new_version",
        values={
            "version": number,
            "at": at,
            "first_at": report.generated_at,
            "changes": works,
            "claims_lost": len(gone),
            "new_works": tuple(clean(work.title) for work in new),
        },
    )
