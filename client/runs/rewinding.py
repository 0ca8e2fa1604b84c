"""Reset a run to the beginning of an iteration, by Temporal's reset.

A run is a chain of executions: it continues as new when its history has grown long, and a rewound run goes on
in a new execution whose history begins with what it keeps.

Invariants:

- The id of the run stays. A reset ends the execution that runs and begins another one, whose history is what
  happened before the iteration; commands follow the newest execution.
- The boundary is the workflow task that scheduled the first step of the iteration: what that task decides is
  decided again, everything before it is kept.
- Signals, updates and cancels after the boundary are discarded: a request to finish must not end the rewound
  run. Answers that were paid for stay in the store and are not bought again.
- A run with sections has iterations in its sections only. It can go back to before they began, which is
  iteration 1; its sections are ended first, since those of the new execution have the same ids.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from temporalio.api.common.v1 import Payloads, WorkflowExecution
from temporalio.api.enums.v1 import EventType, ResetReapplyExcludeType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from client.failures import NoSuchRun, no_such_run
from client.listing import description
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
        request = await decode_value(client, event.workflow_execution_started_event_attributes.input)
        return ResearchRequest.model_validate(request) if request is not None else None
    return None


async def executions(client: Client, workflow_id: str) -> list[Execution]:
    """Return the executions of a run that the server still has, the newest first. Raises RPCError."""
    chain: list[Execution] = []
    run_id: str | None = None
    while len(chain) < MAX_EXECUTIONS:
        handle = client.get_workflow_handle(workflow_id, run_id=run_id)
        if run_id is None:
            run_id = (await handle.describe()).run_id
            handle = client.get_workflow_handle(workflow_id, run_id=run_id)
        events = tuple([event async for event in handle.fetch_history_events()])
        chain.append(Execution(run_id or "", events))
        previous_id = events[0].workflow_execution_started_event_attributes.continued_execution_run_id
        if not previous_id:
            break
        run_id = previous_id
    return chain


async def decode_value(client: Client, payloads: Payloads) -> Mapping[str, object] | None:
    """Return the first of an event's values as JSON; None when there is none or it is no object."""
    if not payloads.payloads:
        return None
    values = await client.data_converter.decode(list(payloads.payloads)[:1])
    return values[0] if values and isinstance(values[0], dict) else None


async def steps_of(client: Client, execution: Execution) -> list[tuple[int, int]]:
    """Return the steps of iterations as they were scheduled, each with its iteration and its task.

    That is the id of the event with which the workflow task that scheduled it was completed.
    """
    steps = []
    for event in execution.events:
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            attributes = event.activity_task_scheduled_event_attributes
            iteration = (await decode_value(client, attributes.input) or {}).get("iteration")
            if isinstance(iteration, int) and iteration:
                steps.append((iteration, attributes.workflow_task_completed_event_id))
    return steps


LEFT_BEHIND = (
    ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
    ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
    ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST,
)
"""Messages that a rewound run forgets, of those that it was sent."""
GOES_ON = "goes_on"
"""The detail with which an execution is terminated that another one follows."""


class CannotRewind(NoSuchRun):
    """The run has no such iteration, or none that it can go back to; the message says which it has."""


@dataclass(frozen=True, slots=True)
class Boundary:
    execution: str
    """Temporal's id of the execution."""
    event_id: int
    """The event with which the workflow task was completed that is decided again."""


async def rewind(client: Client, workflow_id: str, iteration: int) -> str:
    """Reset a run to the beginning of an iteration; return Temporal's id of the new execution.

    The time since the boundary does not count against the time limit of the run: the workflow sees to that
    (`RunContext.now`). Raises CannotRewind, NoSuchRun, RPCError.
    """
    state = await description(client, workflow_id)
    if state is None:
        raise no_such_run(workflow_id)
    chain = await executions(client, workflow_id)
    boundary = await find_boundary(client, workflow_id, chain, iteration)
    children = children_of(chain)
    if children and state.status == WorkflowExecutionStatus.RUNNING:
        # first, so that it does not go on to write a report without its sections
        await _terminate(client, workflow_id, f"rewound to iteration {iteration}", GOES_ON)
    for child in children:
        await _terminate(client, child, f"{workflow_id} was rewound")
    return await reset(client, workflow_id, boundary, f"rewound to iteration {iteration}", str(uuid.uuid4()))


async def reset(
    client: Client, workflow_id: str, boundary: Boundary, reason: str, request_id: str, *, whole: bool = False
) -> str:
    """Begin a new execution with the history up to a boundary; return Temporal's id of it.

    `whole`: with the messages after it. Raises RPCError.
    """
    request = ResetWorkflowExecutionRequest(
        namespace=client.namespace,
        workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=boundary.execution),
        reason=reason,
        workflow_task_finish_event_id=boundary.event_id,
        request_id=request_id,
        reset_reapply_exclude_types=() if whole else LEFT_BEHIND,
    )
    return (await client.workflow_service.reset_workflow_execution(request)).run_id


async def find_boundary(
    client: Client, workflow_id: str, chain: Sequence[Execution], iteration: int
) -> Boundary:
    """Return where an iteration begins; `chain`: executions, the newest first. Raises CannotRewind."""
    if children_of(chain):
        if iteration != 1:
            raise CannotRewind(
                f"{workflow_id} has its iterations in its sections; it goes back to before they began with "
                f"`to_iteration` 1"
            )
        return next(Boundary(e.run_id, task) for e in reversed(chain) for _, task in _started_by(e))
    boundaries: dict[int, Boundary] = {}
    for execution in reversed(chain):
        for number, task in beginnings(await steps_of(client, execution)).items():
            boundaries.setdefault(number, Boundary(execution.run_id, task))
    if iteration in boundaries:
        return boundaries[iteration]
    has = f"it has {', '.join(map(str, sorted(boundaries)))}" if boundaries else "it has none yet"
    raise CannotRewind(f"{workflow_id} has no iteration {iteration}; {has}")


def beginnings(steps: Sequence[tuple[int, int]]) -> Mapping[int, int]:
    """Return iteration -> the workflow task that began it.

    A step that was scheduled beside one of the iteration before was made ahead, and does not begin its
    iteration.
    """
    first_iterations: dict[int, int] = {}
    for iteration, task in steps:
        first_iterations[task] = min(first_iterations.get(task, iteration), iteration)
    tasks: dict[int, int] = {}
    for iteration, task in steps:
        if first_iterations[task] == iteration:
            tasks.setdefault(iteration, task)
    return tasks


def children_of(chain: Sequence[Execution]) -> list[str]:
    """Ids of the sections that a run has started."""
    return list(dict.fromkeys(name for execution in chain for name, _ in _started_by(execution)))


def _started_by(execution: Execution) -> list[tuple[str, int]]:
    """Ids of the sections that an execution has started, each with the workflow task that did."""
    kind = EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED
    children = [
        event.start_child_workflow_execution_initiated_event_attributes
        for event in execution.events
        if event.event_type == kind
    ]
    return [(attributes.workflow_id, attributes.workflow_task_completed_event_id) for attributes in children]


async def _terminate(client: Client, workflow_id: str, reason: str, *details: str) -> None:
    """End a workflow at once; one that has ended or is not known is left alone."""
    try:
        await client.get_workflow_handle(workflow_id).terminate(*details, reason=reason)
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise
