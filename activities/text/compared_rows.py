"""The rows of a table that a question compares its way to: the greatest, the least, those beyond a number,
the total.

Rows are given only where the column is sure: every word of the question is the heading of a column, stands in
cells (which narrows the rows), in the title, or is said of any table; one column of comparable values is
asked for; and the text holds one whole table with that column. Otherwise none are given.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import ge, gt, le, lt

from activities.text import thesaurus
from activities.text.amounts import names_money
from activities.text.column_values import Column, read_column
from activities.text.comparatives import MONEY, OPPOSITE, Comparison, Dimension, Way, comparison, dimension_of
from activities.text.rows import Cell, cells
from activities.text.tokens import fold, is_function, stem, weak_stems
from activities.types import Evidence

LONGEST_TEXT = 400_000
"""Characters of a text whose tables are compared (`sentences.LONGEST_TEXT`)."""
MOST_ROWS = 20
"""Rows beyond a number that are given; more would be cut, and a part of a list is no answer."""
LETTERS_OF_TEXT = 40
"""Letters that a line of running text has at least; a page number, a group of rows or a row has fewer."""
_TOTAL = re.compile(r"(?:grand |overall )?totals?|sum|overall|all|altogether", re.IGNORECASE)
_SUMMARY = re.compile(rf"(?:{_TOTAL.pattern}|sub-?totals?|average|mean|median)\b.{{0,20}}", re.IGNORECASE)
"""The first cell of a row that sums up others."""
_OF_ANY_TABLE = frozenset(
    map(stem, ("number", "amount", "table", "list", "row", "column", "entry", "record", "recorded"))
)
_DAYS = frozenset(map(stem, ("date", "day", "year", "time")))
"""What a column of days or times is called that says no more than that."""
_PERIODS = frozenset({"hourly", "daily", "weekly", "monthly", "quarterly", "yearly", "annual", "total"})
_PEOPLE = frozenset(map(stem, ("people", "person", "patient", "participant", "subject", "individual")))
"""Who is counted where a study or an event says how many took part (`Enrolled`)."""
_BEYOND: Mapping[Way, Callable[[float, float], bool]] = {
    "more": gt,
    "at_least": ge,
    "less": lt,
    "at_most": le,
}
_CURRENCIES = (("\u20ac", "eur", "euro"), ("$", "usd", "dollar"), ("\u00a3", "gbp", "pound"))
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:[-'.][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Compared:
    """The rows that a comparison gives."""

    rows: tuple[str, ...]
    """As they stand in the text, in its order."""
    column: str
    """The heading of the column that was compared."""
    among: int
    """Rows that were compared."""


def compared(question: str, document: Evidence) -> Compared | None:
    """The rows of a document that a question compares its way to; None where that is not sure."""
    asked = comparison(question)
    if asked is None or len(document.text) > LONGEST_TEXT or document.facts.get("cut"):
        return None
    tables = [_Table(rows) for rows in _tables(document.text)]
    read = ((table, _sure_column(asked, table, document.title)) for table in tables)
    found = [(table, sure) for table, sure in read if sure]
    if len(found) != 1:
        return None
    table, (heading, column, places) = found[0]
    if sum(heading in other.headings for other in tables) > 1 or not _is_whole(table, document):
        return None
    asked = _as_measured(asked, heading, column)
    kept = _fitting(asked, table, column, places)
    if not kept or len(kept) > MOST_ROWS:
        return None
    return Compared(tuple(table.rows[place] for place in kept), heading, len(places))


def _is_whole(table: "_Table", document: Evidence) -> bool:
    """Whether a table has no further rows. In a document with pages it may go on as text that was not read as
    rows, unless running text follows it, or nothing."""
    if not document.pages:
        return True
    follows = document.text[document.text.rindex(table.rows[-1]) + len(table.rows[-1]) :].strip()
    return not follows or sum(map(str.isalpha, follows.partition("\n")[0])) >= LETTERS_OF_TEXT


class _Table:
    """Rows of one table, one below the other."""

    def __init__(self, rows: Sequence[tuple[str, tuple[Cell, ...]]]) -> None:
        self.rows = [text for text, _ in rows]
        self.cells = [{cell.heading: cell.value for cell in row} for _, row in rows]
        self.headings = list(dict.fromkeys(cell.heading for _, row in rows for cell in row))
        self.summaries = [bool(_SUMMARY.fullmatch(next(iter(row.values())))) for row in self.cells]

    def column(self, heading: str) -> Column | None:
        """The values below a heading, but for those of rows that sum up others."""
        pairs = zip(self.cells, self.summaries, strict=True)
        return read_column(["" if summary else row.get(heading, "") for row, summary in pairs])

    def repeats(self, heading: str) -> bool:
        """Whether several rows have one value below a heading."""
        said = [row[heading] for row in self.cells if heading in row]
        return len(set(said)) < len(said)

    def values(self, place: int) -> frozenset[str]:
        """Comparison forms of the words of a row's cells."""
        return frozenset(form for value in self.cells[place].values() for form in _forms(value))


def _tables(text: str) -> Iterator[list[tuple[str, tuple[Cell, ...]]]]:
    paragraphs = [(piece, cells(piece)) for piece in text.split("\n\n")]
    for first, rows in groupby(paragraphs, key=lambda p: p[1][0].heading if p[1] else ""):
        if first:
            yield list(rows)


_Sure = tuple[str, Column, tuple[int, ...]]


def _sure_column(asked: Comparison, table: _Table, title: str) -> _Sure | None:
    """The column that is compared, its values, and the places of the rows that the question is about."""
    words = [(n, word) for n, word in enumerate(asked.words) if word[0].isdigit() or not is_function(word)]
    columns = {h: column for h in table.headings if (column := table.column(h)) and _fits(asked, column)}
    named = {place: _named(word, table.headings) for place, word in words}
    qualified = {heading for heading in columns if _is_qualified(heading, asked)}
    columns = {
        heading: column
        for heading, column in columns.items()
        if heading not in qualified or heading not in named.get(asked.beside, ())
    }
    heading = _chosen(asked, columns, named)
    if heading is None:
        return None
    column = columns[heading]
    if asked.unit and not _has_unit(asked.unit, heading, column):
        return None
    of_rows = named.get(asked.beside, set()) - {heading}
    if not of_rows and any(map(table.repeats, _headings(named, {min(named, default=0)}) - {heading})):
        return None  # which customer has the most: what several rows of one have would be added up
    rows = [place for place, value in enumerate(column.values) if value is not None]
    titled = _forms(title)
    for place, word in words:
        form = stem(word)
        if named[place] or form in _OF_ANY_TABLE or {form} <= weak_stems() or form in titled:
            continue
        if _has_unit(word, heading, column) or (form in _DAYS and (column.kind != "number" or column.years)):
            continue
        if place == asked.beside and form in _PEOPLE and any(named[p] == {heading} for p, _ in words):
            continue  # enrolled the most patients: the column says enrolled
        if word[0].isdigit() and (narrowed := named.get(place - 1)):
            rows = [row for row in rows if any(table.cells[row].get(h) == word for h in narrowed)]
        else:
            rows = [row for row in rows if form in table.values(row)]
        if not rows or asked.way == "total":
            return None
    return heading, column, tuple(rows)


def _chosen(asked: Comparison, columns: Collection[str], named: Mapping[int, set[str]]) -> str | None:
    """The heading of the column that is asked for: that of the noun beside the word that compares, or of the
    adjective's dimension where that noun is of the rows (`the tallest tree`); else the only one that the
    question names beside what it asks for (`which probe`) and what it narrows the rows by (`on floor 2`), or
    of the adjective's dimension. None where these differ."""
    own = {heading for heading in columns if asked.dimension and _of_dimension(asked.dimension, heading)}
    for place in (asked.beside, asked.beside + 1):
        beside = named.get(place, set()) & {*columns}
        if len(beside) == 1:
            return beside.pop()
        if named.get(place) and len(own) == 1:
            return own.pop()
        if place not in named or named[place]:
            break
    narrowing = {
        place for place in named if asked.words[place + 1 : place + 2] and _is_digit(asked, place + 1)
    }
    first = min(named, default=-1)
    said = _headings(named, {*named} - narrowing - {first}) & {*columns}
    either = (said & own or said | own) or _headings(named, {first} - narrowing) & {*columns}
    if not either and asked.ordered:
        either = {heading for heading in columns if _forms(heading) <= _DAYS}
    return either.pop() if len(either) == 1 else None


def _headings(named: Mapping[int, set[str]], places: Collection[int]) -> set[str]:
    return {heading for place in places for heading in named.get(place, ())}


def _is_digit(asked: Comparison, place: int) -> bool:
    return asked.words[place][0].isdigit()


def _fits(asked: Comparison, column: Column) -> bool:
    """Whether the values of a column can be compared as asked: numbers, or days where these are meant."""
    if asked.way in ("more", "at_least", "less", "at_most", "total"):
        return column.kind == "number"
    if asked.ordered:
        return column.kind != "number" or column.years
    return column.kind == "number" or (asked.dimension is not None and _compares_times(asked.dimension))


def _compares_times(dimension: Dimension) -> bool:
    return dimension.dates or bool({"duration", "age"} & {*dimension.names, *dimension.inverse})


def _named(word: str, headings: Sequence[str]) -> set[str]:
    """The headings that have a word, by its comparison form or as what it measures (`costs`: Price)."""
    exact = {heading for heading in headings if stem(word) in _forms(heading)}
    dimension = dimension_of(word)
    if exact or dimension is None:
        return exact
    return {heading for heading in headings if _of_dimension(dimension, heading)}


def _is_qualified(heading: str, asked: Comparison) -> bool:
    """Whether a heading says more than the question by an adjective or a participle: the most tests are not
    the failed ones. By any word, where the question compares by an adjective: what is most effective is not
    what has the most side effects."""
    said = {stem(word) for word in asked.words}
    bare = re.sub(r"\(.*?\)", " ", fold(heading))
    more = [word for word in _WORD.findall(bare) if stem(word) not in said and word not in _PERIODS]
    beside = "".join(asked.words[asked.beside : asked.beside + 1])
    return any(map(_describes, more)) or (bool(more) and _describes(beside))


def _describes(word: str) -> bool:
    """Whether a word is an adjective or a participle."""
    parts = thesaurus.parts_of_speech(word)
    return not thesaurus.mostly_noun(word) and ("a" in parts or ("v" in parts and word.endswith("ed")))


def _of_dimension(dimension: Dimension, heading: str) -> bool:
    """Whether a heading names what is measured; of a price also by money."""
    names = {stem(name) for name in (*dimension.names, *dimension.inverse)}
    if not names.isdisjoint(_forms(heading)):
        return True
    return dimension is MONEY and names_money(heading)


def _as_measured(asked: Comparison, heading: str, column: Column) -> Comparison:
    """The comparison of a column's values: what is fastest has the least time, the oldest the first day."""
    dimension = asked.dimension
    if dimension is None or asked.way == "total":
        return asked
    inverse = not _forms(heading).isdisjoint(map(stem, dimension.inverse))
    dated = "age" in dimension.names and (column.kind == "day" or column.years)
    return replace(asked, way=OPPOSITE[asked.way]) if inverse or dated else asked


def _fitting(asked: Comparison, table: _Table, column: Column, places: Sequence[int]) -> list[int]:
    """The rows that the comparison gives."""
    if asked.way == "total":
        summed = [
            place
            for place, row in enumerate(table.cells)
            if _TOTAL.fullmatch(next(iter(row.values()))) and len(row) > 1
        ]
        return summed if len(summed) == 1 else []
    known = {place: value for place in places if (value := column.values[place]) is not None}
    if asked.way in ("greatest", "least"):
        if len(known) < 2:
            return []
        extreme = max if asked.way == "greatest" else min
        wanted = extreme(known.values())
        first = [place for place, value in known.items() if value == wanted]
        if min(known.values()) < 0 < max(known.values()) and not (asked.dimension and asked.dimension.signed):
            size = extreme(map(abs, known.values()))
            if first != [place for place, value in known.items() if abs(value) == size]:
                return []  # whether -0.5 is less than 0.1 depends on what is measured
        return first
    fits = _BEYOND[asked.way]
    return [place for place, value in known.items() if fits(value, asked.limit)]


def _has_unit(said: str, heading: str, column: Column) -> bool:
    """Whether a word or a sign is the unit of a column, by its cells or its heading."""
    form = stem(fold(said))
    units = {*column.unit.split(), *(stem(word) for word in _WORD.findall(fold(heading)))}
    units |= {sign for sign in "%\u20ac$\u00a3" if sign in heading or sign in column.unit}
    for same in (*_CURRENCIES, ("%", "percent", "per cent")):
        if form in same:
            return not units.isdisjoint(same)
    return form in units


def _forms(text: str) -> frozenset[str]:
    """Comparison forms of all words of a text, numbers and codes as they are."""
    return frozenset(
        form
        for word in _WORD.findall(fold(text))
        for form in (stem(word), *(stem(part) for part in word.split("-") if part.isalpha()))
    )
