"""Fields that are copied from works: cells of the reader's table, fields of a judgement.

They have no second reader: what is not in words of its work does not stand. Why a work was graded is in the
judge's own words, without a figure or a name that the work does not have.
"""

import re
from collections.abc import Sequence

from activities.analysis.cells import FIGURES, cell_reason
from activities.contracts.evidence import Evidence, Support
from activities.text.language import language_of
from activities.text.normal_form import normalise
from activities.text.number_index import index_of, missing_numbers
from activities.text.numbers import read
from activities.text.tokens import plain_words
from activities.verification.gate import ASK, STANDS, Decision, check_exact, refuse

_PARTS = re.compile(r"\.\.\.|[\u2026;|]|\s/\s")
"""Between spans of a work that are copied into one field."""


def cell(column: str, text: str, support: Support | None, document: Evidence) -> Decision:
    """Decide on a cell of the reader's table: copied from the sentence it is from."""
    if support is None:
        return refuse("cites_nothing")
    if support.evidence_id != document.evidence_id:
        return refuse("other_work")
    if column in FIGURES:
        return refuse("not_in_work") if cell_reason(column, text, support.quote) else STANDS
    if number := next(missing_numbers(text, [support.quote]), None):
        return refuse("number_missing", number=number.text)
    return STANDS if are_spans(text, support.quote) else refuse("not_in_work")


def finding(text: str, support: Sequence[Support]) -> Decision:
    """Decide on a judge's finding: copied from one of its sentences, else (`ask`) that sentence is shown."""
    if not support:
        return refuse("cites_nothing")
    return STANDS if any(are_spans(text, part.quote) for part in support) else ASK


def field(text: str, corpus: str) -> Decision:
    """Decide on a few words about a work: copied from it."""
    return STANDS if are_spans(text, corpus) else refuse("not_in_work")


def reason(text: str, corpus: str) -> Decision:
    """Decide on why a judge graded a work: no number and no coded name that the work does not have."""
    decision = check_exact(text, [corpus], 0)
    return decision if decision.refusal else STANDS


def participants(number: int, corpus: str) -> Decision:
    """Decide on a number of participants: the work states it, in words or in digits."""
    return STANDS if number > 0 and number in index_of(corpus).values else refuse("not_in_work")


def are_spans(text: str, source: str) -> bool:
    """Tell whether each part of a text is copied from another one: word by word, numbers by their value."""
    language = language_of(source)
    source_row = _row(source, language)
    rows = [_row(part, language) for part in _PARTS.split(normalise(text)) if part.strip()]
    # scripts without blanks between words have no edges
    spans = [f" {row} " in f" {source_row} " or (not row.isascii() and row in source_row) for row in rows]
    return bool(rows) and all(rows) and all(spans)


def _row(text: str, language: str) -> str:
    """Return the words of a text in comparison form, numbers by their value."""
    plain = normalise(text)
    pieces, at = list[str](), 0
    for number in read(plain, language).numbers:
        if number.role != "code" and number.start >= at and len(number.readings[0]) == 1:
            value = f"{number.value.normalize():f}".replace(".", "_")
            pieces += [*plain_words(plain[at : number.start]), value]
            pieces += ["%"] if number.percent else []
            at = number.start + len(number.text)
    return " ".join([*pieces, *plain_words(plain[at:])])
