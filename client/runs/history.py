"""Facts in a run's histories: its request, its executions, and the steps of its iterations.

A run is a chain of executions: it continues as new when its history has grown long, and a rewound run goes on
in a new execution whose history begins with what it keeps.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from workflows.types import ResearchRequest

MAX_EXECUTIONS = 500
"""Executions of one run that are read."""


@dataclass(frozen=True, slots=True)
class Execution:
    run_id: str
    """Temporal's id of the execution; not the id of the run."""
    events: tuple[HistoryEvent, ...]


async def request_of(client: Client, workflow_id: str) -> ResearchRequest | None:
    """Return what the run was asked, from the first event of its history. Raises RPCError."""
    async for event in client.get_workflow_handle(workflow_id).fetch_history_events(page_size=1):
        request = await decoded(client, event.workflow_execution_started_event_attributes.input)
        return ResearchRequest.model_validate(request) if request is not None else None
    return None


async def executions(client: Client, workflow_id: str, *, reset: bool = False) -> list[Execution]:
    """Return the executions of a run that the server still has, the newest first. Raises RPCError.

    With `reset` also those that were reset: the history of the next begins with a part of theirs.
    """
    chain: list[Execution] = []
    run_id: str | None = None
    while len(chain) < MAX_EXECUTIONS:
        handle = client.get_workflow_handle(workflow_id, run_id=run_id)
        if run_id is None:
            run_id = (await handle.describe()).run_id
            handle = client.get_workflow_handle(workflow_id, run_id=run_id)
        events = tuple([event async for event in handle.fetch_history_events()])
        chain.append(Execution(run_id or "", events))
        resets = (
            [event.workflow_task_failed_event_attributes.base_run_id for event in events] if reset else []
        )
        earlier = (
            next(filter(None, reversed(resets)), "")
            or events[0].workflow_execution_started_event_attributes.continued_execution_run_id
        )
        if not earlier:
            break
        run_id = earlier
    return chain


async def decoded(client: Client, payloads: Payloads) -> Mapping[str, object] | None:
    """Return the first of an event's values as JSON; None when there is none or it is no object."""
    if not payloads.payloads:
        return None
    values = await client.data_converter.decode(list(payloads.payloads)[:1])
    return values[0] if values and isinstance(values[0], dict) else None


async def activities_of(client: Client, execution: Execution) -> AsyncIterator["Step"]:
    """Yield the activities of an execution as they were scheduled, with what came of them."""
    ended: dict[int, HistoryEvent] = {}
    for event in execution.events:
        for attributes in (
            event.activity_task_completed_event_attributes,
            event.activity_task_failed_event_attributes,
            event.activity_task_timed_out_event_attributes,
        ):
            if attributes.scheduled_event_id:
                ended[attributes.scheduled_event_id] = event
    for event in execution.events:
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            scheduled = event.activity_task_scheduled_event_attributes
            yield Step(
                name=scheduled.activity_type.name,
                given=await decoded(client, scheduled.input) or {},
                task_id=scheduled.workflow_task_completed_event_id,
                ended=ended.get(event.event_id),
            )


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    given: Mapping[str, object]
    task_id: int
    """Id of the event with which the workflow task that scheduled it was completed."""
    ended: HistoryEvent | None
    """The event of its end; None while it runs."""

    @property
    def iteration(self) -> int:
        """The iteration that it belongs to; 0 for a step of none."""
        number = self.given.get("iteration")
        return number if isinstance(number, int) else 0

    async def answer(self, client: Client) -> Mapping[str, object] | None:
        """Return what it answered; None where it failed, runs, or answered no object."""
        ended = self.ended
        return await decoded(client, ended.activity_task_completed_event_attributes.result) if ended else None
