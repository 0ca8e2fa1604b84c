"""Research from inside workflows of others: `from determinator import temporal`.

A worker of theirs needs nothing of ours but this file and the types: what it sends and gets is JSON, whatever
their data converter is.
"""

from typing import Any

import nexusrpc
from temporalio import workflow

from activities.contracts.evidence import Usage
from activities.report.schema import Report
from workflows.amounts import KINDS, Kind, Limits, Spend
from workflows.modes import WORKFLOW_OF_MODE
from workflows.rules.budget import Budget
from workflows.types import DEFAULT_TASK_QUEUE, Outcome, ResearchRequest

__all__ = ["Budget", "Limits", "Outcome", "Report", "ResearchRequest", "ResearchService", "research_child"]

MEMO_CHARS = 1_000
SUMMARY_CHARS = 160


@nexusrpc.service(name="Determinator")
class ResearchService:
    """The Nexus service of every worker. Its endpoint is one that the operator of the server creates."""

    research: nexusrpc.Operation[ResearchRequest, Outcome]
    """Research a question; cancelling it leaves a report of what was found so far in the store."""


async def research_child(
    request: ResearchRequest,
    budget: Budget | None = None,
    *,
    name: str = "",
    task_queue: str = DEFAULT_TASK_QUEUE,
    endpoint: str = "",
) -> Outcome:
    """Research a question for the workflow that calls this.

    The result has the summary and the key of the report.

    `budget` is what all questions of the workflow may use together: each gets a lease of what its limits
    say, waits while that is not free and others run, and gives back what it did not use. One that ends
    without an account (failed, cancelled) is charged its whole lease. `name` is the workflow id of the run,
    by default one of its own; `task_queue`, that of Determinator's workers. With `endpoint` the run is
    started by that Nexus endpoint, which may lead to another namespace, and gets its id there.

    Raises ChildWorkflowError or NexusOperationError, and asyncio.CancelledError when it is cancelled.
    """
    parent = workflow.info().workflow_id.replace("/", "-")
    name = name or f"{parent}-{workflow.uuid4().hex[:8]}"
    if budget is None:
        return await _research(request, name, task_queue, endpoint)
    request = request.replace(limits=await leased(budget, name, request.limits))
    try:
        outcome = await _research(request, name, task_queue, endpoint)
    except BaseException:
        lease = budget.leases[name]
        budget.close_lease(name, {"unknown": Usage(input_tokens=lease.tokens)}, lease.cost_microusd)
        raise
    budget.close_lease(name, {"research": outcome.used}, outcome.spent_microusd)
    return outcome


async def leased(budget: Budget, name: str, limits: Limits) -> Limits:
    """Return the limits of a run within its lease, once what it asks for is free or nothing else runs."""

    def asked(kind: Kind, _: int) -> int:
        most: int | None = getattr(limits, f"max_{kind}")
        return budget.free(kind) or 0 if most is None else most

    def ready() -> bool:
        return not budget.leases or budget.refusal(Spend().each(asked)) is None

    while not ready():
        await workflow.wait_condition(ready)  # of several that wait, one may take what is free
    lease = budget.lease(name, Spend().each(asked))
    bounded = {f"max_{kind}": lease.of(kind) for kind in KINDS if budget.limit(kind) is not None}
    return limits.model_copy(update=bounded)


async def _research(request: ResearchRequest, name: str, task_queue: str, endpoint: str) -> Outcome:
    """Run a research as plain JSON, which every data converter writes and reads."""
    sent = request.model_dump(mode="json", exclude_defaults=True)
    received: dict[str, Any]
    if endpoint:
        client = workflow.create_nexus_client(service="Determinator", endpoint=endpoint)
        received = await client.execute_operation(
            "research", sent, output_type=dict[str, Any], summary=summary_of(request)
        )
    else:
        received = await workflow.execute_child_workflow(
            WORKFLOW_OF_MODE[request.mode],
            sent,
            id=name,
            task_queue=task_queue,
            result_type=dict[str, Any],
            parent_close_policy=workflow.ParentClosePolicy.REQUEST_CANCEL,
            memo=memo_of(request),
            static_summary=summary_of(request),
        )
    return Outcome.model_validate(received)


def memo_of(request: ResearchRequest) -> dict[str, Any]:
    """Return what a list of runs shows of a run."""
    return {"question": request.question[:MEMO_CHARS], "mode": request.mode}


def summary_of(request: ResearchRequest) -> str:
    """Return what the Web UI shows beside its id."""
    return request.question[:SUMMARY_CHARS]
