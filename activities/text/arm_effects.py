"""Absolute effects, computed from events and totals that a work gives for two groups.

A pair is used only where one sentence sets `7/40` against `15/42` with `versus`, `compared with` or `than`,
and where percentages in brackets agree with it. The interval of the difference is Newcombe's hybrid score
interval (Stat Med 1998, 17:873-890, method 10), built from Wilson's intervals of both shares.
"""

import math
import re
from collections.abc import Iterable, Iterator

from activities.text.sentences import Statement
from activities.types import ComputedEffect

LEAST = 5
"""Members of a group at least."""
TOLERANCE = 1.0
"""Percentage points by which a printed share may differ from its events and total."""
_Z = 1.959964
"""Of the standard normal distribution, for 95 %."""

_SHARE = r"(?:\s*[(\[](?P<{0}p>\d+(?:[.\u00b7]\d+)?)\s?%[^()\[\]]{{0,20}}[)\]])?"
_COUNTED = (
    r"(?<![\d./,-])(?P<{0}e>\d{{1,5}})\s?(?:/|(?:out )?of(?: the)?(?= \d))\s?"
    r"(?P<{0}n>\d{{1,6}})(?![\d./%]|,\d)" + _SHARE
)
_PAIR = re.compile(
    _COUNTED.format("a")
    + r"(?:[^.;]{0,60}?\s|\s*,?\s*)(?:versus|vs\.?|v|compared (?:with|to)|as against|than(?: in)?)\s"
    + r"[^.;]{0,50}?"
    + _COUNTED.format("b"),
    re.IGNORECASE,
)
_NO_GROUPS = re.compile(
    r"\b(?:sensitiv|specific|accura|predictive value|agree|kappa|score|scale)", re.IGNORECASE
)


def arm_effects(read: Iterable[Statement]) -> Iterator[tuple[ComputedEffect, str]]:
    """The effects that the statements allow to compute, in their order, each with the statement's text."""
    for statement in read:
        if _NO_GROUPS.search(statement.text):
            continue
        for match in _PAIR.finditer(statement.text):
            events, total, other, other_total = (int(match[name]) for name in ("ae", "an", "be", "bn"))
            if _holds(events, total, match["ap"]) and _holds(other, other_total, match["bp"]):
                difference, low, high = risk_difference(events, total, other, other_total)
                yield (
                    ComputedEffect(
                        text=match.group(),
                        events=events,
                        total=total,
                        other_events=other,
                        other_total=other_total,
                        difference=difference,
                        low=low,
                        high=high,
                    ),
                    statement.text,
                )


def risk_difference(
    events: int, total: int, other_events: int, other_total: int
) -> tuple[float, float, float]:
    """The first share minus the other in percentage points, with its 95 % interval."""
    one, low, high = _wilson(events, total)
    other, other_low, other_high = _wilson(other_events, other_total)
    difference = one - other
    below = difference - math.hypot(one - low, other_high - other)
    above = difference + math.hypot(high - one, other - other_low)
    return round(100 * difference, 1), round(100 * below, 1), round(100 * above, 1)


def _wilson(events: int, total: int) -> tuple[float, float, float]:
    """A share and Wilson's interval of it."""
    share, square = events / total, _Z * _Z
    middle = (2 * events + square) / (2 * (total + square))
    half = _Z * math.sqrt(square + 4 * events * (1 - share)) / (2 * (total + square))
    return share, middle - half, middle + half


def _holds(events: int, total: int, share: str | None) -> bool:
    if total < LEAST or events > total:
        return False
    return share is None or abs(100 * events / total - float(share.replace("\u00b7", "."))) <= TOLERANCE
