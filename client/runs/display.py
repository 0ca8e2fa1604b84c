"""A run on the terminal: a live panel, or plain lines where there is none.

What comes from documents and models is untrusted: it is printed as text, without control characters.
"""

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from client.terminal import plain, plain_table
from workflows.details import SECTION_HEAD, Row, progress_rows, section_rows
from workflows.event_types import AgentEvent
from workflows.graph.definition import GraphView
from workflows.types import Progress

SEARCHES_SHOWN = 8
QUIET_SECONDS = 15.0
"""Longest time without a line while a run goes on."""
STATUS_STYLE = {
    **dict.fromkeys(("rate_limited", "unavailable", "malformed", "refused", "failed", "cancelled"), "red"),
    **dict.fromkeys(("empty", "partial"), "yellow"),
    **dict.fromkeys(("ok", "complete"), "green"),
    "running": "cyan",
}


class Display:
    """Shows a run while it is followed. This one shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def progress(self, progress: Progress) -> None:
        """Show the present state of the run."""

    def events(self, events: Sequence[AgentEvent]) -> None:
        """Show what happened since the last time."""

    def note(self, message: str) -> None:
        """Show a message about the run or about following it."""

    def suspended(self) -> AbstractContextManager[None]:
        """Release the terminal meanwhile."""
        return nullcontext()


def open_display(run_id: str) -> Display:
    if sys.stderr.isatty():
        return LivePanel(run_id)
    return PlainLines()


class PlainLines(Display):
    """One line an event, for pipes and logs.

    What the run does is said every `QUIET_SECONDS` in which nothing else was printed.
    """

    _printed_at = math.inf

    def __enter__(self) -> Self:
        self._printed_at = time.monotonic()
        return self

    def progress(self, progress: Progress) -> None:
        if is_live(progress) and time.monotonic() - self._printed_at >= QUIET_SECONDS:
            self.note("; ".join(row.line for row in progress_rows(progress) if row.name in ("phase", "time")))

    def events(self, events: Sequence[AgentEvent]) -> None:
        for event in events:
            if event.type != "streaming":  # the whole answer follows
                self.note(event_line(event))

    def note(self, message: str) -> None:
        self._printed_at = time.monotonic()
        sys.stderr.write(plain(message) + "\n")
        sys.stderr.flush()


class EventLines(PlainLines):
    """Every event as data, also the text of a report that is being written; messages go to stderr."""

    def __init__(self, write: Callable[[AgentEvent], None]) -> None:
        self._write = write

    def events(self, events: Sequence[AgentEvent]) -> None:
        for event in events:
            self._write(event)


class LivePanel(Display):
    """The run as one panel that is redrawn."""

    def __init__(self, run_id: str) -> None:
        self._console = Console(stderr=True)
        self._run_id = run_id
        self._progress: Progress | None = None
        self._paragraph = ""
        """The paragraph that was written last."""
        self._spinner = Spinner("dots")
        self._live = Live(
            get_renderable=self._draw, console=self._console, refresh_per_second=8, transient=True
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def progress(self, progress: Progress) -> None:
        self._progress = progress

    def events(self, events: Sequence[AgentEvent]) -> None:
        for event in events:
            if event.type in SPOKEN:
                self.note(event_line(event))
            elif event.type == "streaming":
                self._paragraph = event.message

    @contextmanager
    def suspended(self) -> Iterator[None]:
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

    def note(self, message: str) -> None:
        self._console.print(Text(plain(message), style="dim"))

    def _draw(self) -> RenderableType:
        if self._progress is None:
            return Text.assemble("waiting for a worker to begin ", (self._run_id, "bold"))
        return panel(self._progress, spinner=self._spinner, paragraph=self._paragraph)


SPOKEN = (
    *("read", "mode_chosen", "planned", "section_complete", "approved", "rejected", "ignored"),
    *("judge_complete", "error", "waiting_for_model", "stopping", "turn", "replanning"),
)
"""Events worth a line of their own above the panel."""


def is_live(progress: Progress) -> bool:
    """Tell whether a run does something, and does not wait for a person."""
    return progress.phase not in ("done", "paused", "waiting_for_approval")


def panel(progress: Progress, *, spinner: Spinner | None = None, paragraph: str = "") -> Panel:
    """Return a run at one moment. `paragraph` is the one that was written last."""
    is_active = is_live(progress)
    as_of = progress.budget.as_of
    rows = progress_rows(progress, max(time.time() - as_of, 0.0) if is_active and as_of else 0.0)
    parts: list[RenderableType] = [_rows(rows, spinner if is_active else None)]
    if progress.sections:
        parts.append(_sections(progress))
    if progress.searches:
        parts.append(_searches(progress))
    if paragraph and is_active:
        parts.append(Text(plain(paragraph), style="italic"))
    if progress.waiting_for:
        parts.append(Text(gate_hint(progress), style="bold yellow"))
    title = Text(plain(progress.question)[:100], style="bold")
    subtitle = f"{progress.run_id}  {progress.mode} / {progress.profile}"
    return Panel(Group(*parts), title=title, subtitle=Text(subtitle, style="dim"), title_align="left")


def gate_hint(progress: Progress) -> str:
    if progress.waiting_for == "clarification":
        questions = " ".join(f"{reading.question} ({reading.assumed})" for reading in progress.readings)
        answer = f'`determinator answer {progress.run_id} "..."`'
        return f"it asks back: {questions} {answer}, or approve what it assumes"
    verb = "wait" if progress.waiting_for == "candidates" else "waits"
    return (
        f"the {progress.waiting_for} {verb} for approval: `determinator approve {progress.run_id}` or "
        f"`determinator reject {progress.run_id}`"
    )


def graph_line(view: GraphView) -> str:
    """Return a graph and its nodes that run, on one line."""
    place = f"{', '.join(view.running)} running" if view.running else f"at {view.at or 'its entry'}"
    count = sum(name in view.visits for name in view.nodes)
    return plain(f"graph {view.name}: {place}; {count} of {len(view.nodes)} nodes visited")


def event_line(event: AgentEvent) -> str:
    place = "/".join(part for part in (event.section, str(event.iteration or "")) if part)
    return f"{event.type.replace('_', ' ')}{f' [{place}]' if place else ''}: {event.message}"


def _sections(progress: Progress) -> Table:
    table = plain_table(*SECTION_HEAD, right=SECTION_HEAD[3:])
    for title, status, *rest in section_rows(progress):
        table.add_row(Text(plain(title)[:60]), Text(status, style=STATUS_STYLE.get(status, "default")), *rest)
    return table


def _searches(progress: Progress) -> Table:
    table = plain_table("source", "query", "status", "kept", "hits", right=("kept", "hits"))
    for search in progress.searches[-SEARCHES_SHOWN:]:
        table.add_row(
            search.source,
            Text(plain(search.query)[:60], no_wrap=True, overflow="ellipsis"),
            Text(search.status.replace("_", " "), style=STATUS_STYLE.get(search.status, "default")),
            str(search.kept),
            str(search.hits),
        )
    return table


def _rows(rows: Iterable[Row], spinner: Spinner | None) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        if row.name == "phase":
            table.add_row(spinner or "", Text(plain(row.text), style="bold cyan"))
        elif row.limit:
            bar = ProgressBar(total=row.limit, completed=min(row.used, row.limit), width=24)
            cell = Table.grid(padding=(0, 2, 0, 0))
            cell.add_row(bar, row.text)
            table.add_row(row.name, cell)
        else:
            table.add_row(row.name, Text(plain(row.text)))
    return table
