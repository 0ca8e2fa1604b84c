"""Figures that follow from quoted ones by a computation that their writer shows.

The expression has numbers, `+ - * /` and parentheses. Each of its numbers is a figure of a cited sentence, or
a constant that has a name; code evaluates it, and what it gives has to be what the sentence prints, as it is
rounded. Nothing is searched for: what no expression gives does not follow.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, DecimalException
from itertools import islice, product

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
MAX_EXPRESSION_CHARS = 300

_SIGNS = str.maketrans({"\u00d7": "*", "\u22c5": "*", "\u00f7": "/", ":": "/", "[": "(", "]": ")"})
_OPERAND = re.compile(r"(?<![^-+*/()=])[^-+*/()=\d]*+\d[^-+*/()=]*")
_OPERATORS: Mapping[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class NotAnExpressionError(ValueError):
    """What was shown is no expression of numbers, `+ - * /` and parentheses."""


def computed_from(
    text: str, expressions: Sequence[str], quotes: Sequence[str], works: Sequence[str]
) -> tuple[tuple[str, ...], str]:
    """Return the computations by which numbers that no work states follow, and the first that does not.

    `quotes`: the cited sentences, whose figures are computed with; so is what another expression gives.
    `works`: all that the cited works say."""
    operands = [number for quote in quotes for number in figures(quote)]
    stated = {value for number in operands for value in number.values}
    for expression in expressions:
        operands += [part for value in _results(expression, operands) for part in figures(f"{abs(value):f}")]
    holding: dict[str, None] = {}
    for number in missing_numbers(text, works):
        way = next((shown for shown in expressions if follows(shown, number, operands)), None)
        if way is None:
            return (), number.shown
        for operand in figures(_shown(way)):
            others = (shown for shown in expressions if shown != way and not operand.values & stated)
            if source := next((other for other in others if follows(other, operand, operands)), None):
                holding[f"{_shown(source)} = {operand.shown}"] = None
        holding[f"{_shown(way)} = {number.shown}"] = None
        operands.append(number)  # what was computed may be computed with
        stated |= number.values
    return tuple(holding), ""


def follows(expression: str, number: Number, operands: Sequence[Number]) -> bool:
    """Tell whether an expression over known figures gives a number as it is printed."""
    printed = [reading[0] for reading in number.readings if len(reading) == 1]
    values = _results(expression, operands)
    return any(rounded_to(abs(value), decimal) == decimal for value in values for decimal in printed)


def _results(expression: str, operands: Sequence[Number]) -> list[Decimal]:
    """Return what an expression gives; nothing for one that is none over known figures."""
    try:
        return list(dict.fromkeys(evaluations(_shown(expression), operands)))
    except (NotAnExpressionError, DecimalException):
        return []


def evaluations(expression: str, operands: Sequence[Number]) -> Iterator[Decimal]:
    """Return what an expression gives, by each reading of its numbers that is a known figure.

    Raises NotAnExpressionError."""
    numbers: dict[str, Number] = {}

    def named(match: re.Match[str]) -> str:
        name = f"n{len(numbers)}"
        numbers[name] = _operand(match[0])
        return f" {name} "

    try:
        tree = ast.parse(_OPERAND.sub(named, expression).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotAnExpressionError(expression) from None
    operations = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp)]
    if not operations or len(numbers) > MAX_NUMBERS:
        raise NotAnExpressionError(expression)
    scaled = (node for node in operations if isinstance(node.op, ast.Mult | ast.Div))
    factors = {side.id for node in scaled for side in (node.left, node.right) if isinstance(side, ast.Name)}
    held = {value for number in operands if not number.is_year for value in number.values}
    choices: list[list[Decimal]] = []
    for name, number in numbers.items():
        allowed = FACTORS if name in factors else WHOLES
        values = [value for value in number.values if value in held]
        choices.append(values or [value for value in number.values if value in allowed])
    if not any(number.values & held for number in numbers.values()):
        raise NotAnExpressionError(expression)
    for chosen in islice(product(*choices), MAX_WAYS):
        yield _value(tree, dict(zip(numbers, chosen, strict=True)))


def _operand(text: str) -> Number:
    """Return the figure of an operand, which may stand beside a unit."""
    number = single(text)
    unit = text.replace(number.shown, "", 1) if number else "?"
    if number is None or not all(c.isalpha() or c in " .$\u00a3\u20ac\u00a5" for c in unit):
        raise NotAnExpressionError(text)
    return number


def _value(node: ast.expr, values: Mapping[str, Decimal]) -> Decimal:
    match node:
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values)
        case ast.BinOp(left=left, op=op, right=right) if compute := _OPERATORS.get(type(op)):
            return compute(_value(left, values), _value(right, values))
    raise NotAnExpressionError(ast.unparse(node))


def _shown(expression: str) -> str:
    """Return an expression without what it gives."""
    return normalise(expression)[:MAX_EXPRESSION_CHARS].partition("=")[0].translate(_SIGNS).strip()
