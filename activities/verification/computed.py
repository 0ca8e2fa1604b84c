"""Figures that follow from quoted ones by a computation that their writer shows.

The expression has numbers, `+ - * /`, parentheses and `days(first, last)`, the days from one date to another.
Each of its numbers is a figure of a cited sentence, or a constant that has a name; each of its dates stands
in a cited work or in the question, and days may be added to it. Code evaluates it, and what it gives has to
be what the sentence prints, as it is rounded. Nothing is searched for: what no expression gives does not
follow.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal, DecimalException
from itertools import islice, product

from activities.documents.dates import Date, dates_in
from activities.text.language import ENGLISH, language_of_question
from activities.text.normal_form import normalise
from activities.text.numbers import Number, figures, missing_numbers, rounded_to, single

MAX_NUMBERS = 40
"""Numbers of one expression."""
MAX_WAYS = 256
"""Combinations of readings (`1.000`) of the numbers of one expression that are tried."""
WHOLES = frozenset(map(Decimal, (1, 100)))
"""What shares and percentages are of; they may be added and subtracted as well."""
FACTORS = WHOLES | frozenset(map(Decimal, (7, 12, 24, 28, 29, 30, 31, 52, 60, 365, 366, 1_000)))
"""What units convert by: days, months, hours, weeks, minutes, thousands; only for products and quotients."""
MAX_EXPRESSION_CHARS = 600

_SIGNS = str.maketrans({"\u00d7": "*", "\u22c5": "*", "\u00f7": "/", ":": "/", "[": "(", "]": ")"})
_OPERAND = re.compile(r"(?<![^-+*/()=])[^-+*/()=\d]*+\d[^-+*/()=]*")
_OPERATORS: Mapping[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


Value = Decimal | date


class NotAnExpressionError(ValueError):
    """What was shown is no expression of numbers, dates, `+ - * /`, parentheses and `days`."""


def computed_from(
    text: str,
    expressions: Sequence[str],
    quotes: Sequence[str],
    works: Sequence[str],
    results: Sequence[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the computations by which numbers that no work states follow, and the numbers that do not.

    `quotes`: the cited sentences, whose figures are computed with; so is what another expression gives, as it
    is rounded. `works`: all that the cited works say, and the question. `results`: computations that other
    sentences of the text show, which are computed with as well."""
    missing = [*missing_numbers(text, works)]
    if not missing or not (expressions or results):
        return (), tuple(number.shown for number in missing)
    operands = [number for quote in quotes for number in figures(quote)]
    stated = {value for number in operands for value in number.values}
    days = {mention.day for work in works for mention in _dates(work)}
    sources = {figure: line for line in results for figure in figures(line.rpartition("=")[2])}
    operands += sources
    for expression in expressions:
        rest = [shown for shown in expressions if shown != expression]
        operands += [
            figure
            for figure in figures(_shown(expression))
            if any(_given(shown, figure, operands, days) for shown in rest)
        ]
    made: dict[date, str] = {}
    """Date that no work has -> the expression that gives it."""
    for expression in expressions:
        values = _results(expression, operands, days)
        made.update((value, _shown(expression)) for value in values if isinstance(value, date))
        days.update(made)
        operands += [part for value in values for part in figures(_printed(value))]
    holding: dict[str, None] = {}
    failed: list[str] = []
    for number in missing:
        gives = ((shown, _given(shown, number, operands, days)) for shown in expressions)
        way, printed = next(((shown, given) for shown, given in gives if given), ("", ""))
        if not way:
            line = next((line for figure, line in sources.items() if figure.values & number.values), "")
            holding.update({line: None} if line else {})
            failed += [] if line else [number.shown]
            continue
        derived = [f"{source} = {day}" for day, source in made.items() if day in {d.day for d in _dates(way)}]
        holding.update(dict.fromkeys(derived))
        for operand in figures(_shown(way)):
            others = (shown for shown in expressions if shown != way and not operand.values & stated)
            if source := next((other for other in others if _given(other, operand, operands, days)), None):
                holding[f"{_shown(source)} = {operand.shown}"] = None
            elif not operand.values & stated:
                lines = [line for figure, line in sources.items() if figure.values & operand.values]
                holding.update(dict.fromkeys(lines[:1]))
        holding[f"{_shown(way)} = {printed}"] = None
        operands.append(number)  # what was computed may be computed with
        stated |= number.values
    return tuple(holding), tuple(failed)


def _given(expression: str, number: Number, operands: Sequence[Number], days: Iterable[date]) -> str:
    """Return what an expression over known figures and dates gives, as a number prints it, or a date its day.

    Empty where it gives something else."""
    decimals = [reading[0] for reading in number.readings if len(reading) == 1]
    for value in _results(expression, operands, days):
        if isinstance(value, date):
            if value in {mention.day for mention in _dates(number.shown)} or number.value == value.day:
                return value.isoformat()
        elif any(rounded_to(abs(value), decimal) == decimal for decimal in decimals):
            return number.shown
    return ""


def _results(expression: str, operands: Sequence[Number], days: Iterable[date]) -> list[Value]:
    """Return what an expression gives; nothing for one that is none over known figures and dates."""
    try:
        return list(dict.fromkeys(evaluations(_shown(expression), operands, days)))
    except (NotAnExpressionError, DecimalException, OverflowError):
        return []


def evaluations(expression: str, operands: Sequence[Number], days: Iterable[date] = ()) -> Iterator[Value]:
    """Return what an expression gives, by each reading of its numbers that is a known figure.

    Raises NotAnExpressionError."""
    numbers: dict[str, Number] = {}
    dates: dict[str, Value] = {}
    for mention in reversed(_dates(expression)):
        name = f"date_{'x' * len(dates)}"  # no digit, which would begin a number
        dates[name] = mention.day
        expression = f"{expression[: mention.start]}{name}{expression[mention.start + len(mention.shown) :]}"

    def named(match: re.Match[str]) -> str:
        name = f"n{len(numbers)}"
        numbers[name] = _operand(match[0])
        return f" {name} "

    try:
        tree = ast.parse(_OPERAND.sub(named, expression).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotAnExpressionError(expression) from None
    operations = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp)]
    is_computed = bool(operations) or isinstance(tree, ast.Call)
    if not is_computed or len(numbers) > MAX_NUMBERS or not set(dates.values()) <= {*days}:
        raise NotAnExpressionError(expression)
    scaled = (node for node in operations if isinstance(node.op, ast.Mult | ast.Div))
    factors = {side.id for node in scaled for side in (node.left, node.right) if isinstance(side, ast.Name)}
    held = {value for number in operands if not number.is_year for value in number.values}
    choices: list[list[Decimal]] = []
    for name, number in numbers.items():
        allowed = FACTORS if name in factors else WHOLES
        values = [value for value in number.values if value in held]
        choices.append(values or [value for value in number.values if value in allowed])
    if not dates and not any(number.values & held for number in numbers.values()):
        raise NotAnExpressionError(expression)
    for chosen in islice(product(*choices), MAX_WAYS):
        yield _value(tree, {**dates, **dict(zip(numbers, chosen, strict=True))})


def _dates(text: str) -> list[Date]:
    return dates_in(text, language_of_question(text) or ENGLISH)


def _printed(value: Value) -> str:
    return f"{abs(value):f}" if isinstance(value, Decimal) else ""


def _operand(text: str) -> Number:
    """Return the figure of an operand, which may stand beside a unit."""
    number = single(text)
    unit = text.replace(number.shown, "", 1) if number else "?"
    if number is None or not all(c.isalpha() or c in " .$\u00a3\u20ac\u00a5" for c in unit):
        raise NotAnExpressionError(text)
    return number


def _value(node: ast.expr, values: Mapping[str, Value]) -> Value:
    match node:
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand) if isinstance(
            value := _value(operand, values), Decimal
        ):
            return -value
        case ast.Call(func=ast.Name(id="days"), args=[first, last], keywords=[]):
            begin, end = _value(first, values), _value(last, values)
            if isinstance(begin, date) and isinstance(end, date):
                return Decimal((end - begin).days)
        case ast.BinOp(left=left, op=op, right=right) if compute := _OPERATORS.get(type(op)):
            base, by = _value(left, values), _value(right, values)
            if isinstance(base, Decimal) and isinstance(by, Decimal):
                return compute(base, by)
            if isinstance(base, date) and isinstance(by, Decimal) and isinstance(op, ast.Add | ast.Sub):
                return base + timedelta(days=int(compute(Decimal(0), by)))
    raise NotAnExpressionError(ast.unparse(node))


def _shown(expression: str) -> str:
    """Return an expression without what it gives."""
    return normalise(expression)[:MAX_EXPRESSION_CHARS].partition("=")[0].translate(_SIGNS).strip()
