"""How far a run is: the answer of query `progress`, and what the Web UI shows, in Markdown."""

from collections.abc import Iterator
from datetime import UTC, datetime

from workflows.context import RunContext
from workflows.rules.budget import Budget
from workflows.rules.payload_limits import rows
from workflows.state import RunState
from workflows.types import Progress

SEARCHES_SHOWN = 20
MAX_ROWS = 30
TEXT_CHARS = 300


def progress_of(context: RunContext) -> Progress:
    """The state of the run: phase, counts, sections, scores, what it waits for."""
    state, budget = context.state, context.budget
    control, judged = state.control, state.loop.judged
    return Progress(
        run_id=context.run_id,
        question=context.whole_question,
        mode=context.traits.mode or context.request.mode,
        profile=state.prepared.profile.name if state.prepared else context.request.profile,
        phase=control.phase,
        message=control.message,
        iteration=state.loop.iteration,
        max_iterations=state.loop.max_iterations,
        evidence=len(state.evidence) + sum(section.evidence for section in state.running),
        searches=rows(state.searches[-SEARCHES_SHOWN:]),
        searches_total=len(state.searches) + sum(section.searches for section in state.running),
        sections=tuple(state.sections.values()),
        budget=budget.status(context.now(), state.running),
        waiting_for=control.waiting_for,
        paused=control.paused,
        confidence=judged.confidence if judged else None,
        scores=judged.scores if judged else {},
        steering=tuple(control.steering),
        candidates=tuple(state.candidates),
        chosen_because=state.chosen_because,
        stop_reason=state.stop_reason,
        started_at=_iso(budget.started_at),
        updated_at=control.events[-1].timestamp if control.events else "",
        last_seq=control.last_seq,
    )


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else ""


def details_of(state: RunState, budget: Budget) -> str:
    """Phase, counts, budget and scores, the sections of a deep run, and what waits for approval with how to
    decide it."""
    control, loop = state.control, state.loop
    phase = "paused" if control.paused else control.phase.replace("_", " ")
    lines = [f"**{phase}** {_plain(control.message)}", ""]
    lines += [f"- {line}" for line in _counts(state, budget)]
    if loop.judged and loop.judged.scores:
        scores = ", ".join(f"{_plain(name)} {score}" for name, score in loop.judged.scores.items())
        sure = loop.judged.confidence
        lines.append(f"- judged: {scores}; confidence {'not judged' if sure is None else f'{sure:.2f}'}")
    if state.sections:
        lines += ["", "| section | status | phase | iteration | items |", "| --- | --- | --- | --- | --- |"]
        for section in list(state.sections.values())[:MAX_ROWS]:
            cells = (
                section.title,
                section.status,
                section.phase,
                str(section.iteration),
                str(section.evidence),
            )
            lines.append(f"| {' | '.join(_plain(cell.replace('_', ' ')) for cell in cells)} |")
    if control.waiting_for:
        lines += ["", f"**The {control.waiting_for} waits for approval**: signal `approve` or `reject` with"]
        lines += [f'`{{"gate": "{control.waiting_for}"}}`', "", *_waiting(state)]
    if control.paused:
        lines += ["", "Signal `resume` to go on."]
    return "\n".join(lines)


def _counts(state: RunState, budget: Budget) -> Iterator[str]:
    loop, limits = state.loop, budget.limits
    used = sum((usage for section in state.running for usage in section.by_role.values()), start=budget.used)
    if not state.sections:
        yield f"iteration {loop.iteration} of {loop.max_iterations}"
    items = len(state.evidence) + sum(section.evidence for section in state.running)
    searches = len(state.searches) + sum(section.searches for section in state.running)
    yield f"{items} items, {searches} searches"
    limit = "no limit" if limits.max_tokens is None else f"{limits.max_tokens:,}"
    yield f"{used.calls:,} model calls, {used.tokens:,} tokens of {limit}"
    if used.cost_microusd:
        of = "" if limits.max_cost_microusd is None else f" of {limits.max_cost_microusd / 1e6:.2f}"
        yield f"{used.cost_microusd / 1e6:.2f}{of} US dollars"


def _waiting(state: RunState) -> Iterator[str]:
    """What a reviewer decides on."""
    if state.control.waiting_for == "plan" and state.plan:
        for number, section in enumerate(state.plan.report_outline[:MAX_ROWS], start=1):
            yield f"{number}. **{_plain(section.title)}**: {_plain(section.key_question)}"
    elif state.control.waiting_for == "candidates":
        for candidate in state.candidates[:MAX_ROWS]:
            why = _plain(candidate.proposed_mechanism or candidate.mechanism)
            yield f"- **{_plain(candidate.name)}**: {why}"


def _plain(text: str) -> str:
    """Text of others on one line that starts no other element of Markdown."""
    short = " ".join(text.split())[:TEXT_CHARS]
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#!~" else c for c in short)
