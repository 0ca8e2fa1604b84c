"""Grading the evidence: scores by the profile's criteria and a calibrated confidence."""

import re
from collections import Counter
from collections.abc import Sequence

from activities.extractive.hypotheses import has_mechanism
from activities.extractive.on_subject import covered, helping
from activities.extractive.queries import MORE, keywords, widen
from activities.extractive.query import split_clauses, topic_of
from activities.extractive.topics import asked_of_works, sought
from activities.steps import CODE_SHARE, JudgeAssessment, JudgeInput
from activities.text.answer_confidence import confidence_in, disagreement, reasons
from activities.text.drugs import drugs_in
from activities.text.evidence_strength import CLINICAL, weight
from activities.text.facets import facet_of
from activities.text.ranking import Item, rank
from activities.types import Criterion, Evidence

MOST_CANDIDATES = 8
"""Drugs that a judgement names."""


def judge(step: JudgeInput, documents: Sequence[Evidence]) -> JudgeAssessment:
    """Score at most `max_shown` items, the most relevant first, against the question and its clauses."""
    seek = sought(asked_of_works(step.question, step.profile))
    ranked = sorted(rank(seek.text, documents), key=lambda i: (-i.relevance, i.document.evidence_id))
    shown = ranked[: step.max_shown]
    helpful = [i for i in helping(seek, shown) if weight(i.document) > 0]
    helpful.sort(key=lambda i: (-(i.relevance * (0.8 + 0.2 * weight(i.document))), i.document.evidence_id))
    clauses = split_clauses(step.question) or (step.question,)
    asked = list(dict.fromkeys((*clauses, *step.steering)))
    bodies = [i.document for i in helpful]
    open_ones = [q for q in asked if not covered(q, bodies)]
    # that a question of one part is covered is what directness estimates
    share = 1 - len(open_ones) / len(asked) if len(asked) > 1 else 1.0
    confidence = confidence_in(step.question, seek.text, helpful, share)
    graded = {c.name: grade_criterion(c, helpful, confidence) for c in step.profile.criteria}
    scores = {name: score for name, (score, _) in graded.items()}
    short = [c for c in step.profile.criteria if scores[c.name] < c.minimum]
    gaps = [*open_ones, *(gap_of(c, step.question) for c in short)]
    if confidence < step.profile.confidence_threshold and not gaps:
        gaps = [f"{MORE}{seek.subject or topic_of(step.question)}"]
    recommended = [q for gap in open_ones for q in (keywords(gap), *widen(gap, gap)) if q]
    enough = not short and confidence >= step.profile.confidence_threshold * CODE_SHARE
    return JudgeAssessment(
        scores=scores,
        score_reasons={name: reason for name, (_, reason) in graded.items()},
        confidence=confidence,
        by_code=True,
        sufficient=enough,
        recommendation="synthesize" if enough else "continue",
        candidates_found=named_drugs(bodies),
        sources_breakdown=dict(Counter(i.document.source for i in shown).most_common()),
        confidence_reasons=reasons(helpful, share),
        gaps=tuple(dict.fromkeys(gaps))[:3],
        recommended_searches=tuple(dict.fromkeys(recommended))[:3],
        relevant=tuple(dict.fromkeys(i.document.evidence_id for i in helpful)),
        reasoning=_reasoning(shown, helpful, open_ones, confidence),
        shown=len(shown),
    )


def gap_of(criterion: Criterion, question: str) -> str:
    """A criterion that is not met, as a question that can be searched for."""
    topic = sought(question).subject or topic_of(question)
    facet = facet_of(criterion.name)
    return facet.question.format(topic=topic) if facet else f"{MORE}{topic}"


def named_drugs(documents: Sequence[Evidence]) -> tuple[str, ...]:
    """Drugs that the works name, those of most works first."""
    works = Counter(name for document in documents for name in drugs_in(document))
    return tuple(name for name, _ in sorted(works.items(), key=lambda p: (-p[1], p[0])))[:MOST_CANDIDATES]


def grade_criterion(criterion: Criterion, items: Sequence[Item], confidence: float) -> tuple[int, str]:
    """0 to 10 by what the criterion's name asks for, and what was counted; an unknown one follows the
    coverage of the question."""
    if not items:
        return 0, "no item helps with the question"
    name = f"{criterion.name} {criterion.description}" if len(criterion.name) < 4 else criterion.name
    documents = [i.document for i in items]
    if re.search(r"mechan|pathway|target", name, re.IGNORECASE):
        holders = sum(any(has_mechanism(r.sentence.text) for r in i.ranked[:12]) for i in items)
        return _scaled(holders, 4), f"{holders} works explain a mechanism; 4 are wanted"
    if re.search(r"candidat|drug|compound", name, re.IGNORECASE):
        named = {d for document in documents for d in drugs_in(document)}
        return _scaled(len(named), 5), f"{len(named)} drugs are named; 5 are wanted"
    if re.search(r"clinic|trial|human|patient", name, re.IGNORECASE):
        clinical = [d for d in documents if d.evidence_type in CLINICAL]
        reason = f"{len(clinical)} works are on people, counted by the strength of their kind"
        return _scaled(sum(weight(d) for d in clinical), 3), reason
    if re.search(r"source|divers|independ", name, re.IGNORECASE):
        kinds = len({d.evidence_type for d in documents})
        origins = len({d.source for d in documents})
        reason = f"{len(documents)} works of {kinds} kinds from {origins} sources"
        return _scaled(len(documents) + kinds + origins - 2, 10), reason
    if re.search(r"quality|rigou?r|strength|credib|reliab", name, re.IGNORECASE):
        best = sorted((weight(d) for d in documents), reverse=True)[:5]
        return _scaled(sum(best) / len(best), 1.0), f"the strength of the best {len(best)} works on average"
    if re.search(r"agree|consisten|consensus|contradict", name, re.IGNORECASE):
        split = disagreement(items)
        return round(10 * (1 - split)), f"{round(100 * split)} percent of disagreement between the works"
    nearest = max(i.relevance for i in items)
    reason = f"the nearest work has {round(100 * nearest)} percent of what the question asks about"
    return min(10, round(10 * max(confidence, nearest * 0.9))), reason


def _scaled(value: float, full: float) -> int:
    return min(10, round(10 * value / full))


def _reasoning(
    shown: Sequence[Item], items: Sequence[Item], open_ones: Sequence[str], confidence: float
) -> str:
    if not items:
        return f"None of the {len(shown)} items shown helps with the question."
    split = disagreement(items)
    text = f"{len(items)} of {len(shown)} items help with the question"
    text += "; they point in different directions" if split > 0.5 else ""
    text += f"; not covered: {'; '.join(open_ones[:3])}" if open_ones else "; every part of it is covered"
    return (
        f"{text}. Confidence {confidence:.2f} by coverage, kind of evidence, number of items and agreement."
    )
