"""The page's own pieces of HTML. Autoescaped: no text of a question, a title or a claim can become markup."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from activities.report.schema import Report
from activities.types import Evidence
from client.web.texts import parts_of
from workflows.event_types import AgentEvent, Streaming
from workflows.types import BudgetStatus, Progress

EVENTS_SHOWN = 30
"""Events that the page lists while a run goes on, the latest: the list changes every second."""
EVENTS_SHOWN_AT_END = 300


@cache
def environment() -> Environment:
    """The templates of the page."""
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def progress_html(seen: Progress, events: Sequence[AgentEvent]) -> str:
    """How a run goes: phase, budget, sections side by side, what is being written."""
    titles = {section.id: section.title for section in seen.sections}
    return _rendered(
        "progress",
        seen=seen,
        phase=seen.phase.replace("_", " "),
        bars=budget_bars(seen.budget, seen.iteration, seen.max_iterations),
        drafts=[] if seen.stop_reason else drafts_of(events, titles),
    )


def searches_html(seen: Progress) -> str:
    """The latest searches of a run."""
    return _rendered("searches", seen=seen)


def events_html(seen: Progress, events: Sequence[AgentEvent]) -> str:
    """The latest events of a run; more of them once it is over and the list stands still."""
    shown = EVENTS_SHOWN_AT_END if seen.stop_reason else EVENTS_SHOWN
    listed = [event for event in reversed(events) if event.type != "streaming"]
    return _rendered("events", events=listed[:shown], last_seq=seen.last_seq)


def link_html(address: str) -> str:
    """The run in Temporal's Web UI; empty where there is none."""
    return _rendered("link", address=address) if address else ""


def _rendered(name: str, **values: object) -> str:
    return environment().get_template(f"{name}.html.jinja").render(values)


def budget_bars(budget: BudgetStatus, iteration: int, max_iterations: int) -> list[dict[str, object]]:
    """What is used of each limit that is set, for a bar each."""
    limits, used = budget.limits, budget.used
    bars: list[dict[str, object]] = []
    if max_iterations:
        bars.append(_bar("rounds", iteration, max_iterations, f"{iteration} of {max_iterations}"))
    if limits.max_tokens:
        bars.append(
            _bar("tokens", used.tokens, limits.max_tokens, f"{used.tokens:,} of {limits.max_tokens:,}")
        )
    if limits.max_cost_microusd and used.cost_microusd is not None:
        spent, most = used.cost_microusd / 1e6, limits.max_cost_microusd / 1e6
        bars.append(_bar("cost", spent, most, f"${spent:.2f} of ${most:.2f}"))
    if limits.max_seconds:
        seconds = budget.elapsed_seconds
        bars.append(
            _bar(
                "minutes", seconds, limits.max_seconds, f"{seconds / 60:.0f} of {limits.max_seconds / 60:.0f}"
            )
        )
    return bars


def _bar(name: str, used: float, limit: float, text: str) -> dict[str, object]:
    return {"name": name, "used": min(used, limit), "limit": limit, "text": text}


def drafts_of(events: Sequence[AgentEvent], titles: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """The paragraphs that are being written, by section: of each paragraph the latest event counts."""
    drafts: dict[str, dict[int, str]] = {}
    for event in events:
        if isinstance(streamed := event.details, Streaming):
            drafts.setdefault(streamed.section_id, {})[streamed.paragraph] = streamed.text
    return [
        (titles.get(section, "Report"), [text for _, text in sorted(paragraphs.items()) if text])
        for section, paragraphs in drafts.items()
        if any(paragraphs.values())
    ]


def reading_html(report: Report, run_id: str) -> str:
    """The report for reading beside its evidence: each citation opens its quote in the other frame."""
    numbers = {work.evidence_id: work.number for work in report.references}
    return _rendered("reading", report=report, run_id=run_id, numbers=numbers)


def evidence_html(item: Evidence, quote: str, link: str | None) -> str:
    """The stored text of a work, with a quote marked in its place."""
    parts, marked = parts_of(item.text, quote)
    return _rendered("evidence", item=item, quote=quote, parts=parts, marked=marked, link=link)
