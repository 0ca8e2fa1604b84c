"""Outcome by option: what each group had, and the effect, each with the sentence it is from; and the effects
drawn beside each other where none were pooled."""

from collections.abc import Iterator
from dataclasses import dataclass

from activities.analysis.meta_analysis import shown_interval
from activities.contracts.effects import MEASURE_NAMES, Effect, Interval, Measure
from activities.contracts.evidence import Support
from activities.report.formats import figures
from activities.report.formats import references as refs
from activities.report.formats.blocks import Block, Cell, Run, Table
from activities.report.formats.quotes import Quotes
from activities.report.formats.text import clean
from activities.report.schema import Report

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


def comparison(report: Report, quotes: Quotes) -> Iterator[Block]:
    """A row for each effect of a cited work; nothing where no work gives both groups or an interval."""
    cited = [one for one in compared(report) if one.effect.evidence_id in quotes.references]
    shown = [one for one in cited if one.effect.arms or one.interval]
    if not shown:
        return
    groups, comparators = {clean(one.group) for one in shown}, {clean(one.comparator) for one in shown}
    first = _head(groups, "Group")
    second = _head(comparators, "Compared with")
    rows = tuple(_row(one, quotes, named=(len(groups) > 1, len(comparators) > 1)) for one in shown)
    yield Table(("Outcome", first, second, "Effect (95 % interval)", "From"), rows, sortable=True)


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


def compared(report: Report) -> list[Compared]:
    """What each group had, as conclusions used it, and the effects that were read and not pooled."""
    against = {work.evidence_id: work.comparator for work in report.judgements}
    used = []
    for one in report.conclusions:
        for work in one.works:
            if work.effect is None or work.effect.arms is None:
                continue
            quote = next((s.quote for s in work.support), "")
            effect = work.effect.replace(evidence_id=work.evidence_id, quote=quote)
            used.append(Compared(one.outcome, one.group, one.comparator, effect))
    rest = (one.effect for one in report.analysis.not_pooled) if report.analysis else ()
    return used + [Compared(e.outcome, "", against.get(e.evidence_id, ""), e) for e in rest]


def panels(report: Report) -> Iterator[figures.Panel]:
    """The effects of each outcome and measure beside each other, where none were pooled."""
    references = {reference.evidence_id: reference for reference in report.references}
    alike: dict[tuple[str, Measure], list[tuple[str, Interval]]] = {}
    for one in compared(report):
        if one.interval is not None and one.effect.evidence_id in references:
            label = refs.label_of(references[one.effect.evidence_id])
            alike.setdefault((clean(one.outcome), one.effect.measure), []).append((label, one.interval))
    for (outcome, measure), rows in alike.items():
        if len(rows) >= MIN_DRAWN:
            made = figures.panel(f"{outcome}: {MEASURE_NAMES[measure]}", measure, rows)
            yield from [made] if made else []
