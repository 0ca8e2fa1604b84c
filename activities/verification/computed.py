"""Figures that follow from quoted ones by a computation that their writer shows.

The expression has numbers, `+ - * /`, parentheses and `days(first, last)`, the days from one date to another;
or it is a statistic of two groups, as `risk_ratio(30, 50, 26, 50)`, which gives an estimate and its interval.
Each of its numbers is a figure of a cited sentence, or a constant that has a name; each of its dates stands
in a cited work or in the question, and days may be added to it. Code evaluates it, and what it gives has to
be what the sentence prints, as it is rounded. Nothing is searched for: what no expression gives does not
follow.
"""

import ast
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, DecimalException
from itertools import islice, product
from types import MappingProxyType
from typing import NamedTuple

from activities.analysis.figures import of_groups
from activities.analysis.scale import NotUsable
from activities.contracts.effects import MEASURE_NAMES, Measure
from activities.dates import Date, dates_in, days_of
from activities.text.language import ENGLISH, language_of_question
from activities.text.normal_form import normalise
from activities.text.numbers import Number, figures, missing_numbers, read, rounded_to, single

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


STATISTICS: Mapping[str, Measure] = {
    MEASURE_NAMES[measure].replace(" ", "_"): measure for measure in ("RR", "OR", "RD", "MD")
}
"""Statistics of two groups (`activities.analysis.figures.of_groups`): of events and participants of each, or
of its mean, standard deviation and participants. A risk difference is in percentage points."""
STATISTIC = re.compile(
    rf"(?P<name>{'|'.join(STATISTICS)})\((?P<numbers>[^()]*)\)"
    r" = (?P<value>[-.\d]+) \((?P<low>[-.\d]+) to (?P<high>[-.\d]+)\)"
)
"""A row of a statistic with what it gives (`Computed.rows`)."""
LEVEL = Decimal(95)
"""The level of an interval where no work names another, in percent: that of statistics and pooled effects."""
_CALL = re.compile(r"(?P<name>[a-z_]+)\s*\((?P<arguments>.*)\)")
_BETWEEN = re.compile(r"[;,](?=\s)")


class Estimate(NamedTuple):
    """What a statistic of two groups gives."""

    call: str
    """It with its numbers alone: `risk_ratio(30, 50, 26, 50)`."""
    value: Decimal
    low: Decimal
    high: Decimal
    steps: tuple[str, ...]
    """The computations of its numbers."""


Value = Decimal | date | Estimate


class NotAnExpressionError(ValueError):
    """What was shown is no expression of numbers, dates, `+ - * /`, parentheses, `days` and statistics."""


@dataclass(frozen=True, slots=True)
class Computed:
    rows: tuple[str, ...] = ()
    """The computations by which numbers that no work states follow: `209 + 218 = 427`."""
    missing: tuple[str, ...] = ()
    """The numbers that do not follow."""
    failure: str = ""
    """The computation that gives another number, with what it gives."""
    unknown: str = ""
    """The number of that computation that no cited sentence has."""


def computed_from(
    text: str,
    expressions: Sequence[str],
    quotes: Sequence[str],
    works: Sequence[str],
    results: Sequence[str] = (),
) -> Computed:
    """Return the computations by which numbers that no work states follow, and the numbers that do not.

    `quotes`: the cited sentences, whose figures are computed with; so is what another expression gives, as it
    is rounded. `works`: all that the cited works say, and the question. `results`: computations that other
    sentences of the text show, which are computed with as well."""
    missing = [*missing_numbers(text, works)]
    if not any(number.role == "level" for work in works for number in read(work).numbers):
        missing = [number for number in missing if number.role != "level" or number.value != LEVEL]
    if not missing or not (expressions or results):
        return Computed(missing=tuple(number.shown for number in missing))
    operands = [number for quote in quotes for number in figures(quote)]
    stated = {value for number in operands for value in number.values}
    languages = {language_of_question(work) or ENGLISH for work in works}
    days = {day for language in languages for day in days_of(works, language)}
    shown_here = {_shown(expression) for expression in expressions}
    results = [line for line in results if line.rpartition(" = ")[0] not in shown_here]
    sources = {figure: line for line in results for figure in figures(line.rpartition("=")[2])}
    operands += sources
    for expression in expressions:
        rest = [shown for shown in expressions if shown != expression]
        operands += [
            figure
            for figure in figures(_shown(expression))
            if any(_printed_as(shown, figure, operands, days) for shown in rest)
        ]
    made: dict[date, str] = {}
    """Date that no work has -> the expression that gives it."""
    for expression in expressions:
        values = _results(expression, operands, days)
        made.update((value, _shown(expression)) for value in values if isinstance(value, date))
        days.update(made)
        exact = (f"{abs(value):f}" for value in values if isinstance(value, Decimal))
        operands += [part for shown in exact for part in figures(shown)]
    row = [None, *figures(text), None]
    beside = {number: ends for number, *ends in zip(row[1:], row, row[2:], strict=False)}
    statistics = [shown for shown in expressions if _CALL.match(_shown(shown))]
    made_here = (value for shown in statistics for value in _results(shown, operands, days))
    if any(map(STATISTIC.fullmatch, results)) or any(isinstance(value, Estimate) for value in made_here):
        missing = [number for number in missing if number.role != "level" or number.value != LEVEL]
    holding: dict[str, None] = {}
    failed: list[Number] = []
    used: set[str] = set()
    for number in missing:
        ways = {shown: _printed_as(shown, number, operands, days, beside) for shown in expressions}
        way = next((shown for shown, rows in ways.items() if rows), "")
        if not way:
            line = next((line for figure, line in sources.items() if figure.values & number.values), "")
            holding.update({line: None} if line else {})
            failed += [] if line else [number]
            continue
        derived = [f"{source} = {day}" for day, source in made.items() if day in {d.day for d in _dates(way)}]
        holding.update(dict.fromkeys(derived))
        for operand in figures(_shown(way)):
            others = (shown for shown in expressions if shown != way and not operand.values & stated)
            if source := next((o for o in others if _printed_as(o, operand, operands, days)), None):
                holding[f"{_shown(source)} = {operand.shown}"] = None
            elif not operand.values & stated:
                lines = [line for figure, line in sources.items() if figure.values & operand.values]
                holding.update(dict.fromkeys(lines[:1]))
        if way in statistics:  # once, in as many decimals as any of its figures has
            every = (_printed_as(way, other, operands, days, beside) for other in missing)
            longest: tuple[str, ...] = max(every, key=lambda rows: len(rows[-1]) if rows else 0)
            holding.update(dict.fromkeys(longest))
        else:
            holding.update(dict.fromkeys(ways[way]))
        used.add(way)
        operands.append(number)  # what was computed may be computed with
        stated |= number.values
    if not failed:
        return Computed(tuple(holding))
    nearest = [shown for shown in expressions if shown not in used or shown in statistics]
    failure, unknown = _failure(failed[0], nearest, operands, days)
    return Computed(tuple(holding), tuple(number.shown for number in failed), failure, unknown)


def _failure(
    number: Number, expressions: Sequence[str], operands: Sequence[Number], days: Collection[date]
) -> tuple[str, str]:
    """Return the expression that is nearest to a number, with what it gives.

    One that gives nothing is returned as it is, with its figure that is unknown."""
    decimal = next((reading[0] for reading in number.readings if len(reading) == 1), number.value)
    gives: list[tuple[Decimal, str]] = []
    for expression in expressions:
        for value in _results(expression, operands, days):
            match value:
                case Estimate():
                    ends = (abs(abs(end) - decimal) for end in value[1:4])
                    gives.append((min(ends), _row(value, decimal)))
                case Decimal():
                    shown = f"{_shown(expression)} = {rounded_to(value, decimal):f}"
                    gives.append((abs(abs(value) - decimal), shown))
                case date():
                    gives.append((decimal, f"{_shown(expression)} = {value.isoformat()}"))
    if gives:
        return min(gives)[1], ""
    shown = _shown(next(iter(expressions), ""))
    held = {value for operand in operands for value in operand.values}
    held |= FACTORS if _CALL.fullmatch(shown) is None else set()
    parts = _BETWEEN.split(shown)  # where `43, 120` is no number
    unknown = [mention.shown for mention in _dates(shown) if mention.day not in days]
    unknown += [figure.shown for part in parts for figure in figures(part) if not figure.values & held]
    return shown, next(iter(unknown), "")


def _printed_as(
    expression: str,
    number: Number,
    operands: Sequence[Number],
    days: Iterable[date],
    beside: Mapping[Number | None, Sequence[Number | None]] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return an expression over known figures and dates with what it gives, as a number prints it.

    Empty where it gives something else. `beside`: the figures before and after each: the ends of an interval
    stand in their order, with their signs."""
    decimals = [reading[0] for reading in number.readings if len(reading) == 1]
    before, after = beside.get(number, (None, None))
    for value in _results(expression, operands, days):
        if isinstance(value, date):
            if value in {mention.day for mention in _dates(number.shown)} or number.value == value.day:
                return (f"{_shown(expression)} = {value.isoformat()}",)
        elif isinstance(value, Estimate):
            ends = (number, after) if after and _is(number, value.low) else (before, number)
            is_end = all(end and _is(end, exact) for end, exact in zip(ends, value[2:4], strict=True))
            if is_end or any(rounded_to(abs(value.value), decimal) == decimal for decimal in decimals):
                return (*value.steps, _row(value, decimals[0]))
        elif any(rounded_to(abs(value), decimal) == decimal for decimal in decimals):
            return (f"{_shown(expression)} = {number.shown}",)
    return ()


def _is(number: Number, value: Decimal) -> bool:
    """Tell whether a number is a value, rounded and with its sign."""
    return any(rounded_to(value, printed) == printed for printed in number.signed)


def _row(estimate: Estimate, printed: Decimal) -> str:
    """Return a statistic with what it gives, in as many decimals as a number of it is printed."""
    value, low, high = (f"{rounded_to(exact, printed):f}" for exact in estimate[1:4])
    return f"{estimate.call} = {value} ({low} to {high})"


def _results(expression: str, operands: Sequence[Number], days: Iterable[date]) -> list[Value]:
    """Return what an expression gives; nothing for one that is none over known figures and dates."""
    shown = _shown(expression)
    call = _CALL.fullmatch(shown)
    try:
        if call and call["name"] in STATISTICS:
            return [*_estimates(call["name"], call["arguments"], operands)]
        return list(dict.fromkeys(evaluations(shown, operands, days)))
    except (NotAnExpressionError, DecimalException, OverflowError):
        return []


def _estimates(name: str, arguments: str, operands: Sequence[Number]) -> Iterator[Estimate]:
    """Return what a statistic of two groups gives; nothing where these groups have none.

    Raises NotAnExpressionError."""
    measure = STATISTICS[name]
    count = 6 if measure == "MD" else 4
    parts = [part.strip() for part in _BETWEEN.split(arguments)]
    parts = parts if len(parts) == count else [part.strip() for part in arguments.split(",")]
    if len(parts) != count:
        raise NotAnExpressionError(arguments)
    for amounts in islice(product(*(_amounts(part, operands) for part in parts)), MAX_WAYS):
        try:
            result = of_groups(measure, [float(amount) for amount in amounts])
        except (NotUsable, ValueError, ZeroDivisionError):
            continue
        shown = [f"{amount:f}" for amount in amounts]
        pairs = zip(parts, shown, strict=True)
        steps = tuple(f"{part} = {amount}" for part, amount in pairs if not _bare(part.lstrip("-")))
        scale = 100 if measure == "RD" else 1
        value, low, high = (Decimal(str(end * scale)) for end in (result.estimate, result.low, result.high))
        yield Estimate(f"{name}({', '.join(shown)})", value, low, high, steps)


def _bare(part: str) -> bool:
    return _OPERAND.fullmatch(part) is not None


def _amounts(part: str, operands: Sequence[Number]) -> list[Decimal]:
    """Return what one number of a statistic may be: a known figure, or a whole number that is computed.

    Participants follow from events and their percentage: `26 * 100 / 52`."""
    sign, bare = (-1, part[1:]) if part.startswith("-") else (1, part)
    if _bare(bare):
        held = {value for number in operands if not number.is_year for value in number.signed}
        return [sign * value for value in _operand(bare).values if sign * value in held]
    values = (value for value in evaluations(part, operands) if isinstance(value, Decimal))
    return list(dict.fromkeys(rounded_to(value, Decimal(1)) for value in values))


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
