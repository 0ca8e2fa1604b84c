"""The verdict of an analysis, from numbers alone; no word that a program prints or a model writes counts.

SUPPORTED: the whole interval lies on the expected side of the value for no effect. REFUTED: the whole
interval lies on the other side. Everything else, and every result without a finite interval, is INCONCLUSIVE.
Where merely a difference is expected, an interval that excludes no effect supports it and nothing refutes it.

A pool's interval is the wider of the normal one and Hartung and Knapp's, and no single study may decide: when
the estimate without one study lies on the other side of no effect, the verdict is INCONCLUSIVE.
"""

import math
from collections.abc import Sequence

from activities.analysis.scale import no_effect
from activities.contracts.effects import Expected, GeneratedAnalysis, Interval, Pool, Verdict

MIN_P_OF_SMALL_STUDIES = 0.10
"""Egger's p below which small studies differ from large ones (Egger et al. 1997)."""
PENALTY = 0.75
"""Factor on the confidence for each reservation: a prediction interval that includes no effect, or small
studies that differ. A convention of this system, no estimate."""


def verdict_of(interval: Interval, null: float, expected: Expected) -> Verdict:
    if not all(math.isfinite(x) for x in (interval.low, interval.high, null)) or interval.low > interval.high:
        return "INCONCLUSIVE"
    below, above = interval.high < null, interval.low > null
    if not (below or above):
        return "INCONCLUSIVE"
    if expected == "different":
        return "SUPPORTED"
    return "SUPPORTED" if below == (expected == "lower") else "REFUTED"


def of_pool(pool: Pool, expected: Expected) -> Verdict:
    null = no_effect(pool.measure)
    side = pool.random.estimate < null
    if any((left.result.estimate < null) != side for left in pool.left_out):
        return "INCONCLUSIVE"
    return verdict_of(pool.hartung_knapp, null, expected)


def confidence_of(pool: Pool) -> float:
    """One minus p of the pool, less a factor for each reservation; of a pool with a verdict."""
    null = no_effect(pool.measure)
    confidence = 1 - pool.p
    if pool.prediction is not None and pool.prediction.low <= null <= pool.prediction.high:
        confidence *= PENALTY
    if pool.small_studies is not None and pool.small_studies.p < MIN_P_OF_SMALL_STUDIES:
        confidence *= PENALTY
    return round(max(0.0, min(1.0, confidence)), 2)


def together(
    pools: Sequence[Pool], generated: GeneratedAnalysis | None, expected: Expected
) -> tuple[Verdict, float | None]:
    """The verdict of a whole analysis: that of its pools when those that are conclusive agree, the first
    one's confidence with it. Without a pool, that of a generated program's interval, without a confidence."""
    conclusive = [(verdict, pool) for pool in pools if (verdict := of_pool(pool, expected)) != "INCONCLUSIVE"]
    if conclusive:
        if len({verdict for verdict, _ in conclusive}) > 1:
            return "INCONCLUSIVE", None
        return conclusive[0][0], confidence_of(conclusive[0][1])
    if pools or generated is None:
        return "INCONCLUSIVE", None
    return of_generated(generated, expected), None


def of_generated(generated: GeneratedAnalysis, expected: Expected) -> Verdict:
    result = interval_of(generated)
    return "INCONCLUSIVE" if result is None else verdict_of(result, generated.null, expected)


def interval_of(generated: GeneratedAnalysis) -> Interval | None:
    """What a generated program returned, where it is an interval around an estimate."""
    if generated.failed or generated.estimate is None or generated.low is None or generated.high is None:
        return None
    result = Interval(estimate=generated.estimate, low=generated.low, high=generated.high)
    return result if result.low <= result.estimate <= result.high else None
