"""Following a run to its end, whatever happens to server and worker meanwhile.

The run is followed by queries, which cost no history. The server itself reports the end, so a run also ends
here when no worker answers.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    FailureError,
    TerminatedError,
)
from temporalio.service import RPCError, RPCStatusCode

from activities.contracts.errors import StoreError
from client.embedded.keeper import keep_alive
from client.failures import NoAnswer, NoConnection, NoSuchRun
from client.listing import describe, description
from client.runs.display import Display, gate_hint
from client.runs.query import progress, read_events
from client.runs.rewinding import GOES_ON
from workflows.event_types import AgentEvent
from workflows.types import Outcome, Progress

if TYPE_CHECKING:
    from client.run import Run

POLL_SECONDS = 0.4
"""Least time between two looks at a run."""
PACE = 4.0
"""A follower waits so many times as long as its last look took: the more there is to do, the less it asks."""
MAX_POLL_SECONDS = 2.0
"""Longest time between two looks."""
REFRESH_SECONDS = 1.0
"""Interval of queries of a run in which nothing has happened, as the server says, for the time and what its
sections do."""
PATIENCE_SECONDS = 60.0
"""Time for which a server may be away before we give up following."""
REWIND_SECONDS = 30.0
"""Time that a terminated run may need to go on where it was rewound to."""
UNREACHABLE_STATUSES = (
    *(RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED),
    # a connection that breaks off within a call is "transport error" or "h2 protocol error"
    *(RPCStatusCode.UNKNOWN, RPCStatusCode.INTERNAL),
)


AtGate = Callable[["Run", Progress], Awaitable[None]]
"""Asks a person about the gate at which a run waits."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """End of a run: with an outcome, or with the reason there is none."""

    outcome: Outcome | None = None
    reason: str = ""


class Follower:
    """Follows one run. Raises NoConnection when the server stays away, NoSuchRun."""

    def __init__(self, run: "Run", display: Display, after: int = 0, at_gate: AtGate | None = None) -> None:
        """Follow a run; `at_gate` is called once for each gate at which it waits.

        Without it, a message says how to answer.
        """
        self._run = run
        self._display = display
        self._after = after
        self._at_gate = at_gate
        self._gate: str | None = None
        self._asking = False
        """True when a person is being asked about a gate."""
        self._silent_since: float | None = None
        self._position: tuple[str, int] | None = None
        """Execution and length of the history at the last query."""
        self._queried_at = 0.0
        self._execution = ""
        """Run id of the execution whose events were shown last."""
        self._rewinds = set[tuple[int, str]]()
        """Position and time of each rewind that is part of the run."""

    async def follow(self) -> RunEnd:
        """Show the run until it ends."""
        run, say = self._run, self._display.note
        return await keep_alive(run.settings, run.connection, self._follow(), worker=True, say=say)

    async def _follow(self) -> RunEnd:
        away_since: float | None = None
        while True:
            end_task = asyncio.create_task(self._end())
            try:
                while not end_task.done():
                    start = time.monotonic()
                    await self._show_until(end_task)
                    wait = PACE * (time.monotonic() - start)
                    await asyncio.wait([end_task], timeout=min(max(wait, POLL_SECONDS), MAX_POLL_SECONDS))
                    away_since = None
                end = await end_task
            except RPCError as error:
                if error.status not in UNREACHABLE_STATUSES:
                    raise
                away_since = away_since or time.monotonic()
                if time.monotonic() - away_since > PATIENCE_SECONDS:
                    address = self._run.connection.address
                    raise NoConnection(
                        f"the server at {address} is gone: {error.message}; the run goes on when it is back: "
                        f"determinator watch {self._run.id}"
                    ) from error
                await asyncio.sleep(1)
            else:
                await self._show_last_events(end)
                return end
            finally:
                end_task.cancel()

    async def _end(self) -> RunEnd:
        handle: WorkflowHandle[Any, Outcome] = self._run.connection.client.get_workflow_handle(
            self._run.id, result_type=Outcome
        )
        try:
            return RunEnd(outcome=await handle.result())
        except WorkflowFailureError as error:
            cause = error.cause
            if isinstance(cause, TerminatedError) and await self._goes_on(GOES_ON in cause.details):
                return await self._end()
            return RunEnd(reason=failure_reason(error))

    async def _goes_on(self, follows: bool) -> bool:
        """Tell whether another execution goes on where one was terminated: the run was rewound, or given up.

        It `follows` for certain where the termination says so.
        """
        deadline = time.monotonic() + REWIND_SECONDS
        while time.monotonic() < deadline:
            if (await describe(self._run.connection.client, self._run.id)).status != "terminated":
                return True
            if not follows:
                return False
            await asyncio.sleep(POLL_SECONDS)
        return False

    async def _new_events(self, until: int | None = None, execution: str | None = None) -> list[AgentEvent]:
        """Return the events that were not shown yet, all or those up to `until` at least.

        For a run that was rewound, from that event on.

        A run may be rewound between any two requests: what was read is used only when the execution is still
        the same afterwards. `execution` is the one that was there a moment ago. Raises NoAnswer, NoSuchRun,
        RPCError, StoreError.
        """
        client = self._run.connection.client
        handle = client.get_workflow_handle(self._run.id)
        while True:
            execution = execution or (await handle.describe()).run_id
            if execution == self._execution:
                events = await read_events(client, self._run.settings, self._run.id, self._after, until)
                rewinds, after = self._rewinds, self._after
            else:
                events = await read_events(client, self._run.settings, self._run.id)
                rewinds = {(event.seq, event.timestamp) for event in events if event.type == "rewound"}
                new_rewinds = {seq for seq, _ in rewinds - self._rewinds} if self._execution else set()
                after = min((self._after, *(seq - 1 for seq in new_rewinds)))
                events = [event for event in events if event.seq > after]
            next_execution = (await handle.describe()).run_id
            if next_execution == execution:
                self._execution, self._rewinds, self._after = execution, rewinds, after
                return events
            execution = next_execution

    async def _has_moved(self) -> bool:
        """Tell whether the run may answer otherwise than at the last look.

        Its state follows from its history; describing it costs the server little and the worker
        nothing.
        """
        state = await description(self._run.connection.client, self._run.id)
        position = (state.run_id or "", state.history_length) if state else None
        now = time.monotonic()
        if position == self._position and now - self._queried_at < REFRESH_SECONDS:
            return False
        self._position, self._queried_at = position, now
        return True

    async def _show_until(self, end_task: "asyncio.Task[RunEnd]") -> None:
        """Show the state of the run, unless it ends first.

        A worker may need a tenth of a second to answer, and the outcome has all that happened. A
        person who is asked something is not interrupted.
        """
        show_task = asyncio.create_task(self._show())
        try:
            await asyncio.wait([show_task, end_task], return_when=asyncio.FIRST_COMPLETED)
            if self._asking or not end_task.done():
                await show_task
        finally:
            show_task.cancel()
            await asyncio.gather(show_task, return_exceptions=True)

    async def _show(self) -> None:
        client = self._run.connection.client
        if not await self._has_moved():
            return
        try:
            state = await progress(client, self._run.id)
            if state.last_seq != self._after:
                self._show_events(
                    await self._new_events(state.last_seq, self._position[0] if self._position else None)
                )
        except (NoAnswer, NoSuchRun, StoreError) as error:
            self._report_no_worker(error)
            return
        self._silent_since = None
        self._display.progress(state)
        if state.waiting_for and state.waiting_for != self._gate:
            if self._at_gate is None:
                self._display.note(gate_hint(state))
            else:
                self._asking = True
                try:
                    with self._display.suspended():
                        await self._at_gate(self._run, state)
                finally:
                    self._asking = False
        self._gate = state.waiting_for

    def _report_no_worker(self, error: Exception) -> None:
        """Report once that no worker answers, after longer than a worker needs to start."""
        if self._silent_since is None:
            self._silent_since = time.monotonic()
        elif 0 < self._silent_since < time.monotonic() - 10:
            note = "the run itself is safe on the server and continues with the next worker"
            self._display.note(f"{error}; {note}")
            self._silent_since = -1.0

    async def _show_last_events(self, end: RunEnd) -> None:
        """Show what happened between the last poll and the end.

        The outcome has the end of the log; the run itself is asked only where that is not enough,
        since a worker replays all of it to answer.
        """
        tail = end.outcome.events if end.outcome else ()
        try:
            handle = self._run.connection.client.get_workflow_handle(self._run.id)
            is_enough = tail and self._execution and tail[0].seq <= self._after + 1
            if is_enough and (await handle.describe()).run_id == self._execution:
                events = [event for event in tail if event.seq > self._after]
            else:
                events = await self._new_events()
        except (NoAnswer, NoSuchRun, RPCError, StoreError):
            return
        self._show_events(events)

    def _show_events(self, events: list[AgentEvent]) -> None:
        self._display.events(events)
        self._after = max((self._after, *(event.seq for event in events)))


def failure_reason(error: WorkflowFailureError) -> str:
    """Return why a run failed, on one line: the innermost cause, with the step it happened in."""
    step = ""
    cause: BaseException = error.cause or error
    while True:
        if isinstance(cause, ActivityError):
            step = cause.activity_type
        if cause.__cause__ is None or not isinstance(cause, FailureError):
            break
        cause = cause.__cause__
    if isinstance(cause, CancelledError):
        return "it was cancelled before there was anything to report"
    if isinstance(cause, TerminatedError):
        return "it was terminated"
    message = cause.message if isinstance(cause, ApplicationError) else str(cause)
    return " ".join(f"{message}{f' (in {step})' if step else ''}".split())
