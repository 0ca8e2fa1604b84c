"""How far a run is: the answer of query `progress`, and what the Web UI shows, in Markdown."""

from collections.abc import Iterator
from datetime import UTC, datetime

from workflows.context import RunContext
from workflows.part_state import CandidatesState, ClarificationState, DialogueState
from workflows.progress_rows import SECTION_HEAD, progress_rows, section_rows
from workflows.rules.payload_limits import rows
from workflows.state import RunState
from workflows.types import Progress

SEARCHES_SHOWN = 20
MAX_ROWS = 30
TEXT_CHARS = 300


def progress_of(context: RunContext) -> Progress:
    """Return the state of the run: phase, counts, sections, scores, what it waits for."""
    state, budget = context.state, context.budget
    control, judged = state.people, state.loop.judged
    return Progress(
        run_id=context.run_id,
        question=context.run_question,
        mode=context.traits.mode or context.request.mode,
        profile=state.question.prepared.profile.name if state.question.prepared else context.request.profile,
        phase=control.phase,
        message=control.message,
        waiting_for=control.waiting_for,
        paused=control.paused,
        last_seq=control.last_seq,
        iteration=state.loop.iteration,
        max_iterations=state.loop.max_iterations,
        evidence=state.items,
        searches=rows(state.evidence.searches[-SEARCHES_SHOWN:]),
        searches_total=len(state.evidence.searches)
        + sum(section.searches for section in state.sections.running),
        sections=tuple(state.sections.progress.values()),
        budget=context.budget_status(),
        confidence=judged.confidence if judged else None,
        scores=judged.scores if judged else {},
        steering=tuple(control.steering),
        readings=state.part(ClarificationState).readings,
        candidates=tuple(state.part(CandidatesState).candidates),
        chosen_because=state.question.chosen_because,
        continues=state.part(DialogueState).continues,
        stop_reason=state.stop_reason,
        started_at=datetime.fromtimestamp(budget.started_at, UTC).isoformat(timespec="seconds"),
        updated_at=control.events[-1].timestamp if control.events else "",
    )


def details_of(context: RunContext) -> str:
    """Return the rows of the progress, the sections of a deep run, and the gate that waits.

    What waits for approval stands with how to decide it.
    """
    seen, state = progress_of(context), context.state
    lines = [f"- **{row.name}**: {escaped(row.text)}" for row in progress_rows(seen)]
    if seen.sections:
        lines += ["", f"| {' | '.join(SECTION_HEAD)} |", "| --- " * len(SECTION_HEAD) + "|"]
        lines += [f"| {' | '.join(map(escaped, cells))} |" for cells in section_rows(seen)[:MAX_ROWS]]
    if gate := seen.waiting_for:
        lines += ["", f"**The {gate} waits for approval**: signal `approve` or `reject` with"]
        lines += [f'`{{"gate": "{gate}"}}`', "", *_waiting(state)]
    if seen.paused:
        lines += ["", "Signal `resume` to go on."]
    return "\n".join(lines)


def _waiting(state: RunState) -> Iterator[str]:
    """Yield what a reviewer decides on."""
    if state.people.waiting_for == "plan" and state.question.plan:
        for number, section in enumerate(state.question.plan.report_outline[:MAX_ROWS], start=1):
            yield f"{number}. **{escaped(section.title)}**: {escaped(section.key_question)}"
    elif state.people.waiting_for == "clarification":
        yield 'or update `answer` with `{"answers": ["..."]}`; an empty answer leaves what is assumed:'
        for one in state.part(ClarificationState).readings:
            yield f"1. {escaped(one.question)} ({escaped(one.assumed)})"
    elif state.people.waiting_for == "candidates":
        for candidate in state.part(CandidatesState).candidates[:MAX_ROWS]:
            why = escaped(candidate.proposed_mechanism or candidate.mechanism)
            yield f"- **{escaped(candidate.name)}**: {why}"


def escaped(text: str, limit: int = TEXT_CHARS) -> str:
    """Text of others on one line that starts no other element of Markdown."""
    short = " ".join(text.split())[:limit]
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#!~" else c for c in short)
