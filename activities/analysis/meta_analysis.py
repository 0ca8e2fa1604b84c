"""An `Analysis` of effects: pools, verdict, and the sentences that say the numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from activities.analysis.pooling import pool_all
from activities.analysis.scale import no_effect
from activities.analysis.verdict import (
    MIN_P_OF_SMALL_STUDIES,
    interval_of,
    of_generated,
    of_pool,
    together,
)
from activities.contracts.effects import (
    MEASURE_NAMES,
    Analysis,
    Effect,
    Expected,
    GeneratedAnalysis,
    Interval,
    NotPooled,
    NotPooledReason,
    Pool,
    Unread,
    UnreadReason,
)
from activities.plural import plural

REASONS: Mapping[NotPooledReason, str] = {
    "no_uncertainty": "it has neither an interval nor events by group",
    "interval_contradicts_estimate": "its estimate does not fit its interval",
    "impossible_counts": "it has more events than participants",
    "no_event_in_either_group": "neither group, or everybody in both, had the event",
    "same_study": "the same work already counts for this outcome",
    "same_cohort": "the same participants, effect and interval",
    "only_one_study": "no other study has the same outcome and measure",
    "another_measure": "more studies have another measure",
    "estimate_contradicts_counts": "its estimate does not fit its events by group",
    "not_a_ratio": "a ratio or its limits are not positive",
}
UNREAD: Mapping[UnreadReason, str] = {
    "no_sentence": "no sentence of the work was named for it",
    "not_in_work": "its sentence is not in the work",
    "number_not_in_sentence": "its number is not in its sentence",
    "not_a_number": "it is no single number",
    "unknown_measure": "its measure is none that can be pooled",
    "other_measure": "its sentence names another measure",
    "interval_elsewhere": "its sentence does not have the estimate with this interval",
    "not_read": "the work states an effect with its interval, and none was read from it",
}
MISREAD: frozenset[NotPooledReason] = frozenset(
    {"interval_contradicts_estimate", "estimate_contradicts_counts", "impossible_counts", "not_a_ratio"}
)
"""Reasons that show that an effect of a work was not read as the work has it."""
MIN_STUDIES_FOR_TRUST = 5
"""Studies below which the between-study variance is poorly known (Roever et al. 2015)."""


def analyse_effects(
    effects: Iterable[Effect],
    *,
    expected: Expected = "different",
    unread: Sequence[Unread] = (),
) -> Analysis:
    """Pool what can be pooled and give the verdict; none where effects that works state are `unread`, since
    what is missing may say the opposite. Raises NotInstalled without statsmodels."""
    pools, not_pooled = pool_all(effects)
    verdict, confidence = together(pools, None, expected)
    analysis = Analysis(
        expected=expected,
        verdict=verdict,
        confidence=confidence,
        pools=pools,
        not_pooled=not_pooled,
        unread=tuple(unread),
        key_findings=tuple(_findings(pools, expected)),
        limitations=(*_incomplete(unread, not_pooled), *_limitations(pools)),
    )
    if not is_complete(analysis):
        analysis = analysis.replace(verdict="INCONCLUSIVE", confidence=None)
    return analysis


def with_generated(analysis: Analysis, generated: GeneratedAnalysis) -> Analysis:
    """The analysis with what a generated program returned; its verdict is made again of the numbers."""
    verdict, confidence = together(analysis.pools, generated, analysis.expected)
    if not is_complete(analysis):
        verdict, confidence = "INCONCLUSIVE", None
    own = of_generated(generated, analysis.expected)
    findings, limitations = analysis.key_findings, analysis.limitations
    interval = interval_of(generated)
    if interval is not None:
        text = f"A generated program: {shown_interval(interval)}, no effect at {generated.null:g}: {own}."
        findings = (*findings, text)
        limitations = (*limitations, "Nobody has reviewed the generated program; its code is in this report.")
    else:
        failed = generated.failed or "its numbers are no interval around its estimate"
        limitations = (*limitations, f"The generated program has no result: {failed}.")
    return analysis.replace(
        verdict=verdict,
        confidence=confidence,
        generated=generated,
        key_findings=findings,
        limitations=limitations,
    )


def is_complete(analysis: Analysis) -> bool:
    """Whether every effect that the works were seen to state was read, so that a verdict can be given."""
    return not analysis.unread and not any(_is_misread(one) for one in analysis.not_pooled)


def _is_misread(one: NotPooled) -> bool:
    """Whether the numbers of a work contradict each other; those of the user's own file are as they are."""
    return bool(one.effect.evidence_id) and one.reason in MISREAD


def _incomplete(unread: Sequence[Unread], not_pooled: Sequence[NotPooled]) -> Iterator[str]:
    works = {one.evidence_id for one in unread}
    works |= {one.effect.evidence_id for one in not_pooled if _is_misread(one)}
    if works:
        count = plural(len(works), "work")
        yield f"No verdict is given: effects of {count} could not be read, and they may say otherwise."
    for one in unread:
        cell = f' ({one.column} "{one.text}")' if one.text else ""
        yield f"Left out, {one.study}{cell}: {UNREAD[one.reason]}."


def effects_in(analysis: Analysis) -> tuple[Effect, ...]:
    """Every effect of an analysis, pooled or not."""
    pooled = (row.effect for pool in analysis.pools for row in pool.rows)
    return (*pooled, *(one.effect for one in analysis.not_pooled))


def shown(value: float) -> str:
    """A number with three significant digits at most, and two decimals at least below ten. One that two
    decimals would make zero keeps its first digit: an interval that ends at -0.001 does not hold zero."""
    if 0 < abs(value) < 0.005:
        return f"{value:.1g}" if abs(value) >= 0.0001 else "0.00"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def shown_interval(interval: Interval) -> str:
    """`0.49 (0.34 to 0.70)`."""
    return f"{shown(interval.estimate)} ({shown(interval.low)} to {shown(interval.high)})"


def _findings(pools: Sequence[Pool], expected: Expected) -> Iterator[str]:
    for pool in pools:
        text = (
            f"{pool.outcome}: pooled {MEASURE_NAMES[pool.measure]} {shown_interval(pool.hartung_knapp)} "
            f"of {len(pool.rows)} studies, I\u00b2 {pool.i2:.0%}"
        )
        if pool.prediction is not None:
            text += f", prediction interval {shown(pool.prediction.low)} to {shown(pool.prediction.high)}"
        yield f"{text}: {of_pool(pool, expected)}."


def _limitations(pools: Sequence[Pool]) -> Iterator[str]:
    if not pools:
        yield "No two effects share an outcome and a measure, so nothing was pooled."
    for pool in pools:
        if len(pool.rows) < MIN_STUDIES_FOR_TRUST:
            yield f"{pool.outcome}: {len(pool.rows)} studies say little about the variation between studies."
        null = no_effect(pool.measure)
        if pool.prediction is not None and pool.prediction.low <= null <= pool.prediction.high:
            yield f"{pool.outcome}: the prediction interval includes no effect."
        if pool.small_studies is not None and pool.small_studies.p < MIN_P_OF_SMALL_STUDIES:
            p = f"{pool.small_studies.p:.3f}"
            yield f"{pool.outcome}: small studies differ from large ones (Egger's p {p})."
