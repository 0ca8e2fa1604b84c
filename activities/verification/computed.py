"""Figures that follow from quoted numbers: sums, differences, shares, ratios and percentages of amounts."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations

from activities.text.normal_form import normalise
from activities.verification.claim_check import Number, numbers

MAX_OPERANDS = 12
"""Quoted numbers that figures are computed from; of more of them some yield any figure by chance."""
MAX_ADDED = 4
"""Numbers of one sum."""


def computed_from(text: str, quotes: Sequence[str]) -> tuple[str, ...]:
    """The numbers of a text that no quote has and that follow from numbers of one quote, or of all where they
    are few, as `43 + 12 = 55`; empty where one of them does not follow. What was computed may be computed
    with."""
    by_quote = [numbers(normalise(quote)) for quote in quotes]
    quoted = [number for own in by_quote for number in own]
    # each number once
    once = ([*{(n.value, n.percent, n.unit): n for n in own}.values()] for own in (*by_quote, quoted))
    groups = [operands for operands in once if len(operands) <= MAX_OPERANDS]
    sums: list[str] = []
    for number in numbers(normalise(text)):
        if any(number.says(other, falling=True) for other in quoted):
            continue
        computed = next((way for operands in groups for way in _ways(number, operands)), "")
        if not computed:
            return ()
        sums.append(computed)
        groups = [[*operands, number] for operands in groups]
    return tuple(dict.fromkeys(sums))


def _ways(number: Number, operands: Sequence[Number]) -> Iterator[str]:
    for size in range(2, MAX_ADDED + 1):
        for added in combinations(operands, size):
            if sum(one.value for one in added) == number.value and _alike(number, *added):
                yield f"{' + '.join(one.shown for one in added)} = {number.shown}"
    for rate in (one for one in operands if one.percent and not number.percent):
        for whole in (one for one in operands if _alike(number, one) and one.value != number.value):
            part = whole.value * rate.value / 100
            if _rounds(part, number.value):
                yield f"{rate.shown} of {whole.shown} = {number.shown}"
            for sign, change in (("+", part), ("-", -part)):
                if _rounds(whole.value + change, number.value):
                    yield f"{whole.shown} {sign} {rate.shown} = {number.shown}"
    for more in operands:
        for less in operands:
            if more.value - less.value == number.value > 0 and _alike(number, more, less):
                yield f"{more.shown} - {less.shown} = {number.shown}"
            if less.value <= 0 or more is less or not _alike(more, less):
                continue
            share = 100 * more.value / less.value
            if number.percent and not more.percent and share <= 100 and _rounds(share, number.value):
                yield f"{more.shown} / {less.shown} = {number.shown}"
            if number.unit == "fold" and _rounds(more.value / less.value, number.value):
                yield f"{more.shown} / {less.shown} = {number.shown}"


def _alike(*operands: Number) -> bool:
    """Whether numbers are of one kind: all percentages or none, of one unit or none."""
    units = {one.unit for one in operands if one.unit and one.unit != "fold"}
    return len({one.percent for one in operands}) == 1 and len(units) <= 1


def _rounds(exact: Decimal, stated: Decimal) -> bool:
    """Whether a number is another one with as many places as it has itself."""
    return exact.quantize(stated) == stated if stated.is_finite() else False
