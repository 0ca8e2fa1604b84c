"""Effects from the extractor's table: each number is kept only when the sentence it stands on has it.

A row of the table is a work. Its columns for statistics are those of `EFFECT_COLUMNS`; a work without a
measure and an outcome has no effect. Every cell must carry its own sentence, the sentence must be verbatim in
the text of that very work, and every number of the cell must be a number of that sentence. A cell that fails
is left out, and with it what cannot be computed without it; what could not be read is listed, since a pool
without it may say the opposite.
"""

from collections.abc import Mapping
from decimal import Decimal

from activities.analysis.stated import (
    has_interval,
    measure_of,
    measures_in,
    numbers_in,
    one_number,
    sentence_with_effect,
)
from activities.contracts.bounds import MAX_COUNT
from activities.contracts.effects import Arms, Effect, Unread, UnreadReason
from activities.contracts.judge import Cell, Table, TableRow
from activities.text.normal_form import verbatim

_EFFECT = ("outcome", "measure", "estimate", "low", "high")
"""Without one of these, where the row has it, the effect is not read."""
_COUNTS = ("events", "total", "control_events", "control_total")
EFFECT_COLUMNS: tuple[str, ...] = (*_EFFECT, "n", *_COUNTS)
"""Columns that the analysis asks the extractor for."""
MEASURED = frozenset(EFFECT_COLUMNS) - {"outcome"}
"""Those whose cells are a number or the name of a measure."""


def effects_of(
    table: Table, texts: Mapping[str, str], names: Mapping[str, str]
) -> tuple[tuple[Effect, ...], tuple[Unread, ...]]:
    """The effects of a table, and those that could not be read. `texts`: evidence id -> the text of the work;
    `names`: evidence id -> what a reader calls it."""
    effects: list[Effect] = []
    unread: list[Unread] = []
    for row in table.rows:
        text, name = texts.get(row.evidence_id, ""), names.get(row.evidence_id, "") or row.evidence_id
        effect, refused = _effect(row, text, name)
        if effect is not None:
            effects.append(effect)
        elif not refused and (sentence := sentence_with_effect(text)):
            one = Unread(study=name, evidence_id=row.evidence_id, reason="not_read", quote=sentence)
            refused.append(one)
        unread += refused
    return tuple(effects), tuple(unread)


def _effect(row: TableRow, text: str, name: str) -> tuple[Effect | None, list[Unread]]:
    """The effect of a row, and what could not be read of it. Groups and participants that fail are left out;
    the estimate with its interval stands without them."""
    kept: dict[str, Cell] = {}
    refused: dict[str, UnreadReason] = {}
    for column in EFFECT_COLUMNS:
        cell = row.cells.get(column)
        if cell is None or not cell.text.strip():
            continue
        if reason := _refusal(row.evidence_id, column, cell, text):
            refused[column] = reason
        else:
            kept[column] = cell
    values = {
        column: one_number(kept[column].text) for column in kept if column not in ("outcome", "measure")
    }
    numbers = {column: value for column, value in values.items() if value is not None}
    if {"outcome", "estimate", "low", "high"} <= kept.keys() and (reason := _misplaced(kept, numbers)):
        refused["estimate"] = reason
        for column in ("estimate", "low", "high"):
            del numbers[column]
    unread = [_unread(row, column, refused[column], name) for column in _EFFECT if column in refused]
    if "outcome" not in kept or "measure" not in kept:
        return None, unread
    arms = _arms(numbers)
    if unread and arms is None:
        return None, unread
    quotes = [support.quote for cell in kept.values() if (support := cell.support) is not None]
    n = numbers.get("n")
    effect = Effect(
        study=name,
        outcome=kept["outcome"].text.strip(),
        measure=measure_of(kept["measure"].text) or "RR",
        estimate=as_float(numbers.get("estimate")),
        low=as_float(numbers.get("low")),
        high=as_float(numbers.get("high")),
        n=int(n) if n is not None and _is_count(n, 1) else None,
        arms=arms,
        evidence_id=row.evidence_id,
        quote=" ".join(dict.fromkeys(quotes)),
    )
    return effect, unread


def _unread(row: TableRow, column: str, reason: UnreadReason, name: str) -> Unread:
    cell = row.cells[column]
    return Unread(
        study=name,
        evidence_id=row.evidence_id,
        reason=reason,
        column=column,
        text=cell.text,
        quote=cell.support.quote if cell.support else "",
    )


def _misplaced(kept: Mapping[str, Cell], numbers: Mapping[str, Decimal]) -> UnreadReason | None:
    """Whether the numbers of a row are those of another effect that its sentence states."""
    quotes = {support.quote for column in ("estimate", "low", "high") if (support := kept[column].support)}
    estimate, low, high = numbers["estimate"], numbers["low"], numbers["high"]
    if len(quotes) > 1 or not has_interval(next(iter(quotes)), estimate, low, high):
        return "interval_elsewhere"
    return None


def _refusal(evidence_id: str, column: str, cell: Cell, text: str) -> UnreadReason | None:
    if cell.support is None or cell.support.evidence_id != evidence_id:
        return "no_sentence"
    if not verbatim(cell.support.quote, text):
        return "not_in_work"
    return cell_reason(column, cell.text, cell.support.quote)


def cell_reason(column: str, text: str, quote: str) -> UnreadReason | None:
    """Why a cell of an effect does not stand on its sentence: its number is not there, or the measure is not
    the sentence's. A cell of an effect affirms and denies nothing, so no direction is looked at."""
    if column == "measure":
        if (measure := measure_of(text)) is None:
            return "unknown_measure"
        named = measures_in(quote)
        return None if not named or measure in named else "other_measure"
    if not numbers_in(text) <= numbers_in(quote):
        return "number_not_in_sentence"
    if column != "outcome" and one_number(text) is None:
        return "not_a_number"
    return None


def _arms(numbers: Mapping[str, Decimal]) -> Arms | None:
    counts = [numbers.get(name) for name in _COUNTS]
    least = (0, 1, 0, 1)
    if any(value is None or not _is_count(value, low) for value, low in zip(counts, least, strict=True)):
        return None
    return Arms(**{name: int(numbers[name]) for name in _COUNTS})


def _is_count(value: Decimal, least: int) -> bool:
    return least <= value <= MAX_COUNT and value == int(value)


def as_float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)
