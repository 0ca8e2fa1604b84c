"""Conclusions by outcome, from effects whose numbers and sentences were checked. Pure.

The direction is formed by code: that of the pooled estimate where most works could be pooled, else the side
on which most participants are. The certainty is what the checked fields allow
(`activities.analysis.certainty`) and what a model proposes, whichever is less. It may say less than the
numbers and never more, and where nothing could be pooled it weighs between the sides that works report.
"Uncertain" is said where the checked fields alone make the certainty very low, where works are on opposite
sides, and where a model says so; else evidence has a direction, that of very low certainty with the words
that it is very uncertain (Santesso et al. 2020, doi:10.1016/j.jclinepi.2019.10.014).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from activities.analysis.certainty import CERTAINTIES, certainty_of, people_of
from activities.analysis.pooling import LEVEL, pool_all
from activities.analysis.scale import (
    NotUsable,
    agrees_with_counts,
    no_effect,
    point_of,
    side_of,
    study_interval,
)
from activities.analysis.stated import numbers_held
from activities.contracts.appraisal import (
    Appraisal,
    AppraisedWork,
    Certainty,
    Conclusion,
    ConclusionDirection,
    EffectDirection,
    Means,
    PooledFigure,
    Proposed,
    Shares,
    StudyEffect,
    WorkFacts,
)
from activities.contracts.effects import RATIOS, Arms, Effect, Pool
from activities.extras import NotInstalled

MIN_SHARE = 1 / 3
"""The share of the participants of works that could not be pooled from which a model may choose their side.
A convention of this system. A small work that found no difference does not refute one that found one, which
counting works alone would say."""
WITHHELD: tuple[ConclusionDirection, Certainty] = ("uncertain", "very_low")
"""What a model proposes that withholds a direction: uncertain, and as unsure as that is."""
MAX_WORKS = 40
"""Works of one conclusion."""


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
    reasons, certainty = certainty_of(works, pool)
    if certainty == "very_low" and works:
        direction = "uncertain"
    if proposed is not None:
        certainty = min(certainty, proposed.certainty, key=CERTAINTIES.index)
        if proposed.direction == "not_enough_data" or (proposed.direction, certainty) == WITHHELD:
            direction = proposed.direction
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
    if effect is None and one.shares is not None:
        effect = of_shares(one.shares, one.outcome)
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


def of_shares(shares: Shares, outcome: str) -> Effect:
    """Events of percentages, each at most half a participant off."""
    arms = Arms(
        events=round(shares.percent * shares.total / 100),
        total=shares.total,
        control_events=round(shares.control_percent * shares.control_total / 100),
        control_total=shares.control_total,
    )
    return Effect(study="", outcome=outcome, measure="RR", arms=arms)


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
        shares=one.shares if effect and one.effect is None else None,
        total_of_both=one.total_of_both,
        n=people or facts.participants or None,
        facts=facts,
        support=one.support,
    )


def numbers_stand(work: AppraisedWork) -> bool:
    """Whether the direction of a work is that of its numbers, and its events, the percentages that give them,
    or the estimate as stated, are in its quotes. What was computed of means is not looked for."""
    effect = work.effect
    if effect is None:
        return work.result is None
    if work.result != study_interval(effect, point_of(effect), LEVEL):
        return False
    stated_as = opposite(effect) if work.opposite else effect
    if stated_as is None:
        return False
    held = numbers_held(one.quote for one in work.support)
    if work.shares is not None and of_shares(work.shares, "").arms != stated_as.arms:
        return False
    if work.direction != side_of(work.result, no_effect(effect.measure)):
        return False
    stated: list[float | None] = []
    if of_groups := work.shares or stated_as.arms:
        sizes = (of_groups.total, of_groups.control_total)
        figures = of_groups.model_dump(exclude={"total", "control_total"}).values()
        stated += [*figures, *((sum(sizes),) if work.total_of_both else sizes)]
    if effect.measure != "SMD":
        stated += [stated_as.estimate, stated_as.low, stated_as.high]
    return all(any(math.isclose(number, one) for number in held) for one in stated if one is not None)


# the direction


def _direction(
    used: Sequence[AppraisedWork], pooled: PooledFigure | None, proposed: Proposed | None
) -> ConclusionDirection:
    if not used:
        return "not_enough_data"
    if pooled is not None and 2 * len(pooled.works) >= len(used):
        return side_of(pooled.result, no_effect(pooled.measure))
    sides: Counter[EffectDirection] = Counter()
    for one, people in zip(used, people_of(used) or [1] * len(used), strict=True):
        sides[one.direction] += people  # type: ignore[assignment]
    total = sum(sides.values())
    tenable = {side for side, weight in sides.items() if weight >= MIN_SHARE * total}
    if {"higher", "lower"} <= tenable:
        return "uncertain"
    if proposed is not None and proposed.direction in tenable:
        return proposed.direction
    most, weight = sides.most_common(1)[0]
    return most if 2 * weight > total else "uncertain"
