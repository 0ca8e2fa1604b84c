"""Queries to a run. A query needs a live worker; `client.runs.listing` answers without one."""

from datetime import timedelta
from typing import Any, TypeVar

from temporalio.client import Client, WorkflowHandle, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from activities.iterations import IterationRecord
from activities.types import EvidenceRef
from client.runs.errors import NoAnswer, no_such_run
from client.runs.listing import describe
from workflows.types import EvidenceIndex, ItemsAfter, IterationHistory, Outcome, Progress

QUERY_SECONDS = 5.0
"""Seconds after which a query counts as unanswered."""

Answer = TypeVar("Answer")


async def query(
    client: Client, run_id: str, name: str, kind: type[Answer], argument: object = None
) -> Answer:
    """Send one query. Raises NoAnswer when no worker answers it, NoSuchRun."""
    handle: WorkflowHandle[Any, Any] = client.get_workflow_handle(run_id)
    arguments = [] if argument is None else [argument]
    try:
        answer: Answer = await handle.query(
            name, args=arguments, result_type=kind, rpc_timeout=timedelta(seconds=QUERY_SECONDS)
        )
    except WorkflowQueryFailedError as error:
        raise NoAnswer(f"the run does not answer `{name}`: {error}") from error
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise no_such_run(run_id) from error
        if error.status == RPCStatusCode.UNAVAILABLE:
            raise
        raise NoAnswer(f"no worker answers for the run at the moment ({error.message})") from error
    return answer


async def progress(client: Client, run_id: str) -> Progress:
    """Query `progress`. Raises NoAnswer, NoSuchRun."""
    return await query(client, run_id, "progress", Progress)


async def evidence_index(client: Client, run_id: str) -> tuple[EvidenceRef, ...]:
    """Query `evidence_index`, page by page. Raises NoAnswer, NoSuchRun."""
    found: list[EvidenceRef] = []
    while True:
        page = await query(client, run_id, "evidence_index", EvidenceIndex, ItemsAfter(after=len(found)))
        found += page.items
        if not page.items or len(found) >= page.total:
            return tuple(found)


async def iterations(client: Client, run_id: str) -> tuple[IterationRecord, ...]:
    """Query `iterations`, page by page: every iteration of the run and of its sections. Raises NoAnswer,
    NoSuchRun."""
    found: list[IterationRecord] = []
    while True:
        page = await query(client, run_id, "iterations", IterationHistory, ItemsAfter(after=len(found)))
        found += page.items
        if not page.items or len(found) >= page.total:
            return tuple(found)


async def outcome(client: Client, run_id: str) -> Outcome | None:
    """The result of a completed run; None while it runs. Raises WorkflowFailureError, NoSuchRun."""
    if (await describe(client, run_id)).status == "running":
        return None
    handle: WorkflowHandle[Any, Outcome] = client.get_workflow_handle(run_id, result_type=Outcome)
    return await handle.result()
