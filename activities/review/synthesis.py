"""Synthesis: the decided figures of each outcome, pooled where the protocol asks for it.

An effect of a study is that of its events by group where it has them, else the one that it states. Nothing is
read anew: the figures are those that two extractors agreed on or a person decided. Direction, certainty and
their reasons are computed as for every report (`activities.analysis`); the risk of bias is shown beside them
and lowers nothing by itself, which is for people to weigh.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar, get_args

from pydantic import ValidationError

from activities.analysis.certainty import certainty_of
from activities.analysis.conclusions import by_effects_of
from activities.analysis.figures import COUNTED, INTERVAL, MEANS, REDUCTION, Means, of_means
from activities.analysis.pooling import LEVEL, pool_all
from activities.analysis.scale import NotUsable, no_effect, point_of, side_of, study_interval
from activities.contracts.appraisal import (
    AppraisedWork,
    Conclusion,
    EffectDirection,
    PooledFigure,
    WorkFacts,
)
from activities.contracts.effects import Arms, Effect, Interval, Measure, NotPooled, Pool
from activities.contracts.errors import NotInstalled
from activities.contracts.evidence import Frozen
from activities.review.extraction import DecidedStudy, figure_id, number_of
from activities.review.protocol import PooledOutcome, ReviewQuestion

F = TypeVar("F", Arms, Means)
BY_COUNTS: frozenset[Measure] = frozenset({"OR", "RR", "RD"})


class Synthesis(Frozen):
    """The conclusion on one outcome."""

    id: str
    conclusion: Conclusion
    pool: Pool | None = None
    not_pooled: tuple[NotPooled, ...] = ()
    without_numbers: tuple[str, ...] = ()
    """Ids of studies that report the outcome without figures that give an effect."""
    not_installed: bool = False
    """The library that pools is missing."""


def synthesise(
    outcome: PooledOutcome,
    question: ReviewQuestion,
    studies: Sequence[DecidedStudy],
    names: Mapping[str, str],
    facts: Mapping[str, WorkFacts],
) -> Synthesis:
    """Put the studies of an outcome together. `names`: what a reader calls each study."""
    works: list[AppraisedWork] = []
    for study in studies:
        name = study.evidence_id
        effect = effect_of(study, outcome, names.get(name, name))
        stated = study.text(figure_id(outcome.id, "direction"))
        if effect is None and not stated:
            continue
        works.append(_appraised(study, outcome, effect, stated, facts.get(name, WorkFacts())))
    pool, listed, missing = None, tuple[NotPooled, ...](), False
    if outcome.pool:
        try:
            pool, listed = _pooled([work.effect for work in works if work.effect])
        except NotInstalled:
            missing = True
    figure = None
    if pool is not None:
        ids = tuple(row.effect.evidence_id for row in pool.rows)
        figure = PooledFigure(measure=pool.measure, result=pool.random, works=ids, i2=pool.i2)
    starts, concerns, certainty = certainty_of(works, pool)
    direction = by_effects_of(works, figure)
    return Synthesis(
        id=outcome.id,
        conclusion=Conclusion(
            outcome=outcome.label,
            group=question.intervention,
            comparator=question.comparator,
            direction=direction,
            by_effects=direction,
            certainty=certainty,
            starts=starts,
            concerns=concerns,
            works=tuple(works),
            pooled=figure,
        ),
        pool=pool,
        not_pooled=listed,
        without_numbers=tuple(work.evidence_id for work in works if work.effect is None),
        not_installed=missing,
    )


def effect_of(study: DecidedStudy, outcome: PooledOutcome, name: str) -> Effect | None:
    """Return the effect of a study on an outcome, on the measure of the protocol where it names one.

    None where its figures give none that can be used.
    """
    numbers = {
        figure: float(number)
        for figure in dict.fromkeys((*COUNTED, *MEANS, *INTERVAL))
        if (number := number_of(study.text(figure_id(outcome.id, figure)))) is not None
    }
    stated = study.text(figure_id(outcome.id, "measure"))
    clustered = study.text(figure_id(outcome.id, "clustered")) == "yes"
    arms = None if clustered else _figures(Arms, COUNTED, numbers)
    figures = _stated(numbers, stated, outcome.measure)
    effect = figures
    wanted = outcome.measure or (figures.measure if figures else "RR")
    if arms is not None and wanted in BY_COUNTS:
        effect = Effect(study="", outcome="", measure=wanted, arms=arms)
    elif figures is None and outcome.measure in ("MD", "SMD", None):
        means = _figures(Means, MEANS, numbers)
        if means is not None:
            effect = of_means(means, natural=outcome.measure == "MD")
    if effect is None or (outcome.measure and effect.measure != outcome.measure):
        return None
    people = numbers.get("total", 0) + numbers.get("control_total", 0)
    own_figures = {figure_id(outcome.id, figure) for figure in numbers}
    quotes = (
        value.support[0].quote for value in study.values if value.support and value.field in own_figures
    )
    effect = effect.replace(
        study=name,
        outcome=outcome.label,
        evidence_id=study.evidence_id,
        n=int(people) or None,
        quote=next(quotes, ""),
    )
    try:
        point_of(effect)
    except NotUsable:
        return None
    return effect


def _figures(kind: type[F], names: Sequence[str], numbers: Mapping[str, float]) -> F | None:
    """Make figures of an outcome; None where one is lacking or they cannot be."""
    try:
        return kind.model_validate({name: numbers[name] for name in names})
    except (KeyError, ValidationError):
        return None


def _stated(numbers: Mapping[str, float], stated: str, wanted: Measure | None) -> Effect | None:
    """Return the stated effect in its own measure or, where it names none, in that of the protocol."""
    if any(name not in numbers for name in INTERVAL):
        return None
    estimate, low, high = (numbers[name] for name in INTERVAL)
    if stated == REDUCTION:
        estimate, low, high = (1 - value / 100 for value in (estimate, high, low))
        return Effect(study="", outcome="", measure="RR", estimate=estimate, low=low, high=high)
    measure = next((measure_name for measure_name in get_args(Measure) if measure_name == stated), wanted)
    if measure is None:
        return None
    return Effect(study="", outcome="", measure=measure, estimate=estimate, low=low, high=high)


def _appraised(
    study: DecidedStudy, outcome: PooledOutcome, effect: Effect | None, stated: str, facts: WorkFacts
) -> AppraisedWork:
    result: Interval | None = None
    direction: EffectDirection = next(
        (name for name in get_args(EffectDirection) if name == stated), "uncertain"
    )
    if effect is not None:
        result = study_interval(effect, point_of(effect), LEVEL)
        direction = side_of(result, no_effect(effect.measure))
    prefix = figure_id(outcome.id, "")
    support = dict.fromkeys(
        quote for value in study.values if value.field.startswith(prefix) for quote in value.support
    )
    return AppraisedWork(
        evidence_id=study.evidence_id,
        direction=direction,
        effect=effect,
        result=result,
        n=effect.n if effect else facts.participants,
        facts=facts,
        support=tuple(support),
    )


def _pooled(effects: Sequence[Effect]) -> tuple[Pool | None, tuple[NotPooled, ...]]:
    """Return the pool with the most studies, and all effects that are not in it. Raises NotInstalled."""
    pools, listed = pool_all(effects)
    best = max(pools, key=lambda pool: len(pool.rows), default=None)
    others = [row.effect for pool in pools if pool is not best for row in pool.rows]
    return best, (*listed, *(NotPooled(effect=effect, reason="another_measure") for effect in others))
