"""The reader's table of a report: columns of the works that are cited."""

from collections.abc import Collection, Iterable

from activities.contracts.evidence import Support
from activities.contracts.judge import PART as TABLE
from activities.contracts.judge import Table, TableRow
from activities.contracts.publish import PublishInput
from activities.report.claims import Checks
from activities.report.formats.text import clean
from activities.report.parts import ReportPart
from activities.report.schema import JudgedWork, Report


class TableReport(ReportPart):
    """Shows the cells whose quotes stand, in the table of works."""

    def cited_ids(self, step: PublishInput) -> Iterable[str]:
        return (row.evidence_id for row in TABLE.of_input(step).rows)

    def without_works(self, step: PublishInput, works: Collection[str]) -> Table:
        table = TABLE.of_input(step)
        return table.replace(rows=tuple(row for row in table.rows if row.evidence_id not in works))

    def check(
        self, step: PublishInput, checks: Checks, judgements: Iterable[JudgedWork], data: object
    ) -> Table:
        return check_table(TABLE.of_input(step), checks)

    def quotes(self, report: Report) -> Iterable[Support]:
        for row in TABLE.of_report(report).rows:
            yield from (cell.support for cell in row.cells.values() if cell.support is not None)


def check_table(table: Table, checks: Checks) -> Table:
    """Keep the cells whose quotes stand; empty the others."""
    columns = tuple(dict.fromkeys(filter(None, map(clean, table.columns))))
    rows: dict[str, TableRow] = {}
    for row in table.rows:
        if row.evidence_id not in checks.documents:
            continue
        cells = {}
        for name, cell in row.cells.items():
            identity = {"evidence_id": row.evidence_id}
            result = checks.supports([cell.support.model_copy(update=identity)] if cell.support else [])
            if result.support and clean(name) in columns:
                cells[clean(name)] = cell.replace(text=clean(cell.text))
            elif result.refused:
                checks.drop(clean(cell.text), result.refused, "cell", "", [row.evidence_id])
        rows.setdefault(row.evidence_id, TableRow(evidence_id=row.evidence_id, cells=cells))
    return Table(columns=columns, rows=tuple(rows.values()))


PART = TableReport("table")
