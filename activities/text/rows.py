"""Rows of tables as the library writes them (`activities.documents.tables`): `sensor: T-102; status: ok`."""

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from activities.documents.row_form import HEADING_CHARS, ROW
from activities.text.persons_and_places import persons
from activities.text.tokens import terms

_BETWEEN = re.compile(r"; (?=[^:;]{1,60}: )")
_BY = re.compile(r"\bby$|^(?:full )?names?$", re.IGNORECASE)


class Cell(NamedTuple):
    """A cell with the heading of its column."""

    heading: str
    value: str
    start: int
    """Where the value begins in the row."""


def cells(text: str) -> tuple[Cell, ...]:
    """The cells of a row; none of a text that is no row of at least two cells with headings."""
    found: list[Cell] = []
    marked = ROW.match(text)
    start = marked.end() if marked else 0
    for piece in _BETWEEN.split(text[start:]):
        heading, colon, value = piece.partition(": ")
        if not colon or not value or len(heading) > HEADING_CHARS or ". " in heading:
            return ()
        found.append(Cell(heading, value.removesuffix("."), start + len(heading) + 2))
        start += len(piece) + 2
    return tuple(found) if len(found) > 1 else ()


def is_row(text: str) -> bool:
    """Whether a text is a row: with headings, or so short that it says that it is one."""
    return is_marked(text) or bool(cells(text))


def is_marked(text: str) -> bool:
    """Whether a text says that it is a row: those of articles all do."""
    return bool(ROW.match(text))


def answering_cells(
    row: Collection[Cell], wanted: Collection[str], fits: Callable[[str], object], *, alone: bool
) -> list[Cell]:
    """The cells whose value fits and whose heading has a word, by its stem, that is wanted. `alone`: without
    one, the only cell whose value fits."""
    fitting = [cell for cell in row if fits(cell.value)]
    named = [cell for cell in fitting if not {*wanted}.isdisjoint(terms(cell.heading))]
    return named or (fitting if alone and len(fitting) == 1 else [])


def cells_of_persons(row: Collection[Cell]) -> list[Cell]:
    """The cells whose headings say that they name who does or is something: `Driver`, `Done by`, `Name`."""
    return [
        cell for cell in row if _BY.search(cell.heading) or any(True for _ in persons(cell.heading.lower()))
    ]
