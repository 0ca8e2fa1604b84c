"""Effects as texts state them: a measure with an estimate and its interval. Numbers and their places only; no
words are read but the names of measures, and an outcome's own."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from activities.contracts.effects import MEASURE_NAMES, Measure
from activities.text.normal_form import normalise
from activities.text.numerals import SPELLED, number_of
from activities.text.tokens import terms

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w.]*\d)|-?\d+(?:\.\d+)?|-?\.\d+")
_POINTS = str.maketrans({"\u00b7": ".", "\u2027": ".", "\u2212": "-", "\u2010": "-", "\u2011": "-"})
_BETWEEN_LIMITS = re.compile(r"\s?(?:to|and|[-\u2013\u2014,;:/])?\s?(?:[-+]\s?)?")
"""Between the ends of an interval: `0.49 to 1.06`, `0.49-1.06`, `0.49, 1.06`."""
_SPELLED = re.compile(SPELLED, re.IGNORECASE)
_NONE = re.compile(r"\b(?:none|zero)\b", re.IGNORECASE)
_LEVEL = re.compile(r"9\d(?:\.\d)?\s?%")
"""`0.72, 95% CI`: the coverage of the interval, not its end."""
_INTERVAL = re.compile(
    r"\bC(?:r)?I\b|\b(?:confidence|credible|uncertainty) (?:interval|limit)s?\b", re.IGNORECASE
)
_DIVISION = re.compile(r"[,;]|\band\b")
"""Between what is said of one interval and what is said of the next."""
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
_OF_MEASURES = frozenset(terms(" ".join((*get_args(Measure), *_WORDED))))
"""Words that name no outcome."""


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
    """Every number that sentences state, with the events of a group in which there were none."""
    return frozenset(
        number
        for quote in quotes
        for number in (*numbers_in(quote), *((Decimal(0),) if _NONE.search(quote) else ()))
    )


def places_of(text: str) -> list[Place]:
    places = []
    for match in _NUMBER.finditer(text):
        value = Decimal(match.group().replace(",", ""))
        places.append(Place(value, match.start(), match.end()))
        before = text[match.start() - 1 : match.start()]
        if value < 0 and before and (before.isalnum() or before in ")]%"):
            places.append(Place(-value, match.start() + 1, match.end()))
    return places


def one_number(text: str) -> Decimal | None:
    """The number of a text that has exactly one; else None."""
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


def is_of_other_outcome(quote: str, low: Decimal, high: Decimal, outcome: str) -> bool:
    """Whether a sentence with several intervals names the outcome only beside others of them. An interval's
    own words stand before it where no words follow the last interval, and behind it where none precede the
    first number. Else they may stand on either side: then what stands between two intervals is divided at its
    first comma or "and", unless nothing divides it."""
    text = plain(quote)
    places = places_of(text)
    pairs = [
        pair
        for pair in _intervals(text, places)
        if _INTERVAL.search(text[max(0, pair[0].start - 40) : pair[0].start])
        or (pair[0].value, pair[1].value) == (low, high)
    ]
    wanted = set(terms(outcome))
    if len(pairs) < 2 or not wanted & set(terms(text)):
        return False
    behind_all, before_all = text[pairs[-1][1].end :], text[: min(place.start for place in places)]
    named_behind, named_before = (
        any(term.isalpha() and term not in _OF_MEASURES for term in terms(one))
        for one in (behind_all, before_all)
    )
    edges = [(0, 0), *((a.start, b.end) for a, b in pairs), (len(text), len(text))]
    for (_, start), (a, b), (end, _) in zip(edges, pairs, edges[2:], strict=False):
        if (a.value, b.value) != (low, high):
            continue
        before, behind = _unbracketed(text[start : a.start]), _unbracketed(text[b.end : end])
        if named_before == named_behind:
            before = _DIVISION.split(before, maxsplit=1)[-1] if start else before
            behind = _DIVISION.split(behind, maxsplit=1)[0] if end < len(text) else behind
        elif named_before:
            behind = ""
        else:
            before = ""
        if wanted & set(terms(f"{before} {behind}")):
            return False
    return True


def _unbracketed(text: str) -> str:
    """A text without what ends a bracket that was opened before it: `; P = 0.03) for death`."""
    inside, closing, rest = text.partition(")")
    return rest if closing and "(" not in inside else text


def sentence_with_effect(text: str) -> str:
    """The first sentence of a text that states a measure with an interval; empty where there is none."""
    for sentence in _SENTENCE_END.split(text):
        clear = plain(sentence)
        if measures_in(sentence) and _INTERVAL.search(clear) and _intervals(clear, places_of(clear)):
            return sentence.strip()
    return ""
