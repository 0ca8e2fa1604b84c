"""A report told again with what is known by now of the standing of its references.

The same code that checks and numbers a report when it is published does it again here, on the same claims:
what rests on retracted work alone falls, the rest keeps its words and its claim ids.
"""

import re
from collections.abc import Mapping, Sequence

from activities.report.assemble import build_report, claim_id
from activities.report.audit import sentences_of
from activities.report.formats.text import clean
from activities.report.schema import Report, ReportSection
from activities.retractions.lookup import StandingVerdict
from activities.retractions.rules import worst
from activities.steps import DraftClaim, DraftParagraph, PlannedSection, PublishInput, SectionDraft
from activities.types import Claim, Evidence, ReportPlanSection, Standing, StandingNotice, Usage
from client.reports.store import Change

_DISPUTES = "**The sources disagree:**"
"""How `activities.report.assemble` begins the block that repeats claims."""
_COUNTED = re.compile(r"^\d+ (?:claim|quote)s? (?:that )?did not pass the ")
"""Sentences of `activities.report.limitations` that count what was refused: here they would count again."""
_DROPPED = re.compile(r"^\d+ claims? did not pass the quote check and (?:is|are) ")


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


def restate(
    report: Report, documents: Mapping[str, Evidence], changed: Sequence[Change], at: str, number: int
) -> Report:
    """The report as version `number`, made at `at` (ISO time). `documents` are the cited items by id.

    What `activities.report.limitations` would say of the same claims before and after decides which
    sentences of the limitations no longer hold and which are new.
    """
    standing = {r.evidence_id: r.standing for r in report.references}
    before = _with_standing(documents, standing)
    after = _with_standing(documents, standing | {c.evidence_id: c.after for c in changed})
    step, old_id = _draft(report, at)
    made, once = build_report(step, after), build_report(step, before).limitations
    sections = tuple(
        _renamed(section, old_id) if was.claims else was
        for was, section in zip(report.sections, made.sections, strict=True)
    )
    left = {claim.id for section in sections for claim in section.claims}
    gone = [claim for claim in claims_of(report) if claim.id not in left]
    fresh = [s for s in made.limitations if s not in once and not _COUNTED.match(s)]
    stale = [s for s in once if s not in made.limitations]
    check, method = report.verification, report.methodology
    dropped = (*check.dropped, *made.verification.dropped)
    return report.model_copy(
        update={
            "executive_summary": made.executive_summary,
            "sections": sections,
            "candidates": made.candidates,
            "references": made.references,
            "verification": check.model_copy(
                update={
                    "verified": made.verification.verified,
                    "repaired": min(check.repaired, made.verification.verified),
                    "dropped": dropped,
                }
            ),
            "methodology": method.model_copy(
                update={"counts": method.counts.model_copy(update={"included": len(made.references)})}
            ),
            "limitations": (
                _opening(report, changed, gone, at, number),
                *fresh,
                *(_recounted(said, len(dropped)) for said in report.limitations if said not in stale),
            ),
            "confidence": made.confidence,
            "generated_at": at,
        }
    )


def claims_of(report: Report) -> list[Claim]:
    """A report's claims in its order."""
    return [claim for section in report.sections for claim in section.claims]


def told(notice: StandingNotice) -> str:
    """A notice in words: `retraction 2026-03-01, doi:10.1/x, reported by crossref`."""
    parts = [f"{notice.kind} {notice.date}" if notice.date else notice.kind]
    parts += [f"{kind}:{value}" for kind, value in (("doi", notice.doi), ("pmid", notice.pmid)) if value]
    return clean(", ".join([*parts, *([f"reported by {notice.reported_by}"] if notice.reported_by else [])]))


def _after(before: Standing, verdict: StandingVerdict) -> Standing:
    """What nobody could tell changes nothing, and only a reinstatement makes a standing better."""
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
    """The report's claims as they would be handed in, and the id each of them has, by the one it will get."""
    old_id = {
        claim_id(section.id, place): claim.id
        for section in report.sections
        for place, claim in enumerate(_in_order(report, section), start=1)
    }
    new_id = {old: new for new, old in old_id.items()}

    def paragraph(claims: Sequence[Claim]) -> DraftParagraph:
        return DraftParagraph(
            claims=tuple(
                DraftClaim(
                    text=claim.text,
                    support=claim.support,
                    contradicts=tuple(new_id[other] for other in claim.contradicts if other in new_id),
                )
                for claim in claims
            )
        )

    step = PublishInput.model_validate(
        {
            "run_id": report.run_id,
            "question": report.question,
            "mode": report.mode,
            "profile": report.profile,
            "title": report.title,
            "sections": [
                PlannedSection(
                    section=ReportPlanSection(id=s.id, title=s.title, key_question=s.key_question),
                    draft=SectionDraft(paragraphs=tuple(map(paragraph, _paragraphs(report, s)))),
                    status=s.status,
                )
                for s in report.sections
            ],
            "candidates": report.candidates,
            "searches": report.methodology.searches,
            "counts": report.methodology.counts,
            "usage": Usage(),
            "models": report.methodology.models,
            "confidence": report.confidence,
            "stop_reason": report.stop_reason,
            "generated_at": at,
        }
    )
    return step, old_id


def _paragraphs(report: Report, section: ReportSection) -> list[list[Claim]]:
    """A section's claims by the paragraphs of its text; a claim that is in none is one by itself."""
    sentences = sentences_of(report)
    left = list(section.claims)
    paragraphs: list[list[Claim]] = []
    for block in section.markdown.split("\n\n"):
        if block.startswith((_DISPUTES, "- ")):
            continue
        here = [claim for claim in left if sentences[claim.id] in block]
        left = [claim for claim in left if claim not in here]
        paragraphs += [here] if here else []
    return [*paragraphs, *([claim] for claim in left)]


def _in_order(report: Report, section: ReportSection) -> list[Claim]:
    return [claim for paragraph in _paragraphs(report, section) for claim in paragraph]


def _renamed(section: ReportSection, old_id: Mapping[str, str]) -> ReportSection:
    claims = tuple(
        claim.model_copy(
            update={
                "id": old_id.get(claim.id, claim.id),
                "contradicts": tuple(old_id.get(other, other) for other in claim.contradicts),
            }
        )
        for claim in section.claims
    )
    return section.model_copy(update={"claims": claims})


def _recounted(said: str, dropped: int) -> str:
    """A limitation that counts dropped claims, with the count there is now."""
    words = "claim did not pass the quote check and is" if dropped == 1 else ""
    return _DROPPED.sub(f"{dropped} {words or 'claims did not pass the quote check and are'} ", said)


def _opening(report: Report, changed: Sequence[Change], gone: Sequence[Claim], at: str, number: int) -> str:
    """What a reader of the new version must know first."""
    works = "; ".join(
        f'[{c.number}] "{clean(c.title)}" is {STANDING[c.after]}'
        + (f" ({told(c.notices[-1])})" if c.notices and c.after not in ("none", "unknown") else "")
        for c in changed
    )
    lost = (
        f" {len(gone)} of its claims {'rests' if len(gone) == 1 else 'rest'} on nothing else and "
        f"{'is' if len(gone) == 1 else 'are'} left out here; the verification names "
        f"{'it' if len(gone) == 1 else 'each'}."
        if gone
        else ""
    )
    return (
        f"This is version {number}, of {at}, of a report of {report.generated_at}. What has become known of "
        f"its references since, by their numbers there: {works}.{lost}"
    )


STANDING: Mapping[Standing, str] = {
    "none": "looked up, and nothing is reported against it",
    "retracted": "retracted",
    "concern": "under an expression of concern",
    "corrected": "corrected",
    "unknown": "not known to anyone who was asked",
}
"""A standing in words."""
