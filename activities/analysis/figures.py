"""The effect of a work from the figures that a model copied out of its sentences. Pure.

A figure counts where the sentences have it; one that is a sum (`12 + 9`) where they have each part. Nothing
is turned round: an effect stays in the direction in which its work counts it.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from activities.analysis.scale import NotUsable, agrees_with_counts, point_of, study_interval
from activities.contracts.effects import MEASURE_NAMES, Arms, Effect, Interval, Measure
from activities.text.normal_form import normalise
from activities.text.number_index import index_of
from activities.text.numbers import Number, figure_of, figures, read

ARM_FIELDS = ("events", "total", "control_events", "control_total")
SHARES = ("percent", "total", "control_percent", "control_total")
MEANS = ("mean", "sd", "total", "control_mean", "control_sd", "control_total")
INTERVAL = ("estimate", "low", "high")
NUMBERS = tuple(dict.fromkeys((*INTERVAL, *ARM_FIELDS, *SHARES, *MEANS, "se", "control_se", "n", "p")))
FIELDS = ("measure", *NUMBERS)
"""Every field of the figures of a work."""
REDUCTION = "reduction"
"""A measure: the percentage by which a risk or a rate fell, as of the efficacy of a vaccine."""
Z95 = 1.959964
MAX_TO_INTERVAL = 80
"""Characters between an estimate and its interval: `0.72 (adjusted for age and sex; 95 % CI 0.49 to 1.06)`
has 41."""
MAX_WITHIN_INTERVAL = 8
"""Characters between the ends of an interval: `0.49 to 1.06`, `0.49, 1.06`."""
_FEW = re.compile(r"\b(?:(none|no)|single)\b", re.IGNORECASE)
"""Counts of events in words that are no numbers elsewhere: `no deaths`, `a single case`."""
_WORDED: Mapping[str, Measure] = {
    **{name: measure for measure, name in MEASURE_NAMES.items()},
    "relative risk": "RR",
    "rate ratio": "RR",
    "standardized mean difference": "SMD",
}
"""What works call a measure beside its letters."""
_LETTERS = {measure: re.compile(rf"\ba?{measure}s?\b") for measure in get_args(Measure)}
_NAMES = [
    (re.compile(rf"\b{name.replace(' ratio', 's? ratio')}s?\b"), _WORDED[name])
    for name in sorted(_WORDED, key=len, reverse=True)
]
Groups = TypeVar("Groups", Arms, "Means", "Shares")


class Means(BaseModel):
    """Means with standard deviations and participants of two groups."""

    model_config = ConfigDict(frozen=True)

    mean: float
    sd: float = Field(gt=0)
    total: int = Field(ge=2)
    control_mean: float
    control_sd: float = Field(gt=0)
    control_total: int = Field(ge=2)


class Shares(BaseModel):
    """Percentages of two groups that had the outcome, with the participants of each."""

    model_config = ConfigDict(frozen=True)

    percent: float = Field(ge=0, le=100)
    total: int = Field(ge=1)
    control_percent: float = Field(ge=0, le=100)
    control_total: int = Field(ge=1)


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the sentences of a work bear out."""

    effect: Effect | None = None
    people: int | None = None
    p: str = ""
    missing: tuple[str, ...] = ()
    """Fields whose numbers the sentences do not have."""


def numbers_in(quotes: Iterable[str]) -> frozenset[Decimal]:
    """Return every number of sentences, with the events of a group in which there were none, or one."""
    rows = [(index_of(quote).signed, _FEW.finditer(quote)) for quote in quotes]
    return frozenset(n for values, few in rows for n in (*values, *(Decimal(not row[1]) for row in few)))


def measure_of(text: str) -> Measure | None:
    """Return the measure of a cell, by its letters or its name; None where it names none or several."""
    measures = measures_in(text.upper()) or measures_in(text)
    return next(iter(measures)) if len(measures) == 1 else None


def measures_in(text: str) -> frozenset[Measure]:
    """Return the measures that a text names.

    By capital letters (`aHR` as well), or by name in the singular or plural, of which the longest counts."""
    measures = {measure for measure, letters in _LETTERS.items() if letters.search(text)}
    words = normalise(text).casefold()
    for name, measure in _NAMES:
        words, count = name.subn(" ", words)
        if count:
            measures.add(measure)
    return frozenset(measures)


def has_interval(quote: str, estimate: Decimal, low: Decimal, high: Decimal) -> bool:
    """Tell whether a sentence has the estimate beside the interval, on either side of it."""
    numbers = figures(quote)
    spans = [(a.start, b.end) for a, b in pairwise(numbers) if _are_ends(a, b, low, high)]
    spans += [(number.start, number.end) for number in numbers if (low, high) in number.readings]  # 0.49,1.06
    return any(
        0 <= start - number.end <= MAX_TO_INTERVAL or 0 <= number.start - end <= MAX_TO_INTERVAL
        for number in numbers
        if estimate in number.signed
        for start, end in spans
    )


def _are_ends(number: Number, other: Number, low: Decimal, high: Decimal) -> bool:
    return low in number.signed and high in other.signed and other.start - number.end <= MAX_WITHIN_INTERVAL


def states_effect(sentence: str) -> bool:
    has_level = any(number.role == "level" for number in read(sentence).numbers)
    return has_level and len(figures(sentence)) > 1 and bool(measures_in(sentence))


def read_effect(
    figures: Mapping[str, str],
    quotes: Sequence[str],
    name: str,
    outcome: str,
    *,
    clustered: bool,
    natural: bool = False,
) -> Numbers:
    """Return the numbers of a work. `natural`: the difference of its means in their unit.

    Events give a risk ratio whatever the work computed of them, so that works can be pooled; not those of a
    clustered trial, whose own interval allows for the clusters, and not those of groups that are taken as
    halves where the work has an interval. Means give a difference where the work states the size of a
    group."""
    quote_numbers = numbers_in(quotes)
    numbers: dict[str, Decimal] = {}
    missing: list[str] = []
    for field in NUMBERS:
        if text := figures.get(field, "").strip():
            number = _sum(text, quote_numbers)
            if number is None:
                missing.append(field)
            else:
                numbers[field] = number
    n = numbers.get("n")
    n = n if n is not None and n == int(n) and n >= 1 else None
    effect = _effect_in_quotes(figures.get("measure", ""), numbers, quotes)
    if effect is None and all(field in numbers for field in INTERVAL):
        missing.append("estimate")
    sizes = _sizes(numbers, n) if effect is None else {}
    halves = bool(sizes) and not {"total", "control_total"} & numbers.keys()
    numbers |= sizes
    arms = groups_of(Arms, numbers, ARM_FIELDS)
    shares = groups_of(Shares, numbers, SHARES) if effect is None and arms is None else None
    arms = _arms_of_shares(shares) if shares else arms
    if arms is not None and not clustered:
        effect = _with_arms(arms, effect)
    elif effect is None and not halves and (means := groups_of(Means, _with_deviations(numbers), MEANS)):
        effect = effect_of_means(means, natural=natural)
    total, control = numbers.get("total"), numbers.get("control_total")
    people = int(total + control) if total and control else int(n) if n else None
    if effect is not None:
        effect = effect.replace(study=name, evidence_id=name, outcome=outcome, n=people)
    return Numbers(
        effect=effect if effect is not None and _is_usable(effect) else None,
        people=people,
        p=figures.get("p", "").strip() if "p" in numbers else "",
        missing=tuple(dict.fromkeys(missing)),
    )


def effect_of_means(means: Means, *, natural: bool = False) -> Effect:
    """Return Hedges' standardised mean difference with its interval (Cochrane's handbook, 6.5.1 and 10.3.1).

    Means of different scales can be pooled. `natural`: return the mean difference in the unit of the means
    (6.5.1.1)."""
    n, m = means.total, means.control_total
    if natural:
        difference = means.mean - means.control_mean
        half = Z95 * math.sqrt(means.sd**2 / n + means.control_sd**2 / m)
        return _effect("MD", difference, difference - half, difference + half)
    pooled_sd = math.sqrt(((n - 1) * means.sd**2 + (m - 1) * means.control_sd**2) / (n + m - 2))
    correction = 1 - 3 / (4 * (n + m) - 9)
    value = correction * (means.mean - means.control_mean) / pooled_sd
    half = Z95 * math.sqrt((n + m) / (n * m) + value**2 / (2 * (n + m - 3.94)))
    return _effect("SMD", value, value - half, value + half)


def interval_of_studies(measure: Measure, numbers: Sequence[float], size: int) -> Interval:
    """Return a measure of two groups with its 95 % interval, or that of several studies, pooled.

    `size`: how many numbers a study has. Raises NotUsable, ValueError and NotInstalled."""
    studies = [_effect_of(measure, numbers[start : start + size]) for start in range(0, len(numbers), size)]
    if len(studies) == 1:
        (effect,) = studies
        return study_interval(effect, point_of(effect), effect.level)
    from activities.analysis.pooling import random_effect  # a part that few texts ask for

    return random_effect(measure, [point_of(effect) for effect in studies])


def _effect_of(measure: Measure, numbers: Sequence[float]) -> Effect:
    """Return a measure of two groups (Cochrane's handbook, 6.4 and 6.5.1.1).

    Of a mean difference the mean, standard deviation and participants of each group, of any other its events
    and participants. A group without events, or with nothing but events, gets 0.5 added to each cell. Raises
    NotUsable where no group, or each whole group, had an event, and ValueError for groups that cannot be."""
    if measure == "MD":
        means = Means.model_validate(dict(zip(MEANS, numbers, strict=True)))
        return effect_of_means(means, natural=True)
    arms = Arms.model_validate(dict(zip(ARM_FIELDS, numbers, strict=True)))
    return Effect(study="", outcome="", measure=measure, arms=arms)


def _sum(text: str, numbers: frozenset[Decimal]) -> Decimal | None:
    """Return the number of a figure, or the sum that it shows, where every part is among these."""
    parts = [value_of(part, numbers) for part in text.split("+")]
    return None if None in parts else sum(filter(None, parts), Decimal(0))


def value_of(text: str, numbers: frozenset[Decimal]) -> Decimal | None:
    """Return the value of a text that has one number, as it is among these."""
    number = figure_of(text)
    return next((value for value in number.signed if value in numbers), None) if number else None


def _effect_in_quotes(measure: str, numbers: Mapping[str, Decimal], quotes: Sequence[str]) -> Effect | None:
    """Return the estimate with its interval, where a sentence has them beside each other."""
    effect = effect_of_interval(measure, numbers)
    is_beside = effect and any(has_interval(quote, *(numbers[name] for name in INTERVAL)) for quote in quotes)
    return effect if is_beside else None


def effect_of_interval(measure: str, numbers: Mapping[str, Decimal]) -> Effect | None:
    """Return the effect of an estimate with its interval; None without them, or where no measure is named."""
    if any(field not in numbers for field in INTERVAL):
        return None
    estimate, low, high = (numbers[field] for field in INTERVAL)
    kind = measure_of(measure)
    if measure.strip().casefold() == REDUCTION:
        kind = "RR"
        estimate, low, high = (1 - number / 100 for number in (estimate, high, low))
    return _effect(kind, float(estimate), float(low), float(high)) if kind else None


def _effect(measure: Measure, estimate: float, low: float, high: float) -> Effect:
    return Effect(study="", outcome="", measure=measure, estimate=estimate, low=low, high=high)


def _with_arms(arms: Arms, effect: Effect | None) -> Effect:
    """Return the risk ratio of events, unless the work's own numbers contradict them."""
    by_events = Effect(study="", outcome="", measure="RR", arms=arms)
    if effect is None or effect.measure in ("HR", "MD", "SMD"):
        return by_events
    with_arms = effect.replace(arms=arms)
    swapped_arms = Arms(
        events=arms.control_events,
        total=arms.control_total,
        control_events=arms.events,
        control_total=arms.total,
    )
    try:
        is_same = agrees_with_counts(with_arms) or agrees_with_counts(effect.replace(arms=swapped_arms))
    except NotUsable:
        return by_events
    return by_events if is_same else with_arms


def _is_usable(effect: Effect) -> bool:
    try:
        point_of(effect)
        return agrees_with_counts(effect)
    except NotUsable:
        return False


def _arms_of_shares(shares: Shares) -> Arms:
    return Arms(
        events=round(shares.percent * shares.total / 100),
        total=shares.total,
        control_events=round(shares.control_percent * shares.control_total / 100),
        control_total=shares.control_total,
    )


def _sizes(numbers: Mapping[str, Decimal], n: Decimal | None) -> dict[str, Decimal]:
    """Return the sizes of two groups whose work gives their numbers and the participants of both together.

    What one size leaves for the other, or halves. Empty where it gives both sizes, or nothing to compute
    with."""
    total, control = numbers.get("total"), numbers.get("control_total")
    pairs = (("events", "control_events"), ("percent", "control_percent"), ("mean", "control_mean"))
    has_pair = any(name in numbers and other in numbers for name, other in pairs)
    if n is None or not has_pair or (total is not None and control is not None):
        return {}
    size = total if total is not None else n - control if control is not None else Decimal(int(n) // 2)
    return {"total": size, "control_total": n - size}


def _with_deviations(numbers: Mapping[str, Decimal]) -> Mapping[str, Decimal]:
    """Return the standard deviations of means with standard errors (Cochrane's handbook, 6.5.2.2)."""
    deviations: dict[str, Decimal] = {}
    for error, deviation, total in (("se", "sd", "total"), ("control_se", "control_sd", "control_total")):
        if deviation not in numbers and error in numbers and numbers.get(total, 0) > 0:
            deviations[deviation] = numbers[error] * Decimal(math.sqrt(numbers[total]))
    return {**numbers, **deviations}


def groups_of(kind: type[Groups], numbers: Mapping[str, Decimal], fields: Sequence[str]) -> Groups | None:
    """Return a model of these fields; None where one is missing or no such value is possible."""
    if any(field not in numbers for field in fields):
        return None
    try:
        return kind.model_validate({field: numbers[field] for field in fields})
    except ValidationError:
        return None
