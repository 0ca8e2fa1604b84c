"""Figures that follow from quoted ones by a computation that their writer shows.

The expression has numbers, `+ - * /`, parentheses and `days(first, last)`, the days from one date to another;
or it is a statistic of two groups, as `risk_ratio(30, 50, 26, 50)`, which gives an estimate and its interval;
with the numbers of several studies behind each other it pools them (random effects).
Each of its numbers is a figure of a work, or a constant that has a name; each of its dates stands
in a work or in the question, and days may be added to it. Code evaluates it, and what it gives has to
be what the sentence prints, as it is rounded. Nothing is searched for: what no expression gives does not
follow.

A text may leave a figure to code: `{F1}` stands for what the expression that begins with `F1:` gives.

The expressions of a text are parsed once. Those whose numbers and dates are known are evaluated, what they
give is known to the others, and so on in rounds; then each number of a sentence is looked up among it.
"""

import ast
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, DecimalException
from itertools import chain, islice, product
from typing import NamedTuple

from babel.numbers import format_decimal

from activities.analysis.figures import of_studies
from activities.analysis.scale import NotUsable
from activities.contracts.effects import MEASURE_NAMES, Measure
from activities.contracts.errors import NotInstalled
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
FACTORS = WHOLES | frozenset(map(Decimal, (2, 7, 12, 24, 28, 29, 30, 31, 52, 60, 365, 366, 1_000)))
"""Constants of conversion: halves, days, months, hours, weeks, minutes, thousands; only for products and
quotients."""
MAX_OFF = Decimal("0.25")
"""Share of a number by which a computation that was meant to give it may be off."""
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
"""Statistics of two groups (`activities.analysis.figures.of_studies`): of events and participants of each, or
of its mean, standard deviation and participants. A risk difference is in percentage points."""
COUNTS: Mapping[str, int] = {name: 6 if measure == "MD" else 4 for name, measure in STATISTICS.items()}
"""How many numbers each has of a study."""
STATISTIC = re.compile(
    rf"(?P<name>{'|'.join(STATISTICS)})\((?P<numbers>[^()]*)\)"
    r" = (?P<value>[-.\d]+) \((?P<low>[-.\d]+) to (?P<high>[-.\d]+)\)"
)
"""A row of a statistic with what it gives (`Computed.rows`)."""
LEVEL = Decimal(95)
"""The level of an interval where no work names another, in percent: that of statistics and pooled effects."""
_CALL = re.compile(rf"(?P<name>{'|'.join(STATISTICS)})\s*\((?P<numbers>.*)\)")
_LABEL = re.compile(r"(F\d{1,3})\s*+[:=]\s*+")
_PLACE = re.compile(r"\{ ?(F\d{1,3}) ?(?:: ?(\d))? ?\}")
"""The place of a figure, maybe with the digits behind its point: `{F1}`, `{F1:2}`."""
_DAYS = re.compile(r"days\([^()]*\)")
_BETWEEN = re.compile(r"[;,](?=\s)")


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


def _is_usual_level(number: Number) -> bool:
    return number.role == "level" and number.value == LEVEL


class Operand(NamedTuple):
    mention: Number | Date
    constants: Collection[Decimal]
    """The values that it may have though nothing gives them."""


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A computation as its writer shows it, without what it gives."""

    text: str
    names: Mapping[str, Operand]
    """Its numbers and dates, by the names that stand for them in `tree`."""
    tree: ast.expr | None
    """None for a statistic, and for what is no expression."""
    statistic: str = ""
    parts: tuple["Expression", ...] = ()
    """The numbers of a statistic, each as it is or computed: `26 * 100 / 52`."""

    @property
    def operands(self) -> Sequence[Operand]:
        return (*self.names.values(), *(operand for part in self.parts for operand in part.operands))

    @property
    def is_computed(self) -> bool:
        nodes = ast.walk(self.tree) if self.tree else ()
        return any(isinstance(node, ast.BinOp | ast.Call) for node in nodes)


def _unlabelled(line: str) -> str:
    line = line.strip()
    return line[match.end() :] if (match := _LABEL.match(line)) else line


def _parsed(shown: str) -> Expression:
    shown = _unlabelled(shown)
    text = normalise(shown)[:MAX_EXPRESSION_CHARS].partition("=")[0].translate(_SIGNS).strip()
    if call := _CALL.fullmatch(text):
        parts = _BETWEEN.split(call["numbers"])
        parts = call["numbers"].split(",") if len(parts) % COUNTS[call["name"]] else parts
        return Expression(text, {}, None, call["name"], tuple(map(_parsed, parts)))
    mentions: dict[str, Number | Date] = {}
    rest = text
    for mention in reversed(_dates(text)):
        name = f"date_{'x' * len(mentions)}"  # no digit, which would begin a number
        mentions[name] = mention
        rest = f"{rest[: mention.start]}{name}{rest[mention.start + len(mention.shown) :]}"

    def named(match: re.Match[str]) -> str:
        """Name a figure, which may stand beside a unit."""
        if (number := single(match[0])) is None:
            return "?"
        mentions[name := f"n{len(mentions)}"] = number
        unit = match[0].replace(number.shown, "", 1)
        return f" {name} " if all(c.isalpha() or c in " .$\u00a3\u20ac\u00a5" for c in unit) else "?"

    tree, constants = None, dict[str, Collection[Decimal]]()
    try:
        tree = ast.parse(_OPERAND.sub(named, rest).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        constants = dict.fromkeys(mentions, FACTORS)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.BinOp):
            allowed = FACTORS if isinstance(node.op, ast.Mult | ast.Div) else WHOLES
            sides = (side.id for side in (node.left, node.right) if isinstance(side, ast.Name))
            constants |= dict.fromkeys(sides, allowed)
    return Expression(text, {name: Operand(m, constants.get(name, ())) for name, m in mentions.items()}, tree)


def operands_of(line: str) -> list[str]:
    """Return the numbers and dates of a computation as they are written."""
    return [operand.mention.shown for operand in _parsed(line).operands]


def _dates(text: str) -> list[Date]:
    return dates_in(text, language_of_question(text) or ENGLISH)


class Result(NamedTuple):
    """The result of an expression by a reading of its numbers."""

    of: Expression
    shown: str
    """The expression, or a statistic with its numbers alone: `risk_ratio(30, 50, 26, 50)`."""
    steps: tuple[str, ...]
    """The computations by which its own numbers and dates follow."""
    values: tuple[Decimal, ...] = ()
    """The number, with both ends of the interval of a statistic; none of a date."""
    day: date | None = None

    def readings(self, number: Number) -> list[Decimal]:
        """Return the readings of a number that are this one, rounded, whatever its sign."""
        return [p for p in _decimals(number) if any(rounded_to(abs(v), p) == p for v in self.values[:1])]

    def prints(self, number: Number, before: Number | None = None, after: Number | None = None) -> bool:
        """Tell whether a number is this one, or an end of this interval beside the other, in their order."""
        if self.day:
            return number.value == self.day.day or self.day in {d.day for d in _dates(number.shown)}

        def is_end(end: Number | None, exact: Decimal) -> bool:
            return end is not None and any(rounded_to(exact, printed) == printed for printed in end.signed)

        if not any(map(str.isdigit, number.shown)) or number.role == "ordinal":
            return bool(number.values.intersection(map(abs, self.values[:1])))  # a count is not rounded
        pairs = ((before, number), (number, after)) if self.of.statistic else ()
        is_of_interval = any(all(map(is_end, pair, self.values[1:])) for pair in pairs)
        return is_of_interval or bool(self.readings(number))

    def row(self, number: Number, *, holds: bool = True) -> str:
        """Return the expression with what it gives, as a number prints it, or (`holds`) should have."""
        if self.day:
            return f"{self.shown} = {self.day}"
        value, *ends = (f"{rounded_to(exact, _decimals(number)[0]):f}" for exact in self.values)
        sign = "-" if value.startswith("-") and not ends else ""
        value = f"{value} ({' to '.join(ends)})" if ends else f"{sign}{number.shown}" if holds else value
        return f"{self.shown} = {value}"


def _strangeness(result: Result, number: Number, works: Sequence[str]) -> tuple[bool, int, bool]:
    """Rank a computation by how likely it gives a figure by chance.

    By a percentage without a hundred, by foreign numbers, then by rounding."""
    operands = (operand.mention for operand in result.of.operands)
    foreign = sum(
        any(missing_numbers(mention.shown, works)) for mention in operands if isinstance(mention, Number)
    )
    is_share = number.percent is not True or "100" in result.shown
    return not is_share, foreign, not number.values.intersection(map(abs, result.values))


def _decimals(number: Number) -> list[Decimal]:
    """Return the readings of a number as a single one, or its first."""
    return [reading[0] for reading in number.readings if len(reading) == 1] or [number.value]


class Computations:
    """The computations that a writer shows for a text, with what they give."""

    def __init__(self, expressions: Sequence[str], sources: Sequence[str], works: Sequence[str]) -> None:
        """Evaluate expressions.

        `sources`: texts with the figures that are computed with. `works`: those with the dates."""
        self.results: list[Result] = []
        spans = (span for expression in expressions for span in _DAYS.findall(expression))
        self._parsed = [*map(_parsed, dict.fromkeys((*expressions, *spans)))]
        labels = ((match[1], line) for line in expressions if (match := _LABEL.match(line.strip())))
        self._labelled = {label: _parsed(line).text for label, line in labels}
        stated = [n for text in (sources if expressions else ()) for n in figures(text) if not n.is_year]
        self._stated = {value for number in stated for value in number.values}
        self._signed = {value for number in stated for value in number.signed}
        dated = works if expressions else ()
        languages = {language_of_question(work) or ENGLISH for work in dated}
        self._days = {day for language in languages for day in days_of(dated, language)}
        self._resolve(self._parsed)

    def of(self, text: str, works: Sequence[str]) -> Computed:
        """Return the computations by which numbers of a text follow that no work states; those that do not.

        `works`: all that the works which it cites say, and the question."""
        missing = [*missing_numbers(text, works)]
        if not any(number.role == "level" for work in works for number in read(work).numbers):
            missing = [number for number in missing if not _is_usual_level(number)]
        if not missing or not self._parsed:
            return Computed(missing=tuple(number.shown for number in missing))
        if any(result.of.statistic for result in self.results):
            missing = [number for number in missing if not _is_usual_level(number)]
        row = [None, *figures(text), None]
        beside = {number: ends for number, *ends in zip(row[1:], row, row[2:], strict=False)}
        rows: dict[str, None] = {}
        failed: list[Number] = []
        for number in missing:
            giving = [r for r in self.results if r.prints(number, *beside.get(number, ()))]
            made = min(giving, key=lambda result: _strangeness(result, number, works), default=None)
            if made:  # a statistic once, in as many decimals as any of its figures has
                same = [n for n in missing if made.of.statistic and made.prints(n, *beside.get(n, ()))]
                rows.update(dict.fromkeys((*made.steps, max(map(made.row, same or [number]), key=len))))
            else:
                failed.append(number)
        if not failed:
            return Computed(tuple(rows))
        failure, unknown = self._failure(failed[0])
        return Computed(tuple(rows), tuple(number.shown for number in failed), failure, unknown)

    def filled(self, text: str, language: str) -> str:
        """Return a text with the figures in the places that it leaves to them, as its language writes them.

        A place whose expression gives nothing stays."""

        def figure(match: re.Match[str]) -> str:
            result = self._labelled.get(match[1])
            made = next((r for r in self.results if result and r.of.text == result), None)
            return _written(made, match[2], language) if made else match[0]

        return _PLACE.sub(figure, text)

    def _resolve(self, expressions: Sequence[Expression]) -> None:
        """Evaluate in rounds: what an expression gives may be a number or a date of others."""
        waiting = [*expressions]
        while made := [result for expression in waiting for result in self._evaluated(expression)]:
            self.results += made
            waiting = [expression for expression in waiting if all(r.of is not expression for r in made)]

    def _known(self, operand: Operand) -> dict[Decimal | date, tuple[str, ...]]:
        """Return what a number or date may be, each with the computations by which it follows."""
        mention = operand.mention
        if isinstance(mention, Date):
            days = {r.day: (*r.steps, f"{r.shown} = {r.day}") for r in reversed(self.results) if r.day}
            days |= dict.fromkeys(self._days, ())
            return {mention.day: days[mention.day]} if mention.day in days else {}
        known: dict[Decimal | date, tuple[str, ...]] = {}
        for result in reversed(self.results):
            known |= dict.fromkeys(result.readings(mention), (*result.steps, result.row(mention)))
        if stated := mention.values & self._stated:
            known = dict.fromkeys((*stated, *known), ())
        return known or dict.fromkeys(mention.values.intersection(operand.constants), ())

    def _evaluated(self, expression: Expression) -> list[Result]:
        """Return what an expression gives; nothing for one whose numbers and dates are not all known."""
        basis = tuple(chain.from_iterable(r for o in expression.operands for r in self._known(o).values()))
        try:
            if expression.statistic:
                return [*self._estimates(expression, basis)]
            values = dict.fromkeys(self._values(expression)) if expression.is_computed else {}
        except (NotAnExpressionError, DecimalException, OverflowError):
            return []
        made = Result(expression, expression.text, basis)
        numbers = [made._replace(values=(value,)) for value in values if isinstance(value, Decimal)]
        return numbers + [made._replace(day=value) for value in values if isinstance(value, date)]

    def _values(self, expression: Expression) -> Iterator[Decimal | date]:
        """Yield what an expression gives by each reading of its numbers, of which one at least is known."""
        operands = expression.names.values()
        is_known = any(self._known(operand._replace(constants=())) for operand in operands)
        if expression.tree and is_known and len(operands) <= MAX_NUMBERS:
            for chosen in islice(product(*map(self._known, operands)), MAX_WAYS):
                yield _value(expression.tree, dict(zip(expression.names, chosen, strict=True)))

    def _estimates(self, expression: Expression, basis: tuple[str, ...]) -> Iterator[Result]:
        """Yield what a statistic gives; nothing where these groups have none."""
        name, parts = expression.statistic, expression.parts
        if len(parts) % COUNTS[name]:
            return
        for amounts in islice(product(*map(self._amounts, parts)), MAX_WAYS):
            try:
                made = of_studies(STATISTICS[name], [*map(float, amounts)], COUNTS[name])
            except (NotUsable, NotInstalled, ValueError, ZeroDivisionError):
                continue
            shown = [f"{amount:f}" for amount in amounts]
            pairs = zip(parts, shown, strict=True)
            steps = tuple(f"{part.text} = {amount}" for part, amount in pairs if part.is_computed)
            scale = 100 if STATISTICS[name] == "RD" else 1
            values = (Decimal(str(value * scale)) for value in (made.estimate, made.low, made.high))
            yield Result(expression, f"{name}({', '.join(shown)})", (*basis, *steps), tuple(values))

    def _amounts(self, part: Expression) -> list[Decimal]:
        """Return what a number of a statistic may be: a known figure, or a whole number that is computed.

        Participants follow from events and their percentage: `26 * 100 / 52`."""
        values = [value for value in self._values(part) if isinstance(value, Decimal)]
        if part.is_computed:
            return [*dict.fromkeys(rounded_to(value, Decimal(1)) for value in values)]
        return [value for value in values if value in self._signed or abs(value) not in self._stated]

    def _failure(self, number: Number) -> tuple[str, str]:
        """Return the expression that is nearest to a number, with what it gives.

        Where none is near, the first that gives nothing, with its number or date that is unknown."""
        printed = _decimals(number)[0]

        def distance(result: Result) -> Decimal:
            return min((abs(abs(value) - printed) for value in result.values), default=printed)

        nearest = min(self.results, key=distance, default=None)
        if nearest is not None and distance(nearest) <= MAX_OFF * abs(printed):
            return nearest.row(number, holds=False), ""
        resolved = {id(result.of) for result in self.results}
        for expression in self._parsed:
            unknown = (operand.mention.shown for operand in expression.operands if not self._known(operand))
            if id(expression) not in resolved and (operand := next(unknown, "")):
                return expression.text, operand
        return "", ""


def _written(result: Result, digits: str | None, language: str) -> str:
    """Write what an expression gives: a statistic with its interval, a day, a number with so many digits."""
    if result.day:
        return str(result.day)
    is_whole = len(result.values) == 1 and result.values[0] == result.values[0].to_integral_value()
    count = int(digits) if digits else 0 if is_whole else 2 if result.of.statistic else 1
    form = f"#,##0.{'0' * count}" if count else "#,##0"
    value, *ends = (format_decimal(number, form, locale=language or ENGLISH) for number in result.values)
    return f"{value} (95% CI {' to '.join(ends)})" if ends else value


class NotAnExpressionError(ValueError):
    """An expression has something else than numbers, dates, `+ - * /`, parentheses, `days` and statistics."""


def _value(node: ast.expr, values: Mapping[str, Decimal | date]) -> Decimal | date:
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
