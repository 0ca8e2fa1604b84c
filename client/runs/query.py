"""Queries to a run, and its event log, whose older part is in the evidence store.

A query needs a live worker; `client.listing` answers without one.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import Client, WorkflowHandle, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from activities.contracts.evidence import EvidenceRef, Usage
from activities.contracts.iterations import IterationRecord
from activities.evidence_store import EvidenceStore
from activities.settings import Settings
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
ATTEMPTS = 3
"""Times that a run is asked whose worker has answered a moment ago: on a busy machine it may take longer."""
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
    attempts: int = ATTEMPTS,
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
        if error.status not in LATE:
            raise NoAnswer(f"no worker answers for the run at the moment ({error.message})") from error
        if attempts > 1:
            return await query(client, run_id, name, kind, argument, attempts - 1)
        raise NoAnswer(
            "no worker has answered for the run in time; it is busy or is being started, so try again"
        ) from error
    return answer


async def progress(client: Client, run_id: str) -> Progress:
    """Query `progress`. Raises NoAnswer, NoSuchRun."""
    return await query(client, run_id, "progress", Progress, attempts=1)


async def _pages(client: Client, run_id: str, name: str, kind: type[Page]) -> AsyncIterator[Page]:
    """Yield the pages of a query that answers page by page."""
    read = 0
    while True:
        page = await query(client, run_id, name, kind, ItemsAfter(after=read))
        yield page
        read += len(page.items)
        if not page.items or read >= page.total:
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
    seen = await progress(client, run_id)
    records_of_run = await iterations(client, run_id)
    running = [s.workflow_id for s in seen.sections if s.status == "running" and s.workflow_id]
    section_records: list[IterationRecord] = []
    for answer in await asyncio.gather(
        *(iterations(client, name) for name in running), return_exceptions=True
    ):
        if not isinstance(answer, BaseException):
            section_records += answer
        elif not isinstance(answer, NoAnswer | NoSuchRun):
            raise answer
    asked = {record.section for record in section_records}
    records = [*(record for record in records_of_run if record.section not in asked), *section_records]
    return tuple(sorted(records, key=lambda record: (record.section, record.iteration)))


async def outcome(client: Client, run_id: str) -> Outcome | None:
    """Return the result of a completed run; None while it runs. Raises WorkflowFailureError, NoSuchRun."""
    if (await describe(client, run_id)).status == "running":
        return None
    handle: WorkflowHandle[Any, Outcome] = client.get_workflow_handle(run_id, result_type=Outcome)
    return await handle.result()


async def graph_of(client: Client, seen: Progress | None) -> GraphView | None:
    """Return where a run is in its graph; None for a run of another mode. Raises NoAnswer, NoSuchRun."""
    if seen is None or seen.mode != "graph":
        return None
    return await query(client, seen.run_id, "graph", GraphView)


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
            events += await _stored(client, settings, run_id, since, before=page[0].seq)
        events += page
        if until is not None and events[-1].seq >= until:
            return events


async def _stored(
    client: Client, settings: Settings, run_id: str, after: int, before: int
) -> list[AgentEvent]:
    log = await query(client, run_id, "event_log", EventLogView)
    store = EvidenceStore.at(settings.evidence_url)
    parts = [part for part in log.stored if part.last > after and part.first < before]
    lines = [line for part in parts for line in (await store.get_bytes(part.blob)).decode().splitlines()]
    events = (AgentEvent.model_validate_json(line) for line in lines)
    return [event for event in events if after < event.seq < before]


class ModelCall(BaseModel):
    """One model call under way, or one library being read.

    Its step reports it in heartbeats; see `activities.models.base` and `activities.sources.base`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    role: str = ""
    """`library` for one that is read."""
    section: str = ""
    """Id of the section that makes it; empty for the run itself."""
    attempt: int = 1
    seconds: float = 0.0
    """Since this attempt was started."""
    tokens: int = 0
    """Tokens of the answer so far; some seconds old."""
    waiting: bool = False
    """For its turn at a server that answers one call at a time."""
    files_read: int = 0
    files: int = 0
    """Files of a library that is being read; 0 for a model call."""


async def calls_under_way(client: Client, seen: Progress) -> tuple[ModelCall, ...]:
    """Return the calls of a run and its running sections that can be read, the oldest first."""
    workflows = [("", seen.run_id)]
    workflows += [(s.id, s.workflow_id) for s in seen.sections if s.status == "running" and s.workflow_id]
    calls_of_each = await asyncio.gather(*(_calls_of(client, section, name) for section, name in workflows))
    return tuple(sorted((call for calls in calls_of_each for call in calls), key=lambda call: -call.seconds))


async def _calls_of(client: Client, section: str, workflow_id: str) -> list[ModelCall]:
    try:
        described = await client.get_workflow_handle(workflow_id).describe()
    except RPCError:
        return []
    pending = described.raw_description.pending_activities
    calls = [await _call(client, activity, section) for activity in pending]
    return [call for call in calls if call is not None]


async def _call(client: Client, pending: PendingActivityInfo, section: str) -> ModelCall | None:
    """Return what a step reported last; None for one that reports nothing of the kind, or nothing yet."""
    if not pending.HasField("last_started_time") or not pending.heartbeat_details.payloads:
        return None
    try:
        (reported,) = await client.data_converter.decode(pending.heartbeat_details.payloads)
        call = ModelCall.model_validate(reported)
        tokens = Usage.model_validate(reported.get("usage") or {}).output_tokens
    except (ValidationError, ValueError, RuntimeError):
        return None
    if not (call.role or call.files):
        return None
    running = datetime.now(UTC) - pending.last_started_time.ToDatetime(UTC)
    now = {"attempt": pending.attempt, "seconds": max(running.total_seconds(), 0.0), "tokens": tokens}
    return call.model_copy(update={**now, "section": section, "role": call.role or "library"})


def call_line(call: ModelCall) -> str:
    """`judge [s2]  12 s  340 tokens  attempt 2`, or `indexing 1,200 of 3,000 files`."""
    if call.files:
        return f"indexing {call.files_read:,} of {call.files:,} file{'s' * (call.files != 1)}"
    parts = [
        f"{call.role.replace('_', ' ')}{f' [{call.section}]' if call.section else ''}",
        f"{call.seconds:.0f} s",
    ]
    if call.waiting:
        parts.append("waits for its turn")
    elif call.tokens:  # a server that does not stream says how many when it has answered
        parts.append(f"{call.tokens:,} tokens")
    if call.attempt > 1:
        parts.append(f"attempt {call.attempt}")
    return "  ".join(parts)
