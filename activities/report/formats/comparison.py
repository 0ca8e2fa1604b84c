"""Outcome by option: what each group had, and the effect, each with the sentence it is from; and the effects
drawn beside each other where none were pooled."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from activities.analysis.meta_analysis import shown_interval
from activities.analysis.types import MEASURE_NAMES, RATIOS, Effect, Interval
from activities.report.formats import figures
from activities.report.formats import references as refs
from activities.report.formats.blocks import Block, Cell, Figure, Run, Table
from activities.report.formats.quotes import Quotes
from activities.report.formats.text import clean
from activities.types import Support

MIN_DRAWN = 2
"""Effects of one measure from which a plot is clearer than their numbers."""


@dataclass(frozen=True, slots=True)
class Compared:
    """An effect of one work."""

    outcome: str
    group: str
    comparator: str
    effect: Effect

    @property
    def interval(self) -> Interval | None:
        one = self.effect
        if one.estimate is None or one.low is None or one.high is None:
            return None
        return Interval(estimate=one.estimate, low=one.low, high=one.high)


def comparison(compared: Sequence[Compared], quotes: Quotes, *, drawn: bool) -> Iterator[Block]:
    """A row for each effect of a cited work; nothing where no work gives both groups or an interval."""
    cited = [one for one in compared if one.effect.evidence_id in quotes.references]
    shown = [one for one in cited if one.effect.arms or one.interval]
    if not shown:
        return
    groups, comparators = {clean(one.group) for one in shown}, {clean(one.comparator) for one in shown}
    first = _head(groups, "Group")
    second = _head(comparators, "Compared with")
    rows = tuple(_row(one, quotes, named=(len(groups) > 1, len(comparators) > 1)) for one in shown)
    yield Table(("Outcome", first, second, "Effect (95 % interval)", "From"), rows, sortable=True)
    yield from _plots(shown, quotes, drawn=drawn)


def _head(names: set[str], otherwise: str) -> str:
    (name,) = names if len(names) == 1 else ("",)
    return name[:1].upper() + name[1:] if name else otherwise


def _row(one: Compared, quotes: Quotes, *, named: tuple[bool, bool]) -> tuple[Cell, ...]:
    effect, arms = one.effect, one.effect.arms
    support = Support(evidence_id=effect.evidence_id, quote=effect.quote)
    quote = quotes.quote("", support) if effect.quote else None

    def cell(text: str) -> Cell:
        return Cell((Run(text, quote=quote if text else None),))

    with_it = (arms.events, arms.total) if arms else None
    against = (arms.control_events, arms.control_total) if arms else None
    sides = ((one.group, with_it), (one.comparator, against))
    told = []
    for (name, counts), naming in zip(sides, named, strict=True):
        share = f"{counts[0]:,} of {counts[1]:,} ({counts[0] / counts[1]:.1%})" if counts else ""
        told.append(": ".join(filter(None, (clean(name) if naming else "", share))))
    figure = f"{effect.measure} {shown_interval(one.interval)}" if one.interval else ""
    reference = quotes.references[effect.evidence_id]
    where = Cell((quotes.mark(reference.number), Run(clean(refs.label_of(reference)))))
    return (Cell((Run(clean(one.outcome)),)), *map(cell, told), cell(figure), where)


def _plots(shown: Iterable[Compared], quotes: Quotes, *, drawn: bool) -> Iterator[Figure]:
    """The effects of each outcome and measure beside each other."""
    alike: dict[tuple[str, str], list[tuple[str, Interval]]] = {}
    for one in shown:
        if one.interval is not None:
            label = clean(refs.label_of(quotes.references[one.effect.evidence_id]))
            alike.setdefault((clean(one.outcome), one.effect.measure), []).append((label, one.interval))
    for (outcome, measure), rows in alike.items():
        ratio = measure in {*RATIOS}
        if len(rows) < MIN_DRAWN or (ratio and any(one.low <= 0 for _, one in rows)):
            continue
        name = next(text for key, text in MEASURE_NAMES.items() if key == measure)
        caption = f"{outcome}: {name}, 95 % interval"
        said = f"{caption}: {'; '.join(f'{label} {shown_interval(one)}' for label, one in rows)}."
        yield Figure(
            caption, figures.drawing("effects", _scaled(rows, ratio=ratio)) if drawn else "", words=said
        )


def _scaled(rows: Sequence[tuple[str, Interval]], *, ratio: bool) -> figures.Effects:
    """The intervals as shares of the width, on the logarithm for ratios; the value of no effect is in it."""

    def place(value: float) -> float:
        return math.log(value) if ratio else value

    none = 1.0 if ratio else 0.0
    ends = [place(none), *(place(end) for _, one in rows for end in (one.low, one.high))]
    low, width = min(ends), (max(ends) - min(ends)) or 1.0

    def share(value: float) -> float:
        return round((place(value) - low) / width, 4)

    marks = tuple(
        figures.EffectMark(label[:24], shown_interval(one), *map(share, (one.low, one.estimate, one.high)))
        for label, one in rows
    )
    return figures.Effects(marks, share(none), "1" if ratio else "0")
