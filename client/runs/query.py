"""Queries to a run, and its event log, whose older part is in the evidence store.

A query needs a live worker; `client.listing` answers without one.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

from temporalio.client import Client, WorkflowHandle, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from activities.contracts.evidence import EvidenceRef
from activities.contracts.iterations import IterationRecord
from activities.evidence_store import EvidenceStore
from activities.settings import Settings
from client.connection import Connection
from client.failures import NoAnswer, NoSuchRun, no_such_run
from client.listing import describe
from workflows.event_types import AgentEvent
from workflows.graph.definition import GraphView
from workflows.types import (
    EventLogView,
    EvidenceIndex,
    ItemsAfter,
    IterationHistory,
    Outcome,
    Progress,
)

QUERY_SECONDS = 5.0
"""Seconds after which a query counts as unanswered."""
WORKER_SECONDS = 15.0
"""Time to wait for a worker that does not answer at once."""
BUSY_SECONDS = 15.0
"""Seconds for a run whose worker answered a moment ago: on a busy machine it may take longer."""
LATE = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED)
"""Statuses of a query that takes too long."""

Answer = TypeVar("Answer")
Page = TypeVar("Page", EvidenceIndex, IterationHistory)


async def query(
    client: Client,
    run_id: str,
    name: str,
    kind: type[Answer],
    argument: object = None,
    seconds: float = BUSY_SECONDS,
) -> Answer:
    """Send one query. Raises NoAnswer when no worker answers it, NoSuchRun."""
    handle: WorkflowHandle[Any, Any] = client.get_workflow_handle(run_id)
    arguments = [] if argument is None else [argument]
    try:
        answer: Answer = await handle.query(
            name, args=arguments, result_type=kind, rpc_timeout=timedelta(seconds=seconds)
        )
    except WorkflowQueryFailedError as error:
        raise NoAnswer(f"the run does not answer `{name}`: {error}") from error
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise no_such_run(run_id) from error
        if error.status == RPCStatusCode.UNAVAILABLE:
            raise
        if error.status not in LATE:
            raise NoAnswer(f"no worker answers for the run at the moment ({error.message})") from error
        raise NoAnswer(
            "no worker has answered for the run in time; it is busy or is being started, so try again"
        ) from error
    return answer


async def wait_for_answer(
    connection: Connection, ask: Callable[[], Awaitable[Answer]], seconds: float = WORKER_SECONDS
) -> Answer:
    """Return an answer of a run, after waiting for the worker of a home that is just starting.

    Raises NoAnswer.
    """
    patience = seconds if connection.embedded else 0.0
    deadline = max(time.monotonic() + patience, connection.patient_until)
    while True:
        try:
            return await ask()
        except NoAnswer:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(0.2)


async def progress(client: Client, run_id: str) -> Progress:
    """Query `progress`. Raises NoAnswer, NoSuchRun."""
    return await query(client, run_id, "progress", Progress, seconds=QUERY_SECONDS)


async def _pages(client: Client, run_id: str, name: str, kind: type[Page]) -> AsyncIterator[Page]:
    """Yield the pages of a query that answers page by page."""
    count = 0
    while True:
        page = await query(client, run_id, name, kind, ItemsAfter(after=count))
        yield page
        count += len(page.items)
        if not page.items or count >= page.total:
            return


async def evidence_index(client: Client, run_id: str) -> tuple[EvidenceRef, ...]:
    """Query `evidence_index`, page by page. Raises NoAnswer, NoSuchRun."""
    pages = _pages(client, run_id, "evidence_index", EvidenceIndex)
    return tuple([item async for page in pages for item in page.items])


async def iterations(client: Client, run_id: str) -> tuple[IterationRecord, ...]:
    """Query `iterations` of the run and its sections, page by page. Raises NoAnswer, NoSuchRun."""
    pages = _pages(client, run_id, "iterations", IterationHistory)
    return tuple([item async for page in pages for item in page.items])


async def all_iterations(client: Client, run_id: str) -> tuple[IterationRecord, ...]:
    """Every iteration of a run and of its sections, those of the run's own loop first.

    A section that runs is asked itself; one that does not answer is as the run has it. Raises NoAnswer,
    NoSuchRun.
    """
    state = await progress(client, run_id)
    records_of_run = await iterations(client, run_id)
    workflow_ids = [s.workflow_id for s in state.sections if s.status == "running" and s.workflow_id]
    section_records: list[IterationRecord] = []
    for answer in await asyncio.gather(
        *(iterations(client, name) for name in workflow_ids), return_exceptions=True
    ):
        if not isinstance(answer, BaseException):
            section_records += answer
        elif not isinstance(answer, NoAnswer | NoSuchRun):
            raise answer
    section_ids = {record.section for record in section_records}
    records = [*(record for record in records_of_run if record.section not in section_ids), *section_records]
    return tuple(sorted(records, key=lambda record: (record.section, record.iteration)))


async def outcome(client: Client, run_id: str) -> Outcome | None:
    """Return the result of a completed run; None while it runs. Raises WorkflowFailureError, NoSuchRun."""
    if (await describe(client, run_id)).status == "running":
        return None
    handle: WorkflowHandle[Any, Outcome] = client.get_workflow_handle(run_id, result_type=Outcome)
    return await handle.result()


async def graph_of(client: Client, progress: Progress | None) -> GraphView | None:
    """Return where a run is in its graph; None for a run of another mode. Raises NoAnswer, NoSuchRun."""
    if progress is None or progress.mode != "graph":
        return None
    return await query(client, progress.run_id, "graph", GraphView)


async def read_events(
    client: Client, settings: Settings, run_id: str, after: int = 0, until: int | None = None
) -> list[AgentEvent]:
    """Return the events with a number above `after`, in order and without a gap.

    All that there are, or those up to `until` at least.

    The run keeps the latest part of its log, which is never empty: what is missing before it is stored.
    Raises NoAnswer, NoSuchRun, and StoreError when a stored part of the log cannot be read.
    """
    events: list[AgentEvent] = []
    while True:
        since = events[-1].seq if events else after
        page = await query(client, run_id, "events", list[AgentEvent], ItemsAfter(after=since))
        if not page:
            return events
        if page[0].seq > since + 1:
            events += await _load_events(client, settings, run_id, since, before=page[0].seq)
        events += page
        if until is not None and events[-1].seq >= until:
            return events


async def _load_events(
    client: Client, settings: Settings, run_id: str, after: int, before: int
) -> list[AgentEvent]:
    log = await query(client, run_id, "event_log", EventLogView)
    store = EvidenceStore.at(settings.evidence_url)
    parts = [part for part in log.stored if part.last > after and part.first < before]
    lines = [line for part in parts for line in (await store.get_bytes(part.blob)).decode().splitlines()]
    events = (AgentEvent.model_validate_json(line) for line in lines)
    return [event for event in events if after < event.seq < before]
