"""The tables of an article in JATS as lines that can be read and quoted alone: the label and caption of each,
then its rows, every cell behind the heading of its column (`sensor: T-102; location: roof`), since no reader
of a sentence sees the rest of the table; where no row is surely one of headings they stand side by side.

A cell over several rows or columns stands in each of them; headings in several lines are joined. A row names
its table (`One row of Table 2: `): so it is found in the article, and no reader takes it for running text.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest

from lxml import etree

from activities.documents.tables import HEADING_CHARS, VALUE, has_headings
from activities.documents.xml_text import Skip, text_of

MOST_ROWS = 1_000
"""Rows of one article that are read; longer tables are lists of data."""
MOST_COLUMNS = 60
SPREAD_CHARS = 500
"""Of a cell that stands in each of the rows and columns that it spans; a longer one stands once."""
GROUP_CHARS = 80
"""Longest name of a group of rows."""
_NUMBERED = re.compile(r"(?:Supplementary )?Table [A-Z]?\d{1,2}[A-Za-z]?", re.IGNORECASE)

Grid = list[list[str]]


def table_lines(article: etree._Element, skip: Skip) -> Iterator[str]:
    """The lines of the tables in the body of an article or beside it, in order. `skip`: elements of which
    the text is left out (marks of notes)."""
    left = MOST_ROWS

    def note(element: etree._Element) -> bool:
        return element.get("ref-type") == "table-fn" or skip(element)

    places = (article.find("body"), article.find("floats-group"))
    for wrap in (wrap for place in places if place is not None for wrap in place.iter("table-wrap")):
        table = wrap.find(".//table")
        if table is None or left <= 0:
            continue
        headings, rows = _read(table, note)
        label = text_of(wrap.find("label"), note).rstrip(" .:")
        caption = text_of(wrap.find("caption"), note)
        heading = f"{label}: {caption}" if label and caption else label or caption
        if heading:
            yield heading
        number = label if _NUMBERED.fullmatch(label) else "the table"
        for group, below in _grouped(rows[:left]) if headings else [("", rows[:left])]:
            above = f", {group}" if group and len(group) <= GROUP_CHARS and ":" not in group else ""
            yield from (f"One row of {number}{above}: {line}" for line in _lines(headings, below))
        left -= len(rows)


def _lines(headings: Sequence[str], rows: Grid) -> Iterator[str]:
    """A line a row, without those that repeat the headings. Without `headings` those are taken that look like
    some."""
    filled = [row for row in rows if any(row)]
    first = next((place for place, row in enumerate(filled) if sum(map(bool, row)) > 1), len(filled))
    if not headings and len(filled) > first + 1 and has_headings(filled[first:]):
        headings = filled.pop(first)
    for row in (row for row in filled if row != headings):
        cells = [cell for cell in row if cell]
        if len(cells) == 1:
            yield cells[0]  # a caption, or what names the rows below it
        elif headings:
            pairs = zip_longest(headings, row, fillvalue="")  # a row may have cells beyond the headings
            yield "; ".join(f"{name.rstrip(':')}: {cell}" if name else cell for name, cell in pairs if cell)
        else:
            # a label and its value, as forms have them
            is_label = len(row) == len(cells) == 2 and not VALUE.match(row[0])
            yield (": " if is_label and len(row[0]) <= HEADING_CHARS else " | ").join(cells)


def _grouped(rows: Grid) -> Iterator[tuple[str, Grid]]:
    """The rows below each cell over all columns, with its text."""
    group = ""
    below: Grid = []
    for row in rows:
        if len(row) == 1:
            yield group, below
            group, below = row[0], []
        else:
            below.append(row)
    yield group, below


def _read(table: etree._Element, skip: Skip) -> tuple[list[str], Grid]:
    """The headings of the columns, empty where the table marks none, and the rows below them."""
    head = _grid(table.iterfind("thead/tr"), skip)
    body = _grid([*table.iterfind("tbody/tr"), *table.iterfind("tr")], skip)
    # one cell over all columns is a caption or names the rows below it
    named = [row for row in head if len(set(row)) > 1]
    columns = zip(*named, strict=False) if named else ()
    headings = [" ".join(dict.fromkeys(filter(None, column))) for column in columns]
    return headings, [[row[0]] if len(set(row)) == 1 and len(row) > 1 else row for row in body]


def _grid(rows: Sequence[etree._Element] | Iterator[etree._Element], skip: Skip) -> Grid:
    """The texts of the cells, as many a row as there are columns, one that spans several in each."""
    grid: Grid = []
    below: dict[int, tuple[int, str]] = {}
    for row in islice(rows, MOST_ROWS):
        line: list[str] = []
        for cell in (cell for cell in row if cell.tag in ("td", "th")):
            _continue(line, below)
            text = text_of(cell, skip)
            spread = text if len(text) <= SPREAD_CHARS else ""
            for column in range(min(_span(cell, "colspan"), MOST_COLUMNS - len(line))):
                if (rows_left := _span(cell, "rowspan") - 1) > 0:
                    below[len(line)] = (rows_left, spread)
                line.append(spread if column else text)
        _continue(line, below)
        grid.append(line)
    width = max(map(len, grid), default=0)
    return [[*line, *("" for _ in range(width - len(line)))] for line in grid]


def _continue(line: list[str], below: dict[int, tuple[int, str]]) -> None:
    """Put the cells that reach down from rows above where they stand."""
    while len(line) in below:
        left, text = below.pop(len(line))
        if left > 1:
            below[len(line)] = (left - 1, text)
        line.append(text)


def _span(cell: etree._Element, name: str) -> int:
    value = cell.get(name, "1")
    return min(max(int(value), 1), MOST_COLUMNS) if value.isascii() and value.isdigit() else 1
