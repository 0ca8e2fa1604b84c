"""What is known, what is not yet, and whether the last searches helped."""

from collections import Counter
from collections.abc import Sequence

from activities.extractive.on_subject import covered, helping
from activities.extractive.queries import widen
from activities.extractive.query import split_clauses
from activities.extractive.topics import sought
from activities.steps import (
    GapsInput,
    KnowledgeGapOutput,
    Observation,
    ObserveInput,
    ReflectInput,
    Reflection,
)
from activities.text.evidence_strength import TYPE_NAMES
from activities.text.ranking import rank
from activities.text.tokens import fold
from activities.types import ANSWERED, Evidence


def observe(step: ObserveInput, documents: Sequence[Evidence]) -> Observation:
    """What the evidence says so far, in a few sentences."""
    if not documents:
        return Observation(text="Nothing has been found yet; the question's own terms are searched first.")
    seek = sought(step.question)
    helpful = helping(seek, sorted(rank(seek.text, documents), key=lambda i: -i.relevance))
    lines = [f"{len(documents)} items were found, {len(helpful)} of them help with the question."]
    if helpful:
        kinds = Counter(TYPE_NAMES[i.document.evidence_type] for i in helpful)
        lines.append("Kinds: " + ", ".join(f"{name} {count}" for name, count in kinds.most_common(5)) + ".")
        best = max(helpful, key=lambda i: i.best)
        if best.ranked:
            lines.append(f'The sentence that answers best so far ({best.document.evidence_id}): '
                         f'"{best.ranked[0].sentence.text}"')  # fmt: skip
    missing = [q for q in (*split_clauses(step.question), *step.steering) if not covered(q, documents)]
    if missing:
        lines.append("Not yet covered: " + "; ".join(missing[:4]))
    return Observation(text=" ".join(lines))


def evaluate_gaps(step: GapsInput, documents: Sequence[Evidence]) -> KnowledgeGapOutput:
    """Questions and steering notes that no relevant sentence covers, and gaps the judge named.

    Before anything was found the research questions themselves are the gaps.
    """
    questions = step.research_questions or split_clauses(step.question) or (step.question,)
    wanted = [*step.steering[::-1], *questions]
    outstanding = [q for q in wanted if q.strip() and not (documents and covered(q, documents))]
    known = {fold(q) for q in (*outstanding, *wanted)}
    outstanding += [g for g in step.judged_gaps if g.strip() and fold(g) not in known]
    gaps = tuple(dict.fromkeys(outstanding))[: max(1, step.max_gaps)]
    return KnowledgeGapOutput(research_complete=not gaps, outstanding_gaps=gaps)


def reflect(step: ReflectInput, documents: Sequence[Evidence]) -> Reflection:
    """Whether the results of the last searches help with a gap they were made for."""
    failed = [s for s in step.searches if s.status not in ANSWERED]
    empty = [s for s in step.searches if s.status == "empty"]
    useful = {
        item.document.evidence_id
        for gap in (step.gaps or (step.question,))
        for item in helping(sought(gap), rank(sought(gap).text, documents))
    }
    if useful:
        text = f"{len(useful)} of {len(documents)} new items help to close the gaps."
        return Reflection(served=True, reason=text)
    if failed and not documents:
        names = ", ".join(sorted({f"{s.source} ({s.status})" for s in failed}))
        return Reflection(served=False, reason=f"Sources failed: {names}. The same searches may be repeated.")
    better = dict.fromkeys(
        q for s in (empty or step.searches) for q in widen(s.asked or s.query, s.gap or step.question)
    )
    if documents:
        reason = "None of the new items helps to close the gaps."
    else:
        found_before = any(s.kept for s in step.searches)
        reason = f"The searches found nothing{' that is new' if found_before else ''}."
    return Reflection(served=False, reason=reason, better_searches=tuple(better)[:3])
