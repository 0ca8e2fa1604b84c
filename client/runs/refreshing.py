"""Refreshing reports on the server.

A refresh is a workflow (`workflows.refresh`), so it goes on when the command that started it ends.
"""

import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.service import RPCError

from activities.contracts.evidence import EvidenceRef
from activities.evidence_store import EvidenceStore
from activities.permits import sign
from activities.refresh_activity import RefreshOutcome, RefreshRequest
from activities.settings import Settings
from client.embedded.keeper import keep_alive
from client.failures import BadInput, Failure

if TYPE_CHECKING:
    from client.api import Determinator
    from client.connection import Connection
    from client.reports.finished import Finished

WORKFLOW = "RefreshReport"
PREFIX = "refresh-"
"""Prefix of the ids of refreshes; the id of the run follows."""
ASKED_WRONGLY = ("NoSuchSentence", "NoModel", "CostLimit")
"""Types of failures that another message, another model or a higher limit mends."""


async def known_items(store: EvidenceStore, refs: Sequence[EvidenceRef]) -> str:
    """Store references to all that a run found, one a line; return the key. Raises StoreError."""
    lines = "".join(f"{ref.model_dump_json()}\n" for ref in refs)
    return await store.put_bytes(lines.encode(), "jsonl") if refs else ""


async def start_refresh(
    client: Client, request: RefreshRequest, task_queue: str, key: bytes = b""
) -> WorkflowHandle[object, RefreshOutcome]:
    """Start a refresh.

    `key` signs the library that it searches (see `activities.permits`). Raises RPCError.
    """
    # two refreshes of one run at the same moment are two workflows
    workflow_id = f"{PREFIX}{request.run_id}-{uuid.uuid4().hex[:8]}"
    if request.library and key:
        signature = sign(key, workflow_id, "library", request.library)
        request = request.replace(library_signature=signature)
    handle: WorkflowHandle[object, RefreshOutcome] = await client.start_workflow(
        WORKFLOW,
        request,
        id=workflow_id,
        task_queue=task_queue,
        result_type=RefreshOutcome,
        memo={"run_id": request.run_id},
        static_summary=f"refresh of {request.run_id}",
    )
    return handle


def check_online(settings: Settings) -> None:
    """Raise BadInput when this machine asks nobody."""
    if settings.offline:
        reason = "DETERMINATOR_OFFLINE is set, so no authority can be asked; unset it to refresh a report"
        raise BadInput(reason)


async def refresh_report(client: "Determinator", run: "Finished", *, search: bool) -> RefreshOutcome:
    """Refresh the report of a finished run and wait for it; the refresh goes on when the wait ends.

    All that the run found is known, and the folder of documents that it searched, where the server still
    knows the run. Raises BadInput when this machine may ask nobody, Failure, NoConnection, StoreError.
    """
    from client.runs.rewinding import request_of

    check_online(client.settings)
    if search and run.total is None:
        client.say("the run cannot be asked what it found: what it found and does not cite counts as new")

    async def prepare(connection: "Connection") -> RefreshRequest:
        store, library = EvidenceStore.at(client.settings.evidence_url), None
        blob = await known_items(store, [ref for ref, _ in run.items])
        if search:
            with suppress(RPCError):
                request = await request_of(connection.client, run.run_id)
                library = request.library if request else None
        return RefreshRequest(run_id=run.run_id, search=search, known_blob=blob, library=library)

    return await send(client, prepare)


async def send(
    client: "Determinator", prepare: "Callable[[Connection], Awaitable[RefreshRequest]]"
) -> RefreshOutcome:
    """Have the server do what is asked of a finished report, and wait for it.

    Raises BadInput for what another message mends, Failure for what failed.
    """
    from client.runs.follow import failure_reason
    from client.runs.start import signing_key

    connection = await client.connect()
    request = await prepare(connection)
    key = signing_key(client.settings, embedded=client.embedded) if request.library else b""
    handle = await start_refresh(connection.client, request, connection.task_queue, key)
    if request.instruction is None:
        client.say(f"refreshing as {handle.id}; it goes on when this command is interrupted")
    try:
        return await keep_alive(client.settings, connection, handle.result(), worker=True, say=client.say)
    except WorkflowFailureError as error:
        cause = error.cause.cause if isinstance(error.cause, ActivityError) else error.cause
        if isinstance(cause, ApplicationError) and cause.type in ASKED_WRONGLY:
            raise BadInput(cause.message) from error
        raise Failure(f"{request.run_id}: {failure_reason(error)}") from error
