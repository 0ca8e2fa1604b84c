"""Grading the evidence: scores by the profile's criteria and a calibrated confidence."""

import re
from collections import Counter
from collections.abc import Sequence

from activities.extractive.hypotheses import has_mechanism
from activities.extractive.on_subject import covered, helping
from activities.extractive.queries import MORE, keywords, widen
from activities.extractive.query import split_clauses, topic_of
from activities.extractive.topics import sought
from activities.steps import CODE_SHARE, JudgeAssessment, JudgeInput
from activities.text.drugs import drugs_in
from activities.text.evidence_strength import CLINICAL, direction, weight
from activities.text.facets import facet_of
from activities.text.independence import independent, participants, studies
from activities.text.needle import Needle
from activities.text.question import compared, stems
from activities.text.ranking import Item, rank
from activities.text.study_facts import is_primary
from activities.types import Criterion, Evidence, Statement

MOST_CANDIDATES = 8
"""Drugs that a judgement names."""
_WEAK, WEAK_ONLY = 0.45, 0.75
"""Highest confidence where no work is of a kind of more than this weight: preprints, cases, web pages, notes
and other documents without a study's design."""
SMALL_STUDY, ONE_STUDY, TWO_STUDIES = 0.88, 0.92, 0.95
"""Highest confidence in what a single study found, one of few people or that does not say of how many; in
what any other found; and in what two found. Later studies contradicted 16 % of the most
cited findings, and among trials more often those of few people (Ioannidis 2005,
doi:10.1001/jama.294.2.218); the numbers are our own."""
_OF_SEVERAL_STUDIES = ("meta_analysis", "systematic_review", "guideline")
"""Kinds that rest on several studies by themselves."""
_LIMITED_FROM = 0.6
"""Directness from which the kind of evidence limits confidence."""
_LIMITS = {WEAK_ONLY: "weak", SMALL_STUDY: "small", ONE_STUDY: "single", TWO_STUDIES: "two"}
FEW_PEOPLE = 200
"""Participants under which a study is small."""
_STANDS_ON = 0.8
"""Share of the most direct work's directness from which a work is one that the answer stands on."""
_DISPUTED = 0.15
ONE_SIDE = 0.5
"""Highest confidence for a comparison that no work makes."""
ONE_NAME = 0.75
"""Highest confidence for a question with a single specific word: any work that mentions it looks relevant."""


def judge(step: JudgeInput, documents: Sequence[Evidence]) -> JudgeAssessment:
    """Score at most `max_shown` items, the most relevant first, against the question and its clauses."""
    seek = sought(step.question)
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
    confidence = confidence_of(helpful, share)
    sides = compared(step.question)
    if sides is not None and not any(compares(item, sides) for item in helpful):
        confidence = min(confidence, ONE_SIDE)
    if len(Needle(seek.text).strong) < 2:
        confidence = min(confidence, ONE_NAME)
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


def compares(item: Item, sides: tuple[frozenset[str], frozenset[str]]) -> bool:
    """Whether a sentence that reports or concludes names both sides of a comparison."""
    return any(
        all(side & stems(sentence.text) for side in sides)
        for sentence in (ranked.sentence for ranked in item.ranked)
        if sentence.part in ("results", "conclusion", "plain")
    )


def gap_of(criterion: Criterion, question: str) -> str:
    """A criterion that is not met, as a question that can be searched for."""
    topic = sought(question).subject or topic_of(question)
    facet = facet_of(criterion.name)
    return facet.question.format(topic=topic) if facet else f"{MORE}{topic}"


def confidence_of(items: Sequence[Item], share: float) -> float:
    """0 to 1: the probability that the best work answers the question (`Item.direct`, calibrated on half of
    the questions of `benchmarks/relevance.py`), where it is high at most what such evidence allows
    (`most_confidence`); less where works disagree, and for parts of the question that are left open (`share`:
    the part that is covered)."""
    if not items:
        return 0.0
    direct = max(item.direct for item in items)
    value = _limited(direct, most_confidence(items))
    return round(value * (1 - _DISPUTED * disagreement(items)) * (0.5 + 0.5 * share), 4)


def _limited(direct: float, most: float) -> float:
    """Directness from `_LIMITED_FROM` to 1, scaled to end at `most`: a doubtful answer is no surer for more
    works, and of two answers from evidence of one kind the more direct one stays the surer."""
    if direct <= _LIMITED_FROM:
        return direct
    return _LIMITED_FROM + (direct - _LIMITED_FROM) * (most - _LIMITED_FROM) / (1 - _LIMITED_FROM)


def stands_on(items: Sequence[Item]) -> list[Evidence]:
    """The works that an answer rests on: those about as direct as the best one."""
    best = max((item.direct for item in items), default=0.0)
    return [item.document for item in items if item.direct >= _STANDS_ON * best]


def most_confidence(items: Sequence[Item]) -> float:
    """The highest confidence that evidence of this strength, number, size and independence allows."""
    works = stands_on(items)
    if not any(weight(work) > _WEAK for work in works):
        return WEAK_ONLY
    if any(work.evidence_type in _OF_SEVERAL_STUDIES for work in works):
        return 1.0
    match independent(works, studies(works)):
        case 1:
            return SMALL_STUDY if is_small(works) else ONE_STUDY
        case 2:
            return TWO_STUDIES
        case _:
            return 1.0


def is_small(works: Sequence[Evidence]) -> bool:
    """Whether the one study that these works report is of few people or does not say of how many."""
    people = max((participants(work) or 0 for work in works if is_primary(work)), default=FEW_PEOPLE)
    return people < FEW_PEOPLE


def reasons(items: Sequence[Item], share: float) -> tuple[Statement, ...]:
    """What the confidence was computed from."""
    if not items:
        return ()
    best = max(items, key=lambda item: item.direct)
    works = [item.document for item in items]
    count = independent(works, studies(works))
    found = [
        Statement(code="confidence_direct", values={"percent": round(100 * best.direct)}),
        Statement(code="confidence_works", values={"works": len(items), "independent": count}),
    ]
    most = most_confidence(items)
    if most in _LIMITS:
        why = _LIMITS[most]
        found.append(Statement(code="confidence_limited", values={"why": why, "percent": round(100 * most)}))
    if disagreement(items):
        found.append(Statement(code="confidence_disagreement"))
    if share < 1:
        found.append(Statement(code="confidence_open_parts", values={"percent": round(100 * share)}))
    return tuple(found)


def disagreement(items: Sequence[Item]) -> float:
    """0 when the best sentences all point one way, 1 when they are split evenly."""
    ways = [direction(i.ranked[0].sentence.text) for i in items[:8] if i.ranked]
    yes, no = ways.count("yes"), ways.count("no")
    return 2 * min(yes, no) / (yes + no) if yes + no else 0.0


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
