"""A ledger of entries: in order of time, with a total for each sum and unit of the amounts that count.

A total is computed as a writer shows a computation (`activities.verification.computed`): an expression over
the amounts as they stand in their sentences, which is evaluated.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from itertools import islice

from activities.contracts.entries import Entries, Entry, Ledger, Total
from activities.messages import CATALOGUES, ENGLISH
from activities.text.normal_form import normalise
from activities.text.numbers import Number, single
from activities.verification.computed import MAX_WAYS, evaluations

MIN_ADDED = 2
"""Amounts of one unit from which a total is made."""
_SIGNS = {"add": "+", "subtract": "-"}
LOCALES = (ENGLISH, *CATALOGUES)
"""Languages in whose names a currency is recognised."""


def ledger(given: Entries) -> Ledger:
    """The entries in order of time, those without a date last, and the totals of their amounts."""
    entries = tuple(sorted(given.entries, key=lambda one: (not one.day, one.day)))
    return Ledger(asks=given.asks, entries=entries, totals=tuple(totals(entries)))


def totals(entries: Sequence[Entry]) -> Iterator[Total]:
    """Yield the total of each sum and unit, in the order in which they appear: what is added before what is
    subtracted."""
    by_unit: dict[tuple[str, str], list[tuple[str, Decimal, Number]]] = {}
    for one in entries:
        number = amount_of(one.amount)
        if number is not None and one.value in number.values and one.counts in _SIGNS:
            unit = unit_of(one.amount, number)
            alike = (known for name, known in by_unit if name == one.total and is_one_unit(known, unit))
            terms = by_unit.setdefault((one.total, next(alike, unit)), [])
            terms.append((_SIGNS[one.counts], one.value, number))
    for (name, unit), terms in by_unit.items():
        terms.sort(key=lambda term: term[0])
        expression = " ".join(f"{sign} {number.shown}" for sign, _, number in terms).removeprefix("+ ")
        total = sum((value if sign == "+" else -value for sign, value, _ in terms), Decimal(0))
        ways = islice(evaluations(expression, [number for *_, number in terms]), MAX_WAYS)
        if len(terms) >= MIN_ADDED and total in ways:
            yield Total(name=name, unit=unit, expression=expression, result=printed(total))


def amount_of(amount: str, language: str = "") -> Number | None:
    """The number of an amount; None where it has none or several."""
    number = single(amount, language)
    return None if number is None or number.percent else number


def value_of(amount: str, language: str) -> Decimal | None:
    """The number of an amount, as a language writes numbers (`1.250,00`), else as it is read first."""
    number = amount_of(amount, language)
    return number.value if number else None


def is_one_unit(unit: str, other: str) -> bool:
    """Tell whether two units are one, or one names the currency that the other is a sign of."""
    ours, theirs = _currencies(unit), _currencies(other)
    return unit == other or (1 in (len(ours), len(theirs)) and not ours.isdisjoint(theirs))


@cache
def _currencies(unit: str) -> frozenset[str]:
    """Return the codes of currencies with this sign or code, else with this word in their names."""
    from babel.numbers import get_currency_name, get_currency_symbol, list_currencies

    codes = sorted(list_currencies("en"))
    signs = {code for code in codes if unit in (code.casefold(), get_currency_symbol(code, "en").casefold())}
    names = ((code, get_currency_name(code, n, name)) for code in codes for n in (1, 2) for name in LOCALES)
    return frozenset(signs or {code for code, name in names if unit in name.casefold().split()})


def unit_of(amount: str, number: Number) -> str:
    """What stands beside the number of an amount: `pounds`, `\u20ac`."""
    return " ".join(normalise(amount).replace(number.shown, " ", 1).split()).strip(" .,;:").casefold()


def printed(value: Decimal) -> str:
    """Return a value with marks between thousands, and cents where its amounts have them."""
    exponent = value.as_tuple().exponent
    return f"{value:,.2f}" if isinstance(exponent, int) and exponent < 0 else f"{value:,.0f}"
