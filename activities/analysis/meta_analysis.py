"""An `Analysis` of effects: pools, verdict, and the sentences that say the numbers.

The verdict of an analysis, from numbers alone; no word that a program prints or a model writes counts.

SUPPORTED: the whole interval lies on the expected side of the value for no effect. REFUTED: the whole
interval lies on the other side. Everything else, and every result without a finite interval, is INCONCLUSIVE.
Where merely a difference is expected, an interval that excludes no effect supports it and nothing refutes it.

A pool's interval is the wider of the normal one and Hartung and Knapp's, and no single study may decide: when
the estimate without one study lies on the other side of no effect, the verdict is INCONCLUSIVE.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from activities.analysis.pooling import pool_all
from activities.analysis.scale import no_effect
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
    Verdict,
)
from activities.messages import N_, _, decimals, ngettext, percent

REASONS: Mapping[NotPooledReason, str] = {
    "no_uncertainty": N_("it reports neither a confidence interval nor events by group"),
    "interval_contradicts_estimate": N_("its estimate does not fit its interval"),
    "impossible_counts": N_("it has more events than participants"),
    "no_event_in_either_group": N_("nobody, or everybody, had the event in both groups"),
    "same_study": N_("the same work already counts for this outcome"),
    "same_cohort": N_("the same participants, effect and interval"),
    "same_trial": N_("the same trial"),
    "retracted": N_("it was retracted"),
    "only_one_study": N_("no other study has the same outcome and measure"),
    "another_measure": N_("more studies use another measure"),
    "estimate_contradicts_counts": N_("its estimate does not fit its events by group"),
    "not_a_ratio": N_("a ratio or its limits are not positive"),
}
UNREAD: Mapping[UnreadReason, str] = {
    "no_sentence": N_("no sentence of the work was cited for it"),
    "not_in_work": N_("its sentence is not in the work"),
    "number_not_in_sentence": N_("its number is not in its sentence"),
    "not_a_number": N_("it is not a single number"),
    "unknown_measure": N_("its measure cannot be pooled"),
    "other_measure": N_("its sentence names another measure"),
    "interval_elsewhere": N_("its sentence does not give the estimate with this interval"),
    "not_read": N_("the work states an effect with an interval, but none was read from it"),
}
VERDICTS: Mapping[Verdict, str] = {
    "SUPPORTED": N_("supported"),
    "REFUTED": N_("refuted"),
    "INCONCLUSIVE": N_("inconclusive"),
}
MISREAD: frozenset[NotPooledReason] = frozenset(
    {"interval_contradicts_estimate", "estimate_contradicts_counts", "impossible_counts", "not_a_ratio"}
)
"""Reasons that show that an effect of a work was not read as the work has it."""
MIN_STUDIES_FOR_TRUST = 5
"""Studies below which the between-study variance is poorly known (Roever et al. 2015)."""
MIN_P_OF_SMALL_STUDIES = 0.10
"""Egger's p below which small studies differ from large ones (Egger et al. 1997)."""
PENALTY = 0.75
"""Factor on the confidence for each reservation: a prediction interval that includes no effect, or small
studies that differ. A convention of this system, no estimate."""


def analyse_effects(
    effects: Iterable[Effect],
    *,
    expected: Expected = "different",
    unread: Sequence[Unread] = (),
) -> Analysis:
    """Pool what can be pooled and give the verdict.

    None where effects that works state are `unread`, since what is missing may say the opposite. Raises
    NotInstalled without statsmodels."""
    pools, not_pooled = pool_all(effects)
    analysis = Analysis(expected=expected, verdict="INCONCLUSIVE", pools=pools, not_pooled=not_pooled)
    return _with_verdict(analysis.replace(unread=tuple(unread)))


def with_generated(analysis: Analysis, generated: GeneratedAnalysis) -> Analysis:
    """Return the analysis with what a generated program returned.

    Its verdict is made again of the numbers."""
    return _with_verdict(analysis.replace(generated=generated))


def _with_verdict(analysis: Analysis) -> Analysis:
    """Return the analysis with its verdict and its sentences."""
    if is_complete(analysis):
        verdict, confidence = overall_verdict(analysis.pools, analysis.generated, analysis.expected)
        analysis = analysis.replace(verdict=verdict, confidence=confidence)
    return with_text(analysis)


def with_text(analysis: Analysis) -> Analysis:
    """Return the analysis with its findings and limitations in the language of messages here."""
    findings = [*_findings(analysis.pools, analysis.expected)]
    limitations = [*_incomplete(analysis.unread, analysis.not_pooled), *_limitations(analysis.pools)]
    if (generated := analysis.generated) is not None:
        if (result := interval_of(generated)) is not None:
            text = _("A generated program: {result}, no effect at {null}: {verdict}.")
            verdict = generated_verdict(generated, analysis.expected)
            null = decimals(f"{generated.null:g}")
            findings.append(
                text.format(result=interval_text(result), null=null, verdict=_(VERDICTS[verdict]))
            )
            limitations.append(_("Nobody has reviewed the generated program; its code is in this report."))
        else:
            reason = generated.failed or _("its numbers are not an interval around its estimate")
            limitations.append(_("The generated program gave no result: {why}.").format(why=reason))
    return analysis.replace(key_findings=tuple(findings), limitations=tuple(limitations))


def is_complete(analysis: Analysis) -> bool:
    """Tell whether every effect that the works state was read, so that a verdict can be given."""
    return not analysis.unread and not any(_is_misread(exclusion) for exclusion in analysis.not_pooled)


def _is_misread(exclusion: NotPooled) -> bool:
    """Tell whether the numbers of a work contradict each other; those of the user's own file do not."""
    return bool(exclusion.effect.evidence_id) and exclusion.reason in MISREAD


def _incomplete(unread: Sequence[Unread], not_pooled: Sequence[NotPooled]) -> Iterator[str]:
    works = {effect.evidence_id for effect in unread}
    works |= {exclusion.effect.evidence_id for exclusion in not_pooled if _is_misread(exclusion)}
    if works:
        text = ngettext(
            "No verdict is given: effects of {count} work could not be read and may point elsewhere.",
            "No verdict is given: effects of {count} works could not be read and may point elsewhere.",
            len(works),
        )
        yield text.format(count=len(works))


def effects_in(analysis: Analysis) -> tuple[Effect, ...]:
    pooled_effects = (row.effect for pool in analysis.pools for row in pool.rows)
    return (*pooled_effects, *(exclusion.effect for exclusion in analysis.not_pooled))


def digits(value: float) -> str:
    """Return a number with three significant digits at most, and two decimals at least below ten.

    One that two decimals would make zero keeps its first digit: an interval that ends at -0.001 does not hold
    zero."""
    if 0 < abs(value) < 0.005:
        return f"{value:.1g}" if abs(value) >= 0.0001 else "0.00"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def plain_interval_text(interval: Interval) -> str:
    """`0.49 (0.34 to 0.70)`."""
    return f"{digits(interval.estimate)} ({digits(interval.low)} to {digits(interval.high)})"


def interval_text(interval: Interval) -> str:
    """Return the same in the language of messages here."""
    text = _("{estimate} ({low} to {high})")
    figures = {name: decimals(digits(getattr(interval, name))) for name in ("estimate", "low", "high")}
    return text.format(**figures)


def range_text(low: float, high: float) -> str:
    """Write a range: `0.34 to 0.70`."""
    return _("{low} to {high}").format(low=decimals(digits(low)), high=decimals(digits(high)))


def _findings(pools: Sequence[Pool], expected: Expected) -> Iterator[str]:
    for pool in pools:
        text = _("{outcome}: pooled {measure} {result}, {count} studies, I² {share}").format(
            outcome=pool.outcome,
            measure=_(MEASURE_NAMES[pool.measure]),
            result=interval_text(pool.hartung_knapp),
            count=len(pool.rows),
            share=percent(pool.i2),
        )
        if (prediction := pool.prediction) is not None:
            ends = {
                "low": decimals(digits(prediction.low)),
                "high": decimals(digits(prediction.high)),
            }
            text += _(", prediction interval {low} to {high}").format(**ends)
        yield f"{text}: {_(VERDICTS[pool_verdict(pool, expected)])}."


def _limitations(pools: Sequence[Pool]) -> Iterator[str]:
    if not pools:
        yield _("No two effects share an outcome and a measure, so nothing was pooled.")
    for pool in pools:
        if len(pool.rows) < MIN_STUDIES_FOR_TRUST:
            text = _("{outcome}: {count} studies are too few to show how much effects vary.")
            yield text.format(outcome=pool.outcome, count=len(pool.rows))
        null = no_effect(pool.measure)
        if pool.prediction is not None and pool.prediction.low <= null <= pool.prediction.high:
            yield _("{outcome}: the prediction interval includes no effect.").format(outcome=pool.outcome)
        if pool.small_studies is not None and pool.small_studies.p < MIN_P_OF_SMALL_STUDIES:
            text = _("{outcome}: small studies differ from large ones (Egger's p {p}).")
            yield text.format(outcome=pool.outcome, p=decimals(f"{pool.small_studies.p:.3f}"))


# the verdict


def verdict_of(interval: Interval, null: float, expected: Expected) -> Verdict:
    if not all(math.isfinite(x) for x in (interval.low, interval.high, null)) or interval.low > interval.high:
        return "INCONCLUSIVE"
    below, above = interval.high < null, interval.low > null
    if not (below or above):
        return "INCONCLUSIVE"
    if expected == "different":
        return "SUPPORTED"
    return "SUPPORTED" if below == (expected == "lower") else "REFUTED"


def pool_verdict(pool: Pool, expected: Expected) -> Verdict:
    null = no_effect(pool.measure)
    side = pool.random.estimate < null
    if any((omission.result.estimate < null) != side for omission in pool.left_out):
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


def overall_verdict(
    pools: Sequence[Pool], generated: GeneratedAnalysis | None, expected: Expected
) -> tuple[Verdict, float | None]:
    """Return the verdict of a whole analysis.

    That of its pools when those that are conclusive agree, the first one's confidence with it. Without a
    pool, that of a generated program's interval, without a confidence."""
    pairs = [(verdict, pool) for pool in pools if (verdict := pool_verdict(pool, expected)) != "INCONCLUSIVE"]
    if pairs:
        if len({verdict for verdict, _ in pairs}) > 1:
            return "INCONCLUSIVE", None
        return pairs[0][0], confidence_of(pairs[0][1])
    if pools or generated is None:
        return "INCONCLUSIVE", None
    return generated_verdict(generated, expected), None


def generated_verdict(generated: GeneratedAnalysis, expected: Expected) -> Verdict:
    result = interval_of(generated)
    return "INCONCLUSIVE" if result is None else verdict_of(result, generated.null, expected)


def interval_of(generated: GeneratedAnalysis) -> Interval | None:
    if generated.failed or generated.estimate is None or generated.low is None or generated.high is None:
        return None
    result = Interval(estimate=generated.estimate, low=generated.low, high=generated.high)
    return result if result.low <= result.estimate <= result.high else None
