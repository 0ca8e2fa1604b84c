"""How far a run is: the answer of query `progress`, and what the Web UI shows, in Markdown."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from activities.contracts.stop_reasons import in_short
from activities.messages import clock, count_of
from workflows.amounts import KINDS
from workflows.context import RunContext
from workflows.part_state import CandidatesState, ClarificationState, DialogueState
from workflows.rules.payload_limits import rows
from workflows.state import RunState
from workflows.types import BudgetStatus, Progress

SECTION_HEAD = ("section", "status", "phase", "round", "items", "model calls", "tokens")


@dataclass(frozen=True, slots=True)
class Row:
    """One line: what it is about, and what there is to say."""

    name: str
    text: str
    used: float = 0.0
    limit: float | None = None
    """For a bar; None where there is no limit."""

    @property
    def line(self) -> str:
        return f"{self.name}: {self.text}"


def progress_rows(progress: Progress, extra_seconds: float = 0.0) -> Iterator[Row]:
    """Phase, rounds, what was found, the budget, what was judged, what waits.

    `extra_seconds`: how old the progress is.
    """
    phase = "paused" if progress.paused else progress.phase.replace("_", " ")
    yield Row("phase", f"{phase}: {progress.message}" if progress.message else phase)
    if progress.max_iterations and not progress.sections:
        text = f"{progress.iteration} of {progress.max_iterations}"
        yield Row("rounds", text, progress.iteration, progress.max_iterations)
    items = count_of(progress.evidence, "item")
    searches = count_of(progress.searches_total, "search", "searches")
    yield Row("found", f"{items} in {searches}")
    yield from budget_rows(progress.budget, extra_seconds)
    if progress.scores:
        scores = ", ".join(f"{name.replace('_', ' ')} {score}/10" for name, score in progress.scores.items())
        confidence = "" if progress.confidence is None else f"; confidence {progress.confidence:.2f}"
        yield Row("judged", f"{scores}{confidence}")
    if progress.waiting_for == "candidates":
        yield Row("candidates", ", ".join(candidate.name for candidate in progress.candidates))
    if progress.stop_reason is not None:
        yield Row("ended", in_short(progress.stop_reason))


def section_rows(progress: Progress) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            section.title,
            section.status,
            section.phase.replace("_", " "),
            str(section.iteration),
            str(section.evidence),
            str(sum(usage.calls for usage in section.by_role.values())),
            f"{sum(usage.tokens for usage in section.by_role.values()):,}",
        )
        for section in progress.sections
    )


def budget_rows(budget: BudgetStatus, extra_seconds: float = 0.0) -> Iterator[Row]:
    """Yield what is used of each limit."""
    limits, usage = budget.limits, budget.used
    for kind, charge in KINDS.items():
        amount, limit = charge.of(usage), getattr(limits, f"max_{kind}")
        if kind == "tokens" or amount != 0 or limit is not None:
            text = "not known" if amount is None else charge.words(amount)
            calls = f" in {usage.calls:,} model calls" if kind == "tokens" and usage.calls else ""
            limit_text = None if limit is None else charge.words(limit)
            yield Row(charge.called, _of(text, limit_text) + calls, amount or 0, limit)
    elapsed = budget.elapsed_seconds + extra_seconds
    longest = None if limits.max_seconds is None else clock(limits.max_seconds)
    yield Row("time", _of(clock(elapsed), longest), elapsed, limits.max_seconds)


def _of(amount: str, limit: str | None) -> str:
    return f"{amount} of {limit}" if limit else amount


MAX_SEARCHES = 20
MAX_ROWS = 30
TEXT_CHARS = 300


def progress_of(context: RunContext) -> Progress:
    """Return the state of the run: phase, counts, sections, scores, what it waits for."""
    state, budget = context.state, context.budget
    people, assessment = state.people, state.loop.judged
    return Progress(
        run_id=context.run_id,
        question=context.run_question,
        mode=context.traits.mode or context.request.mode,
        profile=state.question.prepared.profile.name if state.question.prepared else context.request.profile,
        phase=people.phase,
        message=people.message,
        waiting_for=people.waiting_for,
        paused=people.paused,
        last_seq=people.last_seq,
        iteration=state.loop.iteration,
        max_iterations=state.loop.max_iterations,
        evidence=state.items,
        searches=rows(state.evidence.searches[-MAX_SEARCHES:]),
        searches_total=len(state.evidence.searches)
        + sum(section.searches for section in state.sections.running_sections),
        sections=tuple(state.sections.progress.values()),
        budget=context.budget_status(),
        confidence=assessment.confidence if assessment else None,
        scores=assessment.scores if assessment else {},
        steering=tuple(people.steering),
        readings=state.part(ClarificationState).readings,
        candidates=tuple(state.part(CandidatesState).candidates),
        chosen_because=state.question.chosen_because,
        continues=state.part(DialogueState).continues,
        stop_reason=state.stop_reason,
        started_at=datetime.fromtimestamp(budget.started_at, UTC).isoformat(timespec="seconds"),
    )


def details_of(context: RunContext) -> str:
    """Return the rows of the progress, the sections of a deep run, and the gate that waits.

    What waits for approval stands with how to decide it.
    """
    progress, state = progress_of(context), context.state
    lines = [f"- **{row.name}**: {escape(row.text)}" for row in progress_rows(progress)]
    if progress.sections:
        lines += ["", f"| {' | '.join(SECTION_HEAD)} |", "| --- " * len(SECTION_HEAD) + "|"]
        lines += [f"| {' | '.join(map(escape, cells))} |" for cells in section_rows(progress)[:MAX_ROWS]]
    if gate := progress.waiting_for:
        lines += ["", f"**The {gate} waits for approval**: signal `approve` or `reject` with"]
        lines += [f'`{{"gate": "{gate}"}}`', "", *_waiting(state)]
    if progress.paused:
        lines += ["", "Signal `resume` to go on."]
    return "\n".join(lines)


def _waiting(state: RunState) -> Iterator[str]:
    if state.people.waiting_for == "plan" and state.question.plan:
        for number, section in enumerate(state.question.plan.report_outline[:MAX_ROWS], start=1):
            yield f"{number}. **{escape(section.title)}**: {escape(section.key_question)}"
    elif state.people.waiting_for == "clarification":
        yield 'or update `answer` with `{"answers": ["..."]}`; an empty answer leaves what is assumed:'
        for reading in state.part(ClarificationState).readings:
            yield f"1. {escape(reading.question)} ({escape(reading.assumed)})"
    elif state.people.waiting_for == "candidates":
        for candidate in state.part(CandidatesState).candidates[:MAX_ROWS]:
            mechanism = escape(candidate.proposed_mechanism or candidate.mechanism)
            yield f"- **{escape(candidate.name)}**: {mechanism}"


def escape(text: str, limit: int = TEXT_CHARS) -> str:
    """Text of others on one line that starts no other element of Markdown."""
    short = " ".join(text.split())[:limit]
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#!~" else c for c in short)
