"""The values of a column of a table as numbers that can be compared: counts, shares, sums, measures, days and
times of day. A column whose cells are not surely of one kind and one unit has none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from activities.text.tokens import fold, stem

Kind = Literal["number", "day", "time"]
LEAST_VALUES = 2
"""Values a column has at least for one to be greater than another."""
_NONE = re.compile(r"(?:n/?a|[-\u2013\u2014?.]+|none|unknown|tba|tbd)", re.IGNORECASE)
"""A cell that says that it has no value."""
_NUMBER = re.compile(
    r"(?P<before>[$\u20ac\u00a3\u00a5\u20b9]|[A-Z]{3})? ?(?P<sign>[+-]?) ?"
    r"(?P<number>\d[\d.,' ]*\d|\d) ?(?P<after>[^\d]{0,30})"
)
_ENGLISH = re.compile(r"\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_CONTINENTAL = re.compile(r"\d{1,3}(?:[.' ]\d{3})+(?:,\d+)?|\d+(?:,\d+)?")
_MAY_BE_THOUSANDS = re.compile(r"\d{1,3}\.\d{3}")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_ISO_DAY = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")
_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WRITTEN_DAY = re.compile(
    r"(\d{1,2})\.? ([a-z]{3,9})\.?,? (\d{4})|([a-z]{3,9})\.? (\d{1,2}),? (\d{4})", re.IGNORECASE
)
_TIME = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")


@dataclass(frozen=True, slots=True)
class Column:
    """The values of a column."""

    kind: Kind
    unit: str
    """As the cells have it, its words in their comparison forms; empty for none."""
    values: tuple[float | None, ...]
    """One a row; None for a cell without a value. Of days their ordinal, of times their seconds."""
    years: bool = False
    """Whether every number may be a year."""


def read_column(cells: Sequence[str]) -> Column | None:
    """The values of cells, of which an empty one has none; None where they are not surely comparable."""
    texts = ["" if _NONE.fullmatch(cell.strip()) else cell.strip() for cell in cells]
    said = [text for text in texts if text]
    if len(said) < LEAST_VALUES:
        return None
    for kind, read in (("day", _day), ("time", _time)):
        found = [read(text) if text else None for text in texts]
        if sum(value is not None for value in found) == len(said):
            return _times(said, found) if kind == "time" else Column("day", "", tuple(found))
    return _numbers(texts)


def number_in(text: str) -> float | None:
    """A number as a question has it: `1,200`, `2.5`."""
    return _english(text) if _ENGLISH.fullmatch(text) else None


def unit_of(text: str) -> str:
    """The comparison form of a unit."""
    return " ".join(stem(word) for word in fold(text).split())


def _numbers(texts: Sequence[str]) -> Column | None:
    found = [_NUMBER.fullmatch(text.replace("\u2212", "-").replace("\u00a0", " ")) for text in texts]
    if any(text and match is None for text, match in zip(texts, found, strict=True)):
        return None
    matches = [match for match in found if match]
    units = {unit_of(f"{match['before'] or ''} {match['after']}") for match in matches}
    digits = [match["number"] for match in matches]
    if len(units) > 1:
        return None
    read = _english
    if not all(map(_ENGLISH.fullmatch, digits)):
        if not all(map(_CONTINENTAL.fullmatch, digits)):
            return None
        read = _continental
    elif any(map(_MAY_BE_THOUSANDS.fullmatch, digits)) and not all("." in number for number in digits):
        return None  # 1.204 beside 412 may be either
    values = tuple(
        (-1 if match["sign"] == "-" else 1) * read(match["number"]) if match else None for match in found
    )
    return Column("number", units.pop(), values, all(map(_YEAR.fullmatch, digits)))


def _english(number: str) -> float:
    return float(re.sub(r"[,' ]", "", number))


def _continental(number: str) -> float:
    return float(re.sub(r"[.' ]", "", number).replace(",", "."))


def _times(said: Sequence[str], found: Sequence[float | None]) -> Column | None:
    """Times, where all have hours alone or all have seconds as well."""
    return Column("time", "", tuple(found)) if len({text.count(":") for text in said}) == 1 else None


def _time(text: str) -> float | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    return int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3] or 0)


def _day(text: str) -> float | None:
    if match := _ISO_DAY.fullmatch(text):
        return _ordinal(match[1], match[2], match[3] or "1")
    if match := _DAY_FIRST.fullmatch(text):
        return _ordinal(match[3], match[2], match[1])
    if match := _WRITTEN_DAY.fullmatch(text):
        day, month, year = match.groups()[:3] if match[1] else (match[5], match[4], match[6])
        known = month.casefold()[:3]
        return _ordinal(year, str(_MONTHS.index(known) + 1), day) if known in _MONTHS else None
    return None


def _ordinal(year: str, month: str, day: str) -> float | None:
    try:
        return date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None
