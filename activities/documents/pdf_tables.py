"""The tables of a page of a PDF as rows: a PDF has no tables, only words at places.

pypdf lays the words of a page out in lines of fixed width. Lines whose words stand in the same columns, with
a row of headings and a column of values, are a table. Where that is not sure, and where the page's own text
does not have the same words in the same order, the page stays as it is.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from activities.documents import tables

if TYPE_CHECKING:
    from pypdf import PageObject

MOST_PAGES = 40
"""Pages of one document that are laid out, which takes as long as reading them."""
SHARE_OF_TIME = 0.75
"""The share of the time for a document after which no further page is laid out."""
BROKEN = (
    *(OSError, ValueError, TypeError, AttributeError, AssertionError, MemoryError),
    *(LookupError, ArithmeticError, RuntimeError),
)
"""What pypdf raises for broken files, beside its own exceptions."""
LEAST_ROWS = 3
"""Rows that a table has at least, with its headings."""
CELL_CHARS = 60
"""Longest line of a cell; columns of running text have longer ones or no values."""
_WORDS = re.compile(r"\S+(?: \S+)*")
"""A cell: words with single spaces between them."""
_VALUE = re.compile(r"(?<![\w.,])[$\u20ac\u00a3+-]?\d[\d.,:/%-]*(?!\w)")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Cell:
    """Words of a line and where they stand in it."""

    start: int
    end: int
    text: str


Line = list[Cell]


def may_have_table(text: str) -> bool:
    """Whether the text of a page has several lines below each other with a value: few pages of prose have."""
    below = 0
    for line in text.split("\n"):
        below = below + 1 if _VALUE.search(line) else 0
        if below >= LEAST_ROWS - 1:
            return True
    return False


def read_rows(laid: Sequence["PageObject"], texts: list[str], until: float) -> None:
    """Put a paragraph for each row of their tables in the texts of the pages that may have some, until a time
    of the monotonic clock. A page that cannot be laid out stays as it is."""
    from pypdf.errors import PyPdfError

    likely = [number for number, text in enumerate(texts) if may_have_table(text)]
    for number in likely[:MOST_PAGES]:
        if time.monotonic() > until:
            return
        with suppress(PyPdfError, *BROKEN):
            texts[number] = replaced(texts[number], laid[number].extract_text(extraction_mode="layout"))


def replaced(text: str, layout: str) -> str:
    """The text of a page with a paragraph for each row of its tables, by the page's layout."""
    lines = [[Cell(*one.span(), one.group()) for one in _WORDS.finditer(line)] for line in layout.split("\n")]
    for run, rows in _tables(lines):
        words = "".join(_SPACE.sub("", cell.text) for line in run for cell in line)
        place = _find(words, text)
        if place is not None:
            start, end = place
            table = "\n".join(tables.from_rows(rows).lines())
            text = f"{text[:start].rstrip()}\n\n{table}\n\n{text[end:].lstrip()}"
    return text


def _tables(lines: Sequence[Line]) -> Iterator[tuple[list[Line], list[list[str]]]]:
    """The lines of each table, and its rows. Rows may have an empty line between them; where the lines are
    no table together, each part between empty lines may be one."""
    for run in _runs(lines):
        whole = [line for line in run if line]
        parts = [list(part) for filled, part in groupby(run, key=bool) if filled]
        pairs = [(part, rows) for part in (whole, *parts) if (rows := _rows(part))]
        yield from pairs[:1] if pairs and pairs[0][0] is whole else pairs


def _runs(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines below each other with several cells, with the empty ones between them and those that go on with a
    cell of the line above."""
    run: list[Line] = []
    for line in lines:
        goes_on = bool(run and run[-1] and line) and line[0].start > run[0][0].end
        if len(line) > 1 or goes_on or (run and not line):
            run.append(line)
        else:
            yield run
            run = []
    yield run


def _rows(run: Sequence[Line]) -> list[list[str]] | None:
    """The rows of a table; None for lines whose cells stand in no columns, or without a column of values."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted((cell.start, cell.end) for line in run for cell in line):
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    if (
        len(run) < LEAST_ROWS
        or len(spans) < 2
        or any(len(cell.text) > CELL_CHARS for line in run for cell in line)
    ):
        return None
    rows: list[list[str]] = []
    for line in run:
        row = [""] * len(spans)
        for cell in line:
            column = next(n for n, (start, end) in enumerate(spans) if start <= cell.start < end)
            if row[column]:
                return None
            row[column] = cell.text
        if rows and not row[0]:
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    columns = ([row[n] for row in rows[1:] if row[n]] for n in range(1, len(spans)))
    valued = any(len(column) > 1 and all(map(_VALUE.match, column)) for column in columns)
    return rows if valued and len(rows) >= LEAST_ROWS and tables.has_headings(rows) else None


def _find(words: str, text: str) -> tuple[int, int] | None:
    """Where words stand in a text, white space aside; None unless they stand there once."""
    places = [place for place, character in enumerate(text) if not character.isspace()]
    bare = "".join(text[place] for place in places)
    first = bare.find(words)
    if first < 0 or bare.find(words, first + 1) >= 0:
        return None
    return places[first], places[first + len(words) - 1] + 1
