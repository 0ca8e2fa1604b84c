"""Conclusions by outcome: a model concludes, and code computes beside it from checked effects. Pure.

The direction is the one that the model proposes. It is refuted where every checked effect that it rests on
excludes no effect on the other side; then the effects decide, and both are shown. Where the model proposes
nothing, it is that of the pooled effect, else the side of most participants. Direction and certainty are
separate: very low certainty adds that the evidence is very uncertain and takes no direction away (Santesso et
al. 2020, doi:10.1016/j.jclinepi.2019.10.014). The certainty is the lower one of what the checked fields allow
(`activities.analysis.certainty`) and what the model proposes.

One set of works counts for direction, size, interval and certainty: the randomised trials where there are
any, else all. An effect stays in the direction in which its work counts it; only the words turn.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from activities.analysis import figures
from activities.analysis.certainty import CERTAINTIES, certainty_of, people_of
from activities.analysis.pooling import LEVEL, MIN_STUDIES, is_installed, leave_out_most, pool_all
from activities.analysis.scale import no_effect, point_of, side_of, study_interval
from activities.contracts.appraisal import (
    Appraisal,
    AppraisedWork,
    Conclusion,
    ConclusionDirection,
    EffectDirection,
    PooledFigure,
    Proposed,
    StudyEffect,
    WorkFacts,
    WorkFigures,
)
from activities.contracts.effects import Effect, Interval, Pool
from activities.contracts.evidence import fields_of

OTHER_SIDE: Mapping[ConclusionDirection, EffectDirection] = {"higher": "lower", "lower": "higher"}
OPEN: tuple[ConclusionDirection, ...] = ("uncertain", "not_enough_data")
"""Conclusions without a direction."""
NEVER_POOLED = "RD"
"""The measure whose numbers are of different scales: shares and percentages."""
MAX_WORKS = 40
"""Works of one conclusion."""


def conclude(appraisal: Appraisal, works: Mapping[str, WorkFacts]) -> tuple[Conclusion, ...]:
    """Return a conclusion for each outcome that was read or proposed.

    `works`: the sound works by id; effects of others count for nothing. Without the statistics library
    nothing is pooled."""
    by_outcome: dict[str, dict[str, StudyEffect]] = {}
    proposals = {_key(proposal.outcome): proposal for proposal in appraisal.proposed}
    for effect in appraisal.effects:
        if effect.evidence_id in works:
            by_outcome.setdefault(_key(effect.outcome), {}).setdefault(effect.evidence_id, effect)
    conclusions = []
    for key in dict.fromkeys((*by_outcome, *proposals)):
        effects = list(by_outcome.get(key, {}).values())[:MAX_WORKS]
        proposal = proposals.get(key)
        subject = proposal if proposal is not None else effects[0]
        units = {_key(effect.unit) for effect in effects if "mean" in effect.figures}
        natural = len(units) == 1 and units != {""}
        studies = [_appraise(effect, works[effect.evidence_id], natural=natural) for effect in effects]
        is_asked = proposal.asked if proposal is not None else not proposals
        names = subject.outcome, subject.group, subject.comparator
        conclusions.append(_conclusion(*names, studies, proposal, is_asked=is_asked))
    return tuple(conclusions)


def recompute(conclusion: Conclusion) -> Conclusion:
    """Return the conclusion that follows from the works it names: a check makes it a second time."""
    names = conclusion.outcome, conclusion.group, conclusion.comparator
    return _conclusion(*names, conclusion.works, conclusion.proposed, is_asked=conclusion.asked)


def _key(outcome: str) -> str:
    return " ".join(outcome.casefold().split())


def _conclusion(
    outcome: str,
    group: str,
    comparator: str,
    works: Sequence[AppraisedWork],
    proposal: Proposed | None,
    *,
    is_asked: bool,
) -> Conclusion:
    trials = any(work.facts.randomized for work in works)
    works = [work.replace(counted=work.facts.randomized or not trials) for work in works]
    counted_works = [work for work in works if work.counted]
    pool, figure = _pool_works(counted_works)
    start, concerns, certainty = certainty_of(counted_works, pool)
    by_effects = by_effects_of(counted_works, figure)
    direction = by_effects
    if proposal is not None:
        certainty = min(certainty, proposal.certainty, key=CERTAINTIES.index)
        if proposal.direction in OPEN or (works and not _refutes(counted_works, proposal.direction)):
            direction = proposal.direction
    return Conclusion(
        outcome=outcome,
        group=group,
        comparator=comparator,
        direction=direction,
        by_effects=by_effects,
        certainty=certainty,
        starts=start,
        concerns=concerns,
        asked=is_asked,
        proposed=proposal,
        works=tuple(works),
        pooled=figure,
    )


def is_refuted(conclusion: Conclusion) -> bool:
    """Tell whether the checked effects took the place of the direction that a model proposed."""
    proposal = conclusion.proposed
    return bool(conclusion.works) and proposal is not None and proposal.direction != conclusion.direction


# the works


def _appraise(study_effect: StudyEffect, facts: WorkFacts, *, natural: bool) -> AppraisedWork:
    quotes = [support.quote for support in study_effect.support]
    numbers = figures.read_effect(
        study_effect.figures,
        quotes,
        study_effect.evidence_id,
        study_effect.outcome,
        clustered=study_effect.clustered,
        natural=natural,
    )
    effect, result = numbers.effect, None
    if effect is not None:
        result = study_interval(effect, point_of(effect), LEVEL)
    fields = fields_of(WorkFigures, study_effect)
    if effect and result:
        fields["direction"] = _side(effect, result, turned=is_turned(study_effect, effect))
    return AppraisedWork(
        **fields,
        effect=effect,
        result=result,
        p=numbers.p,
        n=numbers.people or facts.participants or None,
        facts=facts.replace(randomized=facts.randomized or study_effect.randomised),
    )


def is_turned(study_effect: StudyEffect | AppraisedWork, effect: Effect | None) -> bool:
    """Tell whether a higher effect is a lower outcome.

    The work counts the opposite, or gives the estimate of the comparator against the group. Events by group
    are of the groups by their names."""
    by_group = effect is not None and (effect.arms is not None or is_of_means(study_effect, effect))
    return study_effect.opposite != (study_effect.reverse and not by_group)


def is_of_means(work: WorkFigures, effect: Effect) -> bool:
    return effect.measure == "SMD" or (effect.measure == "MD" and "estimate" not in work.figures)


def _side(effect: Effect, result: Interval, *, turned: bool) -> EffectDirection:
    side = side_of(result, no_effect(effect.measure))
    return OTHER_SIDE.get(side, side) if turned else side


def numbers_stand(work: AppraisedWork) -> bool:
    """Tell whether effect, interval and direction of a work follow from figures that its quotes have."""
    quotes = [support.quote for support in work.support]
    outcome = work.effect.outcome if work.effect else ""
    numbers = figures.read_effect(
        work.figures,
        quotes,
        work.evidence_id,
        outcome,
        clustered=work.clustered,
        natural=work.effect is not None and work.effect.measure == "MD",
    )
    if numbers.effect != work.effect or numbers.missing:
        return False
    if work.effect is None or work.result is None:
        return work.effect is None and work.result is None
    if work.result != study_interval(work.effect, point_of(work.effect), LEVEL):
        return False
    return work.direction == _side(work.effect, work.result, turned=is_turned(work, work.effect))


# the pool


def is_pool_missing(conclusion: Conclusion) -> bool:
    """Tell whether its works would have been pooled, had the statistics library been there."""
    groups = _poolable_groups(work for work in conclusion.works if work.counted)
    return any(len(members) >= MIN_STUDIES for members in groups) and not is_installed()


def _poolable_groups(works: Iterable[AppraisedWork]) -> list[list[AppraisedWork]]:
    """Group works whose effects can be pooled.

    Of one measure, in one unit and in one direction, and no syntheses, which may hold the others."""
    groups: dict[tuple[object, ...], list[AppraisedWork]] = {}
    for work in works:
        effect = work.effect
        unit = _key(work.unit) if effect is not None and effect.measure == "MD" else ""
        if effect is None or effect.measure == NEVER_POOLED or work.facts.synthesis:
            continue
        if unit or effect.measure != "MD":
            turned = is_turned(work, effect)
            groups.setdefault((effect.measure, unit, work.opposite, turned), []).append(work)
    return list(groups.values())


def _pool_works(works: Sequence[AppraisedWork]) -> tuple[Pool | None, PooledFigure | None]:
    """Return the pool with the most works, where it has at least half of the people.

    None where the library is not installed."""
    groups = _poolable_groups(works) if is_installed() else []
    pools = [
        (pool, members)
        for members in groups
        for pool in pool_all(work.effect for work in members if work.effect)[0]
    ]
    if not pools:
        return None, None
    pool, members = max(pools, key=lambda pair: len(pair[0].rows))
    names = tuple(row.effect.evidence_id for row in pool.rows)
    counts = people_of(works) or [1] * len(works)
    people = {work.evidence_id: count for work, count in zip(works, counts, strict=True)}
    if 2 * sum(people[name] for name in names) < sum(people.values()):
        return None, None
    first = members[0]
    left_out, without = leave_out_most(pool)
    return pool, PooledFigure(
        measure=pool.measure,
        result=pool.random,
        works=names,
        i2=pool.i2,
        left_out=left_out,
        without=without,
        counts=first.counts,
        opposite=first.opposite,
        unit=first.unit if pool.measure == "MD" else "",
        reverse=is_turned(first, first.effect) != first.opposite,
    )


# the direction


def by_effects_of(works: Sequence[AppraisedWork], figure: PooledFigure | None) -> ConclusionDirection:
    """Return the direction of the pooled effect, else the side of most participants.

    Uncertain where no side has most, or where works are on opposite sides."""
    if not works:
        return "not_enough_data"
    if figure is not None:
        side = side_of(figure.result, no_effect(figure.measure))
        return OTHER_SIDE.get(side, side) if figure.opposite != figure.reverse else side
    sides: Counter[EffectDirection] = Counter()
    for work, people in zip(works, people_of(works) or [1] * len(works), strict=True):
        sides[work.direction] += people  # type: ignore[assignment]
    if {"higher", "lower"} <= sides.keys():
        return "uncertain"
    main_side, weight = sides.most_common(1)[0]
    return main_side if 2 * weight > sum(sides.values()) else "uncertain"


def _refutes(works: Sequence[AppraisedWork], direction: ConclusionDirection) -> bool:
    """Tell whether every effect with an interval excludes no effect on the other side."""
    sides = {work.direction for work in works if work.result is not None}
    return bool(sides) and sides == {OTHER_SIDE.get(direction)}
