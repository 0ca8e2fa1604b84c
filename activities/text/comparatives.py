"""Questions for what has the greatest or the least of something, more or less than a number, or a total:
`Which plan is the cheapest?`, `Which rooms have more than 20 seats?`, `How many tickets in total?`
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from activities.text.column_values import number_in
from activities.text.tokens import fold

Way = Literal["greatest", "least", "more", "at_least", "less", "at_most", "total"]


@dataclass(frozen=True, slots=True)
class Dimension:
    """What an adjective of degree measures (the dimensional adjectives of Bierwisch and Lang, Dimensional
    Adjectives, Springer 1989, with price, temperature, speed and time)."""

    much: tuple[str, ...]
    little: tuple[str, ...]
    names: tuple[str, ...]
    """Nouns and verbs of what is measured."""
    inverse: tuple[str, ...] = ()
    """Those of which the adjective's thing has little: the fastest run has the least time."""
    signed: bool = False
    """Whether less than nothing is less of it (temperatures)."""
    dates: bool = False
    """Whether days and times of day are compared by it."""


DIMENSIONS = (
    Dimension(("high", "tall"), ("low",), ("height", "altitude", "elevation"), signed=True),
    Dimension(("deep",), ("shallow",), ("depth",)),
    Dimension(("long",), ("short", "brief"), ("length", "duration")),
    Dimension(("wide", "broad"), ("narrow",), ("width", "breadth")),
    Dimension(("thick",), ("thin",), ("thickness",)),
    Dimension(("large", "big", "great"), ("small", "little"), ("size",)),
    Dimension(("heavy",), ("light",), ("weight", "mass", "weigh")),
    Dimension(("old",), ("young",), ("age",)),
    Dimension(("fast", "quick"), ("slow",), ("speed", "velocity"), ("time", "duration")),
    Dimension(("hot", "warm"), ("cold", "cool"), ("temperature",), signed=True),
    Dimension(("expensive", "costly", "dear"), ("cheap",), ("price", "cost", "fee", "charge")),
    Dimension(("late", "new", "recent"), ("early",), (), dates=True),
)
MONEY = DIMENSIONS[-2]
OPPOSITE: Mapping[Way, Way] = {
    "greatest": "least",
    "least": "greatest",
    "more": "less",
    "less": "more",
    "at_least": "at_most",
    "at_most": "at_least",
}
_MOST: Mapping[str, Way] = {
    **dict.fromkeys(("most", "maximum", "maximal", "max"), "greatest"),
    **dict.fromkeys(("least", "fewest", "minimum", "minimal", "min"), "least"),
}
_ORDER: Mapping[str, Way] = {"first": "least", "last": "greatest"}
_LIMITS: tuple[tuple[Way, str], ...] = (
    ("at_least", r"at least|no (?:less|fewer) than|not (?:less|fewer) than"),
    ("at_most", r"at most|no more than|not more than|up to"),
    ("more", r"more than|greater than|over|above|exceed(?:s|ed|ing)?"),
    ("less", r"(?:less|fewer) than|under|below"),
)
_AMOUNT = (
    r"(?P<sign>[$\u20ac\u00a3\u00a5\u20b9]?) ?(?P<number>\d[\d.,]*\d|\d)(?![\d/:-])"
    r"(?P<unit> ?[%\u20ac\u00b0$\u00a3]?)"
)
_ASKS = re.compile(
    r"^\W*(?:(?:and|so|please|in|at|on|of|for|from|by|to|with)\s+)*"
    r"(?:which|what|who|whose|where|when|list|name|show)\b",
    re.IGNORECASE,
)
_ASKS_TOTAL = re.compile(r"^\W*(?:(?:and|so)\s+)?(?:how (?:many|much)|what|which|show|name)\b", re.IGNORECASE)
_TOTAL = re.compile(
    r"\b(?:in (?:total|all)|altogether|overall|(?:grand |sum )?total|all together)\b", re.IGNORECASE
)
_UNSURE = re.compile(
    r"\b(?:not|no|never|nor|except|excluding|without|besides|other|than|second|third|fourth|fifth|top|bottom"
    r"|next|average|mean|median|best|worst|each|every|per|and|or|if|why|how|change[ds]?|increase[ds]?"
    r"|decrease[ds]?|gr[eo]w\w*|ranked?)\b",
    re.IGNORECASE,
)
"""What asks for more than one comparison of one column, or for a sum, a mean or a rank."""
_WORD = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared."""

    way: Way
    words: tuple[str, ...]
    """The other words of the question, folded, in order."""
    beside: int
    """Place among `words` of the one that follows the word that compares."""
    dimension: Dimension | None = None
    limit: float = 0.0
    unit: str = ""
    """Sign at the limit: `%`, a sign of money."""
    ordered: bool = False
    """Whether only days and times can be meant (`first`)."""


def comparison(question: str) -> Comparison | None:
    """What a question compares; None for one that compares nothing, or more than one thing."""
    plain = " ".join(fold(question).split())
    found = _limit(plain) if _ASKS.match(plain) else None
    if found is None and _ASKS.match(plain):
        found = _superlative(plain)
    if found is None and _ASKS_TOTAL.match(plain):
        found = _total(plain)
    return found


def dimension_of(word: str) -> Dimension | None:
    """What a noun or verb measures: of `cost`, `weigh`."""
    return next((d for d in DIMENSIONS if any(word in _forms(name) for name in d.names)), None)


def _total(plain: str) -> Comparison | None:
    parts = _TOTAL.split(plain)
    if len(parts) != 2 or re.search(r"\b(?:not|except|without|average|and|or|than)\b", plain):
        return None
    return Comparison("total", tuple(_WORD.findall(" ".join(parts))), 0)


def _limit(plain: str) -> Comparison | None:
    for way, wording in _all_limits():
        match = re.search(rf"\b(?:{wording}) {_AMOUNT}", plain)
        number = number_in(match["number"]) if match else None
        if match is None or number is None:
            continue
        before, after = plain[: match.start()], plain[match.end() :]
        if _UNSURE.search(before) or _UNSURE.search(after) or re.search(r"\d", before + after):
            return None
        first = tuple(_WORD.findall(before))
        adjective = match.group().split(" than ")[0] if " than " in match.group() else ""
        known = _comparatives().get(adjective)
        sign = (match["sign"] or match["unit"]).strip()
        words = (*first, *_WORD.findall(after))
        return Comparison(way, words, len(first), known[1] if known else None, number, sign)
    return None


def _superlative(plain: str) -> Comparison | None:
    if _UNSURE.search(plain):
        return None
    words = _WORD.findall(plain)
    found: list[tuple[int, int, Way, Dimension | None]] = []
    place = 0
    while place < len(words):
        word, after = words[place], words[place + 1] if place + 1 < len(words) else ""
        if word in _MOST:
            known = _positives().get(after.removesuffix("ly")) or _positives().get(after)
            way = _MOST[word]
            if known:
                way = way if known[0] == "greatest" else "least" if way == "greatest" else "greatest"
                found.append((place, 2, way, known[1]))
                place += 2
                continue
            found.append((place, 1, way, None))
        elif word in _ORDER:
            found.append((place, 1, _ORDER[word], DIMENSIONS[-1]))
        elif word in _superlatives():
            found.append((place, 1, *_superlatives()[word]))
        place += 1
    if len(found) != 1:
        return None
    ((place, length, way, dimension),) = found
    rest = (*words[:place], *words[place + length :])
    ordered = words[place] in _ORDER or dimension is DIMENSIONS[-1]
    return Comparison(way, rest, place, dimension, ordered=ordered)


@cache
def _positives() -> Mapping[str, tuple[Way, Dimension]]:
    much: dict[str, tuple[Way, Dimension]] = {a: ("greatest", d) for d in DIMENSIONS for a in d.much}
    little: dict[str, tuple[Way, Dimension]] = {a: ("least", d) for d in DIMENSIONS for a in d.little}
    return much | little


@cache
def _superlatives() -> Mapping[str, tuple[Way, Dimension]]:
    return {_graded(adjective, "est"): known for adjective, known in _positives().items()}


@cache
def _comparatives() -> Mapping[str, tuple[Way, Dimension]]:
    return {_graded(adjective, "er"): known for adjective, known in _positives().items()}


@cache
def _all_limits() -> tuple[tuple[Way, str], ...]:
    graded: list[tuple[Way, str]] = [
        ("more" if way == "greatest" else "less", f"{adjective} than")
        for adjective, (way, _) in _comparatives().items()
    ]
    return (*_LIMITS, *graded)


def _graded(adjective: str, ending: str) -> str:
    """`cheapest`, `largest`, `heaviest`, `biggest`: the spelling of English comparison."""
    if adjective.endswith("e"):
        return adjective + ending[1:]
    if adjective.endswith("y"):
        return f"{adjective[:-1]}i{ending}"
    if re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", adjective):
        return adjective + adjective[-1] + ending
    return adjective + ending


@cache
def _forms(name: str) -> frozenset[str]:
    return frozenset({name, f"{name}s", f"{name}d" if name.endswith("e") else f"{name}ed"})
