"""Dates in a text, as its language writes them: a day, a month by name or number, and a year.

Names of months are those of CLDR (Babel). A date whose day and month may be exchanged (`03/04/2024`) is read
with the day first, but in English, where both are usual: there it is no date. A year of two digits
(`16.05.24`) and none (`16.05.`) are read where the language writes its short dates so.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import islice

from babel import Locale, UnknownLocaleError

ENGLISH = "en"
_LETTERS = r"[^\W\d_]"
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?!\d)")
_UNSPACED = re.compile(
    r"(?:(\d{4})[\u5e74\ub144]\s?)?(\d{1,2})[\u6708\uc6d4]\s?(\d{1,2})[\u65e5\uc77c\u53f7\u865f]"
)
_NUMERIC = re.compile(
    r"(?<![\d./])(\d{1,2})([./]|(?<!-\d)(?<!-\d\d)-)(\s?)(\d{1,2})\2"
    r"(?:\s?(?P<year>\d{4})|\3(?P<short>\d\d)(?!\2\d))(?!\d)"
)
_WITHOUT_YEAR = re.compile(r"(?<![\d./])(\d\d)\.(\d\d)\.(?!\s?\d)")
_SHORT_DATE = re.compile(r"d+(\W)\s?M+\1\s?y+")
"""The pattern of a language whose short dates begin with the day, with the sign between its numbers."""
TWO_DIGITS = 2
LAST_OF_2000S, FIRST_OF_1900S = 39, 60
"""Years of two digits: what is between could be of either century, and is no year."""
_MONTH_BEHIND = re.compile(
    rf"(?:\.|{_LETTERS}{{2}}|\u00ba)?\s(?:(?P<near>{_LETTERS}{{2,3}})\s)?(?P<next>{_LETTERS}{{3,12}})"
)
_YEAR_BEHIND_MONTH = re.compile(rf"\.?,?\s(?:{_LETTERS}{{2,3}}\s)?(\d{{4}})(?!\d)")
_SIDE = re.compile(
    r"\d(?<!\d\d)\d*+(?:(?=(?P<sign>[./-]\s?\d\d?[./-]|[\u5e74\ub144\u6708\uc6d4]))"
    rf"|(?=(?:\.|{_LETTERS}{{2}}|\u00ba)?\s(?:(?P<near>{_LETTERS}{{2,3}})\s)?(?P<next>{_LETTERS}{{3,12}})))?"
)
"""A number with what makes a date of it behind it: a sign with more digits, or a word that may be a month."""
_MONTH_BEFORE = re.compile(rf"(?<!{_LETTERS})({_LETTERS}{{3,12}})\.?\s\Z")
BEFORE = 15
"""Characters that the name of a month before a day has at most."""
_YEAR_BEHIND_DAY = re.compile(rf"(?:{_LETTERS}{{2}})?,?\s(\d{{4}})(?!\d)")
_FIRST_DAY = re.compile(
    rf"(?<![\d.,/-])(\d{{1,2}})(?:\.|{_LETTERS}{{2}})?(?:\s?[-\u2013]\s?"
    r"|\s(?:to|and|or|bis|und|oder|au|et|ou|al?|y|o|e|tot|en|til|till|och|og|do|i)\s)\Z",
    re.IGNORECASE,
)
"""The day before another one of its month: `25 to 31 August`."""
_JOINED = re.compile(rf"({_LETTERS}{{3,12}})-(?=\d)")


_Day = tuple[int, int, int, int, int]
"""From where to where a day stands in a text, its year (0 without one), its month and its day."""


@dataclass(frozen=True, slots=True)
class Date:
    """A date of a text."""

    text: str
    start: int
    day: date


def dates_in(text: str, language: str = ENGLISH) -> list[Date]:
    """Return the dates of a text, in order; none of them overlap."""
    return [
        Date(text[start:end], start, day)
        for start, end, year, month, number in _days(text, language)
        if year and (day := _date_of(year, month, number))
    ]


def days_of(texts: Iterable[str], language: str = ENGLISH) -> set[date]:
    """Return the dates of texts; one without a year (`9 June`) is that day of each year of the others."""
    days = [day for text in texts for _, _, *day in _days(text, language)]
    years = {year for year, *_ in days if year}
    dates = (_date_of(y, month, day) for year, month, day in days for y in ([year] if year else years))
    return set(filter(None, dates))


def days_in(text: str, language: str = ENGLISH) -> list[str]:
    """Return the days of a text as words, with a year or without: `04-03` for 3 April."""
    return list(dict.fromkeys(f"{month:02}-{day:02}" for *_, month, day in _days(text, language)))


def day_spans(text: str, language: str = ENGLISH) -> list[_Day]:
    """Return the days of a text with where they stand: start, end, year (0 without one), month and day."""
    return [*_days(text, language)]


def ranges_apart(text: str, language: str = ENGLISH) -> str:
    """Return a text with a blank for the dash of a range of days: `Feb-31` in `11 Feb-31 Mar` is no name."""
    months = _months(language)
    return _JOINED.sub(lambda match: f"{match[1]} " if match[1].casefold() in months else match[0], text)


def _days(text: str, language: str) -> Iterator[_Day]:
    """Yield the days of a text in order; every number is looked at once, with what stands beside it."""
    months, endings = _months(language), _endings(language)
    folded = text.replace("\u00df", "s").casefold()
    is_as_long = len(folded) == len(text)  # so that each character stands in its place
    end = 0
    for number in _SIDE.finditer(folded if is_as_long else text):
        start, number_end = number.span()
        if start < end or number_end - start not in (1, 2, 4):
            continue
        sign, first_word, second_word = number.groups()
        prefix = folded[max(start - 5, 0) : max(start - 1, 0)].rstrip(".")[-3:]
        # most numbers of a text have nothing of a day beside them
        if is_as_long and not (sign or first_word in months or second_word in months or prefix in endings):
            continue
        match = _in_figures(text, start, language) or (
            number_end - start < 4 and _with_month(text, start, number_end, months)
        )
        if match and 1 <= match[3] <= 12 and 1 <= match[4] <= 31:
            range_start = _FIRST_DAY.search(text, max(start - BEFORE, end), start)
            if match[0] == start and range_start and 0 < int(range_start[1]) < match[4]:
                yield range_start.start(), range_start.end(1), 0, match[3], int(range_start[1])
            end = match[1]
            yield match


def _in_figures(text: str, start: int, language: str) -> _Day | None:
    if match := _ISO.match(text, start) or _UNSPACED.match(text, start):
        return start, match.end(), int(match[1] or 0), int(match[2]), int(match[3])
    if match := _NUMERIC.match(text, start):
        left, right = int(match[1]), int(match[4])
        month_first = right > 12 >= left
        if month_first or left > 12 or left == right or language != ENGLISH or match[2] == ".":
            day, month = (right, left) if month_first else (left, right)
            year = _short_year(match, language) if match["short"] else int(match["year"])
            return (start, match.end(), year, month, day) if year else None
    match = _WITHOUT_YEAR.match(text, start)
    if match and _sign(language) == ".":
        return start, match.end(), 0, int(match[2]), int(match[1])
    return None


def _short_year(date: re.Match[str], language: str) -> int:
    """Return the year that two digits of a date stand for; 0 where it may be none.

    With a stop or a dash a number of one digit makes it the number of a section or a version (`3.5.24`).
    """
    year, sign = int(date["short"]), date[2]
    is_whole = sign == "/" or len(date[1]) == len(date[4]) == TWO_DIGITS
    if not is_whole or sign != _sign(language):
        return 0
    return 2000 + year if year <= LAST_OF_2000S else 1900 + year if year >= FIRST_OF_1900S else 0


def _with_month(text: str, start: int, end: int, months: dict[str, int]) -> _Day | None:
    """Return the day that a number is with the name of a month behind it or before."""
    day = int(text[start:end])
    result: _Day | None = None
    if month_after := _MONTH_BEHIND.match(text, end):
        for name in ("near", "next"):
            if month := months.get((month_after[name] or "").casefold()):
                if year := _YEAR_BEHIND_MONTH.match(text, month_after.end(name)):
                    return start, year.end(), int(year[1]), month, day
                result = start, month_after.end(name), 0, month, day
                break
    month_before = _MONTH_BEFORE.search(text, max(start - BEFORE, 0), start)
    if month_before and (month := months.get(month_before[1].casefold())):
        if year := _YEAR_BEHIND_DAY.match(text, end):
            return month_before.start(), year.end(), int(year[1]), month, day
        result = result or (month_before.start(), end, 0, month, day)
    return result


def _date_of(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:  # 31 June
        return None


@lru_cache(maxsize=64)
def _sign(language: str) -> str:
    """Return the sign between the numbers of a short date; empty where such a date does not begin with a day.

    English has both orders: `_in_figures` reads those of which one is possible.
    """
    if language == ENGLISH:
        return "/"
    try:
        pattern = Locale.parse(language).date_formats["short"].pattern
    except (UnknownLocaleError, ValueError):
        return ""
    match = _SHORT_DATE.match(pattern)
    return match[1] if match else ""


@lru_cache(maxsize=64)
def _months(language: str) -> dict[str, int]:
    """Return the names of months in a language and in English, in full and cut, to their numbers."""
    names: dict[str, int] = {}
    for name in (ENGLISH, "en_GB", language):
        try:
            locale = Locale.parse(name)
        except (UnknownLocaleError, ValueError):
            continue
        for form in locale.months.values():
            for width in ("abbreviated", "wide"):
                for number, month in form[width].items():
                    names[month.casefold().strip(".")] = number
    return names


@lru_cache(maxsize=64)
def _endings(language: str) -> frozenset[str]:
    """Return the last three letters of the names of months."""
    return frozenset(name[-3:] for name in _months(language))


MAX_HEAD_LINES, MAX_HEAD_CHARS = 12, 120
"""Lines that the head of a document has at most, and characters of each; a longer one is text."""
MAX_HEAD_WORDS = 5
"""Words of a line of the head that ends with a stop (`Harrow and Co.`); a longer one is a sentence."""
STOPS = (".", "!", "?", "\u3002")
_LISTED_DAYS = re.compile(r"(?<!\d)\d{1,2}, ?\d{1,2}(?!\d)")
"""Days in a list (`4, 5 and 6 April 2025`): when something happens, not when the document was written."""


def date_of_head(text: str, language: str = ENGLISH) -> str:
    """Return the first date in the head of a document as an ISO date; empty where it has none."""
    head = (line for line in islice(text.split("\n"), 3 * MAX_HEAD_LINES) if line.strip())
    for line in islice(head, MAX_HEAD_LINES):
        if len(line) > MAX_HEAD_CHARS or (
            line.rstrip().endswith(STOPS) and len(line.split()) > MAX_HEAD_WORDS
        ):
            break
        if (dates := dates_in(line, language)) and not _LISTED_DAYS.search(line, 0, dates[0].start):
            return dates[0].day.isoformat()
    return ""
