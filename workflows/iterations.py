"""The iterations of a run as others read them: queries, sections' reports, later prompts. Pure."""

from collections.abc import Iterable

from activities.iterations import IterationRecord
from activities.types import Usage
from workflows.state import RunState


def current_record(state: RunState, now: str = "") -> IterationRecord | None:
    """The iteration under way (`now`, in ISO form: the one that ends now); None before the first."""
    if state.loop.iteration == 0:
        return None
    return state.memory.record(
        state.loop.iteration,
        state.job.section.id if state.job else "",
        state.searches,
        state.budget.used if state.budget else Usage(),
        now,
    )


def iterations_of(state: RunState) -> tuple[IterationRecord, ...]:
    """Every iteration of a run and of its sections, the one under way included: those of the run's own loop
    first, then section by section, each in the order of its loop."""
    current = current_record(state)
    return in_order([*state.memory.records, *([current] if current else [])])


def in_order(records: Iterable[IterationRecord]) -> tuple[IterationRecord, ...]:
    """Records by section, those of the run itself first."""
    return tuple(sorted(records, key=lambda record: (record.section, record.iteration)))
