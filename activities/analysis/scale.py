"""An effect as a value and a variance on the scale that is pooled: logarithms for ratios.

From events by group where they are given (`statsmodels.stats.meta_analysis.effectsize_2proportions` has the
same formulas; they are written out here because a hazard ratio has none and each reason is named), else from
the interval, assumed normal on that scale. A group without events, or with nothing but events, gets 0.5 added
to each cell (Gart and Zweifel 1967), as RevMan and metafor do; a risk difference needs that for its variance
alone, where both groups are such.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

from activities.contracts.appraisal import EffectDirection
from activities.contracts.effects import BY_COUNTS, RATIOS, Arms, Effect, Interval, Measure, NotPooledReason

CORRECTION = 0.5
MAX_ASYMMETRY = 0.25
"""How far the estimate may lie from the middle of its interval, as a share of the interval's width on the
pooled scale: rounding of small printed numbers stays below; exchanged or misread numbers do not."""
MAX_DISAGREEMENT = 2.0
"""Standard errors by which a printed estimate may lie from that of the counts: an adjusted estimate differs a
little, a misread one more."""


@dataclass(frozen=True, slots=True)
class Point:
    value: float
    variance: float


class NotUsable(Exception):
    def __init__(self, reason: NotPooledReason) -> None:
        super().__init__(reason)
        self.reason: NotPooledReason = reason


def point_of(effect: Effect) -> Point:
    """Return the effect on the pooled scale.

    Raises NotUsable."""
    if (arms := _counted_arms(effect)) is not None:
        return _point_of_counts(effect.measure, arms)
    return _point_of_interval(effect)


def study_interval(effect: Effect, point: Point, level: float) -> Interval:
    """Return the effect with its interval of this level.

    As its work states it where the point is from that, so that a reader finds the same digits in the work;
    else computed."""
    estimate, low, high = effect.estimate, effect.low, effect.high
    is_stated = _counted_arms(effect) is None and effect.level == level
    if is_stated and estimate is not None and low is not None and high is not None:
        return Interval(estimate=estimate, low=low, high=high)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    if effect.measure == "RD" and effect.arms and 0 in _cells(effect.arms):
        return _score_interval(effect.arms, z)
    return interval(effect.measure, point.value, z * math.sqrt(point.variance))


def wilson(events: int, total: int, z: float) -> tuple[float, float, float]:
    """Return a share with its score interval (Wilson 1927); `z` of its level, 1.96 for 95 %."""
    share, square = events / total, z * z / total
    half = z * math.sqrt((share * (1 - share) + square / 4) / total)
    low, high = ((share + square / 2 + end) / (1 + square) for end in (-half, half))
    return share, max(low, 0.0), min(high, 1.0)


def _score_interval(arms: Arms, z: float) -> Interval:
    """Return a risk difference with its hybrid score interval (Newcombe 1998, method 10).

    The variance of a group without events is 0, which makes any other interval too narrow."""
    share, low, high = wilson(arms.events, arms.total, z)
    control_share, control_low, control_high = wilson(arms.control_events, arms.control_total, z)
    estimate = share - control_share
    return Interval(
        estimate=estimate,
        low=estimate - math.hypot(share - low, control_high - control_share),
        high=estimate + math.hypot(high - share, control_share - control_low),
    )


def _cells(arms: Arms) -> tuple[int, int, int, int]:
    """Return the people of each group with the event and without it."""
    without = arms.total - arms.events, arms.control_total - arms.control_events
    return arms.events, without[0], arms.control_events, without[1]


def _counted_arms(effect: Effect) -> Arms | None:
    """Return the groups that the point is computed from.

    A hazard ratio and a difference of means have none."""
    return effect.arms if effect.measure in BY_COUNTS else None


def to_scale(measure: Measure, value: float) -> float:
    """Return a value on the pooled scale.

    Raises NotUsable for a ratio that is not positive."""
    if measure not in RATIOS:
        return value
    if value <= 0:
        raise NotUsable("not_a_ratio")
    return math.log(value)


def from_scale(measure: Measure, value: float) -> float:
    """Return a value of the pooled scale on the measure's own."""
    return math.exp(value) if measure in RATIOS else value


def interval(measure: Measure, value: float, half: float) -> Interval:
    """Return an estimate and its interval, on the measure's own scale; `half` is on the pooled one."""
    return Interval(
        estimate=from_scale(measure, value),
        low=from_scale(measure, value - half),
        high=from_scale(measure, value + half),
    )


def no_effect(measure: Measure) -> float:
    return 1.0 if measure in RATIOS else 0.0


def side_of(result: Interval, null: float) -> EffectDirection:
    """Return the side of no effect on which an interval lies."""
    if result.low > null:
        return "higher"
    return "lower" if result.high < null else "no_difference"


def _point_of_counts(measure: Measure, arms: Arms) -> Point:
    if arms.events > arms.total or arms.control_events > arms.control_total:
        raise NotUsable("impossible_counts")
    a, b, c, d = map(float, _cells(arms))
    if measure != "RD" and ((a == 0 and c == 0) or (b == 0 and d == 0)):
        raise NotUsable("no_event_in_either_group")
    if measure == "RD":
        difference = a / (a + b) - c / (c + d)
        if variance := a * b / (a + b) ** 3 + c * d / (c + d) ** 3:
            return Point(difference, variance)
    if 0 in (a, b, c, d):
        a, b, c, d = a + CORRECTION, b + CORRECTION, c + CORRECTION, d + CORRECTION
    n, m = a + b, c + d
    if measure == "OR":
        return Point(math.log(a * d / (b * c)), 1 / a + 1 / b + 1 / c + 1 / d)
    if measure == "RR":
        return Point(math.log((a / n) / (c / m)), 1 / a - 1 / n + 1 / c - 1 / m)
    return Point(difference, a * b / n**3 + c * d / m**3)


def _point_of_interval(effect: Effect) -> Point:
    if effect.estimate is None or effect.low is None or effect.high is None:
        raise NotUsable("no_uncertainty")
    value = to_scale(effect.measure, effect.estimate)
    low, high = to_scale(effect.measure, effect.low), to_scale(effect.measure, effect.high)
    width = high - low
    if width <= 0:
        raise NotUsable("no_uncertainty")
    if not low <= value <= high or abs(value - (low + high) / 2) > MAX_ASYMMETRY * width:
        raise NotUsable("interval_contradicts_estimate")
    z = NormalDist().inv_cdf(0.5 + effect.level / 2)
    return Point(value, (width / (2 * z)) ** 2)


def agrees_with_counts(effect: Effect) -> bool:
    """Tell whether a printed estimate is near that of the counts; true where there is not both."""
    if effect.arms is None or effect.estimate is None or effect.measure not in BY_COUNTS:
        return True
    point = _point_of_counts(effect.measure, effect.arms)
    distance = abs(to_scale(effect.measure, effect.estimate) - point.value)
    return distance <= MAX_DISAGREEMENT * math.sqrt(point.variance)
