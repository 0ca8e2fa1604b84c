"""A forest plot of a pool as SVG: studies with their intervals, weights, the pooled estimates and the
prediction interval. Text is escaped; nothing outside the picture is referenced."""

import math
from collections.abc import Iterator
from xml.sax.saxutils import escape

from activities.analysis.meta_analysis import shown, shown_interval
from activities.analysis.scale import no_effect
from activities.analysis.types import MEASURE_NAMES, RATIOS, Interval, Pool

WIDTH, ROW_HEIGHT, LABELS, PLOT, TOP = 820, 24, 230, 330, 56
"""Pixels: of the picture, of a row, of the column of names, of the plot, and above the first row."""
MAX_LABEL_CHARS = 34
INK, FAINT, POOLED = "#222", "#999", "#1f4e79"
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


class _Axis:
    """Values of the measure to pixels, logarithmic for ratios."""

    def __init__(self, pool: Pool) -> None:
        self.log = pool.measure in RATIOS
        shown_ones = [row.result for row in pool.rows] + [pool.fixed, pool.hartung_knapp]
        shown_ones += [pool.prediction] if pool.prediction is not None else []
        values = [self._on_scale(x) for one in shown_ones for x in (one.low, one.high)]
        values.append(self._on_scale(no_effect(pool.measure)))
        middle = self._on_scale(pool.random.estimate)
        # a study without precision must not press all others into one point
        reach = min(max(abs(v - middle) for v in values), 6 * self._usual(pool, middle))
        low, high = max(min(values), middle - reach), min(max(values), middle + reach)
        room = 0.05 * (high - low or 1.0)
        self.low, self.high = low - room, high + room

    def _usual(self, pool: Pool, middle: float) -> float:
        widths = sorted(
            max(abs(self._on_scale(row.result.low) - middle), abs(self._on_scale(row.result.high) - middle))
            for row in pool.rows
        )
        return widths[len(widths) // 2] or 1.0

    def _on_scale(self, value: float) -> float:
        return math.log(value) if self.log else value

    def x(self, value: float) -> float:
        """Pixels from the left, within the plot."""
        share = (self._on_scale(value) - self.low) / (self.high - self.low)
        return round(LABELS + min(1.0, max(0.0, share)) * PLOT, 1)

    def ticks(self) -> list[float]:
        """Round values to label."""
        if self.log:
            return [t for t in TICKS if self.low <= math.log(t) <= self.high]
        step = 10 ** math.floor(math.log10((self.high - self.low) / 2))
        count = (self.high - self.low) / step
        step *= 5 if count > 12 else 2 if count > 6 else 1
        first = math.ceil(self.low / step)
        return [round(step * i, 10) for i in range(first, math.floor(self.high / step) + 1)]


def forest_plot(pool: Pool) -> str:
    """The plot as a whole SVG document."""
    axis = _Axis(pool)
    summaries = 3 if pool.prediction is not None else 2
    bottom = TOP + ROW_HEIGHT * (len(pool.rows) + summaries) + 8
    height = bottom + 40
    title = f"{pool.outcome}: {MEASURE_NAMES[pool.measure]}"
    label = escape(title, {'"': "&quot;"})
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"',
        f'  height="{height}" role="img" aria-label="{label}"',
        f'  font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        _text(8, 20, title, weight="bold"),
        _text(LABELS + PLOT + 20, 44, "estimate (95 % interval)", color=FAINT),
        _text(WIDTH - 8, 44, "weight", anchor="end", color=FAINT),
    ]
    null = axis.x(no_effect(pool.measure))
    parts.append(_line(null, TOP - 6, null, bottom, FAINT))
    for place, row in enumerate(pool.rows):
        y = TOP + ROW_HEIGHT * place + ROW_HEIGHT / 2
        size = 4 + 10 * math.sqrt(row.weight)
        x = axis.x(row.result.estimate)
        parts += [
            _text(8, y + 4, _label(row.effect.study)),
            _line(axis.x(row.result.low), y, axis.x(row.result.high), y, INK),
            f'<rect x="{x - size / 2:.1f}" y="{y - size / 2:.1f}" width="{size:.1f}" height="{size:.1f}"/>',
            _text(LABELS + PLOT + 20, y + 4, shown_interval(row.result)),
            _text(WIDTH - 8, y + 4, f"{row.weight:.1%}", anchor="end"),
        ]
    parts += _summaries(pool, axis)
    parts.append(_line(LABELS, bottom, LABELS + PLOT, bottom, INK))
    for tick in axis.ticks():
        x = axis.x(tick)
        parts += [_line(x, bottom, x, bottom + 5, INK), _text(x, bottom + 18, f"{tick:g}", anchor="middle")]
    p = f"p = {pool.q_p:.3f}" if pool.q_p >= 0.001 else "p < 0.001"
    heterogeneity = (
        f"Q = {pool.q:.2f} (df {len(pool.rows) - 1}, {p}), "
        f"I\u00b2 = {pool.i2:.1%}, \u03c4\u00b2 = {pool.tau2:.4f}"
    )
    parts += [_text(8, bottom + 34, heterogeneity, color=FAINT), "</svg>"]
    return "\n".join(parts)


def _summaries(pool: Pool, axis: _Axis) -> Iterator[str]:
    y = TOP + ROW_HEIGHT * len(pool.rows) + ROW_HEIGHT / 2
    for name, one in (("Fixed effect", pool.fixed), ("Random effects", pool.hartung_knapp)):
        yield _text(8, y + 4, name, weight="bold")
        yield _diamond(axis, one, y)
        yield _text(LABELS + PLOT + 20, y + 4, shown_interval(one), weight="bold")
        y += ROW_HEIGHT
    if pool.prediction is not None:
        yield _text(8, y + 4, "Prediction interval")
        yield _line(axis.x(pool.prediction.low), y, axis.x(pool.prediction.high), y, POOLED, width=3)
        ends = f"{shown(pool.prediction.low)} to {shown(pool.prediction.high)}"
        yield _text(LABELS + PLOT + 20, y + 4, ends)


def _label(study: str) -> str:
    line = " ".join(study.split())
    return line if len(line) <= MAX_LABEL_CHARS else line[: MAX_LABEL_CHARS - 1] + "\u2026"


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "", color: str = "") -> str:
    style = (f' font-weight="{weight}"' if weight else "") + (f' fill="{color}"' if color else "")
    safe = escape("".join(c for c in text if c.isprintable()))
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{style}>{safe}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, color: str, width: int = 1) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{color}" stroke-width="{width}"/>'


def _diamond(axis: _Axis, one: Interval, y: float) -> str:
    middle = axis.x(one.estimate)
    corners = f"{axis.x(one.low)},{y} {middle},{y - 7} {axis.x(one.high)},{y} {middle},{y + 7}"
    return f'<polygon points="{corners}" fill="{POOLED}"/>'
