"""The tables of a page: by the rules between their cells, or by columns that stand below each other."""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from activities.documents import tables
from activities.documents.pdf_page import HYPHEN, RULE, Box, Run, around, in_order, rows_of

MIN_ROWS = 3
"""Rows that a table without rules has at least, with its headings."""
MAX_LINES = 3_000
"""Lines of a page that are looked at for tables."""
CELL_CHARS = 60
"""Longest line of a cell; columns of running text have longer ones or no values."""
RULED_CHARS = 1_500
"""Longest cell between rules; a longer one is text in a frame."""
MIN_RULED = 0.5
"""Share of a side of a table that a rule between its rows or columns has at least."""
MIN_FILLED = 0.5
"""Share of the cells between rules that have words; of a drawing few have any."""
_VALUE = re.compile(r"(?<![\w.,])[$\u20ac\u00a3+-]?\d[\d.,:/%-]*(?!\w)")


def with_ruled_tables(runs: Sequence[Run], rules: Sequence[Box]) -> list[Run]:
    """Return runs, with one in the place of all those of a table whose cells are parted by rules."""
    rest = list(runs)
    for some in _meeting(rules):
        area = around(some)
        sides = _edges(((r.left + r.right) / 2, r.bottom, r.top) for r in some if r.right - r.left <= RULE)
        levels = _edges(((r.bottom + r.top) / 2, r.left, r.right) for r in some if r.top - r.bottom <= RULE)
        columns = _parted(sides, area.left, area.right, area.top - area.bottom)
        lines = _parted(levels, area.bottom, area.top, area.right - area.left)
        inside = [run for run in rest if area.left <= _middle(run) <= area.right and _is_within(run, area)]
        if len(columns) < 3 or len(lines) < 3 or not inside:
            continue
        cells: defaultdict[tuple[int, int], list[Run]] = defaultdict(list)
        for run in inside:
            cells[len(lines) - bisect(lines, run.base), bisect(columns, _middle(run))].append(run)
        if any(map(_has_rows, cells.values())):
            continue
        grid = [[_words(cells[row, n]) for n in range(1, len(columns))] for row in range(1, len(lines))]
        words = [cell for row in grid for cell in row if cell]
        if len(words) >= MIN_FILLED * len(grid) * len(grid[0]) and max(map(len, words)) <= RULED_CHARS:
            taken = set(map(id, inside))
            rest = [run for run in rest if id(run) not in taken]
            top, size = max(run.base for run in inside), median(run.size for run in inside)
            headings = tuple(grid[0]) if all(grid[0]) and _is_marked(cells) else ()
            rows = list(tables.from_rows(grid[bool(headings) :], headings).lines())
            rest.append(Run(" ".join(words), area.left, area.right, top, size, rows=rows))
    return rest


def _meeting(rules: Sequence[Box]) -> Iterator[list[Box]]:
    """Yield the rules that meet each other, in groups."""
    groups: list[tuple[Box, list[Box]]] = []
    for rule in sorted(rules, key=lambda rule: -rule.top):
        yield from (some for area, some in groups if area.bottom > rule.top + RULE)
        groups = [group for group in groups if group[0].bottom <= rule.top + RULE]
        area, some, others = rule, [rule], []
        for group in groups:
            if group[0].left <= rule.right + RULE and group[0].right >= rule.left - RULE:
                area, some = around((area, group[0])), [*group[1], *some]
            else:
                others.append(group)
        groups = [*others, (area, some)]
    yield from (some for _, some in groups)


def _edges(rules: Iterable[tuple[float, float, float]]) -> list[tuple[float, float]]:
    """Return the places of rules with their lengths; those in a row are added."""
    edges: list[tuple[float, float]] = []
    for place, low, high in sorted(rules):
        if edges and place - edges[-1][0] <= RULE:
            edges[-1] = (edges[-1][0], edges[-1][1] + high - low)
        else:
            edges.append((place, high - low))
    return edges


def _parted(edges: Iterable[tuple[float, float]], first: float, last: float, side: float) -> list[float]:
    """Return where the columns or the rows of a table begin and end, with its own edges."""
    inner = [place for place, length in edges if length >= MIN_RULED * side]
    return [first, *(place for place in inner if first + RULE < place < last - RULE), last]


def _middle(run: Run) -> float:
    return (run.left + run.right) / 2


def _is_within(run: Run, area: Box) -> bool:
    return area.bottom <= run.base <= area.top


def _words(cell: Sequence[Run]) -> str:
    lines = (" ".join(run.text for run in line) for line in rows_of(cell))
    mirrored = bool(cell) and cell[0].mirrored
    return in_order(" ".join(lines), mirrored=mirrored).replace(HYPHEN, "-")


def _has_rows(cell: Sequence[Run]) -> bool:
    """Tell whether several rows of a table stand between two rules, each with cells beside each other."""
    lines = rows_of(cell)
    return len(lines) >= MIN_ROWS and all(len(line) > 1 for line in lines)


def _is_marked(cells: dict[tuple[int, int], list[Run]]) -> bool:
    """Tell whether the first row is in bold, and others are not."""
    bold = {
        row: all(r.bold > 0.7 for (n, _), some in cells.items() if n == row for r in some) for row, _ in cells
    }
    return bold.pop(1, False) and not all(bold.values())


def table_at(rows: Sequence[Sequence[Run]], start: int) -> tuple[int, list[str] | None]:
    """Where the table ends that begins with a row, and its rows; None where none surely begins."""
    if len(rows[start]) < 2 or len(rows) > MAX_LINES:
        return start, None
    end = start
    first = rows[start][0]
    while end < len(rows) and (len(rows[end]) > 1 or (end > start and rows[end][0].left > first.right)):
        if end > start and rows[end - 1][0].base - rows[end][0].base > 3.2 * first.size:
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
    spans: list[tuple[float, float]] = []
    for left, right in sorted((cell.left, cell.right) for line in run for cell in line):
        if spans and left < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(right, spans[-1][1]))
        else:
            spans.append((left, right))
    if len(run) < MIN_ROWS or len(spans) < 2 or any(len(c.text) > CELL_CHARS for line in run for c in line):
        return None
    rows: list[list[str]] = []
    for line in run:
        row = [""] * len(spans)
        for cell in line:
            column = next(
                n for n, (left, right) in enumerate(spans) if left <= cell.left < max(right, left + 0.1)
            )
            row[column] = f"{row[column]} {cell.text}".strip()
        below = zip(rows[-1], row, strict=True) if rows and not row[0] else ()
        # a value below a value begins a row, whose first cell is empty
        if rows and not row[0] and not any(above and _VALUE.match(cell) for above, cell in below):
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    rows = [[cell.replace(HYPHEN, "-") for cell in row] for row in rows]
    columns_below = ([row[n] for row in rows[1:] if row[n]] for n in range(1, len(spans)))
    valued = any(len(column) > 1 and all(map(_VALUE.match, column)) for column in columns_below)
    return rows if valued and len(rows) >= MIN_ROWS and tables.has_headings(rows) else None
