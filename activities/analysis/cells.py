"""Effects from the extractor's table: each number is kept only when the sentence it stands on has it.

A row of the table is a work. Its columns for statistics are those of `EFFECT_COLUMNS`; a work without a
measure and an outcome has no effect. Every cell must carry its own sentence, the sentence must be verbatim in
the text of that very work, and every number of the cell must be a number of that sentence. A cell that fails
is left out, and with it what cannot be computed without it.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, get_args

from activities.analysis.types import MEASURE_NAMES, Arms, Effect, Measure
from activities.judgements import Cell, Table, TableRow
from activities.verification.quote_check import normalise, verbatim

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w.]*\d)|-?\d+(?:\.\d+)?|-?\.\d+")
_POINTS = str.maketrans({"\u00b7": ".", "\u2027": ".", "\u2212": "-", "\u2010": "-", "\u2011": "-"})

EFFECT_COLUMNS: tuple[str, ...] = (
    "outcome",
    "measure",
    "estimate",
    "low",
    "high",
    "n",
    "events",
    "total",
    "control_events",
    "control_total",
)
"""Columns that the analysis asks the extractor for."""
_COUNTS = ("events", "total", "control_events", "control_total")
RefusedReason = Literal[
    "no_sentence", "not_in_work", "number_not_in_sentence", "not_a_number", "unknown_measure", "other_measure"
]
_WORDED: Mapping[str, Measure] = {
    **{name: measure for measure, name in MEASURE_NAMES.items()},
    "relative risk": "RR",
    "rate ratio": "RR",
    "standardized mean difference": "SMD",
}
"""What works call a measure beside its letters."""


@dataclass(frozen=True, slots=True)
class RefusedCell:
    """A cell that was not used, and why."""

    evidence_id: str
    column: str
    text: str
    reason: RefusedReason


def effects_of(
    table: Table, texts: Mapping[str, str], names: Mapping[str, str]
) -> tuple[tuple[Effect, ...], tuple[RefusedCell, ...]]:
    """The effects of a table. `texts`: evidence id -> the text of the work; `names`: evidence id -> what a
    reader calls it."""
    effects: list[Effect] = []
    refused: list[RefusedCell] = []
    for row in table.rows:
        effect = _effect(row, texts.get(row.evidence_id, ""), names.get(row.evidence_id, ""), refused)
        if effect is not None:
            effects.append(effect)
    return tuple(effects), tuple(refused)


def _effect(row: TableRow, text: str, name: str, refused: list[RefusedCell]) -> Effect | None:
    checked = {
        column: cell
        for column in EFFECT_COLUMNS
        if (cell := row.cells.get(column)) is not None and cell.text.strip()
    }
    kept: dict[str, Cell] = {}
    for column, cell in checked.items():
        reason = _refusal(row.evidence_id, column, cell, text)
        if reason is None:
            kept[column] = cell
        else:
            refused.append(RefusedCell(row.evidence_id, column, cell.text, reason))
    if "outcome" not in kept or "measure" not in kept:
        return None
    values = {
        column: one_number(kept[column].text) for column in kept if column not in ("outcome", "measure")
    }
    numbers = {column: value for column, value in values.items() if value is not None}
    quotes = [support.quote for cell in kept.values() if (support := cell.support) is not None]
    n = numbers.get("n")
    return Effect(
        study=name or row.evidence_id,
        outcome=kept["outcome"].text.strip(),
        measure=_measure(kept["measure"].text) or "RR",
        estimate=_float(numbers.get("estimate")),
        low=_float(numbers.get("low")),
        high=_float(numbers.get("high")),
        n=int(n) if n is not None and _is_count(n, 1) else None,
        arms=_arms(numbers),
        evidence_id=row.evidence_id,
        quote=" ".join(dict.fromkeys(quotes)),
    )


def _refusal(evidence_id: str, column: str, cell: Cell, text: str) -> RefusedReason | None:
    if cell.support is None or cell.support.evidence_id != evidence_id:
        return "no_sentence"
    if not verbatim(cell.support.quote, text):
        return "not_in_work"
    if column == "measure":
        if (measure := _measure(cell.text)) is None:
            return "unknown_measure"
        said = _measures_in(cell.support.quote)
        return None if not said or measure in said else "other_measure"
    if not numbers_in(cell.text) <= numbers_in(cell.support.quote):
        return "number_not_in_sentence"
    if column != "outcome" and one_number(cell.text) is None:
        return "not_a_number"
    return None


def _measure(text: str) -> Measure | None:
    """The measure of a cell, by its letters or its name; None where it names none or several."""
    found = _measures_in(text.upper()) or _measures_in(text)
    return next(iter(found)) if len(found) == 1 else None


def _measures_in(text: str) -> frozenset[Measure]:
    """The measures that a text names: by capital letters (`aHR` as well), or by name in the singular or
    plural, of which the longest counts."""
    letters = {measure for measure in get_args(Measure) if re.search(rf"\ba?{measure}s?\b", text)}
    plain = normalise(text).casefold()
    for name in sorted(_WORDED, key=len, reverse=True):
        named = name.replace(" ratio", "s? ratio")
        plain, count = re.subn(rf"\b{named}s?\b", " ", plain)
        if count:
            letters.add(_WORDED[name])
    return frozenset(letters)


def _arms(numbers: Mapping[str, Decimal]) -> Arms | None:
    counts = [numbers.get(name) for name in _COUNTS]
    least = (0, 1, 0, 1)
    if any(value is None or not _is_count(value, low) for value, low in zip(counts, least, strict=True)):
        return None
    return Arms(**{name: int(numbers[name]) for name in _COUNTS})


def _is_count(value: Decimal, least: int) -> bool:
    return value == int(value) and value >= least


def _float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def numbers_in(text: str) -> frozenset[Decimal]:
    """Every number of a text by its value: `0·84`, `1,204`, `.05`. A minus sign counts where no digit or
    letter stands before it; both readings of `5-7` are kept."""
    plain = unicodedata.normalize("NFKC", text.translate(_POINTS)).translate(_POINTS)
    found: set[Decimal] = set()
    for match in _NUMBER.finditer(plain):
        value = Decimal(match.group().replace(",", ""))
        found.add(value)
        before = plain[match.start() - 1 : match.start()]
        if value < 0 and (before.isalnum() or before in ")]%"):
            found.add(-value)
    return frozenset(found)


def one_number(text: str) -> Decimal | None:
    """The number of a text that has exactly one; else None."""
    found = numbers_in(text)
    return next(iter(found)) if len(found) == 1 else None
