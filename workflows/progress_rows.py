"""A run's progress as rows: what the terminal, the page, Temporal's Web UI and MCP show of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from activities.contracts.stop_reasons import in_short
from activities.plural import clock, counted
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


def progress_rows(seen: Progress, extra_seconds: float = 0.0) -> Iterator[Row]:
    """Phase, rounds, what was found, the budget, what was judged, what waits.

    `extra_seconds`: how old the progress is.
    """
    phase = "paused" if seen.paused else seen.phase.replace("_", " ")
    yield Row("phase", f"{phase}: {seen.message}" if seen.message else phase)
    if seen.max_iterations and not seen.sections:
        text = f"{seen.iteration} of {seen.max_iterations}"
        yield Row("rounds", text, seen.iteration, seen.max_iterations)
    items, searches = counted(seen.evidence, "item"), counted(seen.searches_total, "search", "searches")
    yield Row("found", f"{items} in {searches}")
    yield from budget_rows(seen.budget, extra_seconds)
    if seen.scores:
        scores = ", ".join(f"{name.replace('_', ' ')} {score}/10" for name, score in seen.scores.items())
        sure = "" if seen.confidence is None else f"; confidence {seen.confidence:.2f}"
        yield Row("judged", f"{scores}{sure}")
    if seen.waiting_for == "candidates":
        yield Row("candidates", ", ".join(candidate.name for candidate in seen.candidates))
    if seen.stop_reason is not None:
        yield Row("ended", in_short(seen.stop_reason))


def section_rows(seen: Progress) -> tuple[tuple[str, ...], ...]:
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
        for section in seen.sections
    )


def budget_rows(budget: BudgetStatus, extra_seconds: float = 0.0) -> Iterator[Row]:
    """Yield what is used of each limit."""
    limits, used = budget.limits, budget.used
    elapsed = budget.elapsed_seconds + extra_seconds
    calls = f" in {used.calls:,} model calls" if used.calls else ""
    most = None if limits.max_tokens is None else f"{limits.max_tokens:,}"
    yield Row("tokens", _of(f"{used.tokens:,}", most) + calls, used.tokens, limits.max_tokens)
    longest = None if limits.max_seconds is None else clock(limits.max_seconds)
    yield Row("time", _of(clock(elapsed), longest), elapsed, limits.max_seconds)
    spent = used.cost_microusd
    if spent or limits.max_cost_microusd is not None or not budget.cost_known:
        shown = "not known" if spent is None or not budget.cost_known else f"${spent / 1e6:.4f}"
        dearest = None if limits.max_cost_microusd is None else f"${limits.max_cost_microusd / 1e6:.2f}"
        yield Row("cost", _of(shown, dearest), spent or 0, limits.max_cost_microusd)


def _of(used: str, limit: str | None) -> str:
    return f"{used} of {limit}" if limit else used
