"""The assessment of all that was judged, put together by code from the judgements of single works.

Confidence is a convention by which a run decides that its evidence suffices (`confidence_of`; docs/models.md
has the formula); it is no probability, and reports print what it was counted from in its place. What all
works of a question share, no further work can mend: that the question may have no definite answer
(`DEFINITE`), the weakness of their kind of study, and that they answer in part only. Independent works add up
below that ceiling, and what speaks for different answers lowers the result.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest

from activities.contracts.evidence import EvidenceRef, Statement, kind_of_source
from activities.contracts.iterations import Recommendation
from activities.contracts.judge import MIN_ANSWERS as MIN_ANSWERS
from activities.contracts.judge import JudgeAssessment, JudgeBatch, WorkJudgement
from activities.contracts.profile import Profile
from activities.report.strength import DEFINITE, WEIGHT, carried_by, confidence_of, weight

MAX_GAPS = 5


def assess(
    batches: Sequence[JudgeBatch],
    judgements: Iterable[WorkJudgement],
    profile: Profile,
    works: Iterable[EvidenceRef] = (),
) -> JudgeAssessment:
    """Make one assessment of all batches of a round and of all judgements so far.

    `works` are the works judged; one that is missing counts as an article.
    """
    refs = {ref.evidence_id: ref for ref in works}
    unique = list({judgement.evidence_id: judgement for judgement in judgements}.values())
    criteria = [criterion.name for criterion in profile.criteria]
    scores: dict[str, int] = {}
    reasons: dict[str, str] = {}
    for batch in batches:
        for name in criteria:
            if name in batch.scores and batch.scores[name] > scores.get(name, -1):
                scores[name] = batch.scores[name]
                reasons[name] = batch.score_reasons.get(name, "")
    ids = relevant_ids(unique, refs)
    judged_refs = [refs[judgement.evidence_id] for judgement in unique if judgement.evidence_id in refs]
    recommendations = {batch.recommendation for batch in batches}  # a batch cannot see what the others hold
    advice: Recommendation = next(
        (advice_name for advice_name in ("synthesize", "continue") if advice_name in recommendations), ""
    )
    value, carried, reason = confidence(unique, refs) if unique else (None, None, ())
    return JudgeAssessment(
        scores={name: scores[name] for name in criteria if name in scores},
        score_reasons={name: reasons[name] for name in criteria if reasons.get(name)},
        sufficient=advice == "synthesize" if advice else None,
        recommendation=advice,
        sources_breakdown=dict(Counter(ref.source for ref in judged_refs).most_common()),
        kinds_breakdown=dict(Counter(kind_of_source(ref.evidence_type) for ref in judged_refs).most_common()),
        confidence=value,
        carried=carried,
        by_code=not unique,
        confidence_reasons=reason,
        gaps=_merge(batch.gaps for batch in batches),
        recommended_searches=_merge(batch.recommended_searches for batch in batches),
        relevant=ids or _merge((batch.relevant for batch in batches), max_items=None),
        reasoning=" ".join(dict.fromkeys(batch.reasoning for batch in batches if batch.reasoning))[:1_500],
        shown=len(unique),
    )


def relevant_ids(judgements: Sequence[WorkJudgement], refs: Mapping[str, EvidenceRef]) -> tuple[str, ...]:
    """Rank the ids of the works that answer by how directly and by the strength of their kind of study."""
    rows = [j for j in judgements if j.answers >= MIN_ANSWERS]
    rows.sort(key=lambda j: (-j.answers, -_weight(refs.get(j.evidence_id))))
    return tuple(j.evidence_id for j in rows)


def _weight(ref: EvidenceRef | None) -> float:
    return WEIGHT["article"] if ref is None else weight(ref)


def confidence(
    judgements: Sequence[WorkJudgement], refs: Mapping[str, EvidenceRef]
) -> tuple[float, float, tuple[Statement, ...]]:
    """Compute confidence, 0 to `DEFINITE`, what the works carry without its ceiling, and from what."""
    studies: dict[str, tuple[float, float, WorkJudgement]] = {}
    for judgement in judgements:
        if judgement.answers < MIN_ANSWERS:
            continue
        ref = refs.get(judgement.evidence_id)
        share, ceiling = carried_by(judgement.answers, _weight(ref))
        # records of one registered trial are one study
        study = (ref and (ref.identifiers.nct or ref.fingerprint)) or judgement.evidence_id
        if share > studies.get(study, (0.0, 0.0, judgement))[0]:
            studies[study] = (share, ceiling, judgement)
    sides = Counter(judgement.direction for *_, judgement in studies.values())
    if 2 * sides["not_asked"] > sides.total():  # the judge says that the question has no yes or no
        sides.clear()
    agreed = agreement([(share, judgement) for share, _, judgement in studies.values()]) if sides else 1.0
    value = round(confidence_of([(share, ceiling) for share, ceiling, _ in studies.values()]) * agreed, 4)
    carried = round((1.0 - math.prod(1.0 - DEFINITE * share for share, *_ in studies.values())) * agreed, 4)
    reason = Statement.of(
        "confidence_of_judgements",
        works=len(studies),
        direct=sum(judgement.answers >= 3 for *_, judgement in studies.values()),
        agreement=round(agreed, 2),
        yes=sides["yes"],
        no=sides["no"],
        mixed=sides["mixed"],
    )
    return value, carried, (reason,)


def agreement(weights: Sequence[tuple[float, WorkJudgement]]) -> float:
    """Return 1 where all works that give a direction give the same one, 0.5 where they are split evenly.

    A work with mixed results counts half for each side.
    """
    sides: dict[str, float] = defaultdict(float)
    for share, judgement in weights:
        if judgement.direction == "mixed":
            sides["yes"] += share / 2
            sides["no"] += share / 2
        elif judgement.direction in ("yes", "no"):
            sides[judgement.direction] += share
    total = sum(sides.values())
    return max(sides.values()) / total if total else 1.0


def _merge(lists: Iterable[Sequence[str]], max_items: int | None = MAX_GAPS) -> tuple[str, ...]:
    """Merge lists into different texts, the first of every list before the second of any."""
    unique: dict[str, str] = {}
    for text in chain.from_iterable(zip_longest(*lists, fillvalue="")):
        if text:
            unique.setdefault(text.casefold(), text)
    return tuple(unique.values())[:max_items]
