"""Effects as texts state them: a measure with an estimate and its interval. Numbers and their places only; no
words are read but the names of measures."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from activities.contracts.effects import MEASURE_NAMES, Measure
from activities.text.normal_form import normalise
from activities.text.numerals import SPELLED, number_of

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w.]*\d)|-?\d+(?:\.\d+)?|-?\.\d+")
_SPACED = re.compile(r"(?<![\w.,])\d{1,3}(?: \d{3})+(?![\w]|[.,]\d)")
"""`1 234`: thousands behind a space, which may be two numbers as well."""
_POINTS = str.maketrans({"\u00b7": ".", "\u2027": ".", "\u2212": "-", "\u2010": "-", "\u2011": "-"})
_BETWEEN_LIMITS = re.compile(r"\s?%?\s?(?:to|and|[-\u2013\u2014,;:/])?\s?(?:[-+]\s?)?")
"""Between the ends of an interval: `0.49 to 1.06`, `0.49-1.06`, `0.49, 1.06`."""
_SPELLED = re.compile(SPELLED, re.IGNORECASE)
_FEW = re.compile(r"\b(?:(none|no|zero)|(?:one|a single))\b", re.IGNORECASE)
"""Counts of events in words that are no numbers elsewhere: `no deaths`, `one case`."""
_OF_INTERVAL = r"(?:\bCr?I\b|\b(?:confidence|credible|uncertainty) (?:interval|limit)s?\b)"
_INTERVAL = re.compile(_OF_INTERVAL, re.IGNORECASE)
_LEVEL = re.compile(rf"9\d(?:\.\d)?\s?%\s?{_OF_INTERVAL}", re.IGNORECASE)
"""`0.72, 95% CI`: the coverage of the interval, not its end."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])")
MAX_BETWEEN = 80
"""Characters between an estimate and its interval: `0.72 (adjusted for age and sex; 95 % CI 0.49 to 1.06)`
has 41."""
_WORDED: Mapping[str, Measure] = {
    **{name: measure for measure, name in MEASURE_NAMES.items()},
    "relative risk": "RR",
    "rate ratio": "RR",
    "standardized mean difference": "SMD",
}
"""What works call a measure beside its letters."""


@dataclass(frozen=True, slots=True)
class Place:
    value: Decimal
    start: int
    end: int


def plain(text: str) -> str:
    """A text with its points and minus signs in one form."""
    return unicodedata.normalize("NFKC", text.translate(_POINTS)).translate(_POINTS)


def numbers_in(text: str) -> frozenset[Decimal]:
    """Every number of a text by its value: `0·84`, `1,204`, `.05`, `eight`. A minus sign counts where no
    digit or letter stands before it; both readings of `5-7` are kept."""
    spelled = (number_of(match[0]) for match in _SPELLED.finditer(text))
    words = {Decimal(number) for number in spelled if number is not None}
    return frozenset(place.value for place in places_of(plain(text))) | words


def numbers_held(quotes: Iterable[str]) -> frozenset[Decimal]:
    """Every number that sentences state, with the events of a group in which there were none, or one."""
    return frozenset(
        number
        for quote in quotes
        for number in (*numbers_in(quote), *(Decimal(not few[1]) for few in _FEW.finditer(quote)))
    )


def places_of(text: str) -> list[Place]:
    places = []
    for match in _NUMBER.finditer(text):
        value = Decimal(match.group().replace(",", ""))
        places.append(Place(value, match.start(), match.end()))
        before = text[match.start() - 1 : match.start()]
        if value < 0 and before and (before.isalnum() or before in ")]%"):
            places.append(Place(-value, match.start() + 1, match.end()))
    spaced = _SPACED.finditer(text)
    places += [Place(Decimal(one.group().replace(" ", "")), one.start(), one.end()) for one in spaced]
    return places


def one_number(text: str) -> Decimal | None:
    """The number of a text that has exactly one; else None."""
    if _SPACED.fullmatch(spaced := plain(text).strip()):
        return Decimal(spaced.replace(" ", ""))
    numbers = numbers_in(text)
    return next(iter(numbers)) if len(numbers) == 1 else None


def measure_of(text: str) -> Measure | None:
    """The measure of a cell, by its letters or its name; None where it names none or several."""
    measures = measures_in(text.upper()) or measures_in(text)
    return next(iter(measures)) if len(measures) == 1 else None


def measures_in(text: str) -> frozenset[Measure]:
    """The measures that a text names: by capital letters (`aHR` as well), or by name in the singular or
    plural, of which the longest counts."""
    letters = {measure for measure in get_args(Measure) if re.search(rf"\ba?{measure}s?\b", text)}
    words = normalise(text).casefold()
    for name in sorted(_WORDED, key=len, reverse=True):
        named = name.replace(" ratio", "s? ratio")
        words, count = re.subn(rf"\b{named}s?\b", " ", words)
        if count:
            letters.add(_WORDED[name])
    return frozenset(letters)


def _intervals(text: str, places: Iterable[Place]) -> list[tuple[Place, Place]]:
    """Pairs of neighbouring numbers, the first not above the second, with only a sign of an interval between
    them."""
    ordered = sorted(places, key=lambda place: place.start)
    return [
        (low, high)
        for low in ordered
        for high in ordered
        if low.end <= high.start <= low.end + 6
        and low.value <= high.value
        and _BETWEEN_LIMITS.fullmatch(text[low.end : high.start])
        and not _LEVEL.match(text[high.start :])
    ]


def has_interval(quote: str, estimate: Decimal, low: Decimal, high: Decimal) -> bool:
    """Whether a sentence has the estimate beside the interval, on either side of it."""
    text = plain(quote)
    places = places_of(text)
    pairs = [(a, b) for a, b in _intervals(text, places) if (a.value, b.value) == (low, high)]
    return any(
        0 <= a.start - one.end <= MAX_BETWEEN or 0 <= one.start - b.end <= MAX_BETWEEN
        for one in places
        if one.value == estimate
        for a, b in pairs
    )


def sentence_with_effect(text: str) -> str:
    """The first sentence of a text that states a measure with an interval; empty where there is none."""
    for sentence in _SENTENCE_END.split(text):
        clear = plain(sentence)
        if measures_in(sentence) and _INTERVAL.search(clear) and _intervals(clear, places_of(clear)):
            return sentence.strip()
    return ""
