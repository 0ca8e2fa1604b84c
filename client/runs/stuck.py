"""A run that stands still because its workflow task fails again and again."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.common import WorkflowIDReusePolicy
from temporalio.service import RPCError

from activities.contracts.evidence import SearchEnd, SearchRecord, fields_of
from activities.contracts.prepare import Prepared
from activities.contracts.search import HitsOfAll, SearchTasks
from client.runs.rewinding import GOES_ON, LEFT_BEHIND, activities_of, decoded, executions, request_of
from client.runs.start import SUMMARY_CHARS

if TYPE_CHECKING:
    from workflows.state import RunState

MIN_ATTEMPTS = 3
"""Attempts at one task after which a run counts as stuck: the first may be those of a worker that died."""
MAX_GIVEN_UP = 2
GIVE_UP = "give_up"
"""The signal by which a run is ended with a report."""
RESCUED = "rescued"
"""The key of a memo: the run was begun anew once."""
PREPARE = "prepare"
SEARCH = "search_"
"""Prefix of the names of activities that search a source."""
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
        why = f" ({self.reason})" if self.reason else ""
        return f"it is stuck: its next step was tried {self.attempts} times and cannot be decided{why}"


async def standstill(client: Client, run_id: str) -> Standstill | None:
    """Return how a run stands still; None for one that goes on, or that is not known."""
    handle = client.get_workflow_handle(run_id)
    try:
        described = await handle.describe()
        task = described.raw_description.pending_workflow_task
        if task.attempt < MIN_ATTEMPTS:
            return None
        events = [event async for event in handle.fetch_history_events()]
    except RPCError:
        return None
    failed = _last(events, EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)
    completed = _last(events, EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
    attributes = failed.workflow_task_failed_event_attributes if failed else None
    signals = [e.workflow_execution_signaled_event_attributes for e in events]
    asked = [signal for signal in signals if signal.signal_name == GIVE_UP]
    last = await decoded(client, asked[-1].input) if asked else None
    return Standstill(
        run_id=run_id,
        execution=described.run_id or "",
        attempts=task.attempt,
        seconds=time.time() - task.original_scheduled_time.ToDatetime(UTC).timestamp(),
        reason=" ".join(attributes.failure.message.split())[:300] if attributes else "",
        may_end=attributes is not None
        and attributes.cause != WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR
        and attributes.failure.application_failure_info.type != NOT_REGISTERED,
        given_up=int(str((last or {}).get("attempt", 0))),
        failed_at=failed.event_id if failed else 0,
        completed_at=completed.event_id if completed else 0,
    )


def _last(events: list[HistoryEvent], kind: "EventType.ValueType") -> HistoryEvent | None:
    return next((event for event in reversed(events) if event.event_type == kind), None)


async def rescue(client: Client, still: Standstill) -> bool:
    """End a run whose history cannot be carried on, and begin it anew under its id.

    It runs in the simplest mode with what its searches have stored, and writes the report of that. False
    where it cannot be begun: it is no run, or was begun anew before. Raises RPCError.
    """
    from workflows.modes import WORKFLOW_OF_MODE

    handle = client.get_workflow_handle(still.run_id, run_id=still.execution)
    described = await handle.describe()
    memo = await described.memo()
    is_run = described.workflow_type in WORKFLOW_OF_MODE.values() and "/" not in still.run_id
    is_rescued = is_run and RESCUED not in memo
    request = await request_of(client, still.run_id) if is_rescued else None
    if request is None:
        await handle.terminate(reason=still.line)
        return False
    state = await stored_state(client, still.run_id)
    state.people.fault = still.reason or "its next step cannot be decided"
    await handle.terminate(GOES_ON, reason=still.line)
    await client.start_workflow(
        WORKFLOW_OF_MODE["simple"],
        args=[request, state.carried()],
        id=still.run_id,
        task_queue=described.task_queue,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        memo={**memo, RESCUED: True},
        search_attributes=described.typed_search_attributes,
        static_summary=request.question[:SUMMARY_CHARS],
    )
    return True


async def stored_state(client: Client, run_id: str) -> "RunState":
    """Return what the histories of a run and its sections have of its state.

    That is what the worker offers, and the results of the searches. Raises RPCError.
    """
    from workflows.rules.dedup import merge
    from workflows.state import RunState

    state = RunState()
    sections = f"WorkflowId STARTS_WITH '{run_id}/'"
    names = dict.fromkeys([run_id, *[workflow.id async for workflow in client.list_workflows(sections)]])
    histories = [
        (name, execution)
        for name in names
        for execution in reversed(await executions(client, name, reset=True))
    ]
    searches: list[tuple[str, str, Mapping[str, object]]] = []
    for name, execution in histories:
        section = name.removeprefix(run_id).rpartition("/")[2]
        async for step in activities_of(client, execution):
            answer = await step.answer(client)
            if answer is None:
                continue
            if step.name == PREPARE:
                state.question.prepared = state.question.prepared or Prepared.model_validate(answer)
            elif step.name.startswith(SEARCH):
                asked = (section, step.name, step.arguments)
                if asked in searches:
                    continue  # a history begins with a part of that of an execution that was reset
                searches.append(asked)
                tasks = SearchTasks.model_validate(step.arguments).tasks
                for task, hits in zip(tasks, HitsOfAll.model_validate(answer).answers, strict=True):
                    row = SearchRecord(**fields_of(SearchEnd, hits), asked=task.query.text, section=section)
                    state.evidence.searches.append(row.replace(kept=len(hits.kept)))
                    state.evidence.identified += len(hits.kept)
                    state.evidence.refs = [*merge(state.evidence.refs, hits.kept, section).refs]
    state.loop.unjudged = len(state.evidence.refs)  # all may be quoted
    return state


async def give_up(client: Client, still: Standstill) -> bool:
    """End a run that stands still, by having it write the report of what its steps have stored.

    A new execution begins with the history of this one. Where that stands still as well, it may be for
    the last step's answer or for a message: then without these. At the third time `rescue` begins it
    anew; where that is not possible it is ended without a report, which is False. Raises RPCError.
    """
    handle = client.get_workflow_handle(still.run_id, run_id=still.execution)
    boundary = still.completed_at if still.given_up else still.failed_at
    if still.given_up >= MAX_GIVEN_UP or not boundary:
        return await rescue(client, still)
    request = ResetWorkflowExecutionRequest(
        namespace=client.namespace,
        workflow_execution=WorkflowExecution(workflow_id=still.run_id, run_id=still.execution),
        reason=still.line,
        workflow_task_finish_event_id=boundary,
        request_id=f"give-up-{still.execution}",  # of several workers one resets it
        reset_reapply_exclude_types=LEFT_BEHIND if still.given_up else (),
    )
    asked = {"reason": still.reason or "its next step cannot be decided", "attempt": still.given_up + 1}
    if not still.given_up:  # before it goes on: what it cannot read may come again at once
        await handle.signal(GIVE_UP, asked)
    await client.workflow_service.reset_workflow_execution(request)
    if still.given_up:
        await client.get_workflow_handle(still.run_id).signal(GIVE_UP, asked)
    return True
