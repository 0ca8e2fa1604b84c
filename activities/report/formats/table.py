"""The table of works and the ledger of searches as CSV, for a spreadsheet."""

import csv
import io

from activities.contracts.judge import PART as TABLE
from activities.report.formats.text import spreadsheet_cell
from activities.report.schema import Report

SEARCH_HEAD = (
    *("source", "query", "status", "hits", "kept", "set_aside", "seconds", "attempts"),
    *("section", "iteration", "gap", "detail"),
)


def table_csv(report: Report) -> bytes:
    """Every cited work: what records say, the reader's columns each with its sentence in the column after it,
    and what was judged of it. Begins with a byte-order mark, by which spreadsheets know UTF-8."""
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
    """The ledger; the report's JSON has each cell as it was."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(SEARCH_HEAD)
    for record in report.methodology.searches:
        table.writerow(spreadsheet_cell(str(getattr(record, name))) for name in SEARCH_HEAD)
    return text.getvalue()
