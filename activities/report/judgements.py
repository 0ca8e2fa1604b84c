"""What is shown of judgements of works and of the reader's table: what has its quote in that very work."""

from collections.abc import Iterable

from activities.contracts.evidence import EvidenceRef
from activities.contracts.judge import Table, TableRow, WorkJudgement
from activities.report.claims import Checks
from activities.report.formats.text import clean
from activities.report.schema import JudgedWork

MAX_REASON_WORDS = 20
"""Words of a judgement's reason that are shown."""


def judged_works(
    judgements: Iterable[WorkJudgement],
    refs: Iterable[EvidenceRef],
    checks: Checks,
) -> tuple[JudgedWork, ...]:
    """The judgements, each work once. Of a work whose text is not at hand only the labels are shown."""
    by_id = {ref.evidence_id: ref for ref in refs}
    kept: dict[str, JudgedWork] = {}
    for judgement in judgements:
        name = judgement.evidence_id
        work = JudgedWork.model_validate(judgement.model_dump())
        item = checks.documents.get(name)
        if (described := item or by_id.get(name)) is not None:
            title, kind = clean(described.title), described.evidence_type
            work = work.replace(title=title, year=described.year, evidence_type=kind)
        if item is None:
            work = work.replace(
                finding="",
                comparator="",
                design="",
                design_support=(),
                reason="",
                support=(),
                participants=None,
            )
        else:
            quoted = checks.supports(judgement.support)
            if quoted.refused:
                checks.drop(clean(judgement.finding), quoted.refused, "judgement", "", [name])
            if checks.supports(judgement.design_support).refused:
                work = work.replace(design="", design_support=(), participants=None)
            work = work.replace(
                finding="" if quoted.refused else clean(judgement.finding),
                support=quoted.support,
                comparator=clean(judgement.comparator),
                reason=" ".join(clean(judgement.reason).split()[:MAX_REASON_WORDS]),
            )
        kept.setdefault(name, work)
    return tuple(kept.values())


def checked_table(table: Table, checks: Checks) -> Table:
    """The table with the cells whose quotes stand; the others are empty."""
    columns = tuple(dict.fromkeys(filter(None, map(clean, table.columns))))
    rows: dict[str, TableRow] = {}
    for row in table.rows:
        if row.evidence_id not in checks.documents:
            continue
        cells = {}
        for name, cell in row.cells.items():
            own = {"evidence_id": row.evidence_id}
            quoted = checks.supports([cell.support.model_copy(update=own)] if cell.support else [])
            if quoted.support and clean(name) in columns:
                cells[clean(name)] = cell.replace(text=clean(cell.text))
            elif quoted.refused:
                checks.drop(clean(cell.text), quoted.refused, "cell", "", [row.evidence_id])
        rows.setdefault(row.evidence_id, TableRow(evidence_id=row.evidence_id, cells=cells))
    return Table(columns=columns, rows=tuple(rows.values()))
