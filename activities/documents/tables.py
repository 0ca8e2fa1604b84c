"""The rows of a table of a user's own document, or of a page: its cells as they stand, `T-102 | roof`, under
the row of headings, so that a quote of them is what the document says."""

import re
from collections.abc import Iterable, Sequence

from lxml import etree, html

HEADING_CHARS = 60
"""Longest heading of a column; longer cells are content."""
CELL_CHARS = 300
"""Longest cell of a table of facts in a page."""
VALUE = re.compile(r"^\W*\d")
"""A cell that begins with a number, a date or an amount of money."""


def side_by_side(rows: Iterable[Sequence[str]]) -> str:
    """A table as a block of lines, its cells side by side; a row of headings that is repeated stands once."""
    tidy = [[" ".join(cell.split()) for cell in row] for row in rows]
    filled = [row for row in tidy if any(row)]
    once = [row for place, row in enumerate(filled) if not place or row != filled[0]]
    return "\n".join(" | ".join(row).rstrip(" |") for row in once)


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


def has_headings(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: short, different texts without values, one a column. Of two
    columns, which could be labels with their values, one must have nothing but values below."""
    head, rest = rows[0], rows[1:]
    names = [name for name in head if name]
    if len(names) < max(2, max(len(row) for row in rest) - 1) or len(set(names)) < len(names):
        return False
    if any(VALUE.match(name) or len(name) > HEADING_CHARS for name in names):
        return False
    if len(names) > 2:
        return True
    columns = ([row[place] for row in rest if len(row) > place and row[place]] for place in range(len(head)))
    return any(len(column) > 1 and all(map(VALUE.match, column)) for column in columns)
