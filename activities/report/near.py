"""What a report without a claim gives in place of an answer: what the question names and nothing mentions,
and the passages that come nearest, checked as quotes."""

from collections.abc import Iterable, Mapping, Sequence

from activities.publication import PlannedSection, PublishInput
from activities.report.references import reference_of
from activities.report.schema import NearPassage
from activities.types import Evidence, EvidenceRef, Support
from activities.verification.quote_check import QuoteChecker

MOST = 3
"""Passages that are quoted."""
READ = 6
"""Works that are read for them: of some the sentence is not quoted, for they have been retracted since."""


def near_refs(step: PublishInput) -> list[EvidenceRef]:
    """References of the works that come nearest to the sections for which nothing answers, the first ones:
    each is read and looked up."""
    ids = [work.evidence_id for planned in step.sections for work in planned.draft.nearest]
    first = list(dict.fromkeys(ids))[:READ]
    return [ref for ref in step.evidence if ref.evidence_id in first]


def near_passages(
    sections: Sequence[PlannedSection], documents: Mapping[str, Evidence], checker: QuoteChecker
) -> tuple[NearPassage, ...]:
    """The nearest sentence of each work that comes near, those of the first section first. What is not word
    for word in its work, and what is retracted, is left out."""
    found: dict[str, NearPassage] = {}
    for work in (work for planned in sections for work in planned.draft.nearest if work.said):
        quote = Support(evidence_id=work.evidence_id, quote=work.said)
        for support in checker.supports([quote]).support[:1]:
            item = documents[work.evidence_id]
            passage = NearPassage(work=reference_of(item), quote=support.quote, missing=work.missing)
            found.setdefault(work.evidence_id, passage)
    return tuple(found.values())[:MOST]


def not_mentioned(sections: Iterable[PlannedSection]) -> tuple[str, ...]:
    """What the question names and no work that any section read mentions, in the order of the question."""
    drafts = [planned.draft for planned in sections if planned.draft.not_mentioned]
    if not drafts:
        return ()
    return tuple(w for w in drafts[0].not_mentioned if all(w in draft.not_mentioned for draft in drafts))
