"""Which rows of a table may answer a question: every row has the words of the headings."""

import re
from dataclasses import replace

from activities.text.abbreviations import Abbreviations
from activities.text.concepts import Concepts
from activities.text.question import asked
from activities.text.ranking import Item
from activities.text.rows import Cell, cells, is_marked
from activities.text.sentences import OF_THE_USER
from activities.text.tokens import terms

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


def without_other_rows(question: str, item: Item) -> Item:
    """The item with those rows of its tables that hold most of the question. A row is left out where it lacks
    a number of the question (a year, a code), or where its cells have no word of it, unless a list is asked
    for. Of rows that the question compares, those that it compares its way to stay alone."""
    if item.compared:
        return replace(item, ranked=item.ranked[: item.compared])
    own = item.document.evidence_type in OF_THE_USER
    rows = {
        ranked.sentence.quote: found
        for ranked in item.ranked
        if (own or is_marked(ranked.sentence.quote)) and (found := cells(ranked.sentence.quote))
    }
    if not rows:
        return item
    numbers = set(_NUMBER.findall(question))
    said = _said_in_cells(question, rows)
    fitting = {
        ranked.sentence.quote: ranked.about
        for ranked in item.ranked
        if ranked.sentence.quote in rows
        and numbers <= set(_NUMBER.findall(ranked.sentence.quote))
        and (ranked.sentence.quote in said or numbers or asked(question).form == "list")
    }
    most = max(fitting.values(), default=0.0)
    kept = (
        r for r in item.ranked if fitting.get(r.sentence.quote, -1.0) >= most or r.sentence.quote not in rows
    )
    return replace(item, ranked=tuple(kept))


def _said_in_cells(question: str, rows: dict[str, tuple[Cell, ...]]) -> set[str]:
    """The rows whose cells, without their headings, mention something of a question."""
    values = [" ".join(cell.value for cell in row) for row in rows.values()]
    spoken = Concepts(question, Abbreviations(())).read([terms(value) for value in values], values)
    return {quote for quote, held in zip(rows, spoken, strict=True) if held}
