"""The charts of `activities.report.format_table.CHARTS`, which the report draws, and which
`determinator chart` and programs ask for by name.

A chart is a picture, the same in rows, and the same in words."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from activities.contracts.appraisal import PART as CONCLUSIONS
from activities.contracts.effects import MEASURE_NAMES, Interval, Measure
from activities.contracts.effects import PART as ANALYSIS
from activities.messages import N_, _, in_its_language
from activities.report.format_table import CHARTS
from activities.report.formats import figures
from activities.report.formats.blocks import Figure, Table, table
from activities.report.formats.conclusion_words import found
from activities.report.formats.figures import Bar, Panel
from activities.report.formats.references import label_of
from activities.report.formats.statistics import stated_interval
from activities.report.formats.text import clean
from activities.report.schema import Report

MIN_PLOTTED = 5
"""Works from which a chart is clearer than the list."""
MIN_DRAWN = 2
"""Effects of one measure from which a plot is clearer than their numbers."""


@dataclass(frozen=True, slots=True)
class Chart:
    macro: str
    """The macro of `figures.svg.jinja` that draws it."""
    title: str
    head: tuple[str, ...]
    content: tuple[Bar, ...] | tuple[Panel, ...]

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        rows: list[tuple[str, ...]] = []
        for one in self.content:
            if isinstance(one, Panel):
                rows += [(one.title, mark.label, mark.text) for mark in one.marks]
            elif one.count:
                rows.append((one.label, str(one.count)))
        return tuple(rows)

    @property
    def words(self) -> str:
        """The same in words, for who cannot see it."""
        return f"{'; '.join(': '.join(filter(None, (', '.join(row[:-1]), row[-1]))) for row in self.rows)}."

    @property
    def is_clearer(self) -> bool:
        """Whether a report draws it: there is enough to compare."""
        counts = [one.count for one in self.content if isinstance(one, Bar)]
        return not counts or (sum(counts) >= MIN_PLOTTED and len(counts) > 1)

    @property
    def table(self) -> Table:
        """The rows as a block, with the title below them."""
        return table(self.head, self.rows, self.title)

    def svg(self) -> str:
        return figures.drawing(self.macro, self.title, self.words, self.content)

    def figure(self, *, drawn: bool) -> Figure:
        """The chart in the report, which has the numbers of effects beside it."""
        table = None if self.macro == "effects" else self.table
        return Figure(self.title, self.svg() if drawn else "", table)


def _intervals(title: str, panels: Iterable[Panel]) -> Chart | None:
    head, drawn = (N_("Outcome"), N_("Study"), N_("Effect (95% CI)")), tuple(panels)
    return Chart("effects", title, head, drawn) if drawn else None


def _directions(report: Report) -> Chart | None:
    """Works by outcome and the direction that they found, with or without numbers."""
    ways = ((one.outcome, work.direction) for one in CONCLUSIONS.shown(report) for work in one.works)
    tally = Counter(f"{clean(outcome)}: {found(direction)}" for outcome, direction in ways)
    bars = tuple(Bar(label, count) for label, count in tally.items())
    title = _("Findings by outcome (number of works)")
    return Chart("rows", title, (N_("Outcome"), N_("Works")), bars) if bars else None


def _effects(report: Report) -> Chart | None:
    """Effects by outcome and measure: those of each conclusion with what was pooled of them, and those that
    the statistics list."""
    labels = {reference.evidence_id: label_of(reference) for reference in report.references}
    analysis = ANALYSIS.shown(report)
    listed = [one.effect for one in analysis.not_pooled] if analysis else []
    works = [(one, work) for one in CONCLUSIONS.shown(report) for work in one.works]
    entries = [
        *((one.outcome, work.effect, work.evidence_id, work.result) for one, work in works if work.effect),
        *((effect.outcome, effect, effect.evidence_id, stated_interval(effect)) for effect in listed),
    ]
    rows: dict[tuple[str, Measure], list[tuple[str, Interval]]] = {}
    for outcome, effect, name, result in entries:
        if result is not None and name in labels:
            rows.setdefault((clean(outcome), effect.measure), []).append((labels[name], result))
    pooled = {
        (clean(one.outcome), one.pooled.measure): [(_("Random effects"), one.pooled.result)]
        for one in CONCLUSIONS.shown(report)
        if one.pooled is not None
    }
    panels = (
        figures.panel(f"{key[0]}: {_(MEASURE_NAMES[key[1]])}", key[1], effects, summaries=pooled.get(key, ()))
        for key, effects in rows.items()
        if len(effects) >= MIN_DRAWN
    )
    return _intervals(_("Effects by outcome, with 95% confidence intervals"), filter(None, panels))


def _pooled(report: Report) -> Chart | None:
    analysis = ANALYSIS.shown(report)
    pools = analysis.pools if analysis else ()
    panels = filter(None, map(figures.pool_panel, pools))
    return _intervals(_("Pooled effects, with 95% confidence intervals"), panels)


_MAKERS = (_directions, _effects, _pooled)


@in_its_language
def chart_of(report: Report, name: str) -> Chart | None:
    """A chart of `CHARTS`; None where the report has nothing of it. Raises KeyError."""
    return dict(zip(CHARTS, _MAKERS, strict=True))[name](report)


def figures_of(report: Report, name: str, *, drawn: bool) -> Iterator[Figure]:
    """A chart for the page, where it is clearer than a list. `drawn`: with its picture."""
    chart = chart_of(report, name)
    if chart is not None and chart.is_clearer:
        yield chart.figure(drawn=drawn)
