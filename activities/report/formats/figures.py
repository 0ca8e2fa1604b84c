"""The report's figures: as SVG for HTML and PDF, and as pictures for Word, which shows no SVG by itself."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from activities.report.formats.text import clean
from activities.report.schema import Reference, Report
from activities.types import ANSWERED

FOLDER = Path(__file__).parent
STYLE = f"<style>{(FOLDER / 'figures.css').read_text(encoding='utf-8')}</style>"
"""Of a figure that stands alone."""
PIXELS_PER_INCH = 220
_PAGE = b"""#set page(width: 9cm, height: auto, margin: 2pt)
#image(bytes(sys.inputs.figure), format: "svg", width: 100%)"""
_LABEL = re.compile(r'aria-label="([^"]*)"')
_BARS = 12
"""Bars of a figure over years at most: more cannot be distinguished on a telephone."""
MIN_PLOTTED = 5
"""Works with a year from which a figure is clearer than the list."""
_SPANS = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a figure."""

    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Flow:
    """The boxes of a PRISMA 2020 flow diagram, as far as they apply to an automatic search."""

    identified: int
    sources: tuple[Bar, ...]
    """Records kept, by source."""
    duplicates: int
    screened: int
    excluded: int
    included: int
    """Works cited."""
    studies: int
    failed: int
    """Searches without an answer."""


@dataclass(frozen=True, slots=True)
class EffectMark:
    """An effect with its interval, as shares of the width."""

    label: str
    text: str
    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects of one measure beside each other."""

    marks: tuple[EffectMark, ...]
    none: float
    """Where no effect is."""
    none_label: str


@cache
def templates() -> Environment:
    """The templates beside this file. Autoescaped: whatever text a report holds, it cannot become markup."""
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def drawing(name: str, shown: "Flow | Effects | Sequence[Bar]") -> str:
    """A figure as SVG."""
    drawn = templates().get_template("figures.svg.jinja").module
    return str(getattr(drawn, name)(shown, Markup(STYLE)))  # noqa: S704 - a file of this package


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
    """What a figure shows, in words."""
    found = _LABEL.search(svg)
    return found.group(1) if found else ""


def flow(report: Report) -> Flow:
    counts = report.methodology.counts
    kept: dict[str, int] = {}
    for record in report.methodology.searches:
        kept[clean(record.source)] = kept.get(clean(record.source), 0) + record.kept
    known = {r.study for r in report.references if r.study}
    unknown = sum(not r.study for r in report.references)
    return Flow(
        identified=counts.identified,
        sources=tuple(Bar(name, count) for name, count in kept.items()),
        duplicates=counts.duplicates,
        screened=counts.screened,
        excluded=max(counts.screened - counts.included, 0),
        included=counts.included,
        studies=len(known) + unknown,
        failed=sum(s.status not in ANSWERED for s in report.methodology.searches),
    )


def flow_rows(flow: Flow) -> Iterator[tuple[str, str]]:
    """The boxes as rows of a table."""
    bars = (
        Bar("Identified", flow.identified),
        *(Bar(f"  of these kept from {bar.label}", bar.count) for bar in flow.sources),
        Bar("Duplicates removed", flow.duplicates),
        Bar("Screened", flow.screened),
        Bar("Not cited", flow.excluded),
        Bar("Included (cited)", flow.included),
        Bar("Studies reported", flow.studies),
    )
    return ((bar.label, str(bar.count)) for bar in bars)


def years(references: Sequence[Reference]) -> tuple[Bar, ...]:
    """Cited works by year of publication, in at most `_BARS` spans of equal length."""
    years = sorted(r.year for r in references if r.year)
    if not years:
        return ()
    first, last = years[0], years[-1]
    span = next((n for n in _SPANS if (last // n - first // n) < _BARS), _SPANS[-1])
    starts = range(first // span * span, last + 1, span)
    return tuple(
        Bar(
            str(start) if span == 1 else f"{start}\u2013{(start + span - 1) % 100:02}",
            sum(start <= year < start + span for year in years),
        )
        for start in starts
    )
