"""Tables of every kind of document as one model, and its rows as lines that can be read and quoted alone.

Every cell stands behind the heading of its column (`sensor: T-102; location: roof`), since no reader of a
sentence sees the rest of the table. Where no row is surely a row of headings the cells stand side by side. A
cell over several rows or columns stands in each of them; headings in several lines are joined.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from lxml import etree

MAX_COLUMNS = 60
MAX_ABOVE = 12
"""Lines that may stand above the headings of a table: of which account it is, from when to when."""
HEADING_CHARS = 60
"""Longest heading of a column; longer cells are content."""
CELL_CHARS = 300
"""Longest cell of a table of facts in a page; longer ones are the columns of a layout."""
SPREAD_CHARS = 500
"""Longest cell that stands in each of the rows and columns that it spans; a longer one stands once."""
GROUP_CHARS = 80
"""Longest name of a group of rows."""
VALUE = re.compile(r"^\W*\d")
"""A cell that begins with a number, a date or an amount of money."""

Rows = list[list[str]]
CellText = Callable[[etree._Element], str]  # noqa: SLF001 - the only name lxml has for it


@dataclass(frozen=True, slots=True)
class Table:
    """Cells in rows and columns. A row of one cell is a caption, or names the rows below it."""

    rows: Rows
    headings: tuple[str, ...] = ()
    """The names of the columns; empty where no row surely has them."""

    def lines(self, label: str = "") -> Iterator[str]:
        """Yield a line for each row. `label` names the table at the beginning of each line."""
        group = ""
        for row in self.rows:
            cells = [cell for cell in row if cell]
            if not cells:
                continue
            if label and self.headings and len(row) == 1:
                is_short = len(row[0]) <= GROUP_CHARS and ":" not in row[0]
                group = f", {row[0]}" if is_short else ""
                continue
            line = self._line(row, cells)
            yield f"One row of {label}{group}: {line}" if label else line

    def _line(self, row: Sequence[str], cells: Sequence[str]) -> str:
        if len(cells) == 1:
            columns = zip(self.headings, row, strict=False)
            name = next((name for name, cell in columns if cell), "") if len(row) > 1 else ""
            return f"{name.rstrip(':')}: {cells[0]}" if name and row[0] == "" else cells[0]
        if self.headings:
            pairs = zip_longest(self.headings, row, fillvalue="")  # a row may have cells beyond the headings
            return "; ".join(f"{name.rstrip(':')}: {cell}" if name else cell for name, cell in pairs if cell)
        # a label and its value, as forms have them
        is_label = len(row) == len(cells) == 2 and not VALUE.match(row[0])
        return (": " if is_label and len(row[0]) <= HEADING_CHARS else " | ").join(cells)


def from_rows(rows: Iterable[Sequence[str]], headings: tuple[str, ...] = ()) -> Table:
    """Make a table of rows, of which the first as wide as most may have the headings.

    What stands above it is a caption, however many commas it has."""
    grid = [row for row in ([" ".join(cell.split()) for cell in row] for row in rows) if any(row)]
    widths = [len(row) for row in grid if sum(map(bool, row)) > 1]
    width = max(set(widths), key=widths.count, default=0)
    captions = next((place for place, row in enumerate(grid[:MAX_ABOVE]) if len(row) == width), 0)
    texts = ([cell for cell in row if cell] for row in grid[:captions])
    grid[:captions] = [[(": " if len(cells) == 2 else ", ").join(cells)] for cells in texts]
    first = next((place for place, row in enumerate(grid) if sum(map(bool, row)) > 1), len(grid))
    if not headings and len(grid) > first + 1 and has_headings(grid[first:]):
        headings = tuple(grid.pop(first))
    return Table([row for row in grid if tuple(row) != headings], headings)


def from_element(table: etree._Element, text: CellText, max_rows: int) -> Table:
    """Make a table of one in HTML or JATS, whose headings are marked or look like some."""
    head_rows = [*table.iterfind("thead/tr")]
    body_rows = [*table.iterfind("tbody/tr"), *table.iterfind("tr"), *table.iterfind("tfoot/tr")]
    while not head_rows and body_rows and {"td", "th"} & {cell.tag for cell in body_rows[0]} == {"th"}:
        head_rows.append(body_rows.pop(0))
    # a cell over all columns is a caption or names the rows below it
    heading_rows = [row for row in _grid(head_rows, text, max_rows) if len(row) > 1]
    columns = zip(*heading_rows, strict=False) if heading_rows else ()
    headings = tuple(" ".join(dict.fromkeys(filter(None, column))) for column in columns)
    result = from_rows(_grid(body_rows, text, max_rows), headings)
    return result if result.headings else from_rows(_grid(body_rows, text, max_rows, spread=False))


def lays_out(table: etree._Element, text: CellText) -> bool:
    """Tell whether a table parts a page and holds no facts: it has one column, long cells or tables in it."""
    rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
    return (
        max(map(len, rows), default=0) < 2
        or next(table.iterdescendants("table"), None) is not None
        or any(len(text(cell)) > CELL_CHARS for row in rows for cell in row)
    )


def has_headings(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row names the columns: short, different texts without values."""
    head, body = rows[0], rows[1:]
    names = [name for name in head if name]
    counts = [sum(map(bool, column)) for column in zip_longest(*body, fillvalue="")]
    usual_count = sum(2 * count >= len(body) for count in counts)
    if len(names) < max(2, usual_count - 1) or len(set(names)) < len(names):
        return False
    if any(VALUE.match(name) or len(name) > HEADING_CHARS for name in names):
        return False
    if len(names) > 2:
        return True
    columns = ([row[place] for row in body if len(row) > place and row[place]] for place in range(len(head)))
    return any(len(column) > 1 and all(map(VALUE.match, column)) for column in columns)


def _grid(rows: Iterable[etree._Element], text: CellText, max_rows: int, *, spread: bool = True) -> Rows:
    """Return the texts of the cells. `spread`: one that spans several stands in each, which has headings."""
    grid: Rows = []
    spans: dict[int, tuple[int, str]] = {}
    for row in islice(rows, max_rows):
        line: list[str] = []
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        for cell in cells:
            _continue(line, spans)
            words = text(cell)
            repeat = words if spread and len(words) <= SPREAD_CHARS else ""
            for column in range(min(_span(cell, "colspan"), MAX_COLUMNS - len(line))):
                if (rows_left := _span(cell, "rowspan") - 1) > 0:
                    spans[len(line)] = (rows_left, repeat)
                line.append(repeat if column else words)
        is_over_all = len(cells) == 1 and len(line) > 1 and len(line) == _span(cells[0], "colspan")
        _continue(line, spans)
        grid.append(line[:1] if is_over_all else line)
    width = max(map(len, grid), default=0)
    return [line if len(line) == 1 else [*line, *("" for _ in range(width - len(line)))] for line in grid]


def _continue(line: list[str], spans: dict[int, tuple[int, str]]) -> None:
    """Put the cells that reach down from rows above where they stand."""
    while len(line) in spans:
        count, text = spans.pop(len(line))
        if count > 1:
            spans[len(line)] = (count - 1, text)
        line.append(text)


def _span(cell: etree._Element, name: str) -> int:
    value = cell.get(name, "1")
    return min(max(int(value), 1), MAX_COLUMNS) if value.isascii() and value.isdigit() else 1
