"""Figures that follow from quoted ones by a computation that their writer shows.

The expression has numbers, `+ - * /`, parentheses and `days(first, last)`, the days from one date to another;
or it is a statistic of two groups, as `risk_ratio(30, 50, 26, 50)`, which gives an estimate and its interval;
with the numbers of several studies behind each other it pools them (random effects). Each number is a figure
of a work, or a constant that has a name; each date stands in a work or in the question, and days may be added
to it. What code evaluates has to be what the sentence prints, as it is rounded. Nothing is searched for.

A text may leave a figure to code: `{F1}` stands for what the expression that begins with `F1:` gives.

Expressions whose numbers and dates are known are evaluated, what they give is known to the others, and so on
in rounds; then each number of a sentence is looked up among it.
"""

import ast
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, DecimalException
from itertools import islice, pairwise, product
from typing import NamedTuple

from babel.dates import format_date
from babel.numbers import format_decimal

from activities.analysis.figures import of_studies
from activities.analysis.scale import NotUsable
from activities.contracts.effects import MEASURE_NAMES, Measure
from activities.contracts.errors import NotInstalled
from activities.dates import Date, dates_in, days_in, days_of
from activities.messages import LOCALES, _, in_language
from activities.text.language import ENGLISH, language_of_question
from activities.text.normal_form import normalise
from activities.text.numbers import (
    SPELLED_IN,
    Number,
    figures,
    missing_numbers,
    read,
    rounded_to,
    rounds,
    single,
)

MAX_WAYS = 256
"""Combinations of readings (`1.000`) that are tried."""
WHOLES = frozenset(map(Decimal, (1, 100)))
"""What shares and percentages are of; they may be added and subtracted as well."""
BASES = frozenset(map(Decimal, (100, 1_000)))
"""People of whom a sentence says how many have an outcome (`12 of 100`), beside what is computed."""
FACTORS = WHOLES | frozenset(map(Decimal, (2, 7, 12, 24, 28, 29, 30, 31, 52, 60, 365, 366, 1_000)))
"""Constants of conversion: halves, days, months, hours, weeks, minutes, thousands; only for products and
quotients."""
MAX_OFF = Decimal("0.25")
"""Share of a number by which a computation that was meant to give it may be off."""
MAX_EXPRESSION_CHARS = 600
LANGUAGES = (ENGLISH, *sorted(SPELLED_IN))
"""Those in which the months of a computation are read."""
MAX_FINE = 10
"""Estimates below it are printed with two decimals, larger ones, as percentage points, with one."""
TENTH = Decimal("0.1")

_SIGNS = str.maketrans({"\u00d7": "*", "\u22c5": "*", "\u00f7": "/", ":": "/", "[": "(", "]": ")"})
_OPERAND = re.compile(r"(?<![^-+*/();])[^-+*/();\d]*+\d[^-+*/();]*")
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
_STATISTIC_NAME = re.compile("|".join(STATISTICS))
_LABEL = re.compile(r"(?:(F\d{1,3})\s*+[:=]|[^:=()]{1,20}:(?=\s))\s*+")
_PLACE = re.compile(r"\{ ?(F\d{1,3}) ?(?:: ?(\d))? ?\}")
"""The place of a figure, maybe with the digits behind its point: `{F1}`, `{F1:2}`."""
_DAYS = re.compile(r"days\([^()]*\)")
_NAME = re.compile(r"n\d+")
_BETWEEN, _COMMA = re.compile(r"[;,](?=\s)"), re.compile(",")


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


class Expression(NamedTuple):
    """A computation as its writer shows it, without what it gives."""

    text: str
    mentions: Mapping[str, Number | Date]
    """Its numbers and dates, by the names that stand for them in `tree`."""
    tree: ast.expr
    """`...` for what is no expression."""


class Estimate(NamedTuple):
    """An estimate with its interval."""

    shown: str
    """The statistic with its numbers alone: `risk_ratio(30, 50, 26, 50)`."""
    values: tuple[Decimal, ...]
    """The number and both ends of its interval."""
    steps: tuple[str, ...]
    """The computations of whole numbers within it: `26 * 100 / 52 = 50`."""


Value = Decimal | date | Estimate


def _parsed(shown: str) -> Expression:
    shown = shown.strip()
    shown = shown[label.end() :] if (label := _LABEL.match(shown)) else shown
    text = normalise(shown)[:MAX_EXPRESSION_CHARS].partition("=")[0].translate(_SIGNS).strip()
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

    rest = (_BETWEEN if _BETWEEN.search(rest) or not _STATISTIC_NAME.match(rest) else _COMMA).sub(";", rest)
    try:
        tree = ast.parse(_OPERAND.sub(named, rest).replace(";", ",").strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.Constant(...)
    return Expression(text, mentions, tree)


def unlabelled(line: str) -> str:
    """Return a computation without the label of the figure that it gives, or other words in front of it."""
    return _LABEL.sub("", line.strip(), count=1)


def operands_of(line: str) -> list[str]:
    """Return the numbers and dates of a computation as they are written."""
    return [mention.shown for mention in _parsed(line).mentions.values()]


def _dates(text: str) -> list[Date]:
    """Return the dates of an expression or a date, which are too short to tell their language."""
    return max((dates_in(text, language) for language in LANGUAGES), key=len)


def _is_day(day: date, number: Number, text: str) -> bool:
    """Tell whether a number of a text is a day: its date, or its number beside the name of its month."""
    if day.day not in number.values:
        return False
    if dates := _dates(number.shown):
        return dates[0].day == day
    if len(parts := number.readings[0]) > 2:  # 16.05.25
        return day.month in parts
    return any(f"{day:%m-%d}" in days_in(text, language) for language in LANGUAGES)


class Result(NamedTuple):
    """The result of an expression by a reading of its numbers."""

    of: Expression
    value: Value

    @property
    def values(self) -> tuple[Decimal, ...]:
        """The number, with both ends of the interval of a statistic; none of a date."""
        if isinstance(self.value, Estimate):
            return self.value.values
        return (self.value,) if isinstance(self.value, Decimal) else ()

    def readings(self, number: Number) -> list[Decimal]:
        """Return the readings of a number that are this one, rounded, whatever its sign."""
        exact = [abs(value) for value in self.values[:1]]
        return [
            p for p in _decimals(number) if any(rounded_to(v, p) == p or _in_hundreds(v, p) for v in exact)
        ]

    def prints(self, number: Number, text: str) -> bool:
        """Tell whether a number of a text is this one, or an end of this interval, beside the other end."""
        if isinstance(self.value, date):
            return _is_day(self.value, number, text)
        if not any(map(str.isdigit, number.shown)) or number.role == "ordinal":
            # a count is not rounded, but where a percentage gives it nearly
            pairs_of_counts = product(map(abs, self.values[:1]), number.values)
            return any(
                rounded_to(v, TENTH) == count or _in_hundreds(v, count) for v, count in pairs_of_counts
            )

        def is_end(end: Number, exact: Decimal) -> bool:
            return any(rounded_to(exact, printed) == printed for printed in end.signed)

        beside = (pair for pair in pairwise(figures(text)) if self.values[1:] and number in pair)
        return bool(self.readings(number)) or any(all(map(is_end, pair, self.values[1:])) for pair in beside)

    def row(self, number: Number) -> str:
        """Return the expression with what it gives, as a number prints it or should have."""
        if isinstance(self.value, date):
            return f"{self.of.text} = {self.value}"
        value, *ends = (f"{rounded_to(exact, _decimals(number)[0]):f}" for exact in self.values)
        if isinstance(self.value, Estimate):
            return f"{self.value.shown} = {value} ({' to '.join(ends)})"
        sign = "-" if value.startswith("-") else ""
        is_printed = any(rounded_to(abs(self.values[0]), p) == p for p in _decimals(number))
        return f"{self.of.text} = {f'{sign}{number.shown}' if is_printed else value}"


def _in_hundreds(exact: Decimal, printed: Decimal) -> bool:
    """Tell whether a number is another one rounded to hundreds, thousands or more."""
    return printed % 100 == 0 and rounds(exact, printed)


def _strangeness(result: Result, number: Number, works: Sequence[str]) -> tuple[bool, int, bool]:
    """Rank a computation by chance: a percentage without a hundred, foreign numbers, then rounding."""
    numbers = (mention for mention in result.of.mentions.values() if isinstance(mention, Number))
    foreign = sum(any(missing_numbers(mention.shown, works)) for mention in numbers)
    is_share = number.percent is not True or "100" in result.of.text
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
        self._unknown: dict[str, str] = {}
        """For the text of each expression that gives nothing the first of its operands that is not known."""
        self._texts: dict[str, str] = {}
        """For an expression the text that it was first shown for."""
        spans = (span for expression in expressions for span in _DAYS.findall(expression))
        self._parsed = [*map(_parsed, dict.fromkeys((*expressions, *spans)))]
        labels = ((m[1], line) for line in expressions if (m := _LABEL.match(line.strip())) and m[1])
        self._labelled = {label: _parsed(line).text for label, line in labels}
        stated = [n for text in (sources if expressions else ()) for n in figures(text) if not n.is_year]
        self._stated = {value for number in stated for value in number.values}
        self._signed = {value for number in stated for value in number.signed}
        dated = works if expressions else ()
        languages = {language_of_question(work) or ENGLISH for work in dated}
        self._days = {day for language in languages for day in days_of(dated, language)}
        waiting = self._parsed
        # what an expression gives may be a number or a date of others
        while made := [result for expression in waiting for result in self._evaluated(expression)]:
            self.results += made
            waiting = [expression for expression in waiting if all(r.of is not expression for r in made)]

    def of(self, text: str, works: Sequence[str]) -> Computed:
        """Return the computations by which numbers of a text follow that `works` do not state.

        `works`: all that the works which it cites say, and the question."""
        has_level = any(number.role == "level" for work in works for number in read(work).numbers)
        is_usual = not has_level or any(isinstance(result.value, Estimate) for result in self.results)
        usual = {LEVEL} if is_usual else set[Decimal]()
        missing = [n for n in missing_numbers(text, works) if n.role != "level" or n.value not in usual]
        rates = self._rates(text, missing, works)
        rows: dict[str, None] = dict.fromkeys(filter(None, rates.values()))
        failed: list[Number] = []
        for number in (number for number in missing if number not in rates):
            giving = [result for result in self.results if result.prints(number, text)]
            ranks = [(*_strangeness(r, number, works), self._is_taken(r, text)) for r in giving]
            if giving:
                made = giving[ranks.index(min(ranks))]
                self._texts.setdefault(made.of.text, text)
                # a statistic once, in as many decimals as any of its figures has
                same = [n for n in missing if made.values[1:] and made.prints(n, text)] or [number]
                self._add_steps(made, rows)
                rows[max((made.row(n) for n in same), key=len)] = None
            else:
                failed.append(number)
        known = {n.shown for row in rows for n in figures(row) if n.value in FACTORS}
        # the first day that a computation counts
        after = [day + timedelta(days=1) for row in rows if "days(" in row for day in days_of([row])]
        failed = [n for n in failed if n.shown not in known and not any(_is_day(d, n, text) for d in after)]
        if not failed or not self._parsed:
            return Computed(tuple(rows), tuple(number.shown for number in failed))
        failure, unknown = self._failure(failed[0])
        return Computed(tuple(rows), tuple(number.shown for number in failed), failure, unknown)

    def _rates(self, text: str, missing: Sequence[Number], works: Sequence[str]) -> dict[Number, str]:
        """Return the numbers of people of which a text says a computed figure, each with its computation.

        The computation is of percentages that the works state, or has that number; a percentage that they
        state needs none."""
        bases = [n for n in missing if n.value in BASES and not n.percent]
        others = [n for n in figures(text) if n.value not in BASES] if bases else []
        shares = {n.value for work in works for n in figures(work) if n.percent} if others else set()
        is_stated = any(shares & other.values for other in others if not other.percent)
        rates = dict.fromkeys((n for n in bases if n.value == 100 and is_stated), "")
        for base, number, result in product(bases, others, self.results):
            operands = {m.value for m in result.of.mentions.values() if isinstance(m, Number)}
            is_of_people = base.value in operands or operands & shares
            if is_of_people and result.prints(number, text):
                rates.setdefault(base, result.row(number))
        return rates

    def _add_steps(self, result: Result, steps: dict[str, None], within: tuple[Expression, ...] = ()) -> None:
        """Add the computations by which the operands of a result follow, each once, in their order.

        `within`: those that it is a step of, of which none is a step of its own."""
        if isinstance(result.value, Estimate):
            steps |= dict.fromkeys(result.value.steps)
        within = (*within, result.of)
        for mention in result.of.mentions.values():
            if not self._stated_as(mention) and (made := self._giving(mention, within)):
                shown = made.row(mention) if isinstance(mention, Number) else f"{made.of.text} = {made.value}"
                if shown not in steps:  # else the ways to a total of totals double with each
                    self._add_steps(made, steps, within)
                    steps[shown] = None

    def _is_taken(self, result: Result, text: str) -> bool:
        """Tell whether a computation was shown for another text: one of equal result stands for this one."""
        first = self._texts.get(result.of.text, text)
        return first not in text and text not in first

    def filled(self, text: str, language: str) -> str:
        """Return a text with the figures in the places that it leaves to its computations."""

        def figure(match: re.Match[str]) -> str:
            result = self._labelled.get(match[1])
            made = next((r for r in self.results if result and r.of.text == result), None)
            return _written(made, match[2], language) if made else match[0]

        return _PLACE.sub(figure, text)

    def _evaluated(self, expression: Expression) -> list[Result]:
        """Return what an expression gives; nothing for one whose numbers and dates are not all known."""
        self._unknown.pop(expression.text, None)
        is_known = any(map(self._known, expression.mentions.values()))  # constants alone compute nothing
        try:
            values = self._values(expression.tree, expression) if _is_computed(expression.tree) else ()
        except (DecimalException, OverflowError):
            return []
        return [Result(expression, value) for value in values if is_known]

    def _stated_as(self, mention: Number | Date) -> list[Value]:
        """Return what a number or a date is by the works."""
        if isinstance(mention, Date):
            return [mention.day] if mention.day in self._days else []
        return [value for value in mention.values if value in self._stated]

    def _giving(self, mention: Number | Date, within: Sequence[Expression] = ()) -> Result | None:
        """Return the computation that gives a number or a date, of several the first or the nearest.

        `within`: those that it would be a step of, of which it is none; the nearest shares numbers with
        the last."""
        others = (result for result in self.results if result.of not in within)
        if isinstance(mention, Date):
            return next((result for result in others if result.value == mention.day), None)
        giving = [result for result in others if result.readings(mention)]
        beside = {other.shown for of in within[-1:] for other in of.mentions.values()} - {mention.shown}
        return max(
            giving,
            key=lambda result: len(beside & {other.shown for other in result.of.mentions.values()}),
            default=None,
        )

    def _known(self, mention: Number | Date) -> list[Value]:
        """Return what a number or a date may be by the works, or by other expressions."""
        if (stated := self._stated_as(mention)) or self._giving(mention) is None:
            return stated
        if isinstance(mention, Date):
            return [mention.day]
        return [*dict.fromkeys(value for result in self.results for value in result.readings(mention))]

    def _values(
        self, node: ast.expr, of: Expression, constants: Collection[Decimal] = ()
    ) -> Collection[Value]:
        """Return what a part of an expression may be; nothing for what is no expression.

        `constants`: what a number may be though nothing gives it."""
        match node:
            case ast.Name(id=name) if mention := of.mentions.get(name):
                values = self._known(mention)
                if isinstance(mention, Number) and not values:
                    values = [*mention.values.intersection(constants)]
                if not values:
                    self._unknown.setdefault(of.text, mention.shown)
                return values
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return [-value for value in self._values(operand, of) if isinstance(value, Decimal)]
            case ast.Call(func=ast.Name(id=name), args=args) if name in STATISTICS:
                return self._estimates(name, args, of)
            case ast.Call(func=ast.Name(id="days"), args=[first, last]):
                return _combined(_days, self._values(first, of), self._values(last, of))
            case ast.BinOp(left=left, op=op, right=right) if compute := _OPERATORS.get(type(op)):
                allowed = FACTORS if isinstance(op, ast.Mult | ast.Div) else WHOLES
                return _combined(compute, self._values(left, of, allowed), self._values(right, of, allowed))
        return ()

    def _estimates(self, name: str, args: Sequence[ast.expr], of: Expression) -> list[Value]:
        """Return what a statistic gives; nothing where these groups have none."""
        made: list[Value] = []
        amounts = [self._amounts(arg, of).items() for arg in args]
        for chosen in islice(product(*amounts), 0 if len(args) % COUNTS[name] else MAX_WAYS):
            numbers = [number for number, _ in chosen]
            try:
                found = of_studies(STATISTICS[name], [*map(float, numbers)], COUNTS[name])
            except (NotUsable, NotInstalled, ValueError, ZeroDivisionError):
                continue
            scale = 100 if STATISTICS[name] == "RD" else 1
            values = (Decimal(str(value * scale)) for value in (found.estimate, found.low, found.high))
            shown = f"{name}({', '.join(f'{number:f}' for number in numbers)})"
            made.append(Estimate(shown, tuple(values), tuple(step for _, step in chosen if step)))
        return made

    def _amounts(self, arg: ast.expr, of: Expression) -> dict[Decimal, str]:
        """Return what a number of a statistic may be: a known figure, or a whole number with its computation.

        Participants follow from events and their percentage: `26 * 100 / 52`."""
        amounts = [value for value in self._values(arg, of) if isinstance(value, Decimal)]
        if not _is_computed(arg):
            return {v: "" for v in amounts if v in self._signed or abs(v) not in self._stated}
        text = _NAME.sub(lambda name: of.mentions[name[0]].shown, ast.unparse(arg))
        return {whole: f"{text} = {whole}" for whole in (rounded_to(v, Decimal(1)) for v in amounts)}

    def _failure(self, number: Number) -> tuple[str, str]:
        """Return the expression that is nearest to a number, else the first with an unknown operand."""
        printed = _decimals(number)[0]
        off = [(abs(abs(v) - printed), n) for n, result in enumerate(self.results) for v in result.values]
        distance, nearest = min(off, default=(Decimal("inf"), 0))
        if distance <= MAX_OFF * abs(printed):
            return self.results[nearest].row(number), ""
        return next(iter(self._unknown.items()), ("", ""))


def _written(result: Result, digits: str | None, language: str) -> str:
    """Write what an expression gives: a statistic with its interval, a day, a number with so many digits."""
    language = language or ENGLISH
    if isinstance(result.value, date):
        day = format_date(result.value, "long", locale=LOCALES.get(language, language))
        return day if days_of([day], language) == {result.value} else str(result.value)
    first = result.values[0]
    usual = (2 if abs(first) < MAX_FINE else 1) if len(result.values) > 1 else 0 if first % 1 == 0 else 1
    form = f"#,##0.{'0' * (int(digits) if digits else usual)}".rstrip(".")
    value, *ends = (format_decimal(number, form, locale=language) for number in result.values)
    if not ends:
        return value
    with in_language(language):
        return _("{value} (95% CI {low} to {high})").format(value=value, low=ends[0], high=ends[1])


def _is_computed(tree: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp | ast.Call) for node in ast.walk(tree))


def _days(first: Value, last: Value) -> Value | None:
    return Decimal((last - first).days) if isinstance(first, date) and isinstance(last, date) else None


def _combined(
    compute: Callable[..., object], left: Collection[Value], right: Collection[Value]
) -> list[Value]:
    """Return what an operator gives of each pair of values that it may compute with."""
    made: list[Value] = []
    for value, other in islice(product(left, right), MAX_WAYS):
        by = timedelta(int(other)) if isinstance(value, date) and isinstance(other, Decimal) else other
        try:
            result = compute(value, by)
        except TypeError:
            continue
        if isinstance(result, Decimal | date):
            made.append(result)
    return made
