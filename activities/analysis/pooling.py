"""Meta-analysis of effects of one outcome and measure. Deterministic; needs the extra `analysis`.

Inverse variance with a fixed and a random effect (`statsmodels.stats.meta_analysis.combine_effects`),
Cochran's Q, I2 and the between-study variance by Paule and Mandel (the default; Veroniki et al. 2016,
doi:10.1002/jrsm.1164) or DerSimonian and Laird; Hartung and Knapp's interval, not narrower than the normal
one (Roever et al. 2015, doi:10.1186/s12874-015-0091-1); the prediction interval with k-2 degrees of freedom
(Higgins et al. 2009, doi:10.1111/j.1467-985X.2008.00552.x); the estimate without each study; Egger's
regression (1997, doi:10.1136/bmj.315.7109.629) from ten studies on, as Cochrane's handbook advises (section
13.3.5.4).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import NormalDist
from typing import Literal

from activities.analysis.scale import (
    NotUsable,
    Point,
    agrees_with_counts,
    interval,
    no_effect,
    point_of,
    side_of,
    study_interval,
    to_scale,
)
from activities.contracts.effects import (
    Effect,
    Interval,
    LeftOut,
    Measure,
    NotPooled,
    Pool,
    SmallStudyCheck,
    StudyRow,
)
from activities.contracts.errors import NotInstalled

Estimator = Literal["PM", "DL"]
MIN_STUDIES = 2
MIN_STUDIES_FOR_PREDICTION = 3
MIN_STUDIES_FOR_EGGER = 10
LEVEL = 0.95
Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
MAX_LEFT_OUT = 2
"""Studies without which a pool is tried."""


def pool_all(
    effects: Iterable[Effect], estimator: Estimator = "PM"
) -> tuple[tuple[Pool, ...], tuple[NotPooled, ...]]:
    """Pool the effects by outcome and measure; what cannot be pooled is listed with its reason.

    Outcomes are the same when their words are, whatever the case. Of two effects of one work on one outcome
    the first is used, and of two works that report the same participants, effect and interval, which are one
    cohort. Raises NotInstalled without statsmodels.
    """
    groups: dict[tuple[str, Measure], list[Effect]] = {}
    for effect in effects:
        groups.setdefault((" ".join(effect.outcome.casefold().split()), effect.measure), []).append(effect)
    pools: list[Pool] = []
    not_pooled: list[NotPooled] = []
    for (_, measure), members in groups.items():
        studies: list[tuple[Effect, Point]] = []
        seen: set[str] = set()
        for effect in members:
            name = effect.evidence_id or effect.study.casefold()
            try:
                point = point_of(effect)
                if name in seen:
                    raise NotUsable("same_study")  # noqa: TRY301 - listed like every other reason
                if not agrees_with_counts(effect):
                    raise NotUsable("estimate_contradicts_counts")  # noqa: TRY301
            except NotUsable as error:
                not_pooled.append(NotPooled(effect=effect, reason=error.reason))
                continue
            seen.add(name)
            twin = next(
                (pooled_effect for pooled_effect, _ in studies if is_one_cohort(pooled_effect, effect)), None
            )
            if twin is not None:
                not_pooled.append(NotPooled(effect=effect, reason="same_cohort", same_as=twin.study))
                continue
            studies.append((effect, point))
        if len(studies) < MIN_STUDIES:
            not_pooled += [NotPooled(effect=effect, reason="only_one_study") for effect, _ in studies]
            continue
        pools.append(pool(members[0].outcome, measure, studies, estimator))
    return tuple(pools), tuple(not_pooled)


def is_one_cohort(effect: Effect, other: Effect) -> bool:
    """Tell whether two effects of one outcome and measure are the same result published twice.

    The same number of participants (or one that does not say), and the same estimate and interval or the same
    events by group. The studies of the user's own file are as many as the user says."""
    if not (effect.evidence_id and other.evidence_id):
        return False
    if effect.n is not None and other.n is not None and effect.n != other.n:
        return False
    if effect.arms is not None and other.arms is not None:
        return effect.arms == other.arms
    numbers = (effect.estimate, effect.low, effect.high, effect.level)
    return None not in numbers and numbers == (other.estimate, other.low, other.high, other.level)


def pool(
    outcome: str, measure: Measure, studies: Sequence[tuple[Effect, Point]], estimator: Estimator = "PM"
) -> Pool:
    """Pool at least two effects. Raises NotInstalled without statsmodels."""
    fit = _fit([point for _, point in studies], estimator)
    from scipy import stats

    count = len(studies)
    t = float(stats.t.ppf(0.5 + LEVEL / 2, count - 1))
    p_normal = 2 * float(stats.norm.sf(abs(fit.value) / fit.se))
    p_hartung_knapp = 2 * float(stats.t.sf(abs(fit.value) / fit.se_hartung_knapp, count - 1))
    half_width = max(Z * fit.se, t * fit.se_hartung_knapp)
    return Pool(
        outcome=outcome,
        measure=measure,
        rows=tuple(
            StudyRow(effect=effect, result=study_interval(effect, point, LEVEL), weight=weight)
            for (effect, point), weight in zip(studies, fit.weights, strict=True)
        ),
        fixed=interval(measure, fit.fixed, Z * fit.se_fixed),
        random=interval(measure, fit.value, Z * fit.se),
        hartung_knapp=interval(measure, fit.value, half_width),
        p=max(p_normal, p_hartung_knapp),
        q=fit.q,
        q_p=float(stats.chi2.sf(fit.q, count - 1)),
        tau2=fit.tau2,
        i2=max(0.0, (fit.q - (count - 1)) / fit.q) if fit.q > 0 else 0.0,
        prediction=_prediction(measure, fit, count),
        left_out=tuple(_without_each(measure, studies, estimator)),
        small_studies=_egger([point for _, point in studies]) if count >= MIN_STUDIES_FOR_EGGER else None,
    )


def random_effect(measure: Measure, points: Sequence[Point]) -> Interval:
    """Return the random effect of at least two studies with its interval, as a `Pool` has it.

    Raises NotInstalled without statsmodels."""
    fit = _fit(points)
    return interval(measure, fit.value, Z * fit.se)


def is_installed() -> bool:
    return find_spec("statsmodels") is not None


@dataclass(frozen=True, slots=True)
class _Fit:
    """A pool on the pooled scale."""

    fixed: float
    se_fixed: float
    value: float
    se: float
    se_hartung_knapp: float
    tau2: float
    q: float
    weights: tuple[float, ...]


def _fit(points: Sequence[Point], estimator: Estimator = "PM") -> _Fit:
    if not is_installed():
        raise NotInstalled.of_extra("statistics", "analysis")
    import numpy as np
    from statsmodels.stats.meta_analysis import combine_effects

    values, variances = np.asarray([[point.value, point.variance] for point in points]).T
    # its between-study variance may be negative, which means none; the random effect is then the fixed one
    with np.errstate(invalid="ignore", divide="ignore"):
        result = combine_effects(values, variances, method_re="iterated" if estimator == "PM" else "chi2")
    tau2 = max(0.0, float(result.tau2))
    weights = 1 / (variances + tau2)
    share = weights / weights.sum()
    value = float(share @ values)
    se = float(np.sqrt(1 / weights.sum()))
    spread = float(share @ (values - value) ** 2) / (len(points) - 1)
    return _Fit(
        fixed=float(result.mean_effect_fe),
        se_fixed=float(result.sd_eff_w_fe),
        value=value,
        se=se,
        se_hartung_knapp=max(math.sqrt(spread), se),
        tau2=tau2,
        q=float(result.q),
        weights=tuple(float(x) for x in share),
    )


def _prediction(measure: Measure, fit: _Fit, count: int) -> Interval | None:
    if count < MIN_STUDIES_FOR_PREDICTION:
        return None
    from scipy import stats

    t = float(stats.t.ppf(0.5 + LEVEL / 2, count - 2))
    return interval(measure, fit.value, t * math.sqrt(fit.tau2 + fit.se**2))


def leave_out_most(pool: Pool) -> tuple[tuple[str, ...], Interval | None]:
    """Leave out the study that carries a pool most, then one more, until another result follows.

    The one left out is that whose loss brings the interval nearest to the other result.
    """
    null = no_effect(pool.measure)
    side = side_of(pool.random, null)
    rows, left_out, result = [*pool.rows], list[str](), None

    def without(row: StudyRow) -> Interval:
        return random_effect(pool.measure, [point_of(other.effect) for other in rows if other is not row])

    def nearness(row: StudyRow) -> float:
        result = without(row)
        low, high = (
            to_scale(pool.measure, end) - to_scale(pool.measure, null) for end in (result.low, result.high)
        )
        return {"lower": high, "higher": -low}.get(side, max(low, -high))

    while len(left_out) < MAX_LEFT_OUT and len(rows) > MIN_STUDIES:
        row = max(rows, key=nearness)
        left_out, result = [*left_out, row.effect.evidence_id], without(row)
        rows.remove(row)
        if side_of(result, null) != side:
            break
    return tuple(left_out), result


def _without_each(
    measure: Measure, studies: Sequence[tuple[Effect, Point]], estimator: Estimator
) -> Iterator[LeftOut]:
    for place, (effect, _) in enumerate(studies if len(studies) > MIN_STUDIES else ()):
        fit = _fit([point for index, (_, point) in enumerate(studies) if index != place], estimator)
        yield LeftOut(study=effect.study, result=interval(measure, fit.value, Z * fit.se))


def _egger(points: Sequence[Point]) -> SmallStudyCheck | None:
    """None where all studies are equally precise, so that there is nothing to regress on."""
    import numpy as np
    from statsmodels.regression.linear_model import OLS

    values, variances = np.asarray([[point.value, point.variance] for point in points]).T
    errors = np.sqrt(variances)
    if np.allclose(errors, errors[0]):
        return None
    fit = OLS(values / errors, np.column_stack([np.ones_like(errors), 1 / errors])).fit()
    return SmallStudyCheck(intercept=float(fit.params[0]), p=float(fit.pvalues[0]))
