"""The reader's table: columns that a model fills for the works that answer."""

from collections.abc import Awaitable, Collection, Iterable, Sequence

from activities.analysis.cells import EFFECT_COLUMNS
from activities.contracts.evidence import EvidenceRef
from activities.contracts.judge import Table
from activities.contracts.write import Extracted, ExtractInput
from activities.messages import plural
from activities.role_calls import EXTRACT
from activities.roles.allowances import MAX_TABLE_ITEMS, WORKS_A_TABLE_CALL
from activities.roles.assessment import MIN_ANSWERS
from workflows.part_state import AnalysisState, TableState
from workflows.parts.rows import OptionalPart
from workflows.rules.payload_limits import input_refs
from workflows.steps.policy import run_all


class TablePart(OptionalPart):
    """Fills the table of works."""

    def beside_writing(self, use_model: bool) -> Iterable[Awaitable[None]]:
        yield self.extract(use_model)

    def published_value(self, cited_ids: Collection[str]) -> object:
        columns = self.request.columns or self.context.profile.columns
        return table_of(self.state.part(TableState).table, cited_ids, columns)

    async def extract(self, use_model: bool) -> None:
        """Fill the reader's columns for the works that answer and have no row yet.

        Nothing without columns or a model.
        """
        state = self.state
        if not use_model:
            return
        columns = self.request.columns or self.context.profile.columns
        if self.request.analyse or state.part(AnalysisState).requested:
            columns = tuple(dict.fromkeys((*columns, *EFFECT_COLUMNS)))
        if not columns or not self.models.asks_model("extractor"):
            return
        refs, part = state.evidence.usable_refs, state.part(TableState)
        table = part.table or Table(columns=columns)
        filled_ids = {row.evidence_id for row in table.rows} if table.columns == columns else set[str]()
        judgements = state.evidence.judgements
        ids = (name for name in state.evidence.relevant if name in refs)
        answer_ids = [n for n in ids if n not in judgements or judgements[n].answers >= MIN_ANSWERS]
        works = [refs[name] for name in answer_ids[:MAX_TABLE_ITEMS] if name not in filled_ids]
        if not works:
            return
        message = f"filling {plural(len(columns), 'column')} for {plural(len(works), 'work')}"
        self.events.emit("extracting", message, items=len(works))
        size = WORKS_A_TABLE_CALL
        batches = [works[first : first + size] for first in range(0, len(works), size)]

        async def fill(batch: Sequence[EvidenceRef]) -> Extracted:
            evidence = input_refs(batch, MAX_TABLE_ITEMS)
            step = ExtractInput(**self.context.step_inputs(), columns=columns, evidence=evidence)
            return await self.models.execute(EXTRACT, step)

        answers = await run_all(map(fill, batches))
        rows = [row for row in table.rows if row.evidence_id in filled_ids]
        new_rows = [row for answer in answers for row in answer.table.rows]
        part.table = Table(columns=columns, rows=(*rows, *new_rows))
        state.evidence.refused += [refusal for answer in answers for refusal in answer.refused]


def table_of(table: Table | None, cited_ids: Collection[str], columns: tuple[str, ...]) -> Table:
    """Return the reader's columns for the works that are cited; an empty table where none was asked for.

    Columns that only the analysis asked for are left out.
    """
    if table is None or not columns:
        return Table()
    rows = (
        row.replace(cells={name: row.cells[name] for name in columns if name in row.cells})
        for row in table.rows
        if row.evidence_id in cited_ids
    )
    return Table(columns=columns, rows=tuple(rows))


PART = TablePart
