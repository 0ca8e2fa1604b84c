"""The tables of a page: by the rules between their cells, or by columns that stand below each other."""

import math
import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from activities.documents import tables
from activities.documents.pdf_page import HYPHEN, RULE, Box, Page, Run, frame_of, in_order, rows_of

MIN_ROWS = 3
"""Rows that a table without rules has at least, with its headings."""
MAX_LINES = 3_000
"""Lines of a page that are looked at for tables."""
CELL_CHARS = 60
"""Longest line of a cell; columns of running text have longer ones or no values."""
RULED_CHARS = 1_500
"""Longest cell between rules; a longer one is text in a frame."""
MIN_WIDE = 60.0
"""Width of the rules that enclose a table, in points."""
MAX_HEAD = 4
"""Lines of the headings of a table."""
MAX_STEP = 3.2
"""From one row of a table to the next at most, in heights of a letter."""
MAX_CELL = 0.8
"""Share of the width of a table between rules across up to which a line is a cell; a longer one is text."""
MIN_RULED = 0.5
"""Share of the width of a table that a rule has at least which parts its rows beside a cell over several."""
MIN_FILLED = 0.5
"""Share of the cells between rules that have words; of a drawing few have any."""
_VALUE = re.compile(r"(?<![\w.,])[$\u20ac\u00a3+-]?\d[\d.,:/%-]*(?!\w)")


class _Part(NamedTuple):
    """Rows between two rules below each other."""

    rows: list[list[Run]]
    edges: list[float]
    """Where upright rules part it."""
    is_close: bool
    """Its rows are close to each other and to the rules, and none is running text."""


def with_ruled_tables(page: Page) -> list[Run]:
    """Return the runs of a page, with one in the place of all those of a table between rules."""
    runs = list(page.runs)
    rules = _join_rules(rule for rule in page.rules if rule.top - rule.bottom <= RULE)
    for group in _groups_by_sides(rules):
        parts: list[_Part] = []
        """Those that may be of one table."""
        for high, low in pairwise(group):
            band = _parts(runs, page, rules, high, low)
            is_grid = any(part.edges for part in parts)
            if is_grid:
                is_part = any(part.edges for part in band) or sum(len(part.rows) for part in band) == 1
            else:
                is_part = any(part.edges or _has_cells(part.rows) for part in band)
            if parts and not is_part:
                runs, parts = _with_table(runs, parts, group[0]), []
            parts += band
        runs = _with_table(runs, parts, group[0])
    return runs


def _join_rules(rules: Iterable[Box]) -> list[Box]:
    """Return rules across from the top, those that are drawn cell by cell as one."""
    lines: list[Box] = []
    for rule in sorted(rules, key=lambda rule: (-round(rule.top), rule.left)):
        if lines and abs(lines[-1].top - rule.top) < RULE / 2 and rule.left <= lines[-1].right + RULE:
            lines[-1] = frame_of((lines[-1], rule))
        else:
            lines.append(rule)
    return lines


def _groups_by_sides(rules: Iterable[Box]) -> list[list[Box]]:
    """Return rules across in groups that begin and end at the same places."""
    groups: list[list[Box]] = []
    for rule in (rule for rule in rules if rule.right - rule.left > MIN_WIDE):
        for group in groups:
            if max(abs(group[0].left - rule.left), abs(group[0].right - rule.right)) <= RULE:
                group.append(rule)
                break
        else:
            groups.append([rule])
    return groups


def _parts(runs: Sequence[Run], page: Page, rules: Sequence[Box], high: Box, low: Box) -> list[_Part]:
    """Return what stands between two rules where it may be of a table, parted by rules between its cells."""
    left, right, width = high.left, high.right, high.right - high.left
    inner_runs = [
        run
        for run in runs
        if left - RULE <= _middle(run) <= right + RULE and low.top <= run.base + run.size / 4 < high.bottom
    ]
    rows = rows_of(inner_runs)
    if not rows or any(run.rows for run in inner_runs):
        return []
    bases = [high.bottom, *(row[0].base for row in rows), low.top]
    step = max(above - below for above, below in pairwise(bases))
    is_close = (
        step <= MAX_STEP * median(run.size for run in inner_runs)
        and all(run.right - run.left <= MAX_CELL * width for run in inner_runs)
        and not any(figure.encloses(high) or figure.encloses(low) for figure in page.figures)
    )
    heights: defaultdict[float, float] = defaultdict(float)
    """How far upright rules go between the two, by their places, which may be drawn row by row."""
    for rule in page.rules:
        if rule.right - rule.left <= RULE and left + RULE < rule.left < right - RULE:
            heights[round(rule.left)] += max(0.0, min(rule.top, high.bottom) - max(rule.bottom, low.top))
    upright_places = sorted(place for place, height in heights.items() if 2 * height > high.bottom - low.top)
    edges = [edge for before, edge in pairwise((-math.inf, *upright_places)) if edge - before > RULE]
    if not edges:
        return [_Part(rows, edges, is_close)] if is_close else []
    levels = [
        rule.top
        for rule in rules
        if low.top < rule.bottom and rule.top < high.bottom and rule.right - rule.left >= MIN_RULED * width
        if rule.right <= right + RULE
    ]
    bands = groupby(rows, lambda row: sum(row[0].base < level for level in levels))
    return [_Part(list(band), edges, is_close) for _, band in bands]


def _has_cells(rows: Sequence[Sequence[Run]]) -> bool:
    return any(len(row) > 1 for row in rows)


def _with_table(runs: list[Run], parts: Sequence[_Part], rule: Box) -> list[Run]:
    """Return runs with a table in the place of these parts, where they are one."""
    if len(parts) > 2 and not _has_cells(parts[0].rows) and len(parts[1].rows) == 1:
        parts = parts[1:]  # a caption between two tables
    if len(parts) < 2:
        return runs
    table = _table_of_cells(parts)
    if table is None and all(part.is_close for part in parts):
        table = _table_of_columns([part.rows for part in parts])
    if table is None:
        return runs
    cells = {id(run): run for part in parts for row in part.rows for run in row}
    top, size = max(run.base for run in cells.values()), median(run.size for run in cells.values())
    rows = list(table.lines())
    table_run = Run(" ".join(rows), rule.left, rule.right, top, size, rows=rows)
    return [*(run for run in runs if id(run) not in cells), table_run]


def _table_of_cells(parts: Sequence[_Part]) -> tables.Table | None:
    """Return a table with a row for each part, whose cells upright rules part."""
    edges = max((part.edges for part in parts), key=len)
    cells: list[list[list[Run]]] = []
    for part in parts:  # one that no upright rule parts is one cell
        cells.append([[] for _ in range(len(edges) + 1 if part.edges else 1)])
        for run in (run for row in part.rows for run in row):
            cells[-1][bisect(edges, _middle(run)) if part.edges else 0].append(run)
    grid = [[_words(cell) for cell in line] for line in cells]
    words = [cell for line in grid for cell in line if cell]
    if not edges or any(_has_rows(cell) for line in cells for cell in line):
        return None
    if len(words) < MIN_FILLED * sum(map(len, grid)) or max(map(len, words)) > RULED_CHARS:
        return None
    are_bold = [all(run.bold > 0.7 for cell in line for run in cell) for line in cells]
    first = next(n for n, part in enumerate(parts) if part.edges)
    headings = tuple(grid[first]) if are_bold[first] and not all(are_bold) else ()
    return tables.from_rows([*grid[:first], *grid[first + bool(headings) :]], headings)


def _table_of_columns(parts: Sequence[list[list[Run]]]) -> tables.Table | None:
    """Return a table with a row for each line, whose headings stand in the first part."""
    rows = [row for part in parts for row in part]
    body = rows[len(parts[0]) :]
    spans = _spans(row for row in body if len(row) > 1)
    if len(body) < MIN_ROWS - 1 or len(spans) < 2 or all(run.fixed > 0.5 for row in body for run in row):
        return None  # a program in a frame is none
    grid = _fill_rows(body, spans)
    heads = [_headings_over(row, spans) for row in parts[0]]
    if len(heads) > MAX_HEAD:  # rows like the others
        return tables.from_rows(_fill_rows(rows, spans))
    names = tuple(" ".join(dict.fromkeys(filter(None, column))) for column in zip(*heads, strict=True))
    if sum(map(bool, names)) < len(spans) - 1:
        return None
    return tables.from_rows(grid, names)


def _middle(run: Run) -> float:
    return (run.left + run.right) / 2


def _words(cell: Sequence[Run]) -> str:
    lines = (" ".join(run.text for run in line) for line in rows_of(cell))
    mirrored = bool(cell) and cell[0].mirrored
    return in_order(" ".join(lines), mirrored=mirrored).replace(HYPHEN, "-")


def _has_rows(cell: Sequence[Run]) -> bool:
    """Tell whether several rows of a table stand between two rules, each with cells beside each other."""
    lines = rows_of(cell)
    return len(lines) >= MIN_ROWS and all(len(line) > 1 for line in lines)


def table_at(rows: Sequence[Sequence[Run]], start: int) -> tuple[int, list[str] | None]:
    """Return where the table ends that begins with a row, and its rows; None where none surely begins."""
    if len(rows[start]) < 2 or len(rows) > MAX_LINES:
        return start, None
    end = start
    first = rows[start][0]
    while end < len(rows) and (len(rows[end]) > 1 or (end > start and rows[end][0].left > first.right)):
        if end > start and rows[end - 1][0].base - rows[end][0].base > MAX_STEP * first.size:
            break
        end += 1
    for last in range(end, start + MIN_ROWS - 1, -1):
        if (table := _cells(rows[start:last])) is not None:
            return last, list(tables.from_rows(table).lines())
        if last < end - 2:
            break
    return start, None


def _cells(run: Sequence[Sequence[Run]]) -> list[list[str]] | None:
    """Return the cells of a table; None for lines without columns or without a column of values."""
    spans = _spans(run)
    if any(len(cell.text) > CELL_CHARS for line in run for cell in line):
        return None
    rows = _fill_rows(run, spans)
    columns_below = ([row[n] for row in rows[1:] if row[n]] for n in range(1, len(spans)))
    has_values = any(len(column) > 1 and all(map(_VALUE.match, column)) for column in columns_below)
    return rows if has_values and tables.has_headings(rows) else None


def _spans(rows: Iterable[Sequence[Run]]) -> list[tuple[float, float]]:
    """Return from where to where the columns of rows reach."""
    spans: list[tuple[float, float]] = []
    for left, right in sorted((cell.left, cell.right) for row in rows for cell in row):
        if spans and left < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(right, spans[-1][1]))
        else:
            spans.append((left, right))
    return spans


def _headings_over(row: Sequence[Run], spans: Sequence[tuple[float, float]]) -> list[str]:
    """Return the headings of the columns in a row, of which one may stand over several columns."""
    cells = [""] * len(spans)
    for run in row:
        nearest = min(range(len(spans)), key=lambda n: abs(sum(spans[n]) / 2 - _middle(run)))
        places = [n for n, (left, right) in enumerate(spans) if run.left < right and left < run.right]
        for n in places or [nearest]:
            cells[n] = f"{cells[n]} {_words([run])}".strip()
    return cells


def _fill_rows(lines: Sequence[Sequence[Run]], spans: Sequence[tuple[float, float]]) -> list[list[str]]:
    """Return lines as rows of cells; a line that goes on with the cells above it belongs to their row."""
    rows: list[list[str]] = []
    for line in lines:
        row = [""] * len(spans)
        for cell in line:
            column = max(
                (n for n, (left, _) in enumerate(spans) if left <= cell.left + cell.size / 2), default=0
            )
            row[column] = f"{row[column]} {_words([cell])}".strip()
        if rows and row[0][:1].islower() and not any(row[1:]):
            rows[-1][0] += f" {row[0]}"
            continue
        pairs = zip(rows[-1], row, strict=True) if rows and not row[0] else ()
        # a value below a value begins a row, whose first cell is empty
        if rows and not row[0] and not any(above and _VALUE.match(cell) for above, cell in pairs):
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    return rows
