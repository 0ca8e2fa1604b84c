"""The report's figures: as SVG for HTML and PDF, and as pictures for Word, which shows no SVG by itself."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from typing import Literal
from zlib import crc32

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from activities.analysis.meta_analysis import interval_text, shown
from activities.analysis.scale import no_effect, to_scale
from activities.contracts.effects import MEASURE_NAMES, RATIOS, Interval, Measure, Pool
from activities.contracts.evidence import ANSWERED
from activities.messages import _, decimals, number, percent
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
MAX_TICKS = 6
"""Labels that an axis has room for; of more those of powers of ten stand."""
MAX_WIDTHS = 6
"""Times the usual width of an interval that an axis reaches from its middle: a study without precision must
not press all others into one point."""


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Flow:
    """The boxes of a PRISMA 2020 flow diagram, as far as they apply to an automatic search."""

    identified: int
    sources: tuple[Bar, ...]
    """Records kept, by source."""
    duplicates: int
    not_screened: int
    screened: int
    excluded: int
    included: int
    studies: int
    failed: int


@dataclass(frozen=True, slots=True)
class Step:
    """A box of the flow of a systematic review, with what leaves the flow beside it."""

    lines: tuple[str, ...]
    aside: tuple[str, ...] = ()
    kind: Literal["step", "done"] = "step"


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
    """The templates beside this file. Autoescaped: whatever text a report holds, it cannot become markup."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals["_"] = _
    return made


def drawing(
    name: str, title: str, words: str, content: "Flow | Sequence[Panel] | Sequence[Bar] | Sequence[Step]"
) -> str:
    """A figure as SVG: the macro that draws it, its title, and its content in words for who cannot see it."""
    drawn = templates().get_template("figures.svg.jinja").module
    key = f"figure-{crc32(title.encode()):x}"
    opening = _OPENING.format(key=key, title=escape(title), words=escape(words), style=STYLE)
    return str(getattr(drawn, name)(content, Markup(opening)))  # noqa: S704 - its parts are escaped above


def titled(svg: str, title: str) -> str:
    """A figure with its title above it, for one that stands alone."""
    high = int(_HEIGHT.search(svg)[1]) + TITLE_HEIGHT  # type: ignore[index]  # each template states it
    line = f'<text class="fig-text fig-lead" x="0" y="-10">{escape(title)}</text></svg>'
    whole = _HEIGHT.sub(f'viewBox="0 -{TITLE_HEIGHT} 360 {high}"', svg, count=1)
    return f"{whole.strip().removesuffix('</svg>')}{line}"


TITLE_HEIGHT = 28
_HEIGHT = re.compile(r'viewBox="0 0 360 (\d+)"')
_OPENING = (
    'role="img" aria-labelledby="{key}-title {key}-words"><title id="{key}-title">{title}</title>'
    '<desc id="{key}-words">{words}</desc>{style}'
)


def picture(svg: str) -> bytes | None:
    """A figure as PNG, drawn by the library that sets the PDF (the `pdf` extra); None without it."""
    try:
        import typst
    except ImportError:
        return None
    made = typst.compile(_PAGE, format="png", ppi=PIXELS_PER_INCH, sys_inputs={"figure": svg})
    assert isinstance(made, bytes)
    return made


def described(svg: str) -> str:
    match = _DESCRIPTION.search(svg)
    return unescape(f"{match[1]}: {match[2]}") if match else ""


def flow_words(flow: Flow) -> str:
    return "; ".join(f"{label}: {count}" for label, count in flow_rows(flow))


def flow(report: Report) -> Flow:
    counts = report.methodology.counts
    kept: dict[str, int] = {}
    for record in report.methodology.searches:
        name = source_title(record.source)
        kept[name] = kept.get(name, 0) + record.kept
    studies = {r.study for r in report.references if r.study}
    unknown = sum(not r.study for r in report.references)
    return Flow(
        identified=counts.identified,
        sources=tuple(Bar(name, count) for name, count in kept.items()),
        duplicates=counts.duplicates,
        not_screened=counts.not_screened,
        screened=counts.screened,
        excluded=counts.not_cited,
        included=counts.included,
        studies=len(studies) + unknown,
        failed=sum(s.status not in ANSWERED for s in report.methodology.searches),
    )


def flow_rows(flow: Flow) -> Iterator[tuple[str, str]]:
    yield _("Identified"), number(flow.identified)
    kept = _("of these kept from {source}")
    yield from ((kept.format(source=bar.label), number(bar.count)) for bar in flow.sources)
    yield _("Duplicates removed"), number(flow.duplicates)
    yield _("Not screened"), number(flow.not_screened)
    yield _("Screened"), number(flow.screened)
    yield _("Not cited"), number(flow.excluded)
    yield _("Included (cited)"), number(flow.included)
    yield _("Studies reported"), number(flow.studies)


def panel(
    title: str,
    measure: Measure,
    rows: Sequence[tuple[str, Interval]],
    weights: Sequence[float] = (),
    summaries: Sequence[tuple[str, Interval]] = (),
    reach: Interval | None = None,
    note: str = "",
) -> Panel | None:
    """Studies with their intervals, then what they were pooled to, then the prediction interval `reach`, on
    one axis, logarithmic for ratios. None where a ratio is not positive: it has no place."""
    every = [one for _, one in (*rows, *summaries)]
    if measure in RATIOS and any(one.low <= 0 for one in (*every, *([reach] if reach else ()))):
        return None

    def place(value: float) -> float:
        return to_scale(measure, value)

    none = place(no_effect(measure))
    ends = [place(end) for one in (*every, *([reach] if reach else ())) for end in (one.low, one.high)]
    middle = place((summaries or rows)[-1][1].estimate)
    widths = sorted(max(abs(place(one.low) - middle), abs(place(one.high) - middle)) for _, one in rows)
    furthest = max(MAX_WIDTHS * (widths[len(widths) // 2] or 1.0), abs(none - middle))
    low = max(min(none, *ends), middle - furthest)
    high = min(max(none, *ends), middle + furthest)
    low, high = (low, high) if high > low else (low - 0.5, low + 0.5)

    def share(value: float) -> float:
        return round(min(1.0, max(0.0, (place(value) - low) / (high - low))), 4)

    def mark(
        label: str, one: Interval, kind: Literal["study", "pooled", "range"], size: float = 8
    ) -> EffectMark:
        text = interval_text(one) if kind != "range" else limits(one)
        return EffectMark(
            clean(label), text, share(one.low), share(one.estimate), share(one.high), kind, size
        )

    sizes = [round(4 + 10 * math.sqrt(weight), 1) for weight in weights] or [8.0] * len(rows)
    marks = [mark(*row, "study", size) for row, size in zip(rows, sizes, strict=True)]
    marks += [mark(*row, "pooled") for row in summaries]
    marks += [mark(_("Prediction interval"), reach, "range")] if reach is not None else []
    ticks = tuple((share(value), decimals(f"{value:g}")) for value in _ticks(measure, low, high))
    return Panel(clean(title), tuple(marks), share(no_effect(measure)), ticks, note)


def limits(one: Interval) -> str:
    """`0.34 to 0.70`."""
    return _("{low} to {high}").format(low=decimals(shown(one.low)), high=decimals(shown(one.high)))


def pool_panel(pool: Pool) -> Panel | None:
    """A forest plot: the studies of a pool, its estimates and its prediction interval."""
    p = decimals(f"p = {pool.q_p:.3f}" if pool.q_p >= 0.001 else "p < 0.001")
    q, tau2 = decimals(f"Q = {pool.q:.2f}"), decimals(f"\u03c4\u00b2 = {pool.tau2:.4f}")
    return panel(
        f"{pool.outcome}: {_(MEASURE_NAMES[pool.measure])}",
        pool.measure,
        [(row.effect.study, row.result) for row in pool.rows],
        [row.weight for row in pool.rows],
        [(_("Fixed effect"), pool.fixed), (_("Random effects"), pool.hartung_knapp)],
        pool.prediction,
        f"{q} (df {len(pool.rows) - 1}, {p}), I\u00b2 = {percent(pool.i2, 1)}, {tau2}",
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
