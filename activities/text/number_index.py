"""The numbers and codes that texts state, and those of a text that none of them does."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from activities.dates import days_of
from activities.text.language import ENGLISH, language_of, language_of_question
from activities.text.layout import rows
from activities.text.normal_form import normalise
from activities.text.numbers import (
    DIGIT,
    LETTERS,
    MAX_COUNT,
    SEPARATOR,
    SPELLED_IN,
    Number,
    compact,
    read,
    rounded_to,
)
from activities.text.tokens import GREEK

MAX_SPELLED = 100
"""Up to which a work in another language may well state a whole number in words."""
MAX_ROUNDED = Decimal("0.05")
"""Share of itself by which a number may differ from what it is rounded to."""
MIN_ROUNDED_DIGITS = 2
"""Digits of a number that may be another one rounded."""
_CLOCK = re.compile(r"\d\d?\.[0-5]\d")
"""A number that may be a time of day as it is written in Britain: `9.20`."""
_APART = re.compile(
    rf"(?<![{LETTERS}\d])[{LETTERS}]+ \d+[{LETTERS}\d]*|(?<!\d)\d++[ -](?:{'|'.join(GREEK.values())})\b"
)
"""A name whose number or Greek letter stands apart: `IL 6`, `TiO 2`, `1 beta`."""


class NumberIndex(NamedTuple):
    """Everything that a text states, for looking up."""

    values: frozenset[Decimal]
    percents: frozenset[Decimal]
    """Those that may be percentages."""
    codes: frozenset[str]
    signed: frozenset[Decimal]
    scaled: frozenset[Decimal]
    """Its values, those that a word multiplies only as multiplied."""
    days: frozenset[date]
    """Its dates that have a day, a month and a year."""

    def has(self, value: Decimal, number: Number | None = None) -> bool:
        """Tell whether a value (of a number) stands in the text, or another one that is rounded to it.

        What may be a year is no other one rounded."""
        values = self.scaled if number and number.is_scaled else self.values
        values = self.percents if number and number.percent else values
        is_year = number is not None and number.is_year
        return value in values or (not is_year and any(rounds(other, value) for other in values))


def rounds(exact: Decimal, value: Decimal) -> bool:
    """Tell whether a number is another one with fewer digits."""
    short, full = value.normalize(), exact.normalize()
    is_shorter = MIN_ROUNDED_DIGITS <= len(short.as_tuple().digits) < len(full.as_tuple().digits)
    is_near = is_shorter and abs(full - short) <= MAX_ROUNDED * abs(full)
    return is_near and rounded_to(exact, short) == short


def are_among(text: str, numbers: frozenset[Decimal]) -> bool:
    """Tell whether each number of a text is one of those held (`NumberIndex.signed`), with its sign."""
    return all(not numbers.isdisjoint(number.signed) for number in read(text).numbers)


@lru_cache(maxsize=256)
def index_of(text: str) -> NumberIndex:
    """Return everything that a text states, the cells of its tables by themselves."""
    content = read(text)
    cells = [cell for row in rows(text) for cell in row if DIGIT.search(cell)]
    cell_numbers = [replace(n, percent=None) for cell in dict.fromkeys(cells) for n in read(cell).numbers]
    numbers = [number for number in (*content.numbers, *cell_numbers) if number.role != "time"]
    code_values = frozenset(code.value for code in content.codes if code.value is not None)
    split_codes = (compact(match[0]) for match in _APART.finditer(normalise(text)))
    return NumberIndex(
        values=code_values.union(*(number.values for number in numbers)),
        percents=frozenset().union(*(number.values for number in numbers if number.percent is not False)),
        codes=frozenset((*(code.code for code in content.codes), *(n.code for n in numbers), *split_codes)),
        signed=frozenset(value for number in numbers for value in number.signed),
        scaled=code_values.union(*(n.readings[-1] if n.is_scaled else n.values for n in numbers)),
        days=frozenset(days_of([text], language_of_question(text) or ENGLISH)),
    )


def missing_numbers(text: str, texts: Iterable[str]) -> Iterator[Number]:
    """Return the numbers of a text that none of the others states.

    Ordinals and times of day are read as the rest of the sentence is, and so is a whole number up to ten,
    which may count, unless it has decimals (`2.0`)."""
    texts = [*texts]  # read as far as they are needed: most sentences have nothing that is looked up
    for number in read(text).numbers:
        is_plain = number.role == "figure" and not (number.percent or number.is_scaled)
        is_count = is_plain and number.value <= MAX_COUNT and not SEPARATOR.search(number.text)
        if is_count or number.role in ("time", "ordinal", "code"):
            continue
        if number.code and any(number.code in index.codes for index in map(index_of, texts)):
            continue
        if _CLOCK.fullmatch(number.text) and number.text.replace(".", ":").lstrip("0") in _times_of(texts):
            continue
        is_stated = any(
            all(any(index.has(value, number) for index in map(index_of, texts)) for value in reading)
            for reading in number.readings
        )
        if not is_stated or (number.role == "date" and _is_of_another_month(text, number, texts)):
            yield number


def _times_of(texts: Iterable[str]) -> set[str]:
    """Return the times of day that texts have, without seconds, as `9:20`."""
    times = (number.text for text in texts for number in read(text).numbers if number.role == "time")
    return {":".join(time.lstrip("0").split(":")[:2]) for time in times}


def _is_of_another_month(text: str, number: Number, texts: Iterable[str]) -> bool:
    """Tell whether texts have a date with this day and year in other months alone."""
    days = days_of([number.text], language_of_question(text) or ENGLISH)
    stated_days = {day for index in map(index_of, texts) for day in index.days}
    dates = {(day.year, day.day) for day in days}
    return days.isdisjoint(stated_days) and any((day.year, day.day) in dates for day in stated_days)


def may_be_spelled(number: str, text: str) -> bool:
    """Tell whether a text may state a number or a percentage in words of its language, which are not read."""
    is_small = all(
        part.role == "figure" and all(value <= MAX_SPELLED and not value % 1 for value in part.values)
        for part in read(number).numbers
    )
    return is_small and language_of(text) not in ("", "zh", *SPELLED_IN)


def missing_code(text: str, texts: Iterable[str]) -> str:
    """Return the first code of a text that none of the others has; empty where none is missing."""
    texts = [*texts]
    for code in read(text).codes:
        if not any(code.code in index.codes or code.value in index.values for index in map(index_of, texts)):
            return code.text
    return ""
