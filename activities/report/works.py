"""The table of works: one row for each reference, from what the writer read, what the record says, and what
code reads from the text, with its place."""

from collections.abc import Mapping, Sequence

from activities.report.strength import participants
from activities.steps import PlannedSection
from activities.text.evidence_strength import TYPE_NAMES
from activities.text.study_facts import comparison, effects, outcome, population
from activities.types import Evidence, Support, WorkRow
from activities.verification.quote_check import QuoteChecker


def work_rows(
    sections: Sequence[PlannedSection], cited: Sequence[Evidence], checker: QuoteChecker
) -> tuple[WorkRow, ...]:
    """A row for each cited item, in its order. A finding that is not a quote of its work is removed, and its
    direction with it."""
    given: dict[str, WorkRow] = {}
    for planned in sections:
        for row in planned.draft.works:
            given.setdefault(row.evidence_id, row)
    return tuple(_row(item, given, checker) for item in cited)


def _row(item: Evidence, given: Mapping[str, WorkRow], checker: QuoteChecker) -> WorkRow:
    row = given.get(item.evidence_id, WorkRow(evidence_id=item.evidence_id))
    update: dict[str, object] = {
        "design": row.design or TYPE_NAMES[item.evidence_type],
        "year": row.year or item.year,
        "n": row.n or participants(item),
    }
    read = {
        "population": population(item) if not row.population else None,
        "comparison": comparison(item) if not row.comparison else None,
        "outcome": outcome(item) if not row.outcome else None,
    }
    found = {name: fact for name, fact in read.items() if fact is not None}
    update |= {name: fact.text for name, fact in found.items()}
    numbers = effects(item) if not row.numbers else ()
    if numbers:
        update["numbers"] = tuple(fact.text for fact in numbers)
        found["numbers"] = numbers[0]
    update["places"] = {**row.places, **{name: fact.place for name, fact in found.items()}}
    quote = Support(evidence_id=item.evidence_id, quote=row.finding)
    if row.finding and not checker.supports([quote]).support:
        update |= {"finding": "", "direction": None}
        if not numbers:
            update["numbers"] = ()
    return row.model_copy(update=update)
