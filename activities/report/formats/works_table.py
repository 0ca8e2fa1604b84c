"""The table of works: what each found, in whom, against what, and how it differs from the others."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from activities.contracts.evidence import Support
from activities.contracts.judge import MIN_ANSWERS, Direction
from activities.contracts.judge import PART as TABLE
from activities.messages import N_, _, number
from activities.report.formats import references as refs
from activities.report.formats.blocks import Cell, Run, Table, cell, trim
from activities.report.formats.references import Quotes
from activities.report.formats.text import clean, spreadsheet_cell
from activities.report.parts import concludes
from activities.report.schema import JudgedWork, Reference, Report
from activities.text.normal_form import normalise

DIRECTIONS: Mapping[Direction, str] = {
    "yes": N_("confirmed"),
    "no": N_("not confirmed"),
    "mixed": N_("mixed results"),
    "not_asked": "",
}
RANKS = {N_("strong"): "1", N_("moderate"): "2", N_("weak"): "3"}
WIDE = 7
"""Columns that a sheet of paper holds upright."""
MAX_WORDS = 12
"""Words of a finding in the table."""
_CLAUSE = re.compile(r"(?:[^,.;:()\[\]\u3002\uff0c\uff1b\uff1a]|[.,:](?=\S))+")
"""A clause: up to a sign that ends it; one within a number or a name ends none."""


def works_table(report: Report, quotes: Quotes) -> Iterator[Table]:
    """List the cited works, unless another table has most of them, or the references what is known of them.

    Columns that a reader asked for are always shown. What all works share is left out.
    """
    columns = TABLE.of_report(report).columns
    rows = (claim for claim in report.claims() if claim.is_row)
    tabled = {support.evidence_id for row in rows for support in row.support}
    grades_known = report.written_by == "extractive" or concludes(report) or not report.words.counted
    if not report.references or ((grades_known or 2 * len(tabled) >= len(report.references)) and not columns):
        return
    head = (
        *(_(report.words.one.capitalize()), _(report.words.found), _("Point asked about")),
        *(_("Participants"), _("Compared with"), *map(clean, columns)),
        *(_(report.words.design), _("Strength"), _("Standing"), _("Text read")),
    )
    works = [_row(report, reference, quotes) for reference in report.references]
    last_columns = range(len(head) - 4, len(head))
    places = [
        place
        for place in last_columns
        if len(texts := {row[place].text for row in works}) == 1 and not texts & refs.alerts()
    ]
    works = [tuple(Cell() if place in places else value for place, value in enumerate(row)) for row in works]
    titles, fields = trim(head, works)
    yield Table(titles, fields, sortable=True, wide=len(titles) > WIDE)


def _row(report: Report, reference: Reference, quotes: Quotes) -> tuple[Cell, ...]:
    name = reference.evidence_id
    work = next(
        (judgement for judgement in report.judgements if judgement.evidence_id == name),
        JudgedWork(evidence_id=name, answers=0),
    )
    fields = next((row.cells for row in TABLE.of_report(report).rows if row.evidence_id == name), {})
    values = (fields.get(column) for column in TABLE.of_report(report).columns)
    cells = (
        _quote(value.text, value.support, quotes) if value and value.support else Cell() for value in values
    )
    people, grade = reference.n or 0, reference.strength or ""
    standing = _(refs.STANDINGS[reference.standing]) if report.words.standing else ""
    answers = work.answers >= MIN_ANSWERS
    return (
        name_cell(reference, quotes),
        finding(work, quotes),
        cell(_(DIRECTIONS[work.direction]) if answers else ""),
        cell(number(people) if people else "", rank=str(people)),
        cell(work.comparator),
        *cells,
        cell(_(reference.design)),
        cell(_(grade), "grade", rank=RANKS.get(grade, ""), grade=grade),
        cell(standing, "alert" if standing in refs.alerts() else "plain"),
        cell((_("in full") if reference.full_text else _("abstract")) if report.words.graded else ""),
    )


def name_cell(reference: Reference, quotes: Quotes) -> Cell:
    """Name a work by its first author or its title, and its year."""
    label, year = clean(refs.label_of(reference)), str(reference.year or "")
    text = label if label.endswith(year) else f"{label} ({year})"
    run = Run(text, anchor=f"ref-{reference.number}")
    return Cell((quotes.mark(reference.number), run), rank=str(reference.number))


def finding(work: JudgedWork, quotes: Quotes) -> Cell:
    """Show what a work found in a clause of its sentence, which it opens; nothing where none is short."""
    if not work.support:
        return Cell()
    return _quote(whole_clause(work.finding, work.support[0].quote), work.support[0], quotes)


def _quote(text: str, support: Support, quotes: Quotes) -> Cell:
    return cell(text, quote=replace(quotes.quote(text, support), number=0))


def whole_clause(text: str, sentence: str) -> str:
    """Return the clauses that hold words of a sentence; empty where they are too long for a table."""
    text, sentence = normalise(text), normalise(sentence)
    place = sentence.find(text)
    if place >= 0:
        end = place + len(text)
        spans = [
            part.span() for part in _CLAUSE.finditer(sentence) if part.start() < end and place < part.end()
        ]
        text = sentence[min([place, *(a for a, _ in spans)]) : max([end, *(b for _, b in spans)])].strip()
    words = text.split()
    # of a script without blanks two characters are about a word
    length = len(words) if len(words) > 1 else len(text) // 2
    is_whole = text.count("(") == text.count(")") and text.count("[") == text.count("]")
    return text if is_whole and length <= MAX_WORDS else ""


SEARCH_HEAD = (
    *("source", "query", "status", "hits", "kept", "set_aside", "seconds", "attempts"),
    *("section", "iteration", "gap", "detail"),
)


def table_csv(report: Report) -> bytes:
    """Write every cited work with its records, the reader's columns with their sentences, and judgements.

    Begins with a byte-order mark, by which spreadsheets know UTF-8.
    """
    judgements = {work.evidence_id: work for work in report.judgements}
    rows = {row.evidence_id: row for row in TABLE.of_report(report).rows}
    columns = TABLE.of_report(report).columns
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    extra = [name for column in columns for name in (column, f"{column}: sentence")]
    head = ["number", "evidence_id", "title", "year", "kind", "n", "standing", *extra]
    table.writerow([*head, "answers", "direction", "finding"])
    for reference in report.references:
        name = reference.evidence_id
        row, work = rows.get(name), judgements.get(name)
        cells: list[str] = []
        for column in columns:
            cell = row.cells.get(column) if row else None
            cells += [cell.text if cell else "", cell.support.quote if cell and cell.support else ""]
        values = [
            str(reference.number),
            name,
            reference.title,
            str(reference.year or ""),
            reference.design,
            str(reference.n or ""),
            reference.standing,
            *cells,
            *((str(work.answers), work.direction, work.finding) if work else ("", "", "")),
        ]
        table.writerow(map(spreadsheet_cell, values))
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def searches_csv(report: Report) -> str:
    """Write the ledger; the report's JSON has each cell as it was."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(SEARCH_HEAD)
    for record in report.methodology.searches:
        table.writerow(spreadsheet_cell(str(getattr(record, name))) for name in SEARCH_HEAD)
    return text.getvalue()
