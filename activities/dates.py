"""Dates in a text, as its language writes them: a day, a month by name or number, and a year.

Names of months are those of CLDR (Babel). A date whose day and month may be exchanged (`03/04/2024`) is read
with the day first, but in English, where both are usual: there it is no date.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import chain, islice

from babel import Locale, UnknownLocaleError

ENGLISH = "en"
_LETTERS = r"[^\W\d_]"
_DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
BEFORE, BEHIND = 16, 24
"""Characters before and behind a day that a name of a month with what stands between them has at most."""
_LETTERS_ALONE = re.compile(rf"{_LETTERS}+")
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_UNSPACED = re.compile(
    r"(?<!\d)(\d{4})[\u5e74\ub144]\s?(\d{1,2})[\u6708\uc6d4]\s?(\d{1,2})[\u65e5\uc77c\u53f7\u865f]"
)
_NUMERIC = re.compile(r"(?<![\d./-])(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})(?!\d)")
_DAY_FIRST = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:\.|{_LETTERS}{{2}}|\u00ba)?\s(?:{_LETTERS}{{2,3}}\s)?({_LETTERS}{{3,12}})\.?,?"
    rf"\s(?:{_LETTERS}{{2,3}}\s)?(\d{{4}})(?!\d)"
)
_JOINED = re.compile(rf"({_LETTERS}{{3,12}})-(?=\d)")
_MONTH_FIRST = re.compile(rf"({_LETTERS}{{3,12}})\.?\s(\d{{1,2}})(?:{_LETTERS}{{2}})?,?\s(\d{{4}})(?!\d)")
_WITHOUT_YEAR = (
    re.compile(
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:\.|{_LETTERS}{{2}}|\u00ba)?\s(?:de\s)?(?P<month>{_LETTERS}{{3,12}})"
    ),
    re.compile(rf"(?P<month>{_LETTERS}{{3,12}})\.?\s(?P<day>\d{{1,2}})(?!\d)"),
    re.compile(r"(?<!\d)(?P<month>\d{1,2})[\u6708\uc6d4]\s?(?P<day>\d{1,2})[\u65e5\uc77c\u53f7\u865f]"),
)
_IN_FIGURES = re.compile(r"\d[-./]\s?\d{1,2}[-./]|\d[\u5e74\ub144\u6708\uc6d4]")
"""Signs that every date without the name of a month has."""


@dataclass(frozen=True, slots=True)
class Date:
    """A date of a text."""

    shown: str
    start: int
    day: date


def dates_in(text: str, language: str = ENGLISH) -> list[Date]:
    """Return the dates of a text, in order; none of them overlap."""
    every = sorted(_dates(text, language), key=lambda mention: (mention.start, -len(mention.shown)))
    chosen: list[Date] = []
    for mention in every:
        if not chosen or mention.start >= chosen[-1].start + len(chosen[-1].shown):
            chosen.append(mention)
    return chosen


def days_of(texts: Iterable[str], language: str = ENGLISH) -> set[date]:
    """Return the dates of texts; one without a year (`9 June`) is that day of each year of the others."""
    texts = [*texts]
    days = {mention.day for text in texts for mention in dates_in(text, language)}
    years = {day.year for day in days}
    for match, month in (found for text in texts for found in _without_year(text, language)):
        days |= {mention.day for year in years for mention in _made(match, str(year), month, match["day"])}
    return days


def days_in(text: str, language: str = ENGLISH) -> list[str]:
    """Return the days of a text as words, with a year or without: `04-03` for 3 April."""
    if not (_names_month(text, language) or _IN_FIGURES.search(text)):
        return []
    days = [(mention.day.month, mention.day.day) for mention in dates_in(text, language)]
    days += [(month, int(match["day"])) for match, month in _without_year(text, language) if month]
    return list(dict.fromkeys(f"{month:02}-{day:02}" for month, day in days))


def _without_year(text: str, language: str) -> Iterator[tuple[re.Match[str], int]]:
    """List the days of a text by month and day alone, with the number of the month; 0 where it is none."""
    months = _months(language)
    forms = _WITHOUT_YEAR if _names_month(text, language) else _WITHOUT_YEAR[-1:]
    for match in chain.from_iterable(form.finditer(text) for form in forms):
        name = match["month"]
        yield match, int(name) if name.isdecimal() else months.get(name.casefold(), 0)


def ranges_apart(text: str, language: str = ENGLISH) -> str:
    """Return a text with a blank for the dash of a range of days: `Feb-31` in `11 Feb-31 Mar` is no name."""
    months = _months(language)
    return _JOINED.sub(lambda match: f"{match[1]} " if match[1].casefold() in months else match[0], text)


def _dates(text: str, language: str) -> Iterator[Date]:
    months = _months(language)
    for match in (*_ISO.finditer(text), *_UNSPACED.finditer(text)):
        yield from _made(match, match[1], int(match[2]), match[3])
    for match in _NUMERIC.finditer(text):
        first, second = int(match[1]), int(match[3])
        month_first = second > 12 >= first
        if month_first or first > 12 or first == second or language != ENGLISH or match[2] == ".":
            day, month = (second, first) if month_first else (first, second)
            yield from _made(match, match[4], month, str(day))
    if not _names_month(text, language):
        return
    for match in _DAY_FIRST.finditer(text):
        yield from _made(match, match[3], months.get(match[2].casefold(), 0), match[1])
    for match in _MONTH_FIRST.finditer(text):
        yield from _made(match, match[3], months.get(match[1].casefold(), 0), match[2])


@lru_cache(maxsize=8)
def _names_month(text: str, language: str) -> bool:
    """Tell whether a day of a text has the name of a month beside it; forms with a name are slow to find."""
    months = _months(language).keys()
    return any(
        not months.isdisjoint(_LETTERS_ALONE.findall(text[max(start - BEFORE, 0) : end + BEHIND].casefold()))
        for start, end in map(re.Match.span, _DAY.finditer(text))
    )


def _made(match: re.Match[str], year: str, month: int, day: str) -> Iterator[Date]:
    if 1 <= month <= 12 and int(year) >= 1 and 1 <= int(day) <= 31:
        try:
            yield Date(match[0], match.start(), date(int(year), month, int(day)))
        except ValueError:  # 31 June
            return


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
