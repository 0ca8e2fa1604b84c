"""Figures that follow from quoted ones by a computation that their writer shows.

The expression has numbers, `+ - * /` and parentheses. Each of its numbers is a figure of a cited sentence, or
a constant that has a name; code evaluates it, and what it gives has to be what the sentence prints, as it is
rounded. Nothing is searched for: what no expression gives does not follow.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from itertools import product

from activities.text.normal_form import normalise
from activities.verification.numbers import Number, figures, missing_numbers, rounded_to

MAX_NUMBERS = 40
"""Numbers of one expression."""
MAX_WAYS = 256
"""Combinations of readings (`1.000`) of the numbers of one expression that are tried."""
WHOLES = frozenset(map(Decimal, (1, 100)))
"""What shares and percentages are of; they may be added and subtracted as well."""
FACTORS = WHOLES | frozenset(map(Decimal, (7, 12, 24, 28, 29, 30, 31, 52, 60, 365, 366, 1_000)))
"""What units convert by: days, months, hours, weeks, minutes, thousands; only for products and quotients."""
MAX_EXPRESSION_CHARS = 300

_SIGNS = str.maketrans({"\u00d7": "*", "\u22c5": "*", "\u00f7": "/", ":": "/", "[": "(", "]": ")"})
_PART = re.compile(r"\s*+(?:(?P<sign>[-+*/()])|(?P<number>[^-+*/()=]*?\d[^-+*/()=]*))")


@dataclass(frozen=True, slots=True)
class Computed:
    """A computation that holds."""

    expression: str
    """As its writer shows it."""
    result: str
    """What the sentence prints."""

    def __str__(self) -> str:
        return f"{self.expression} = {self.result}"


class NotAnExpressionError(ValueError):
    """What was shown is no expression of numbers, `+ - * /` and parentheses."""


def computed_from(
    text: str, expressions: Sequence[str], quotes: Sequence[str], works: Sequence[str]
) -> tuple[tuple[str, ...], str]:
    """The computations by which the numbers of a sentence follow that no work states, and the first one that
    does not follow; empty where all do. `quotes`: the cited sentences, whose figures are computed with.
    `works`: all that the cited works say."""
    known = [number for quote in quotes for number in figures(quote)]
    holding: list[Computed] = []
    for number in missing_numbers(text, works):
        way = next((one for one in expressions if follows(one, number, known)), None)
        if way is None:
            return (), number.shown
        holding.append(Computed(_shown(way), number.shown))
        known.append(number)  # what was computed may be computed with
    return tuple(dict.fromkeys(map(str, holding))), ""


def follows(expression: str, number: Number, known: Sequence[Number]) -> bool:
    """Whether an expression over known figures gives a number as it is printed."""
    try:
        values = list(evaluations(_shown(expression), known))
    except (NotAnExpressionError, DecimalException):
        return False
    printed = [reading[0] for reading in number.readings if len(reading) == 1]
    return any(rounded_to(abs(value), one) == one for value in values for one in printed)


def evaluations(expression: str, known: Sequence[Number]) -> Iterator[Decimal]:
    """What an expression gives, by each reading of its numbers that is a known figure. Raises
    NotAnExpressionError."""
    parts = _parts(expression)
    choices: list[list[Decimal]] = []
    quoted = signs = 0
    held = {value for number in known if not number.is_year for value in number.values}
    for place, part in enumerate(parts):
        if isinstance(part, str):
            signs += part in "+-*/"
            continue
        own = [value for value in part.values if value in held]
        quoted += bool(own)
        beside = {*parts[max(0, place - 1) : place], *parts[place + 1 : place + 2]}
        allowed = FACTORS if beside & {"*", "/"} else WHOLES
        constants = [value for value in part.values if value in allowed]
        if not (own or constants):
            raise NotAnExpressionError(part.shown)
        choices.append(own or constants)
    if not quoted or not signs or len(choices) > MAX_NUMBERS:
        raise NotAnExpressionError(expression)
    for place, chosen in enumerate(product(*choices)):
        if place >= MAX_WAYS:
            return
        numbers = iter(chosen)
        yield _Parser([part if isinstance(part, str) else next(numbers) for part in parts]).value()


def _shown(expression: str) -> str:
    """An expression without what it gives."""
    return normalise(expression)[:MAX_EXPRESSION_CHARS].partition("=")[0].translate(_SIGNS).strip()


def _parts(expression: str) -> list[str | Number]:
    """Signs and numbers, in order."""
    parts: list[str | Number] = []
    at = 0
    while expression[at:].strip():
        match = _PART.match(expression, at)
        if match is None:
            raise NotAnExpressionError(expression[at:])
        at = match.end()
        if match["sign"]:
            parts.append(match["sign"])
            continue
        numbers = figures(match["number"])
        unit = match["number"].replace(numbers[0].shown, "", 1) if len(numbers) == 1 else "?"
        if not all(c.isalpha() or c in " .$\u00a3\u20ac\u00a5" for c in unit):
            raise NotAnExpressionError(match["number"])
        parts.append(numbers[0])
    return parts


class _Parser:
    """Recursive descent over signs and values."""

    def __init__(self, parts: Sequence[str | Decimal]) -> None:
        self._parts = parts
        self._at = 0

    def value(self) -> Decimal:
        value = self._sum()
        if self._at < len(self._parts):
            raise NotAnExpressionError(str(self._parts[self._at]))
        return value

    def _sign(self, signs: str) -> str:
        part = self._parts[self._at] if self._at < len(self._parts) else None
        if not isinstance(part, str) or part not in signs:
            return ""
        self._at += 1
        return part

    def _sum(self) -> Decimal:
        value = self._product()
        while sign := self._sign("+-"):
            other = self._product()
            value = value + other if sign == "+" else value - other
        return value

    def _product(self) -> Decimal:
        value = self._factor()
        while sign := self._sign("*/"):
            other = self._factor()
            value = value * other if sign == "*" else value / other
        return value

    def _factor(self) -> Decimal:
        if self._sign("-"):
            return -self._factor()
        if self._sign("("):
            value = self._sum()
            if not self._sign(")"):
                raise NotAnExpressionError("a parenthesis is open")
            return value
        part = self._parts[self._at] if self._at < len(self._parts) else None
        if not isinstance(part, Decimal):
            raise NotAnExpressionError(str(part))
        self._at += 1
        return part
