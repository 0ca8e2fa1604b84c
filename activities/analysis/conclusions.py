"""Conclusions by outcome, from effects whose numbers and sentences were checked. Pure.

The direction is formed by code: that of the pooled estimate where most works could be pooled, else the side
on which most participants are. The certainty begins, as GRADE's does, high for randomised trials and low for
other studies in people, and goes down for imprecision, inconsistency and indirectness (Guyatt et al. 2011,
doi:10.1016/j.jclinepi.2011.01.012 for imprecision, .2011.03.017 for inconsistency). From abstracts alone it
is at most moderate, since risk of bias cannot be read there. What a model proposes may lower the certainty:
it may say less than the numbers and never more, and where nothing could be pooled it weighs between the sides
that works report. "Uncertain" is said of very low certainty and of works on opposite sides: evidence of low
certainty has a direction (Santesso et al. 2020, doi:10.1016/j.jclinepi.2019.10.014).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import get_args

from activities.analysis.pooling import LEVEL, MIN_STUDIES_FOR_PREDICTION, pool_all
from activities.analysis.scale import NotUsable, agrees_with_counts, no_effect, point_of, study_interval
from activities.analysis.stated import numbers_held
from activities.contracts.appraisal import (
    Appraisal,
    AppraisedWork,
    Certainty,
    CertaintyReason,
    Conclusion,
    ConclusionDirection,
    EffectDirection,
    Means,
    PooledFigure,
    Proposed,
    StudyEffect,
    WorkFacts,
)
from activities.contracts.effects import RATIOS, Effect, Interval, Measure, Pool
from activities.extras import NotInstalled

CERTAINTIES: tuple[Certainty, ...] = get_args(Certainty)
MIN_PARTICIPANTS = 400
"""Participants of all works on an outcome below which it is imprecise (Guyatt et al. 2011, the rule of thumb
for continuous outcomes)."""
MAX_IMPRECISION = 2
"""Levels by which imprecision rates down, whatever shows it: few people, wide or missing intervals and few
studies are one domain (the same)."""
FAR_TOO_FEW = 0.3
"""Share of these participants below which a body of evidence is rated down by two levels (GRADE guidance 34,
Zeng et al. 2022, doi:10.1016/j.jclinepi.2022.07.014: "far less" than the optimal information size). The share
is a convention of this system."""
APPRECIABLE = 0.25
"""Relative change of a ratio that matters: an interval that holds no effect and this change is imprecise
(the same)."""
APPRECIABLE_SMD = 0.5
"""Of a standardised mean difference (the same)."""
INCONSISTENT = 0.5
"""I2 from which works disagree (Cochrane's handbook, 10.10.2: substantial)."""
MIN_SHARE = 1 / 3
"""Of the participants of works that could not be pooled: a side with fewer is none that a model may choose.
A convention of this system. A small work that found no difference does not refute one that found one, which
counting works alone would say."""
MAX_WORKS = 40
"""Of one conclusion."""


def conclude(appraisal: Appraisal, works: Mapping[str, WorkFacts]) -> tuple[Conclusion, ...]:
    """A conclusion for each outcome that was read or proposed. `works`: the sound works by id; effects of
    others count for nothing. Without the statistics library nothing is pooled."""
    by_outcome: dict[str, dict[str, StudyEffect]] = {}
    proposed = {_key(one.outcome): one for one in appraisal.proposed}
    for effect in appraisal.effects:
        if effect.evidence_id in works:
            by_outcome.setdefault(_key(effect.outcome), {}).setdefault(effect.evidence_id, effect)
    made = []
    for key in dict.fromkeys((*by_outcome, *proposed)):
        effects = list(by_outcome.get(key, {}).values())[:MAX_WORKS]
        one = proposed.get(key)
        named = one if one is not None else effects[0]
        used = tuple(_appraised(effect, works[effect.evidence_id]) for effect in effects)
        made.append(conclusion_of(named.outcome, named.group, named.comparator, used, one))
    return tuple(made)


def again(conclusion: Conclusion) -> Conclusion:
    """The conclusion that follows from the works it names: a check makes it a second time."""
    return conclusion_of(
        conclusion.outcome, conclusion.group, conclusion.comparator, conclusion.works, conclusion.proposed
    )


def _key(outcome: str) -> str:
    return " ".join(outcome.casefold().split())


def conclusion_of(
    outcome: str,
    group: str,
    comparator: str,
    works: Sequence[AppraisedWork],
    proposed: Proposed | None,
) -> Conclusion:
    """What follows from works on one outcome, and from what a model proposes."""
    pool = _pool(works)
    pooled = None
    if pool is not None:
        names = tuple(row.effect.evidence_id for row in pool.rows)
        pooled = PooledFigure(measure=pool.measure, result=pool.random, works=names, i2=pool.i2)
    direction = _direction(works, pooled, proposed)
    reasons, certainty = _certainty(works, pool)
    if proposed is not None:
        certainty = min(certainty, proposed.certainty, key=CERTAINTIES.index)
        if proposed.direction == "not_enough_data":
            direction = proposed.direction
    if certainty == "very_low" and direction != "not_enough_data":
        direction = "uncertain"
    return Conclusion(
        outcome=outcome,
        group=group,
        comparator=comparator,
        direction=direction,
        certainty=certainty,
        reasons=reasons,
        proposed=proposed,
        works=tuple(works),
        pooled=pooled,
    )


# numbers


def _usable(one: StudyEffect) -> Effect | None:
    """The numbers of a work, by events or by means where it gives them; None where they do not fit together.
    Events give a risk ratio whatever the work computed of them, so that works can be pooled."""
    effect = one.effect
    if one.opposite:
        effect = opposite(effect)
    elif effect is None and one.means is not None:
        effect = of_means(one.means, one.outcome)
    if effect is None:
        return None
    update: dict[str, object] = {"study": one.evidence_id, "evidence_id": one.evidence_id, "quote": ""}
    if effect.arms is not None and effect.measure != "RR":
        update |= {"measure": "RR", "estimate": None, "low": None, "high": None}
    effect = effect.replace(**update, outcome=_key(one.outcome))
    try:
        point_of(effect)
        return effect if agrees_with_counts(effect) else None
    except NotUsable:
        return None


def of_means(means: Means, outcome: str) -> Effect:
    """Hedges' standardised mean difference with its interval (Cochrane's handbook, 6.5.1 and 10.3.1): means
    of different scales can be pooled."""
    n, m = means.total, means.control_total
    pooled = math.sqrt(((n - 1) * means.sd**2 + (m - 1) * means.control_sd**2) / (n + m - 2))
    correction = 1 - 3 / (4 * (n + m) - 9)
    value = correction * (means.mean - means.control_mean) / pooled
    half = 1.959964 * math.sqrt((n + m) / (n * m) + value**2 / (2 * (n + m - 3.94)))
    return Effect(
        study="", outcome=outcome, measure="SMD", estimate=value, low=value - half, high=value + half, n=n + m
    )


def opposite(effect: Effect | None) -> Effect | None:
    """The effect on the opposite of an outcome (survival of death): its ratio or difference turned round. A
    risk ratio without events cannot be turned round."""
    if effect is None:
        return None
    arms, numbers = effect.arms, (effect.estimate, effect.low, effect.high)
    if arms is not None:
        if arms.events > arms.total or arms.control_events > arms.control_total:
            return None
        others = arms.control_total - arms.control_events
        arms = arms.replace(events=arms.total - arms.events, control_events=others)
    elif effect.measure == "RR":
        return None
    turned: tuple[float | None, ...] = (None, None, None)
    if None not in numbers and effect.measure != "RR":
        estimate, low, high = (value for value in numbers if value is not None)
        if effect.measure in RATIOS and min(estimate, low, high) <= 0:
            return None
        turned = (1 / estimate, 1 / high, 1 / low) if effect.measure in RATIOS else (-estimate, -high, -low)
    return effect.replace(arms=arms, estimate=turned[0], low=turned[1], high=turned[2])


def unpooled(conclusion: Conclusion) -> bool:
    """Whether its works would have been pooled, had the statistics library been there."""
    try:
        pool_all(_poolable(conclusion.works))
    except NotInstalled:
        return True
    return False


def _poolable(works: Sequence[AppraisedWork]) -> list[Effect]:
    """Differences of means are of different scales and are not pooled."""
    return [one.effect for one in works if one.effect is not None and one.effect.measure != "MD"]


def _pool(works: Sequence[AppraisedWork]) -> Pool | None:
    """The pool with the most works; None where no two can be pooled, or the library is not installed."""
    try:
        pools, _ = pool_all(_poolable(works))
    except NotInstalled:
        return None
    return max(pools, key=lambda one: len(one.rows), default=None)


def side_of(result: Interval, null: float) -> EffectDirection:
    if result.low > null:
        return "higher"
    return "lower" if result.high < null else "no_difference"


def _appraised(one: StudyEffect, facts: WorkFacts) -> AppraisedWork:
    effect = _usable(one)
    result = study_interval(effect, point_of(effect), LEVEL) if effect else None
    people = one.n or (effect.n if effect else None)
    if effect is not None and effect.arms is not None:
        people = effect.arms.total + effect.arms.control_total
    return AppraisedWork(
        evidence_id=one.evidence_id,
        direction=side_of(result, no_effect(effect.measure)) if effect and result else one.direction,
        effect=effect,
        opposite=one.opposite,
        result=result,
        n=people or facts.participants or None,
        facts=facts,
        support=one.support,
    )


def numbers_stand(work: AppraisedWork) -> bool:
    """Whether the direction of a work is that of its numbers, and its events, or the estimate as stated, are
    in its quotes. What was computed of means is not looked for."""
    effect = work.effect
    if effect is None:
        return work.result is None
    if work.result != study_interval(effect, point_of(effect), LEVEL):
        return False
    stated_as = opposite(effect) if work.opposite else effect
    if stated_as is None:
        return False
    held = numbers_held(one.quote for one in work.support)
    stated: list[float | None] = list(stated_as.arms.model_dump().values()) if stated_as.arms else []
    if effect.measure != "SMD":
        stated += [stated_as.estimate, stated_as.low, stated_as.high]
    return work.direction == side_of(work.result, no_effect(effect.measure)) and all(
        any(math.isclose(float(number), value) for number in held) for value in stated if value is not None
    )


# the direction


def _direction(
    used: Sequence[AppraisedWork], pooled: PooledFigure | None, proposed: Proposed | None
) -> ConclusionDirection:
    if not used:
        return "not_enough_data"
    if pooled is not None and 2 * len(pooled.works) >= len(used):
        return side_of(pooled.result, no_effect(pooled.measure))
    sides: Counter[EffectDirection] = Counter()
    for one, people in zip(used, _people(used) or [1] * len(used), strict=True):
        sides[one.direction] += people  # type: ignore[assignment]
    total = sum(sides.values())
    tenable = {side for side, weight in sides.items() if weight >= MIN_SHARE * total}
    if {"higher", "lower"} <= tenable:
        return "uncertain"
    if proposed is not None and proposed.direction in tenable:
        return proposed.direction
    most, weight = sides.most_common(1)[0]
    return most if 2 * weight > total else "uncertain"


def _people(used: Sequence[AppraisedWork]) -> list[float]:
    """The participants of each work; one that does not say how many is taken to have had as many as the
    median of the others. Empty where none says."""
    known = [one.n for one in used if one.n]
    return [one.n or median(known) for one in used] if known else []


# the certainty


def _certainty(
    used: Sequence[AppraisedWork], pool: Pool | None
) -> tuple[tuple[CertaintyReason, ...], Certainty]:
    """The most that the checked fields allow, and why it is not more."""
    if not used:
        return (), "very_low"
    facts = [one.facts for one in used]
    reasons: list[CertaintyReason] = []
    level = CERTAINTIES.index("high")
    if not any(fact.in_people for fact in facts):
        return ("not_in_people",), "very_low"
    if 2 * sum(fact.randomized for fact in facts) < len(facts):
        reasons.append("observational")
        level = CERTAINTIES.index("low")
    people, imprecise = _people(used), 0
    if people and sum(people) < MIN_PARTICIPANTS:
        reasons.append("few_participants")
        imprecise += 2 if sum(people) < FAR_TOO_FEW * MIN_PARTICIPANTS else 1
    numbers = [(one.result, one.effect.measure) for one in used if one.result and one.effect]
    if pool is not None:
        numbers = [(pool.random, pool.measure)]
    if not numbers:
        reasons.append("no_numbers")
        imprecise += 1
    elif all(_is_wide(result, measure) for result, measure in numbers):
        reasons.append("wide_interval")
        imprecise += 1
    if pool is not None and _rests_on_few(pool):
        reasons.append("few_studies")
        imprecise += 1
    level -= min(imprecise, MAX_IMPRECISION)
    sides = {one.direction for one in used}
    if {"higher", "lower"} <= sides:
        reasons.append("opposite")
        level -= 1
    elif pool is not None and pool.i2 >= INCONSISTENT:
        reasons.append("inconsistent")
        level -= 1
    if 2 * sum(fact.direct for fact in facts) < len(facts):
        reasons.append("indirect")
        level -= 1
    if any(fact.under_concern for fact in facts):
        reasons.append("under_concern")
        level -= 1
    if not all(fact.full_text for fact in facts):
        reasons.append("abstracts_only")
        level = min(level, CERTAINTIES.index("moderate"))
    return tuple(reasons), CERTAINTIES[max(level, 0)]


def _rests_on_few(pool: Pool) -> bool:
    """Whether only the normal interval excludes no effect. Hartung and Knapp's says nothing of two
    studies."""
    many = len(pool.rows) >= MIN_STUDIES_FOR_PREDICTION
    return many and _excludes(pool.random, pool) and not _excludes(pool.hartung_knapp, pool)


def _excludes(result: Interval, pool: Pool) -> bool:
    return side_of(result, no_effect(pool.measure)) != "no_difference"


def _is_wide(result: Interval, measure: Measure) -> bool:
    """Whether an interval holds both no effect and a change that matters."""
    if measure in RATIOS:
        low, high = 1 - APPRECIABLE, 1 + APPRECIABLE
    elif measure == "SMD":
        low, high = -APPRECIABLE_SMD, APPRECIABLE_SMD
    else:
        return False
    return result.low <= no_effect(measure) <= result.high and (result.low < low or result.high > high)
