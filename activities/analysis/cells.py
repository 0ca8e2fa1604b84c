"""Effects from the extractor's table: each number is kept only when the sentence it stands on has it.

A row of the table is a work. Its columns for statistics are those of `EFFECT_COLUMNS`; a work without a
measure and an outcome has no effect. Every cell must carry its own sentence, the sentence must be verbatim in
the text of that very work, and every number of the cell must be a number of that sentence. A cell that fails
is left out, and with it what cannot be computed without it; what could not be read is listed, since a pool
without it may say the opposite.
"""

from collections.abc import Mapping
from decimal import Decimal

from activities.analysis.figures import (
    ARM_FIELDS,
    INTERVAL,
    groups_of,
    has_interval,
    measure_of,
    measures_in,
    states_effect,
    value_of,
)
from activities.contracts.bounds import MAX_COUNT
from activities.contracts.effects import Arms, Effect, Unread, UnreadReason
from activities.contracts.judge import Cell, Table, TableRow
from activities.text.normal_form import verbatim
from activities.text.number_index import are_among, index_of
from activities.text.sentences import split

_EFFECT = ("outcome", "measure", *INTERVAL)
"""Without one of these, where the row has it, the effect is not read."""
EFFECT_COLUMNS: tuple[str, ...] = (*_EFFECT, "n", *ARM_FIELDS)
"""Columns that the analysis asks the extractor for."""
FIGURES = frozenset(EFFECT_COLUMNS) - {"outcome"}
"""Those whose cells are a number or the name of a measure."""


def effects_of(
    table: Table, texts: Mapping[str, str], names: Mapping[str, str]
) -> tuple[tuple[Effect, ...], tuple[Unread, ...]]:
    """Return the effects of a table, and those that could not be read.

    `texts`: evidence id -> the text of the work; `names`: evidence id -> what a reader calls it."""
    effects: list[Effect] = []
    unread: list[Unread] = []
    for row in table.rows:
        work = row.evidence_id
        text, name = texts.get(work, ""), names.get(work, "") or work
        effect, unread_cells = _effect(row, text, name)
        unread += unread_cells
        effects += [effect] if effect is not None else []
        sentences = (sentence.quote for sentence in split(work, text)) if effect is None else ()
        if not unread_cells and (quote := next(filter(states_effect, sentences), "")):
            unread.append(Unread(study=name, evidence_id=work, reason="not_read", quote=quote))
    return tuple(effects), tuple(unread)


def _effect(row: TableRow, text: str, name: str) -> tuple[Effect | None, list[Unread]]:
    """Return the effect of a row, and what could not be read of it.

    Groups and participants that fail are left out; the estimate with its interval stands without them."""
    cells = {name: cell for name in EFFECT_COLUMNS if (cell := row.cells.get(name)) and cell.text.strip()}
    refusals = {column: _refusal(row.evidence_id, column, cell, text) for column, cell in cells.items()}
    accepted_cells = {column: cell for column, cell in cells.items() if not refusals[column]}
    numbers = {
        column: value
        for column, cell in accepted_cells.items()
        if column in FIGURES and (value := value_of(cell.text, index_of(_quote(cell)).signed)) is not None
    }
    if {"outcome", *INTERVAL} <= accepted_cells.keys() and not _stand_together(accepted_cells, numbers):
        refusals["estimate"] = "interval_elsewhere"
        numbers = {column: value for column, value in numbers.items() if column not in INTERVAL}
    unread = [
        Unread(
            study=name,
            evidence_id=row.evidence_id,
            reason=reason,
            column=column,
            text=cells[column].text,
            quote=_quote(cells[column]),
        )
        for column in _EFFECT
        if (reason := refusals.get(column))
    ]
    arms = groups_of(Arms, numbers, ARM_FIELDS)
    if "outcome" not in accepted_cells or "measure" not in accepted_cells or (unread and arms is None):
        return None, unread
    n = numbers.get("n")
    effect = Effect(
        study=name,
        outcome=accepted_cells["outcome"].text.strip(),
        measure=measure_of(accepted_cells["measure"].text) or "RR",
        **{field: float(numbers[field]) for field in INTERVAL if field in numbers},
        n=int(n) if n is not None and 1 <= n <= MAX_COUNT and n == int(n) else None,
        arms=arms,
        evidence_id=row.evidence_id,
        quote=" ".join(dict.fromkeys(map(_quote, accepted_cells.values()))),
    )
    return effect, unread


def _quote(cell: Cell) -> str:
    return cell.support.quote if cell.support else ""


def _stand_together(cells: Mapping[str, Cell], numbers: Mapping[str, Decimal]) -> bool:
    quotes = {_quote(cells[column]) for column in INTERVAL}
    return len(quotes) == 1 and has_interval(quotes.pop(), *(numbers[column] for column in INTERVAL))


def _refusal(evidence_id: str, column: str, cell: Cell, text: str) -> UnreadReason | None:
    if cell.support is None or cell.support.evidence_id != evidence_id:
        return "no_sentence"
    if not verbatim(cell.support.quote, text):
        return "not_in_work"
    return cell_reason(column, cell.text, cell.support.quote)


def cell_reason(column: str, text: str, quote: str) -> UnreadReason | None:
    """Tell why a cell of an effect does not stand on its sentence.

    Its number is not there, or the measure is not the sentence's. A cell of an effect affirms and denies
    nothing, so no direction is looked at."""
    if column == "measure":
        if (measure := measure_of(text)) is None:
            return "unknown_measure"
        measures = measures_in(quote)
        return None if not measures or measure in measures else "other_measure"
    numbers = index_of(quote).signed
    if not are_among(text, numbers):
        return "number_not_in_sentence"
    return "not_a_number" if column != "outcome" and value_of(text, numbers) is None else None
