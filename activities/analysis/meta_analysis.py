"""From effects to an `Analysis`: pools, verdict, and the sentences that say the numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from activities.analysis.pooling import Estimator, pool_all
from activities.analysis.scale import no_effect
from activities.analysis.types import (
    MEASURE_NAMES,
    Analysis,
    Effect,
    Expected,
    GeneratedAnalysis,
    Interval,
    NotPooledReason,
    Pool,
)
from activities.analysis.verdict import (
    MIN_P_OF_SMALL_STUDIES,
    interval_of,
    of_generated,
    of_pool,
    together,
)

REASONS: Mapping[NotPooledReason, str] = {
    "no_uncertainty": "it has neither an interval nor events by group",
    "interval_contradicts_estimate": "its estimate does not fit its interval",
    "impossible_counts": "it has more events than participants",
    "no_event_in_either_group": "neither group, or everybody in both, had the event",
    "same_study": "the same work already counts for this outcome",
    "only_one_study": "no other study has the same outcome and measure",
    "estimate_contradicts_counts": "its estimate does not fit its events by group",
    "not_a_ratio": "a ratio or its limits are not positive",
}
MIN_STUDIES_FOR_TRUST = 5
"""Studies below which the between-study variance is poorly known (Roever et al. 2015)."""


def analyse_effects(
    effects: Iterable[Effect],
    *,
    expected: Expected = "different",
    estimator: Estimator = "PM",
    generated: GeneratedAnalysis | None = None,
) -> Analysis:
    """Pool what can be pooled and give the verdict. Raises NotInstalled without statsmodels."""
    pools, not_pooled = pool_all(effects, estimator)
    verdict, confidence = together(pools, None, expected)
    analysis = Analysis(
        expected=expected,
        verdict=verdict,
        confidence=confidence,
        pools=pools,
        not_pooled=not_pooled,
        key_findings=tuple(_findings(pools, expected)),
        limitations=tuple(_limitations(pools)),
    )
    return analysis if generated is None else with_generated(analysis, generated)


def with_generated(analysis: Analysis, generated: GeneratedAnalysis) -> Analysis:
    """The analysis with what a generated program returned; its verdict is made again of the numbers."""
    verdict, confidence = together(analysis.pools, generated, analysis.expected)
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
    return analysis.model_copy(
        update={
            "verdict": verdict,
            "confidence": confidence,
            "generated": generated,
            "key_findings": findings,
            "limitations": limitations,
        }
    )


def effects_in(analysis: Analysis) -> tuple[Effect, ...]:
    """Every effect of an analysis, pooled or not."""
    pooled = (row.effect for pool in analysis.pools for row in pool.rows)
    return (*pooled, *(one.effect for one in analysis.not_pooled))


def shown(value: float) -> str:
    """A number with three significant digits at most, and two decimals at least below ten."""
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
