"""The layout of a page: its runs in reading order, in lines, and its lines in blocks of one kind each."""

import math
import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib import resources
from itertools import groupby, pairwise
from statistics import median

from activities.documents.pdf_page import HYPHEN, Page, Run, in_order, rows_of, top_down
from activities.documents.pdf_tables import table_at, with_ruled_tables
from activities.text.layout import COLONS
from activities.text.normal_form import is_unspaced

MAX_RUNS = 3_000
"""Runs of a page that are looked at for columns and tables; a page of text has 300."""
MIN_COLUMN_RUNS = 4
"""Runs on each side of the space between two columns of a page."""
MIN_COLUMN_CHARS = 16
"""Characters of most lines of a column of text; cells of tables have fewer."""
MIN_LONG = 0.6
"""Share of the characters of a column that stand in such lines."""
MIN_GUTTER = 0.53
"""Width of the space between columns, in heights of a letter."""
WIDE_GAP = 2.0
"""Space between cells at least, in heights of a letter."""
LARGER = 1.12
"""How much larger than the text a heading is printed."""
SMALL, AXIS = 0.85, 8.0
"""How much smaller than text the names of axes are printed, and how many of their heights below a figure."""
MIXED = 0.3
"""Share of the height of letters by which those of several fonts in one sentence differ."""
NOTE = 0.93
"""How much smaller than the text a note at the foot of a page is printed."""
_NAMES = {
    name
    for line in (resources.files("activities.documents") / "captions.txt").read_text("utf-8").splitlines()
    for name in line.split()[1:]
}
"""Names of figures and tables by the code of their language; those in Chinese stand by a number alone."""
_CAPTION = re.compile(
    rf"(?:{'|'.join(sorted(_NAMES, key=len, reverse=True))})\.?\s*(?:[A-Z]\.?\d+|\d+|[IVX]+\b)(?:\.\d+)*"
    r"(?:\s*[.:|\u2014\u2013\uff1a\u3002-](?=\s*\S)|(?<=\d)\s+(?=[\u3040-\u9fff\uac00-\ud7af]))",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"\.\s?(?:\.\s?){4,}\s*\S{0,8}$|\u2026\s?(?:\u2026\s?)+\s*\S{0,8}$")
_ITEM = re.compile(
    r"(?:[\u2022\u25cf\u25aa\u25e6\u2023\u2219\u00b7*\u2013-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]|\[\d{1,3}\])\s+\S"
)
_NOTE_MARK = re.compile(r"[\u00b9\u00b2\u00b3\u2070-\u2079*\u2217\u2020-\u2021\u00a7\u00b6]+\s?[^\W\d_]")
"""The mark of a note at its beginning."""
_FIELD = re.compile(r"[^\W\d_][^.:;\u3002\uff1a]{0,40}[:\uff1a](?:\s|$)")
"""A label in a form, with its value."""
ADDRESS = re.compile(r"(?:\bhttps?:|www\.)\S*$")
"""An address, or the part of one in a line."""
STOP = re.compile(
    r"[.!?\u3002\uff01\uff0e\uff1f\uff61][\"'\u201d\u2019)\]\u00b9\u00b2\u00b3\u2070-\u2079*\u2217\u2020]*$"
)
_EQUATION = re.compile(r"[=\u2211\u220f\u222b\u2264\u2265\u221a\u00b1\u2248\u223c\u2208\u2192\u21d2]")
_LINE_NUMBER = re.compile(r"^\d{1,4} (?=\S)")
"""The number of a line of a program."""
_FUNCTIONS = frozenset(("arg", "cos", "det", "exp", "inf", "lim", "log", "max", "min", "sin", "sup", "tan"))
"""Words that stand in formulas."""
_EQUATION_NUMBER = re.compile(r"\(\w{1,3}(?:\.\w{1,3})*\)")


class Kind(Enum):
    """The part that a block has in a document."""

    PROSE = "prose"
    HEADING = "heading"
    CODE = "code"
    TABLE = "rows of tables"
    CAPTION = "captions"
    NOTE = "notes"
    FORMULA = "formulas"
    LABELS = "labels of figures"
    CONTENTS = "contents"
    REFERENCES = "references"
    EDGE = "running heads and page numbers"
    LINE_NUMBERS = "line numbers"


class Line:
    """Runs beside each other in one column."""

    def __init__(self, runs: list[Run]) -> None:
        self.runs = runs
        self.text = in_order(" ".join(run.text for run in runs), mirrored=runs[0].mirrored)
        self.left, self.right = runs[0].left, max(run.right for run in runs)
        self.base = max(runs, key=lambda run: len(run.text)).base
        self.size = max(runs, key=lambda run: (run.fixed < 0.5, len(run.text))).size
        length = max(sum(len(run.text) for run in runs), 1)
        self.bold = sum(run.bold * len(run.text) for run in runs) > 0.7 * length
        self.fixed = sum(run.fixed * len(run.text) for run in runs) / length
        """Share of its characters in fonts of fixed width."""
        self.math = sum(run.math * len(run.text) for run in runs) / length
        """Share of its characters in fonts for formulas."""
        self.has_gap = any(b.left - a.right > WIDE_GAP * self.size for a, b in pairwise(runs))
        """Its runs stand apart as cells do."""

    def is_like(self, other: "Line", share: float = 0.08) -> bool:
        """Tell whether its letters are as large as another's but for a share of their height."""
        is_mixed = max(self.fixed, other.fixed) > 0.15  # those of fixed width differ in height
        return abs(self.size - other.size) <= (MIXED if is_mixed else share) * max(self.size, other.size)


@dataclass(slots=True)
class Block:
    kind: Kind
    lines: list[Line]
    page: int = 0
    right: float = 0.0
    """Where the lines of its column end."""
    rows: list[str] = field(default_factory=list)

    @property
    def first(self) -> Line:
        return self.lines[0]

    @property
    def last(self) -> Line:
        return self.lines[-1]


def blocks_of(page: Page, body: float, gutters: Sequence[float]) -> Iterator[Block]:
    """Yield the blocks of a page in reading order. `gutters`: where most pages part their columns."""
    texts: list[Run] = []
    labels: list[Run] = []
    figures = page.figures
    for run in with_ruled_tables(page):
        is_label = run.rotated or (
            any(figure.holds(run, AXIS if run.size < SMALL * body else 1.5) for figure in figures)
            and len(run.text.split()) < 7
            and not _CAPTION.match(run.text)
        )
        (labels if is_label else texts).append(run)
    if labels:
        yield Block(Kind.LABELS, [Line([run]) for run in labels])
    for column in columns(texts, gutters):
        yield from _column_blocks(column, body)


def columns(runs: Sequence[Run], gutters: Sequence[float]) -> Iterator[list[Run]]:
    """Yield the columns of a page one after the other, and what stands over several by itself."""
    gutter = gutter_of(runs) or next((place for place in gutters if _is_gutter(runs, place)), None)
    if gutter is None:
        yield list(runs)
        return
    wide_ids = {id(run) for run in runs if run.left < gutter - 1 and run.right > gutter + 1}
    narrow_runs = [run for run in runs if id(run) not in wide_ids]
    bands: list[Run] = []
    for run in sorted((run for run in runs if id(run) in wide_ids), key=top_down):
        level = run.base + 0.3 * run.size
        higher = [other for other in narrow_runs if other.base > level]
        if higher or not bands:
            yield from _bands(bands, higher, gutter, gutters)
            bands = []
        bands += [run, *(other for other in narrow_runs if level - 0.6 * run.size <= other.base <= level)]
        narrow_runs = [other for other in narrow_runs if other.base < level - 0.6 * run.size]
    yield from _bands(bands, narrow_runs, gutter, gutters)


def _bands(
    head: Sequence[Run], runs: Sequence[Run], gutter: float, gutters: Sequence[float]
) -> Iterator[list[Run]]:
    if head:
        yield list(head)
    for side in ([r for r in runs if r.right <= gutter + 1], [r for r in runs if r.right > gutter + 1]):
        if side:
            yield from columns(side, gutters)


def gutters_of(runs: Sequence[Run]) -> list[float]:
    """Return where the columns of a page are parted, to the nearest point."""
    gutter = gutter_of(runs)
    if gutter is None:
        return []
    sides = ([run for run in runs if run.right <= gutter], [run for run in runs if run.left >= gutter])
    return [float(round(gutter)), *(place for side in sides for place in gutters_of(side))]


def _is_gutter(runs: Sequence[Run], gutter: float) -> bool:
    """Tell whether few runs of a part of a page go over the place where columns are parted elsewhere."""
    before = sum(run.right <= gutter + 1 for run in runs)
    after = sum(run.left >= gutter - 1 for run in runs)
    return min(before, after) > 0 and len(runs) - before - after <= 0.7 * min(before, after)


def gutter_of(runs: Sequence[Run]) -> float | None:
    """Return the middle of the space between two columns of text; None where there is one column."""
    if not 2 * MIN_COLUMN_RUNS <= len(runs) <= MAX_RUNS:
        return None
    size = median(run.size for run in runs)
    left, right = min(run.left for run in runs), max(run.right for run in runs)
    best: tuple[float, float, list[Run], list[Run]] | None = None
    starts = sorted(run.left for run in runs)
    grain = max(1.0, (right - left) / 600)
    for start in sorted({round(start / grain) * grain for start in starts}):
        if not left + 0.15 * (right - left) < start < right - 0.15 * (right - left):
            continue
        before = [run for run in runs if run.right < start]
        after = [run for run in runs if run.left >= start - 1]
        crossings = len(runs) - len(before) - len(after)
        smaller = min(len(before), len(after))
        if smaller < MIN_COLUMN_RUNS or crossings > 0.5 * smaller:
            continue
        margin = sorted(run.right for run in before)[-max(1, len(before) // 3) :][0]
        if start - margin < MIN_GUTTER * size:
            continue
        aligned_count = sum(abs(run.left - start) < 2 for run in after)
        score = aligned_count - 2 * crossings
        if best is None or score > best[0]:
            best = (score, start, before, after)
    if best is None:
        return None
    _, start, *sides = best
    for side in sides:
        lengths = [len(run.text) for run in side if len(run.text) >= MIN_COLUMN_CHARS]
        if len(lengths) < MIN_COLUMN_RUNS or sum(lengths) < MIN_LONG * sum(len(run.text) for run in side):
            return None
    return start - 1.5


def _column_blocks(runs: Sequence[Run], body: float) -> Iterator[Block]:
    rows = rows_of(runs)
    place = 0
    loose_lines: list[Line] = []
    while place < len(rows):
        end, table = table_at(rows, place)
        ruled_run = next((run for run in rows[place] if run.rows), None)
        if ruled_run is not None:
            yield from _line_blocks(loose_lines, body)
            cells = [run for run in rows[place] if run is not ruled_run]
            loose_lines = [Line(cells)] if cells else []
            yield Block(Kind.TABLE, [Line([ruled_run])], rows=ruled_run.rows)
            place += 1
            continue
        if table is None:
            loose_lines.append(Line(rows[place]))
            place += 1
            continue
        yield from _line_blocks(loose_lines, body)
        loose_lines = []
        lines = [Line(row) for row in rows[place:end]]
        yield Block(Kind.TABLE, lines, rows=table)
        place = end
    yield from _line_blocks(loose_lines, body)


def _line_blocks(lines: Sequence[Line], body: float) -> Iterator[Block]:
    """Yield the blocks of lines below each other."""
    lines, notes = _split_margins(lines)
    if not lines:
        return
    right = sorted(line.right for line in lines)[-max(1, len(lines) // 5) :][0]
    gaps = [above.base - line.base for above, line in pairwise(lines) if abs(above.size - line.size) < 0.5]
    # a page of a list has more space between its items than between their lines
    pitch = sorted(gaps)[len(gaps) * 3 // 10] if len(gaps) > 1 else 1.2 * body
    pitch = min(max(pitch, 0.9 * body), 2.4 * body)
    left = min(line.left for line in lines)
    kinds = [_kind_of(line, body, left) for line in lines]
    for n, line in enumerate(lines):  # a numerator or a limit that stands on a line of its own
        if kinds[n] is Kind.PROSE and Kind.FORMULA in kinds[max(0, n - 1) : n + 2]:
            is_apart = line.left > left + 1.5 * line.size and not _words(line)
            kinds[n] = Kind.FORMULA if is_apart else Kind.PROSE
        if kinds[n] is Kind.FORMULA and n and kinds[n - 1] is Kind.PROSE:
            above = lines[n - 1]  # the last line of a paragraph, of which a formula is a part
            is_below = abs(line.left - above.left) < 1 and above.base - line.base < 1.2 * pitch
            kinds[n] = Kind.PROSE if is_below and above.right > right - 2 * line.size else Kind.FORMULA
    blocks = [Block(kinds[0], [lines[0]], right=right)]
    for above, line, kind in zip(lines, lines[1:], kinds[1:], strict=False):
        if _begins(blocks[-1], above, line, kind, pitch, right):
            blocks.append(Block(kind, [line], right=right))
        else:
            blocks[-1].lines.append(line)
    for block in blocks:
        yield from _notes_above(block.first.base - block.first.size / 2, notes)
        yield block
    yield from _notes_above(-math.inf, notes)


def _notes_above(base: float, notes: list[Line]) -> Iterator[Block]:
    """Take the first notes from a list, as blocks, as long as they stand above a line."""
    while notes and notes[0].base > base:
        block = Block(Kind.NOTE, [notes.pop(0)])
        while notes and block.last.base - notes[0].base < 1.6 * block.last.size:
            block.lines.append(notes.pop(0))
        yield block


def _edges(lines: Sequence[Line]) -> tuple[float, float]:
    """Return where the running text of a column begins and ends, beside which are notes in the margin."""
    runs = [run for line in lines for run in line.runs if len(run.text) >= MIN_COLUMN_CHARS]
    minimum = max(3, len(runs) / 6)

    def frequent(places: list[float]) -> list[float]:
        return [place for place in places if bisect(places, place + 2) - bisect(places, place - 2) >= minimum]

    starts = frequent(sorted(run.left for run in runs))
    ends = frequent(sorted(run.right for run in runs))
    return min(starts, default=-math.inf), max(ends, default=math.inf)


def _split_margins(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """Return lines without the words in the margins, and these."""
    left, right = _edges(lines)
    texts: list[Line] = []
    notes: list[Line] = []
    count = 0
    """Lines with words beside them."""
    for line in lines:
        margin = [r for r in line.runs if r.right < left - 0.3 * r.size or r.left > right + r.size]
        count += len(margin) < len(line.runs) and any(map(str.isalpha, "".join(r.text for r in margin)))
        if not margin or not _has_word(Line(margin)):
            texts.append(line)
            continue
        notes += (Line([*group]) for _, group in groupby(sorted(margin, key=top_down), lambda run: run.base))
        if len(margin) < len(line.runs):
            texts.append(Line([run for run in line.runs if run not in margin]))
    return (texts, notes) if 0 < count <= len(lines) / 3 else ([*lines], [])  # more are the cells of rows


def _has_word(line: Line) -> bool:
    return any(sum(map(str.isalpha, word)) > 2 for word in line.text.split())


def _words(line: Line) -> int:
    """Count the words of a line that stand in no formula."""
    letters = 0 if line.text.isascii() else sum(map(is_unspaced, line.text))
    return letters // 2 + sum(
        len(word) > (2 if run.math < 0.5 else 3) and word.isalpha() and word not in _FUNCTIONS
        for run in line.runs
        for word in (part.strip(",.;:()") for part in run.text.split())
    )


def _kind_of(line: Line, body: float, left: float) -> Kind:
    text = line.text
    if _LEADERS.search(text):
        return Kind.CONTENTS
    if _CAPTION.match(text):
        return Kind.CAPTION
    if line.fixed * len(text) > 0.85 * len(_LINE_NUMBER.sub("", text)):
        return Kind.CODE
    is_equation = bool(_EQUATION.search(text))
    words = _words(line) if line.math or is_equation else 3
    is_centred = not words and line.left > left + 1.5 * line.size
    has_number = _EQUATION_NUMBER.fullmatch(line.runs[-1].text)
    if words < 3 and (
        line.math > 0.3
        or (is_centred and line.math)
        or (is_equation and (has_number or line.math > 0.1 or is_centred))
    ):
        return Kind.FORMULA
    is_short = len(text) < 90 and not STOP.search(text)
    if (line.size > LARGER * body and line.fixed < 0.15) or (
        line.bold and is_short and line.size >= 0.9 * body
    ):
        return Kind.HEADING
    return Kind.PROSE


def _begins(block: Block, above: Line, line: Line, kind: Kind, pitch: float, right: float) -> bool:
    """Tell whether a line begins a block of its own."""
    step = above.base - line.base
    is_apart = step > 1.35 * max(pitch, 1.1 * min(above.size, line.size))
    if kind is Kind.CAPTION:
        return True
    word = line.text[:1] if is_unspaced(line.text[:1]) else line.text.split(" ", 1)[0]
    width = (len(word) + 1) * (line.right - line.left) / max(len(line.text), 1)
    fits = above.right + width < right - 1.5 * line.size  # so the line was broken on purpose
    is_stopped = bool(STOP.search(above.text)) and not ADDRESS.search(above.text)
    own_right = max(line.right for line in block.lines) if len(block.lines) > 1 else right
    is_last = is_stopped and fits and above.right < min(own_right, right) - 6 * line.size
    if block.kind is Kind.CAPTION:
        return is_apart or not line.is_like(block.first)
    is_running = block.kind is Kind.PROSE or (block.kind is Kind.HEADING and len(block.lines) > 1)
    if is_running and kind is Kind.CODE and not is_apart:
        is_aligned = abs(line.left - above.left) < line.size and not _has_ended(above, right)
        if is_aligned and above.right > right - 8 * line.size and above.fixed < 0.85:
            return False  # the words of a program at the end of a paragraph
    if kind is not block.kind:
        # a line of prose may end in a formula or a heading-like word in bold
        is_bold_part = {kind, block.kind} == {Kind.HEADING, Kind.PROSE} and abs(line.size - above.size) < 0.3
        continues = (
            is_bold_part
            and not (is_apart or is_last)
            and (
                line.text[:1].islower()
                or (line.bold and above.bold)
                or (not _has_ended(above, right) and above.right > right - 2 * line.size)
            )
        )
        return not continues
    if is_unspaced(above.text[-1:]) and fits:
        return True
    if kind is Kind.HEADING:
        return is_apart or abs(line.size - above.size) > 0.5 or line.text[:1].isdigit()
    if kind in (Kind.CODE, Kind.CONTENTS, Kind.FORMULA):
        return kind is not Kind.CONTENTS and step > 2.2 * pitch
    goes_on = line.text[:1].islower() and not is_stopped and above.right > right - 2 * line.size
    if is_apart or is_last or not (line.is_like(above) or (goes_on and line.is_like(above, MIXED))):
        return True
    is_item = _ITEM.match(block.first.text)
    indent = (line.left - above.left) / line.size
    if indent < -0.8 and abs(line.left - block.first.left) < 0.2 * line.size:
        return True  # the next of several items whose further lines are indented
    if is_item and line.left > block.first.left + 0.8 * line.size:
        # it is indented as the further lines of an item are
        is_bullet = not line.text.startswith("(") and not line.text[:1].isalnum()
        return bool(_ITEM.match(line.text)) and (is_bullet or _has_ended(above, right))
    if indent > 0.8 and above.left < block.first.left + 1 and (is_stopped or above.text.endswith(COLONS)):
        return True
    if (
        (_ITEM.match(line.text) and (is_item or _has_ended(above, right)))
        or (above.has_gap and line.has_gap)  # rows of cells
        or is_row_below(above, line)
        or (fits and _FIELD.match(above.text) and _FIELD.match(line.text))
        or (
            _NOTE_MARK.match(line.text)
            and (line.size < NOTE * above.size or _NOTE_MARK.match(block.first.text))
        )
    ):
        return True
    if above.has_gap != line.has_gap and above.right < right - 3 * line.size:
        return line.has_gap or line.left < above.runs[-1].left - line.size  # or goes on with the last cell
    if line.text[:1].islower():
        return False
    if step > 1.15 * pitch and is_stopped and above.right < right - line.size:
        return True
    # a line of few words over longer ones
    is_short = above.right < line.right - 3 * line.size and not above.text.endswith((",", "(", HYPHEN))
    return fits and (is_stopped or is_short)


def is_row_below(above: Line, line: Line) -> bool:
    """Tell whether a term stands beside what it means, which begins where that of the line above does."""
    if len(line.runs) < 2:
        return False
    second = above.runs[1] if len(above.runs) > 1 else above.runs[0]
    return abs(line.runs[1].left - second.left) < 1 and line.left < second.left - line.size


def _has_ended(line: Line, right: float) -> bool:
    return (
        bool(STOP.search(line.text)) or line.text.endswith((":", ";")) or line.right < right - 6 * line.size
    )
