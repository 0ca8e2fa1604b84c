"""The table of works: what each found, in which direction, by which design, and how far it was read."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from activities.contracts.evidence import Grade, Support
from activities.contracts.judge import MIN_ANSWERS
from activities.contracts.judge import PART as TABLE
from activities.messages import N_, _, number
from activities.report.formats import references as refs
from activities.report.formats import words
from activities.report.formats.blocks import Cell, Run, Table, cell, filled
from activities.report.formats.references import Quotes
from activities.report.formats.text import clean, spreadsheet_cell
from activities.report.schema import DescribedWork, JudgedWork, Reference, Report
from activities.report.strength import DESIGN_NAMES

_RANKS = {N_("strong"): "1", N_("moderate"): "2", N_("weak"): "3"}
WIDE = 7
"""Columns that a sheet of paper holds upright."""
MAX_WORDS = 12
"""Words of a finding in the table."""


def works_table(report: Report, quotes: Quotes) -> Iterator[Table]:
    """List every cited work, then those that were judged to answer and are not cited.

    Without a model, and columns that were asked for, works stand at their passages.
    """
    columns = TABLE.shown(report).columns
    if report.written_by == "extractive" and not columns:
        return
    head = (
        *(_(report.words.one.capitalize()), _(report.words.found), _("Direction")),
        *(_(report.words.design), _("Participants"), _("Compared with")),
        *(*map(clean, columns), _("Strength"), _("Date"), _("Standing"), _("Text read")),
    )
    judged = {work.evidence_id: work for work in report.judgements}
    cited = {reference.evidence_id for reference in report.references}
    table = [_row(report, one, judged.get(one.evidence_id), quotes) for one in report.references]
    table += [
        _row(report, None, work, quotes)
        for work in report.judgements
        if work.answers >= MIN_ANSWERS and work.evidence_id not in cited and work.title
    ]
    # what all cited works share, no fault among it, limitations and method say
    shared = []
    for place in (len(head) - 2, len(head) - 1):
        texts = {row[place].text for row in table[: len(report.references)]}
        if len(texts) == 1 < len(report.references) and not texts & refs.alerts():
            shared.append(place)
    unasked = [] if words.asks_yes_or_no(report) else [2]
    table = [
        tuple(
            Cell() if place in unasked or (place in shared and at < len(report.references)) else one
            for place, one in enumerate(row)
        )
        for at, row in enumerate(table)
    ]
    if table:
        used, rows = filled(head, table)
        yield Table(used, rows, sortable=True, wide=len(used) > WIDE)


def _row(
    report: Report, reference: Reference | None, work: JudgedWork | None, quotes: Quotes
) -> tuple[Cell, ...]:
    """Show a work that is cited, or was judged and is not."""
    name = reference.evidence_id if reference else work.evidence_id if work else ""
    entry = next((w for w in report.works if w.evidence_id == name), DescribedWork(evidence_id=name))
    row = next((r.cells for r in TABLE.shown(report).rows if r.evidence_id == name), {})
    fields = map(row.get, TABLE.shown(report).columns)
    own = (_quoted(one.text, one.support, quotes) if one and one.support else Cell() for one in fields)
    title, date, standing, read = Cell(), "", "", _("not cited")
    if reference is not None:
        linked = Run(clean(reference.title), anchor=f"ref-{reference.number}")
        title = Cell((quotes.mark(reference.number), linked), rank=str(reference.number))
        date = refs.date_of(reference)
        standing = _(refs.STANDINGS[reference.standing]) if report.words.standing else ""
        read = _("in full") if reference.full_text else _("abstract")
        read = read if report.words.graded else ""
    elif work is not None:
        title, date = cell(work.title), str(work.year or "")
    grade: Grade | Literal[""] = entry.strength or ""
    since = clean(reference.date) or str(reference.year or "") if reference else date
    people = entry.n or (work.participants if work else None) or 0
    return (
        *(title, *_judgement(work, quotes), cell(_design(entry, work))),
        *(cell(number(people) if people else "", rank=str(people)), cell(work.comparator if work else "")),
        *(*own, cell(_(grade), "grade", rank=_RANKS.get(grade, ""), grade=grade), cell(date, rank=since)),
        *(cell(standing, "alert" if standing in refs.alerts() else "plain"), cell(read)),
    )


def _judgement(work: JudgedWork | None, quotes: Quotes) -> tuple[Cell, Cell]:
    if work is None:
        return Cell(), Cell()
    finding = _quoted(_short(work.finding), work.support[0], quotes) if work.support else Cell()
    return finding, cell(_(words.DIRECTIONS[work.direction]) if work.answers >= MIN_ANSWERS else "")


def _design(entry: DescribedWork, work: JudgedWork | None) -> str:
    judged = DESIGN_NAMES.get(work.design, "") if work and work.design else ""
    return _(entry.design or judged)


def _quoted(text: str, support: Support, quotes: Quotes) -> Cell:
    return cell(text, quote=replace(quotes.quote(text, support), number=0))


def _short(text: str) -> str:
    """Return the first words of a finding; its sentence has the others."""
    every = text.split()
    if len(every) == 1:  # a script without blanks, of which two characters are about a word
        return text if len(text) <= 2 * MAX_WORDS else f"{text[: 2 * MAX_WORDS]}\u2026"
    return text if len(every) <= MAX_WORDS else f"{' '.join(every[:MAX_WORDS])} \u2026"


SEARCH_HEAD = (
    *("source", "query", "status", "hits", "kept", "set_aside", "seconds", "attempts"),
    *("section", "iteration", "gap", "detail"),
)


def table_csv(report: Report) -> bytes:
    """Write every cited work with its records, the reader's columns with their sentences, and judgements.

    Begins with a byte-order mark, by which spreadsheets know UTF-8.
    """
    judged = {work.evidence_id: work for work in report.judgements}
    rows = {row.evidence_id: row for row in TABLE.shown(report).rows}
    described = {work.evidence_id: work for work in report.works}
    columns = TABLE.shown(report).columns
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    extra = [name for column in columns for name in (column, f"{column}: sentence")]
    head = ["number", "evidence_id", "title", "year", "kind", "n", "standing", *extra]
    table.writerow([*head, "answers", "direction", "finding"])
    for reference in report.references:
        name = reference.evidence_id
        row, work, entry = rows.get(name), judged.get(name), described.get(name)
        cells: list[str] = []
        for column in columns:
            cell = row.cells.get(column) if row else None
            cells += [cell.text if cell else "", cell.support.quote if cell and cell.support else ""]
        values = [
            str(reference.number),
            name,
            reference.title,
            str(reference.year or ""),
            entry.design if entry else "",
            str(entry.n or "") if entry else "",
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
