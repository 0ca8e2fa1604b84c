"""A run that stands still because its workflow task fails again and again."""

import time
from dataclasses import dataclass
from datetime import UTC

from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client
from temporalio.service import RPCError

from client.runs.rewinding import Boundary, decode_value, reset

MIN_ATTEMPTS = 3
"""Attempts at one task after which a run counts as stuck: the first may be those of a worker that died."""
MAX_GIVEN_UP = 2
GIVE_UP = "give_up"
"""The signal by which a run is ended with a report."""
NOT_REGISTERED = "NotFoundError"
"""The SDK's name of the failure of a worker that does not know the workflow."""


@dataclass(frozen=True, slots=True)
class Standstill:
    """Reason and time of a run's standstill."""

    run_id: str
    execution: str
    attempts: int
    seconds: float
    """Time for which its task has been tried."""
    reason: str
    may_end: bool
    """True when another worker could do no better: it is no history of another version."""
    given_up: int
    """Times that it was asked for its report before."""
    failed_at: int
    """The event with which its task failed."""
    completed_at: int
    """The last event at which the run knew how to go on; 0 where it never did."""

    @property
    def line(self) -> str:
        """It stands still, and why, for people."""
        suffix = f" ({self.reason})" if self.reason else ""
        return f"it is stuck: its next step was tried {self.attempts} times and cannot be decided{suffix}"


async def find_standstill(client: Client, run_id: str) -> Standstill | None:
    """Return how a run stands still; None for one that goes on, or that is not known."""
    handle = client.get_workflow_handle(run_id)
    try:
        state = await handle.describe()
        task = state.raw_description.pending_workflow_task
        if task.attempt < MIN_ATTEMPTS:
            return None
        events = [event async for event in handle.fetch_history_events()]
    except RPCError:
        return None
    failure = _last(events, EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)
    completion = _last(events, EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
    attributes = failure.workflow_task_failed_event_attributes if failure else None
    signals = [e.workflow_execution_signaled_event_attributes for e in events]
    requests = [signal for signal in signals if signal.signal_name == GIVE_UP]
    content = await decode_value(client, requests[-1].input) if requests else None
    return Standstill(
        run_id=run_id,
        execution=state.run_id or "",
        attempts=task.attempt,
        seconds=time.time() - task.original_scheduled_time.ToDatetime(UTC).timestamp(),
        reason=" ".join(attributes.failure.message.split())[:300] if attributes else "",
        may_end=attributes is not None
        and attributes.cause != WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR
        and attributes.failure.application_failure_info.type != NOT_REGISTERED,
        given_up=int(str((content or {}).get("attempt", 0))),
        failed_at=failure.event_id if failure else 0,
        completed_at=completion.event_id if completion else 0,
    )


def _last(events: list[HistoryEvent], kind: "EventType.ValueType") -> HistoryEvent | None:
    return next((event for event in reversed(events) if event.event_type == kind), None)


async def give_up(client: Client, halt: Standstill) -> bool:
    """End a run that stands still, by having it write the report of what its steps have stored.

    A new execution begins with the history of this one. Where that stands still as well, it may be for
    the last step's answer or for a message: then without these. At the third time it is ended without a
    report, which is False. Raises RPCError.
    """
    handle = client.get_workflow_handle(halt.run_id, run_id=halt.execution)
    boundary = Boundary(halt.execution, halt.completed_at if halt.given_up else halt.failed_at)
    if halt.given_up >= MAX_GIVEN_UP or not boundary.event_id:
        await handle.terminate(reason=halt.line)
        return False
    content = {
        "reason": halt.reason or "its next step cannot be decided",
        "attempt": halt.given_up + 1,
    }
    if not halt.given_up:  # before it goes on: what it cannot read may come again at once
        await handle.signal(GIVE_UP, content)
    request_id = f"give-up-{halt.execution}"  # of several workers one resets it
    await reset(client, halt.run_id, boundary, halt.line, request_id, whole=not halt.given_up)
    if halt.given_up:
        await client.get_workflow_handle(halt.run_id).signal(GIVE_UP, content)
    return True
