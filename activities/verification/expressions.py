"""Computations as a writer shows them.

An expression has numbers, `+ - * /`, parentheses, `days(first, last)`, the days from one date to another,
`months(first, 3)`, the same day of a later month or the last of one that is shorter, and
`workdays(first, 10, GB-ENG)`, the tenth working day after a day; or it is a statistic of two groups, as
`risk_ratio(30, 50, 26, 50)`, which gives an estimate and its interval; with the numbers of several studies
behind each other it pools them (random effects). A label before it (`F1:`) names the figure that it gives.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import chain

from activities.contracts.effects import MEASURE_NAMES, Measure
from activities.dates import Date, dates_in
from activities.text.language import ENGLISH
from activities.text.normal_form import normalise
from activities.text.numbers import SPELLED_IN, Number, figure_of

WHOLES = frozenset(map(Decimal, (1, 100)))
"""What shares and percentages are of; they may be added and subtracted as well."""
NOTHING = frozenset({Decimal(0)})
"""A line of an account that comes to nothing: it may be added and subtracted."""
FACTORS = WHOLES | frozenset(map(Decimal, (2, 7, 12, 24, 28, 29, 30, 31, 52, 60, 365, 366, 1_000)))
"""Constants of conversion: halves, days, months, hours, weeks, minutes, thousands; only for products and
quotients."""
MAX_EXPRESSION_CHARS = 600
LANGUAGES = (ENGLISH, *sorted(SPELLED_IN))
"""Those in which the months of a computation are read."""
_SIGNS = str.maketrans({"\u00d7": "*", "\u22c5": "*", "\u00f7": "/", ":": "/", "[": "(", "]": ")"})
_TIMES = re.compile(r"(?<=[\w)\]%] )[x\u00b7](?= [\d(\[])")
"""Signs of a product with blanks around them: `3 \u00b7 650`; without them the dot is that of decimals."""
_OPERAND = re.compile(r"(?<![^-+*/();])[^-+*/();\d]*+\d[^-+*/();]*")
_UNIT = re.compile(r"[^\W\d_ ]|[ .$\u00a3\u20ac\u00a5]")
STATISTICS: Mapping[str, Measure] = {
    MEASURE_NAMES[measure].replace(" ", "_"): measure for measure in ("RR", "OR", "RD", "MD")
}
"""Statistics of two groups (`activities.analysis.figures.interval_of_studies`): of events and participants of
each, or of its mean, standard deviation and participants. A risk difference is in percentage points."""
COUNTS: Mapping[str, int] = {name: 6 if measure == "MD" else 4 for name, measure in STATISTICS.items()}
"""How many numbers each has of a study."""
REGION = "region"
"""The name in `Expression.tree` of a country or a part of it, whose public holidays are no working days."""
_REGION = re.compile(r"(?<=[;, ])([A-Z]{2}(?:-[A-Z\d]{1,3})?) ?(?=\))")
"""Its code by ISO 3166, as the last argument: `GB-ENG`."""
_LABEL = re.compile(r"(?:(F\d{1,3})\s*+[:=]|(?!\d[\d.,]{0,18}\s:)[^:=()]{1,20}:(?=\s))\s*+")
"""The label of a figure, or words in front of a computation; `43 : 120` is a quotient."""
_FRACTION = re.compile(r"(?<!\d\d)(?<=\d)\u2044")
"""The line of a fraction of one character (`\u2154`), which no whole number stands before."""

Operand = Number | Date


class Expression:
    """A computation as its writer shows it, without what it gives."""

    def __init__(self, line: str) -> None:
        label = _LABEL.match(line := line.strip())
        self.label = label[1] if label else None
        line = normalise(line[label.end() if label else 0 :])[:MAX_EXPRESSION_CHARS]
        line = _TIMES.sub("*", line.partition("=")[0])
        self.text = _FRACTION.sub("/", line.translate(_SIGNS)).strip()
        self.operands: dict[str, Operand] = {}
        """Its numbers and dates, by the names that stand for them in `tree`."""
        self.readings: dict[str, Sequence[Decimal | date]] = {}
        self.constants: dict[str, set[Decimal]] = {}
        """The values that a number may have by its place though nothing gives it."""
        self.divisors: set[str] = set()
        region = _REGION.search(self.text)
        self.region = region[1] if region else ""
        text = _REGION.sub(REGION, self.text)
        for day in reversed(dates_of(text)):
            name = f"date_{'x' * len(self.operands)}"  # no digit, which would begin a number
            self.operands[name], self.readings[name] = day, [day.day]
            text = f"{text[: day.start]}{name}{text[day.start + len(day.text) :]}"
        if text.startswith((*STATISTICS, "months(", "workdays(")) and not re.search(r"[;,]\s", text):
            text = text.replace(",", ";")
        text = _OPERAND.sub(self._name_operand, re.sub(r"[;,]\s", ";", text)).replace(";", ",")
        try:
            self.tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.tree = ast.Constant(...)
        self.texts = {operand.text for operand in self.operands.values()}
        self.values = {*chain.from_iterable(self.readings.values())}

    def _name_operand(self, match: re.Match[str]) -> str:
        """Name a figure, which may stand beside a unit."""
        if (number := figure_of(match[0])) is None or _UNIT.sub("", match[0].replace(number.text, "", 1)):
            return "?"
        name = f"n{len(self.operands)}"
        values = [reading[0] for reading in number.readings if len(reading) == 1]
        self.operands[name], self.readings[name] = number, values
        before, behind = match.string[: match.start()].rstrip()[-1:], match.string[match.end() :][:1]
        around = {before, behind}
        constants = FACTORS if around & {*"*/"} else WHOLES | NOTHING if around & {*"+-"} else frozenset()
        # 100.00 is an amount
        self.constants[name] = {v for v in values if v in constants and (not v or v.as_tuple().exponent == 0)}
        if before == "/":
            self.divisors.add(name)
        return f" {name} "


def label_of(line: str) -> str:
    """Return the label of the figure that a computation gives; empty without one."""
    label = _LABEL.match(line.strip())
    return label[1] or "" if label else ""


def without_label(line: str) -> str:
    """Return a computation without the label of the figure that it gives, or other words in front of it."""
    label = _LABEL.match(line := line.strip())
    return line[label.end() if label else 0 :]


def result_of(row: str) -> str:
    """Return what a computation gives, from its row (`209 + 218 = 427`)."""
    return row.rpartition("=")[2]


def operands_of(line: str) -> list[str]:
    """Return the numbers and dates of a computation as they are written."""
    return [operand.text for operand in Expression(line).operands.values()]


def dates_of(text: str) -> list[Date]:
    """Return the dates of an expression or a date, which are too short to tell their language."""
    return max((dates_in(text, language) for language in LANGUAGES), key=len)
