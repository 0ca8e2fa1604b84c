"""The tables of a page: by the rules between their cells, or by columns that stand below each other."""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median

from activities.documents import tables
from activities.documents.pdf_page import HYPHEN, RULE, Box, Page, Run, around, in_order, rows_of

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
"""Share of a side of a table that a rule between its rows or columns has at least."""
MIN_FILLED = 0.5
"""Share of the cells between rules that have words; of a drawing few have any."""
_VALUE = re.compile(r"(?<![\w.,])[$\u20ac\u00a3+-]?\d[\d.,:/%-]*(?!\w)")


def with_ruled_tables(page: Page) -> list[Run]:
    """Return the runs of a page, with one in the place of all those of a table that rules part or enclose."""
    return _with_enclosed(_with_parted(list(page.runs), page.rules), page)


def _with_enclosed(runs: list[Run], page: Page) -> list[Run]:
    """Do so for tables between rules from side to side: above and below the headings, and at the foot."""
    by_sides: defaultdict[tuple[int, int], list[Box]] = defaultdict(list)
    for rule in _joined(rule for rule in page.rules if rule.top - rule.bottom <= RULE):
        if rule.right - rule.left > MIN_WIDE and not any(figure.encloses(rule) for figure in page.figures):
            by_sides[round(rule.left / RULE), round(rule.right / RULE)].append(rule)
    for some in by_sides.values():
        parts: list[list[list[Run]]] = []
        """Rows between two rules each, as far as they may be of one table."""
        for high, low in pairwise(some):
            rows = _rows_between(runs, high, low)
            is_part = _are_of_table(rows, high, low)
            if parts and not (is_part and _has_cells(rows)):
                runs, parts = _with_table(runs, parts, some[0]), []
            parts += [rows] if is_part else []
        runs = _with_table(runs, parts, some[0])
    return runs


def _joined(rules: Iterable[Box]) -> list[Box]:
    """Return rules across from the top, those that are drawn cell by cell as one."""
    whole: list[Box] = []
    for rule in sorted(rules, key=lambda rule: (-round(rule.top), rule.left)):
        if whole and abs(whole[-1].top - rule.top) < RULE / 2 and rule.left <= whole[-1].right + RULE:
            whole[-1] = around((whole[-1], rule))
        else:
            whole.append(rule)
    return whole


def _rows_between(runs: Sequence[Run], high: Box, low: Box) -> list[list[Run]]:
    return rows_of(
        [
            run
            for run in runs
            if high.left - RULE <= _middle(run) <= high.right + RULE
            and low.top <= run.base + run.size / 4 < high.bottom
        ]
    )


def _are_of_table(rows: Sequence[Sequence[Run]], high: Box, low: Box) -> bool:
    """Tell whether rows between two rules are close to each other and to them, and none is running text."""
    runs = [run for row in rows for run in row]
    if not runs or any(
        run.rows or run.right - run.left > MAX_CELL * (high.right - high.left) for run in runs
    ):
        return False
    bases = [high.bottom, *(row[0].base for row in rows), low.top]
    return max(above - below for above, below in pairwise(bases)) <= MAX_STEP * median(
        run.size for run in runs
    )


def _has_cells(rows: Sequence[Sequence[Run]]) -> bool:
    return any(len(row) > 1 for row in rows)


def _with_table(runs: list[Run], parts: Sequence[list[list[Run]]], rule: Box) -> list[Run]:
    """Return runs with a table in the place of these parts, where they have columns."""
    if len(parts) > 2 and not _has_cells(parts[0]) and len(parts[1]) == 1:
        parts = parts[1:]  # a caption between two tables
    if len(parts) < 2:
        return runs
    every = [row for part in parts for row in part]
    body = every[len(parts[0]) :]
    spans = _spans(row for row in body if len(row) > 1)
    if len(body) < MIN_ROWS - 1 or len(spans) < 2 or all(run.fixed > 0.5 for row in body for run in row):
        return runs  # a program in a frame is none
    filled = _filled(body, spans)
    heads = [_over(row, spans, is_last=row is parts[0][-1]) for row in parts[0]]
    again = any(name and name == row[n] for head in heads for n, name in enumerate(head) for row in filled)
    if again or len(heads) > MAX_HEAD:  # rows like the others, with headings or without
        table = tables.from_rows(_filled(every, spans))
    else:
        names = tuple(" ".join(dict.fromkeys(filter(None, column))) for column in zip(*heads, strict=True))
        if sum(map(bool, names)) < len(spans) - 1 or len(set(names)) < 2:
            return runs
        table = tables.from_rows(filled, names)
    cells = {id(run): run for row in every for run in row}
    top, size = max(run.base for run in cells.values()), median(run.size for run in cells.values())
    rows = list(table.lines())
    made = Run(" ".join(rows), rule.left, rule.right, top, size, rows=rows)
    return [*(run for run in runs if id(run) not in cells), made]


def _with_parted(rest: list[Run], rules: Sequence[Box]) -> list[Run]:
    """Do so for tables whose cells are parted by rules across and down."""
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
    if len(run) < MIN_ROWS or len(spans) < 2 or any(len(c.text) > CELL_CHARS for line in run for c in line):
        return None
    rows = _filled(run, spans)
    columns_below = ([row[n] for row in rows[1:] if row[n]] for n in range(1, len(spans)))
    valued = any(len(column) > 1 and all(map(_VALUE.match, column)) for column in columns_below)
    return rows if valued and len(rows) >= MIN_ROWS and tables.has_headings(rows) else None


def _spans(rows: Iterable[Sequence[Run]]) -> list[tuple[float, float]]:
    """Return from where to where the columns of rows reach."""
    spans: list[tuple[float, float]] = []
    for left, right in sorted((cell.left, cell.right) for row in rows for cell in row):
        if spans and left < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(right, spans[-1][1]))
        else:
            spans.append((left, right))
    return spans


def _over(row: Sequence[Run], spans: Sequence[tuple[float, float]], *, is_last: bool) -> list[str]:
    """Return the headings of the columns in a row, of which one may stand over several columns.

    In the last row words that stand close together are those of a column each."""
    cells = [""] * len(spans)
    for run in row:
        nearest = min(range(len(spans)), key=lambda n: abs(sum(spans[n]) / 2 - _middle(run)))
        below = [n for n, (left, right) in enumerate(spans) if run.left < right and left < run.right]
        below, words = below or [nearest], _words([run])
        names = words.split() if is_last and len(words.split()) == len(below) else [words] * len(below)
        for n, name in zip(below, names, strict=True):
            cells[n] = f"{cells[n]} {name}".strip()
    return cells


def _filled(lines: Sequence[Sequence[Run]], spans: Sequence[tuple[float, float]]) -> list[list[str]]:
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
        below = zip(rows[-1], row, strict=True) if rows and not row[0] else ()
        # a value below a value begins a row, whose first cell is empty
        if rows and not row[0] and not any(above and _VALUE.match(cell) for above, cell in below):
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    return rows
