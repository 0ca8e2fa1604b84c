"""The rows of a table as lines.

Of a user's own documents and of pages the cells as they stand, `T-102 | roof`, under the row of headings: a
quote of them is what the document says. Of an article's tables each cell behind the heading of its column,
`sensor: T-102; location: roof`, since no reader of a sentence sees the rest of the table; where no row is
surely one of headings, the cells stand side by side. Such a row that is too short to be quoted says that it
is a row.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from lxml import etree, html

HEADING_CHARS = 60
"""Longest heading of a column; longer cells are content."""
GROUP_CHARS = 80
"""Longest name of a group of rows."""
LEAST_CHARS = 25
"""Characters a row has at least, so that it can be quoted alone (`verification.quote_check`)."""
SHORT_ROW = "One row of the table: "
"""What a shorter row begins with."""
CELL_CHARS = 300
"""Longest cell of a table of facts in a page."""
EXAMINED = 200
"""Rows of a table by which it is told whether its first row has headings."""
_VALUE = re.compile(r"^\W*\d")
"""A cell that begins with a number, a date or an amount of money."""


def side_by_side(rows: Iterable[Sequence[str]]) -> str:
    """A table as a block of lines, its cells side by side; a row of headings that is repeated stands once."""
    tidy = [[" ".join(cell.split()) for cell in row] for row in rows]
    filled = [row for row in tidy if any(row)]
    once = [row for place, row in enumerate(filled) if not place or row != filled[0]]
    return "\n".join(" | ".join(row).rstrip(" |") for row in once)


def lines(rows: Iterable[Sequence[str]], *, headed: bool = False) -> Iterator[str]:
    """The lines of a table, given by its rows of cells; empty cells hold the place of their column.

    `headed`: the file marks the first row as headings. Without that mark it has headings where it looks like
    one (`has_headings`). Lines of one cell above the headings are captions and stay.
    """
    tidy = ([" ".join(cell.split()) for cell in row] for row in rows)
    filled = (row for row in tidy if any(row))
    first: list[list[str]] = []
    for row in filled:
        if sum(map(bool, row)) > 1:
            first = [row, *islice(filled, EXAMINED)]
            break
        yield from filter(None, row)
    if not first:
        return
    headings = first[0] if len(first) > 1 and (headed or has_headings(first)) else None
    if headings is None:
        yield from _line(first[0], None, may_be_headings=True)
    for row in first[1:]:
        yield from _line(row, headings)
    for row in filled:
        yield from _line(row, headings)


def as_paragraphs(page: html.HtmlElement) -> None:
    """Put a paragraph for each row in place of the tables of a page, but for those that lay it out: with
    cells over several rows or columns, with long cells or with tables in them."""
    for table in list(page.iter("table")):
        rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
        texts = [[str(cell.text_content()) for cell in row] for row in rows]
        cells = [cell for row in rows for cell in row]
        spread = any(cell.get(name, "1") != "1" for cell in cells for name in ("colspan", "rowspan"))
        long = any(len(text) > CELL_CHARS for row in texts for text in row)
        narrow = max(map(len, rows), default=0) < 2
        if spread or long or narrow or next(table.iterdescendants("table"), None) is not None:
            continue
        block = side_by_side(texts)
        table.clear(keep_tail=True)
        table.tag = "div"
        for line in block.split("\n"):
            etree.SubElement(table, "p").text = line


def _line(
    row: Sequence[str], headings: Sequence[str] | None, *, may_be_headings: bool = False
) -> Iterator[str]:
    """One row; none where it repeats the headings, as tables of several pages do. What may be headings that
    were not recognised is not made long enough to be quoted."""
    cells = [cell for cell in row if cell]
    if len(cells) == 1:
        yield cells[0]  # names the rows below it
    elif headings is None:
        # A label and its value, as forms have them.
        labelled = len(row) == len(cells) == 2 and len(row[0]) <= HEADING_CHARS and not _VALUE.match(row[0])
        text = (": " if labelled else " | ").join(cells)
        says = labelled and (not may_be_headings or _VALUE.match(cells[1]))
        yield complete(text) if says else text
    elif list(row) != list(headings):
        names = [*headings, *("" for _ in row)]
        pairs = zip(names, row, strict=False)
        yield complete(
            "; ".join(f"{name.rstrip(':')}: {cell}" if name else cell for name, cell in pairs if cell)
        )


def has_headings(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: short, different texts without values, one a column. Of two
    columns, which could be labels with their values, one must have nothing but values below."""
    head, rest = rows[0], rows[1:]
    names = [name for name in head if name]
    if len(names) < max(2, max(len(row) for row in rest) - 1) or len(set(names)) < len(names):
        return False
    if any(_VALUE.match(name) or len(name) > HEADING_CHARS for name in names):
        return False
    if len(names) > 2:
        return True
    columns = ([row[place] for row in rest if len(row) > place and row[place]] for place in range(len(head)))
    return any(len(column) > 1 and all(map(_VALUE.match, column)) for column in columns)


def complete(row: str) -> str:
    """The row, if it is too short to be quoted alone with what says that it is one."""
    return row if len(row) >= LEAST_CHARS else f"{SHORT_ROW}{row}"


def row_of(table: str, group: str, row: str) -> str:
    """The row of a table of an article, which is given by its number (`Table 2`), or has none. `group`: what
    stands over all columns above the row; empty for nothing."""
    above = f", {group}" if group and len(group) <= GROUP_CHARS and ":" not in group else ""
    return f"One row of {table or 'the table'}{above}: {row.removeprefix(SHORT_ROW)}"
