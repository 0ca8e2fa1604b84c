"""Figures that follow from quoted ones by a computation that their writer shows (`expressions.py`).

Each number of an expression is a figure of a work, a constant that has a name, or what another expression
gives; each date stands in a work or in the question, and days may be added to it. What code evaluates has to
be what the sentence prints, as it is rounded. Nothing is searched for.

A text may leave a figure to code: `{F1}` stands for what the expression that begins with `F1:` gives.
"""

import ast
import calendar
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import chain, islice, pairwise, product
from typing import Literal, NamedTuple

from babel.dates import format_date, format_timedelta
from babel.numbers import format_decimal

from activities.analysis.figures import interval_of_studies
from activities.analysis.scale import NotUsable
from activities.contracts.errors import NotInstalled
from activities.dates import Date, day_spans, days_in, days_of
from activities.messages import LOCALES, _, in_language
from activities.text.language import ENGLISH, language_of_question
from activities.text.normal_form import normalise
from activities.text.number_index import missing_numbers, rounds
from activities.text.numbers import Number, figures, locale_of, read, rounded_to
from activities.verification.expressions import (
    COUNTS,
    FACTORS,
    LANGUAGES,
    NOTHING,
    REGION,
    STATISTICS,
    WHOLES,
    Expression,
    Operand,
    dates_of,
    label_of,
    without_label,
)

MAX_WAYS = 256
"""Combinations of readings (`1.000`) that are tried."""
MAX_OFF = Decimal("0.25")
"""Share of a number by which a computation that was meant to give it may be off."""
MAX_MAGNITUDE = 15
"""Digits before the point of what is computed; of more no decimals can be written."""
CHARS_BEFORE, CHARS_BEHIND = 12, 24
"""Characters between a number and the word for days: `14 calendar days`, `Days: 14`."""
MAX_FINE = 10
"""Estimates below it are printed with two decimals, larger ones and all percentage points with one."""

_OPERATORS: Mapping[type[ast.operator], Callable[..., object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
STATISTIC = re.compile(
    rf"(?P<name>{'|'.join(STATISTICS)})\((?P<numbers>[^()]*)\)"
    r" = (?P<value>[-.\d]+) \((?P<low>[-.\d]+) to (?P<high>[-.\d]+)\)"
)
"""A row of a statistic with what it gives (`Computed.rows`)."""
LEVEL = Decimal(95)
"""The level of an interval where no work names another, in percent: that of statistics and pooled effects."""
_PLACE = re.compile(r"\{ ?(F\d{1,3}) ?(?:: ?(\d))? ?\}")
"""The place of a figure, maybe with the digits behind its point: `{F1}`, `{F1:2}`."""
_REFERENCE = re.compile(r"\bF\d{1,3}\b")
"""What another expression gives, by its label: `4.6 * (1 - F9)`."""
_PART = re.compile(r"(?<=\w{3})teln?\b")
"""The end of a part in German, whose ordinal is read as `third` is: `zwei Drittel`."""
_DAYS = re.compile(r"days\([^()]*\)")


@dataclass(frozen=True, slots=True)
class Computed:
    rows: tuple[str, ...] = ()
    """The computations by which numbers that no work states follow: `209 + 218 = 427`."""
    missing: tuple[str, ...] = ()
    """The numbers that do not follow."""
    failure: str = ""
    """The computation that gives another number, with what it gives."""


class Estimate(NamedTuple):
    """An estimate with its interval."""

    name: str
    """A key of `STATISTICS`."""
    numbers: tuple[Decimal, ...]
    values: tuple[Decimal, ...]
    """The number and both ends of its interval."""

    @property
    def places(self) -> int:
        """Decimals that it is printed with: percentage points with one, as large ones."""
        return 2 if abs(self.values[0]) < MAX_FINE and STATISTICS[self.name] != "RD" else 1


Value = Decimal | date | Estimate


def _days_at(number: Number, text: str) -> list[Sequence[int]]:
    """Return the days that a number of a text is, each as its year (0 without one), month and day."""
    spans = (span for language in LANGUAGES for span in day_spans(text, language))
    return [day for start, end, *day in spans if start <= number.start < end]


def _is_day(day: date, number: Number, text: str) -> bool:
    """Tell whether a number of a text is a day: its date, or its number beside the name of its month."""
    if days := _days_at(number, text):
        return any(at in ([0, day.month, day.day], [*day.timetuple()[:3]]) for at in days)
    return [*map(int, number.readings[0])] == [day.day, day.month, day.year % 100]  # 16.05.25


@dataclass(frozen=True, eq=False)
class Result:
    """The result of an expression by a reading of its numbers."""

    of: Expression
    value: Value
    bases: tuple[tuple["Result", Operand], ...] = ()
    """The results that are operands of it, each as it is written there."""

    @property
    def values(self) -> tuple[Decimal, ...]:
        """The number, with both ends of the interval of a statistic; none of a date."""
        if isinstance(self.value, Estimate):
            return self.value.values
        return (self.value,) if isinstance(self.value, Decimal) else ()

    def readings(self, operand: Operand) -> list[Value]:
        """Return the readings of a number that are this one, rounded, whatever its sign; or the day."""
        if isinstance(operand, Date):
            return [operand.day] if self.value == operand.day else []
        exact = [abs(value) for value in self.values[:1]]
        return [p for p in _singles(operand) if any(_rounds(value, p, to_hundreds=True) for value in exact)]

    def prints(self, number: Number, text: str) -> bool:
        """Tell whether a number of a text is this one, or an end of this interval, beside the other end."""
        if isinstance(self.value, date):
            return _is_day(self.value, number, text)
        if number.percent and isinstance(self.of.tree, ast.Call) and not self.values[1:]:
            return False  # so many days

        def is_end(end: Number, exact: Decimal) -> bool:
            return any(_rounds(exact, printed) for printed in end.signed)

        pairs = [pair for pair in pairwise(figures(text)) if number in pair] if self.values[1:] else []
        return bool(self.readings(number)) or any(all(map(is_end, pair, self.values[1:])) for pair in pairs)

    @property
    def printed(self) -> str:
        """It without an interval, as another expression has it."""
        return str(self.value) if isinstance(self.value, date) else _numbers(self, None, ENGLISH)[0]

    def row(self, operand: Operand) -> str:
        """Return the expression with what it gives, as a number prints it or should have."""
        if isinstance(operand, Date) or isinstance(self.value, date):
            return f"{self.of.text} = {self.value}"
        if isinstance(self.value, Estimate):
            # the last place of the finer of both: 0.00 says nothing of a ratio of 0.004
            last_place = Decimal(1).scaleb(-self.value.places) + 0 * operand.value
            value, low, high = (f"{rounded_to(exact, last_place):f}" for exact in self.values)
            numbers = ", ".join(f"{number:f}" for number in self.value.numbers)
            return f"{self.value.name}({numbers}) = {value} ({low} to {high})"
        value = f"{rounded_to(self.value, operand.value):f}"
        is_printed = any(_rounds(abs(self.value), printed) for printed in _singles(operand))
        sign = "-" if value.startswith("-") else ""
        return f"{self.of.text} = {f'{sign}{operand.text}' if is_printed else value}"

    def add_bases(self, rows: dict[str, None]) -> None:
        """Add the computations of its operands to rows, each once, in their order."""
        for base, operand in self.bases:
            if (row := base.row(operand)) not in rows:
                base.add_bases(rows)
                rows[row] = None


def _rounds(exact: Decimal, printed: Decimal, *, to_hundreds: bool = False) -> bool:
    """Tell whether a number is another one, rounded to its last place, or to hundreds, thousands or more."""
    is_round = to_hundreds and printed % 100 == 0 and rounds(exact, printed)
    return is_round or rounded_to(exact, printed) == printed


def _singles(number: Number) -> list[Decimal]:
    """Return the readings of a number as a single one; that of a word, which counts, to a tenth."""
    places = Decimal(0) if any(map(str.isdigit, number.text)) else Decimal("0.0")
    return [reading[0] + places for reading in number.readings if len(reading) == 1]


class Computations:
    """The computations that a writer shows for a text, with what they give."""

    def __init__(self, lines: Sequence[str], sources: Sequence[str], works: Sequence[str]) -> None:
        """Evaluate the expressions of lines, each as soon as its numbers and dates are known.

        `sources`: texts with the figures that are computed with. `works`: those with the dates."""
        self._lines = lines
        sources, works = (sources, works) if lines else ((), ())
        numbers = [number for text in sources for number in figures(text) if not number.is_year]
        self._stated: set[Value] = {value for number in numbers for value in number.values}
        self._signed = {value for number in numbers for value in number.signed}
        languages = {language_of_question(work) or ENGLISH for work in works}
        self._stated |= {day for language in languages for day in days_of(works, language)}
        pairs = [pair for text in sources for pair in pairwise(read(_PART.sub("te", text)).numbers)]
        ordinals = [(a, b) for a, b in pairs if b.role == "ordinal" and b.start - a.end == 1]
        self._fractions = {(upper.value, lower.value) for upper, lower in ordinals}
        """Fractions in words: two thirds."""
        self._texts: dict[str, str] = {}
        """For an expression the text that it was first shown for."""
        self.results: list[Result] = []
        periods = (days for line in lines for days in _DAYS.findall(line))
        spans, months = _spans(sources, languages) if any(map(dates_of, lines)) else (set(), set())
        self._no_spans = self._stated - spans - WHOLES
        self._no_months = (self._stated | spans) - months
        self._stated |= spans | months
        waiting = [*dict.fromkeys((*lines, *periods))]
        while waiting:
            filled = [*map(self.with_results, waiting)]
            ready = [line for line in filled if not _REFERENCE.search(without_label(line))]
            self._evaluate([*map(Expression, ready or filled)])
            waiting = [line for line in filled if line not in ready] if ready else []

    def _evaluate(self, waiting: list[Expression]) -> None:
        """Evaluate expressions, of which what one gives may be a number or a date of others."""
        for constants in (WHOLES, FACTORS):
            while results := [result for e in waiting for result in self._results(e, constants)]:
                self.results += results
                waiting = [e for e in waiting if all(result.of is not e for result in results)]

    def with_results(self, line: str) -> str:
        """Return an expression with what the labels of others in it give, as these are printed."""
        text = without_label(line)
        values = {result.of.label: result.printed for result in reversed(self.results)}
        return line.strip().removesuffix(text) + _REFERENCE.sub(lambda m: values.get(m[0], m[0]), text)

    def of(self, text: str, works: Sequence[str]) -> Computed:
        """Return the computations by which numbers of a text follow that `works` do not state.

        `works`: all that the works which it cites say, and the question."""
        has_level = any(number.role == "level" for work in works for number in read(work).numbers)
        is_usual = not has_level or any(isinstance(result.value, Estimate) for result in self.results)
        missing = [
            number
            for number in missing_numbers(text, works)
            if not (number.role == "level" and number.value == LEVEL and is_usual)
        ]
        missing += self._computed_days(text, works)
        rows: dict[str, None] = {}
        unresolved: list[Number] = []
        for number in missing:
            candidates = [result for result in self.results if result.prints(number, text)]
            if _days_at(number, text):  # an amount that equals a day is not how that day follows
                candidates = [result for result in candidates if isinstance(result.value, date)]
            if not candidates:
                unresolved.append(number)
                continue
            best = min(candidates, key=lambda result: self._by_chance(result, number, text, works))
            self._texts.setdefault(best.of.text, text)
            best.add_bases(rows)
            rows[best.row(number)] = None
        constants = {n.value for row in rows for n in figures(row) if n.value in FACTORS}
        unresolved = [
            number
            for number in unresolved
            if number.percent or not (number.value in constants or self._is_hundred(number, text, works))
        ]
        failure = self._failure(unresolved[0], text) if unresolved else ""
        return Computed(tuple(rows), tuple(number.text for number in unresolved), failure)

    def _computed_days(self, text: str, works: Sequence[str]) -> Iterator[Number]:
        """Yield the numbers of computed days that no work states, though it may have the number elsewhere."""
        days = [result.value for result in self.results if isinstance(result.value, date)]
        for number in read(text).numbers if days else ():
            computed = {f"{day:%m-%d}" for day in days if _is_day(day, number, text)}
            if computed and all(
                computed.isdisjoint(days_in(w, language_of_question(w) or ENGLISH)) for w in works
            ):
                yield number

    def _is_hundred(self, number: Number, text: str, works: Sequence[str]) -> bool:
        """Tell whether a number is the 100 people of whom a text says what a work says in percent.

        A work states the percentage, which may be rounded, or what is computed is of percentages."""
        amounts = [amount for amount in figures(text) if amount.value != 100]
        computed = [r.of.values for r in self.results if any(r.prints(amount, text) for amount in amounts)]
        values = [amount.values for amount in amounts if not amount.percent]
        shares = {share.value for work in works for share in figures(work) if share.percent}
        is_share = not shares.isdisjoint(chain(*computed)) or any(
            rounded_to(share, amount) == amount for share, amount in product(shares, chain(*values))
        )
        return number.value == 100 and is_share

    def _by_chance(self, result: Result, number: Number, text: str, works: Sequence[str]) -> tuple[int, ...]:
        """Rank a result by how likely it is the number by chance, the least likely first.

        It is a percentage without a hundred, of numbers of other works or that the text has not, rounded, or
        that of another text."""
        is_share = number.percent is not True or "100" in result.of.text
        of, constants = result.of, result.of.constants
        operands = [
            o.text for name, o in of.operands.items() if isinstance(o, Number) and not constants[name]
        ]
        foreign = sum(any(missing_numbers(shown, works)) for shown in operands)
        apart = sum(any(missing_numbers(shown, [text])) for shown in operands)
        is_rounded = number.values.isdisjoint(map(abs, result.values))
        first = self._texts.get(result.of.text, text)
        return not is_share, foreign, apart, is_rounded, first not in text and text not in first

    def unfilled(self, text: str) -> str:
        """Return the computation of a place that was not filled, since it gives nothing; else empty."""
        lines = {label_of(line): line for line in reversed(self._lines)}
        return next((lines[match[1]] for match in _PLACE.finditer(text) if match[1] in lines), "")

    def fill(self, text: str, language: str) -> str:
        """Return a text with the figures in the places that it leaves to its computations."""
        labelled = {result.of.label: result for result in reversed(self.results)}

        def figure(match: re.Match[str]) -> str:
            result = labelled.get(match[1])
            return _format(result, match[2], language) if result else match[0]

        return _PLACE.sub(figure, text)

    def _results(self, expression: Expression, constants: frozenset[Decimal]) -> Iterator[Result]:
        """Yield what an expression gives by each reading of its numbers; nothing where one is not known."""
        values: dict[str, Collection[Value]] = {}
        bases: list[tuple[Result, Operand]] = []
        for name, operand in expression.operands.items():
            readings = expression.readings[name]
            matching = [result for result in self.results if result.readings(operand)]
            factors = expression.constants.get(name, set()) & (NOTHING | (WHOLES if matching else constants))
            if name in expression.divisors:  # three parts a whole where a work has two thirds, as two of it
                factors |= {lower for upper, lower in self._fractions if upper in expression.values | {1}}
            values[name] = [v for v in readings if v in self._stated] or [v for v in readings if v in factors]
            if not values[name] and matching:
                values[name] = [*dict.fromkeys(v for result in matching for v in result.readings(operand))]
                nearest = max(matching, key=lambda result: len(expression.texts & result.of.texts))
                bases.append((nearest, operand))
        has_known = bases or any(map(self._stated.intersection, values.values()))
        # constants alone compute nothing
        count = MAX_WAYS if has_known and _is_computed(expression.tree) else 0
        for combination in islice(product(*values.values()), count):
            operands = {**dict(zip(values, combination, strict=True)), REGION: expression.region}
            try:
                value = self._value(expression.tree, operands)
            except (ArithmeticError, LookupError, TypeError, ValueError, NotUsable, NotInstalled):
                continue
            yield Result(expression, value, tuple(bases))

    def _value(self, node: ast.expr, operands: Mapping[str, Value | str]) -> Value:
        """Return the value of a part of an expression; raises ValueError or TypeError for what is none."""
        value: object = None
        match node:
            case ast.Name(id=name) if name in operands:
                value = operands[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = operator.neg(self._value(operand, operands))  # type: ignore[arg-type]
            case ast.Call(func=ast.Name(id=name), args=args) if name in STATISTICS:
                value = self._estimate(name, args, operands)
            case ast.Call(func=ast.Name(id="days"), args=[one, other]):
                first, last = self._value(one, operands), self._value(other, operands)
                if isinstance(first, date) and isinstance(last, date):
                    value = Decimal((last - first).days)
            case ast.Call(func=ast.Name(id="months"), args=[one, other]):
                first, count = self._value(one, operands), self._value(other, operands)
                is_span = isinstance(other, ast.BinOp) or count not in self._no_months
                if isinstance(first, date) and isinstance(count, Decimal) and is_span:
                    value = _months_later(first, int(count))
            case ast.Call(func=ast.Name(id="workdays"), args=[one, other, ast.Name(id=place)]):
                first, count = self._value(one, operands), self._value(other, operands)
                region = operands[place]
                if isinstance(first, date) and isinstance(count, Decimal) and isinstance(region, str):
                    value = _working_day(first, int(count), region)
            case ast.BinOp(left=one, op=op, right=other) if compute := _OPERATORS.get(type(op)):
                left, right = self._value(one, operands), self._value(other, operands)
                if isinstance(left, date) and isinstance(right, Decimal):
                    if isinstance(other, ast.Name) and right in self._no_spans:
                        raise ValueError(right)
                    value = compute(left, timedelta(int(right)))
                else:
                    value = compute(left, right)
        if not isinstance(value, Decimal | date | Estimate):
            raise TypeError(ast.unparse(node))
        if isinstance(value, Decimal) and value.adjusted() >= MAX_MAGNITUDE:
            raise OverflowError
        return value

    def _estimate(self, name: str, args: Sequence[ast.expr], operands: Mapping[str, Value | str]) -> Estimate:
        """Return what a statistic gives of figures, with their signs."""
        numbers = [self._value(arg, operands) for arg in args if not _is_computed(arg)]
        amounts = [
            n for n in numbers if isinstance(n, Decimal) and (abs(n) not in self._stated or n in self._signed)
        ]
        if len(amounts) < len(args) or len(args) % COUNTS[name]:
            raise ValueError(name)
        result = interval_of_studies(STATISTICS[name], [*map(float, amounts)], COUNTS[name])
        scale = 100 if STATISTICS[name] == "RD" else 1
        values = (Decimal(str(value * scale)) for value in (result.estimate, result.low, result.high))
        return Estimate(name, tuple(amounts), tuple(values))

    def _failure(self, number: Number, text: str) -> str:
        """Return the computation that is nearest to a number, with what it gives.

        None that gives another number of the text, and none that is far off."""

        def distance(result: Result) -> Decimal:
            return min((abs(abs(value) - number.value) for value in result.values), default=number.value)

        numbers = figures(text)
        candidates = [r for r in self.results if r.values[1:] or not any(r.prints(n, text) for n in numbers)]
        nearest = min(candidates, key=distance, default=None)
        return nearest.row(number) if nearest and distance(nearest) <= MAX_OFF * number.value else ""


def _format(result: Result, digits: str | None, language: str) -> str:
    """Write what an expression gives: a statistic with its interval, a day, a number with so many digits."""
    language = language or ENGLISH
    if isinstance(result.value, date):
        day = format_date(result.value, "long", locale=LOCALES.get(language, language))
        return day if days_of([day], language) == {result.value} else str(result.value)
    value, *ends = _numbers(result, digits, language)
    if not ends:
        return value
    with in_language(language):
        return _("{value} (95% CI {low} to {high})").format(value=value, low=ends[0], high=ends[1])


def _numbers(result: Result, digits: str | None, language: str) -> list[str]:
    usual = result.value.places if isinstance(result.value, Estimate) else int(result.values[0] % 1 != 0)
    form = f"#,##0.{'0' * (int(digits) if digits else usual)}".rstrip(".")
    return [format_decimal(number, form, locale=language) for number in result.values]


def _months_later(day: date, months: int) -> date:
    """Return the same day of a later month, or the last of one that is shorter: 31 January, 28 February."""
    year, month = divmod(12 * day.year + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _working_day(day: date, count: int, region: str) -> date:
    """Return the working day that comes `count` after a day, before it where that is negative.

    Weekends and public holidays of a country, or of a part of it, are none. Raises ValueError where its
    holidays are not known.
    """
    import holidays  # 50 ms

    country, _separator, part = region.partition("-")
    try:
        days = holidays.country_holidays(country, subdiv=part or None)
    except NotImplementedError as error:
        raise ValueError(region) from error
    return days.get_nth_working_day(day, count)


def _spans(texts: Sequence[str], languages: Collection[str]) -> tuple[set[Decimal], set[Decimal]]:
    """Return the numbers of days and weeks, and those of months, that texts name.

    A day and so many rooms are no day."""
    days: set[Decimal] = set()
    months: set[Decimal] = set()
    units: tuple[tuple[Literal["day", "week", "month"], int, int, set[Decimal]], ...] = (
        ("day", 1, 1, days),
        ("week", 7, 7, days),
        ("month", 31, 1, months),
    )
    for unit, length, size, amounts in units:
        names = [
            format_timedelta(timedelta(length * count), unit, threshold=9, locale=locale_of(language))
            for language, count in product(languages, (1, 2))
        ]
        words = {name.strip("12\u00a0 ").casefold() for name in names}
        for text in map(normalise, texts):
            for number in figures(text):
                around = text[max(number.start - CHARS_BEFORE, 0) : number.end + CHARS_BEHIND].casefold()
                if any(word in around for word in words):
                    amounts |= {value * size for value in number.values}
            if unit != "day" and any(word in text.casefold() for word in words):  # a week later
                amounts.add(Decimal(size))
    return days, months


def _is_computed(tree: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp | ast.Call) for node in ast.walk(tree))
