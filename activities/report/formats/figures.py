"""Figures of reports: the flow of records and effects with their intervals.

They are SVG for HTML and PDF, pictures for Word, which shows no SVG by itself, and tables elsewhere.
`determinator chart`, the page and programs ask for those of `activities.report.formats.CHARTS` by name.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import unescape
from itertools import chain, repeat
from pathlib import Path
from typing import Literal
from zlib import crc32

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from activities.analysis.meta_analysis import interval_text, range_text
from activities.analysis.scale import no_effect, to_scale
from activities.contracts.appraisal import PART as CONCLUSIONS
from activities.contracts.effects import MEASURE_NAMES, RATIOS, Effect, Interval, Measure, Pool
from activities.contracts.effects import PART as ANALYSIS
from activities.contracts.evidence import ANSWERED
from activities.messages import N_, _, decimals, in_its_language, number, percent
from activities.report.formats.blocks import Figure, Table, table
from activities.report.formats.references import label_of
from activities.report.formats.statements import source_title
from activities.report.formats.text import clean
from activities.report.schema import Report

FOLDER = Path(__file__).parent
STYLE = f"<style>{(FOLDER / 'figures.css').read_text(encoding='utf-8')}</style>"
"""The style of a figure that stands alone."""
PIXELS_PER_INCH = 220
_PAGE = b"""#set page(width: 9cm, height: auto, margin: 2pt)
#image(bytes(sys.inputs.figure), format: "svg", width: 100%)"""
_DESCRIPTION = re.compile(r"<title[^>]*>([^<]*)</title>\s*<desc[^>]*>([^<]*)</desc>")
RATIO_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
MIN_DRAWN = 2
"""Effects of one measure from which a plot is clearer than their numbers."""
MAX_TICKS = 6
"""Labels that an axis has room for; of more those of powers of ten stand."""
MAX_WIDTHS = 6
"""Times the usual width of an interval that an axis reaches from its middle: a study without precision must
not press all others into one point."""


Rows = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class FlowBox:
    """A box of a flow of records, with what leaves the flow beside it."""

    rows: Rows
    """Each line with its number."""
    aside: Rows = ()


@dataclass(frozen=True, slots=True)
class EffectMark:
    """An effect with its interval, as shares of the width."""

    label: str
    text: str
    low: float
    middle: float
    high: float
    kind: Literal["study", "pooled", "range"] = "study"
    size: float = 8
    """The side of the square of a study, in pixels: its area is the weight."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Effects of one measure on one outcome beside each other."""

    title: str
    marks: tuple[EffectMark, ...]
    none: float
    """Where no effect is."""
    ticks: tuple[tuple[float, str], ...]
    note: str = ""


@cache
def templates() -> Environment:
    """Load the templates beside this file, autoescaped: no text of a report can become markup."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(_=_, number=number)
    return environment


def drawing(name: str, title: str, words: str, content: "Sequence[Panel] | Sequence[FlowBox]") -> str:
    """Draw a figure as SVG by its macro, with its title and its content in words for who cannot see it."""
    macros = templates().get_template("figures.svg.jinja").module
    key = f"figure-{crc32(title.encode()):x}"
    opening = _OPENING.format(key=key, title=escape(title), words=escape(words), style=STYLE)
    return str(getattr(macros, name)(content, Markup(opening)))  # noqa: S704 - its parts are escaped above


def with_title(svg: str, title: str) -> str:
    height = int(_HEIGHT.search(svg)[1]) + TITLE_HEIGHT  # type: ignore[index]  # each template states it
    line = f'<text class="fig-text fig-lead" x="0" y="-10">{escape(title)}</text></svg>'
    drawing = _HEIGHT.sub(f'viewBox="0 -{TITLE_HEIGHT} 360 {height}"', svg, count=1)
    return f"{drawing.strip().removesuffix('</svg>')}{line}"


TITLE_HEIGHT = 28
_HEIGHT = re.compile(r'viewBox="0 0 360 (\d+)"')
_OPENING = (
    'role="img" aria-labelledby="{key}-title {key}-words"><title id="{key}-title">{title}</title>'
    '<desc id="{key}-words">{words}</desc>{style}'
)


def picture(svg: str) -> bytes | None:
    """Draw a figure as PNG by the library that sets the PDF (the `pdf` extra); None without it."""
    try:
        import typst
    except ImportError:
        return None
    image = typst.compile(_PAGE, format="png", ppi=PIXELS_PER_INCH, sys_inputs={"figure": svg})
    assert isinstance(image, bytes)
    return image


def description(svg: str) -> str:
    match = _DESCRIPTION.search(svg)
    return unescape(f"{match[1]}: {match[2]}") if match else ""


FLOW = N_("Flow of records (PRISMA 2020)")


def flow_figure(steps: Sequence[FlowBox], *, with_pictures: bool = True) -> Figure:
    """Draw a flow of records, which is a table where it cannot be drawn."""
    title = _(FLOW)
    rows = [row for step in steps for row in (*step.rows, *step.aside)]
    words = "; ".join(f"{label}: {count}" for label, count in rows)
    svg = drawing("steps", title, words, steps) if with_pictures else ""
    return Figure(title, svg, table((N_("Step"), N_("Records")), ((n, number(c)) for n, c in rows), title))


def flow(report: Report) -> tuple[FlowBox, ...]:
    """Count the flow of PRISMA 2020, as far as it applies to an automatic search."""
    counts, searches = report.methodology.counts, report.methodology.searches
    legend = Counter[str]()
    for record in searches:
        legend[source_title(record.source)] += record.kept
    if sum(legend.values()) != counts.identified:  # sections share what each of them kept
        legend.clear()
    failures = sum(record.status not in ANSWERED for record in searches)
    studies = len({r.study for r in report.references if r.study})
    return (
        FlowBox(
            (
                (_("Identified"), counts.identified),
                *((_("kept from {source}").format(source=name), n) for name, n in legend.items()),
                *(((_("Failed searches"), failures),) if failures else ()),
            ),
            ((_("Duplicates removed"), counts.duplicates), (_("Not screened"), counts.not_screened)),
        ),
        FlowBox(((_("Screened"), counts.screened),), ((_("Not cited"), counts.not_cited),)),
        FlowBox(
            (
                (_("Included (cited)"), counts.included),
                (_("Studies reported"), studies + sum(not r.study for r in report.references)),
            )
        ),
    )


def panel(
    title: str,
    measure: Measure,
    rows: Sequence[tuple[str, Interval]],
    weights: Sequence[float] = (),
    summaries: Sequence[tuple[str, Interval]] = (),
    reach: Interval | None = None,
    note: str = "",
) -> Panel | None:
    """Place studies, what they were pooled to, and the prediction interval `reach` on one axis.

    It is logarithmic for ratios. None where a ratio is not positive: it has no place.
    """
    bars = [*(bar for _, bar in (*rows, *summaries)), *([reach] if reach else ())]
    if measure in RATIOS and any(bar.low <= 0 for bar in bars):
        return None

    def place(value: float) -> float:
        return to_scale(measure, value)

    neutral = place(no_effect(measure))
    ends = [place(end) for bar in bars for end in (bar.low, bar.high)]
    middle = place((summaries or rows)[-1][1].estimate)
    widths = sorted(max(abs(place(end) - middle) for end in (bar.low, bar.high)) for _, bar in rows)
    furthest = max(MAX_WIDTHS * (widths[len(widths) // 2] or 1.0), abs(neutral - middle))
    low = max(min(neutral, *ends), middle - furthest)
    high = min(max(neutral, *ends), middle + furthest)
    low, high = (low, high) if high > low else (low - 0.5, low + 0.5)

    def share(value: float) -> float:
        return round(min(1.0, max(0.0, (place(value) - low) / (high - low))), 4)

    def mark(
        label: str, interval: Interval, kind: Literal["study", "pooled", "range"], size: float = 8
    ) -> EffectMark:
        text = interval_text(interval) if kind != "range" else range_text(interval.low, interval.high)
        low, middle, high = map(share, (interval.low, interval.estimate, interval.high))
        return EffectMark(clean(label), text, low, middle, high, kind, size)

    sizes = [round(4 + 10 * math.sqrt(weight), 1) for weight in weights] or [8.0] * len(rows)
    marks = [mark(*row, "study", size) for row, size in zip(rows, sizes, strict=True)]
    marks += [mark(*row, "pooled") for row in summaries]
    marks += [mark(_("Prediction interval"), reach, "range")] if reach is not None else []
    ticks = tuple((share(value), decimals(f"{value:g}")) for value in _ticks(measure, low, high))
    return Panel(clean(title), tuple(marks), share(no_effect(measure)), ticks, note)


def heterogeneity(pool: Pool) -> str:
    """Write Q with its degrees of freedom and p, I2 and the variance between studies, in signs alone."""
    p = decimals(f"p = {pool.q_p:.3f}" if pool.q_p >= 0.001 else "p < 0.001")
    q, tau2 = decimals(f"Q = {pool.q:.2f}"), decimals(f"\u03c4\u00b2 = {pool.tau2:.4f}")
    return f"{q} (df {len(pool.rows) - 1}, {p}), I\u00b2 = {percent(pool.i2, 1)}, {tau2}"


def pool_panel(pool: Pool) -> Panel | None:
    return panel(
        f"{pool.outcome}: {_(MEASURE_NAMES[pool.measure])}",
        pool.measure,
        [(row.effect.study, row.result) for row in pool.rows],
        [row.weight for row in pool.rows],
        [
            (_("Fixed effect"), pool.fixed),
            (_("Random effects"), pool.random),
            (_("Random effects (Hartung and Knapp)"), pool.hartung_knapp),
        ],
        pool.prediction,
        heterogeneity(pool),
    )


def _ticks(measure: Measure, low: float, high: float) -> list[float]:
    """Round values to label, of the measure; `low` and `high` are on its scale."""
    if measure in RATIOS:
        ticks = [tick for tick in RATIO_TICKS if low <= math.log(tick) <= high]
        return ticks if len(ticks) <= MAX_TICKS else [tick for tick in ticks if math.log10(tick) % 1 == 0]
    step = 10 ** math.floor(math.log10((high - low) / 2))
    count = (high - low) / step
    step *= 5 if count > 12 else 2 if count > 6 else 1
    return [round(step * i, 10) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


# charts by name


def pool_blocks(title: str, pool: Pool, *, with_pictures: bool = True) -> Iterator[Figure | Table]:
    """Draw a pool, if its ratios have a place on the axis, and list its studies and its summaries."""
    chart = pool_panel(pool)
    marks = chart.marks if chart is not None else ()
    if with_pictures and chart is not None:
        words = "; ".join(f"{mark.label} {mark.text}" for mark in marks)
        yield Figure("", drawing("effects", title, words, [chart]), words=title)
    weights = chain((percent(row.weight, 1) for row in pool.rows), repeat(""))
    rows = [(m.label, m.text, weight) for m, weight in zip(marks, weights, strict=False)]
    yield table((N_("Study"), N_("Effect (95% CI)"), N_("Weight")), rows)


@in_its_language
def chart_of(report: Report, name: str) -> Figure | None:
    """Make a chart of `CHARTS` with its table; None where the report has nothing of it. Raises KeyError."""
    message, panels_of = {
        "effects": (N_("Effects by outcome, with 95% confidence intervals"), _effects),
        "pooled": (N_("Pooled effects, with 95% confidence intervals"), _pool_panels),
    }[name]
    title, panels = _(message), tuple(filter(None, panels_of(report)))
    if not panels:
        return None
    rows = [(panel.title, mark.label, mark.text) for panel in panels for mark in panel.marks]
    words = "; ".join(f"{outcome}, {label}: {text}" for outcome, label, text in rows)
    head = (N_("Outcome"), N_("Study"), N_("Effect (95% CI)"))
    return Figure(title, drawing("effects", title, f"{words}.", panels), table(head, rows, title))


def effects_of(report: Report, *, with_pictures: bool) -> Iterator[Figure]:
    """Draw the effects by outcome for the page, which has their numbers beside them."""
    if chart := chart_of(report, "effects"):
        yield replace(chart, table=None, svg=chart.svg if with_pictures else "")


def _pool_panels(report: Report) -> Iterator[Panel | None]:
    analysis = ANALYSIS.of_report(report)
    return map(pool_panel, analysis.pools if analysis else ())


def _effects(report: Report) -> Iterator[Panel | None]:
    labels = {reference.evidence_id: label_of(reference) for reference in report.references}
    analysis = ANALYSIS.of_report(report)
    conclusions = CONCLUSIONS.of_report(report)
    entries = [
        *(
            (conclusion.outcome, work.effect, work.result)
            for conclusion in conclusions
            for work in conclusion.works
            if work.effect
        ),
        *(
            (not_pooled.effect.outcome, not_pooled.effect, stated_interval(not_pooled.effect))
            for not_pooled in (analysis.not_pooled if analysis else ())
        ),
    ]
    rows: dict[tuple[str, Measure], list[tuple[str, Interval]]] = {}
    for outcome, effect, result in entries:
        if result is not None and (label := labels.get(effect.evidence_id)):
            rows.setdefault((clean(outcome), effect.measure), []).append((label, result))
    pools = {
        (clean(conclusion.outcome), conclusion.pooled.measure): [
            (_("Random effects"), conclusion.pooled.result)
        ]
        for conclusion in conclusions
        if conclusion.pooled is not None
    }
    for key, effects in rows.items():
        if len(effects) >= MIN_DRAWN:
            title = f"{key[0]}: {_(MEASURE_NAMES[key[1]])}"
            yield panel(title, key[1], effects, summaries=pools.get(key, ()))


def stated_interval(effect: Effect) -> Interval | None:
    if effect.estimate is None or effect.low is None or effect.high is None:
        return None
    return Interval(estimate=effect.estimate, low=effect.low, high=effect.high)
