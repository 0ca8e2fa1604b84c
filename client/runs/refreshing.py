"""Refreshing reports on the server: once, or on a schedule of Temporal's.

A refresh is a workflow (`workflows.refresh`), so it goes on when the command that started it ends. A schedule
starts one at each of its times. Times missed while the server was down are caught up with one refresh, when
it is up again; a refresh that still runs at the next time is not started twice.
"""

import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleDescription,
    ScheduleIntervalSpec,
    ScheduleListDescription,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from activities.contracts.evidence import EvidenceRef, Frozen
from activities.evidence_store import EvidenceStore
from activities.permits import sign
from activities.refresh_activity import RefreshOutcome, RefreshRequest
from activities.settings import Settings
from client.failures import BadInput, Failure, Hint
from client.listing import find_run, matching

if TYPE_CHECKING:
    from client.api import Determinator
    from client.connection import Connection
    from client.reports.finished import Finished

WORKFLOW = "RefreshReport"
PREFIX = "refresh-"
"""Prefixes of the ids of refreshes and of their schedules; the id of the run follows."""
MIN_INTERVAL_SECONDS = 60.0
"""The shortest time between two refreshes of a schedule."""
TIMES_SHOWN = 3
ASKED_WRONGLY = ("NoSuchSentence", "NoModel", "CostLimit")
"""Types of failures that another message, another model or a higher limit mends."""


class NoSuchSchedule(BadInput):
    """No schedule, or more than one, has that name."""


class Scheduled(Frozen):
    schedule_id: str
    run_id: str
    every_seconds: float | None
    search: bool
    paused: bool
    next: tuple[datetime, ...]
    last: datetime | None
    refreshes: tuple[str, ...]
    """Ids of the latest refreshes that it has started."""


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


async def schedule_refresh(
    client: Client, request: RefreshRequest, task_queue: str, every: timedelta, now: datetime
) -> Scheduled:
    """Refresh a report each time so much has passed, from now on.

    A schedule that the run has is replaced. Raises RPCError.
    """
    name = f"{PREFIX}{request.run_id}"
    schedule = Schedule(
        action=ScheduleActionStartWorkflow(
            WORKFLOW,
            request,
            id=name,
            task_queue=task_queue,
            memo={"run_id": request.run_id},
            static_summary=f"refresh of {request.run_id}",
        ),
        spec=ScheduleSpec(
            intervals=[
                # times are counted from the epoch; the offset makes the first one come a whole time from now
                ScheduleIntervalSpec(
                    every=every, offset=timedelta(seconds=int(now.timestamp() % every.total_seconds()))
                )
            ]
        ),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=every),
    )
    memo = {"run_id": request.run_id, "search": request.search}
    try:
        await client.create_schedule(name, schedule, memo=memo)
    except ScheduleAlreadyRunningError:
        await client.get_schedule_handle(name).delete()
        await client.create_schedule(name, schedule, memo=memo)
    return await _scheduled(await client.get_schedule_handle(name).describe())


async def schedules(client: Client) -> list[Scheduled]:
    """Return the schedules of refreshes, by run. Raises RPCError."""
    rows = [
        await _scheduled(listed)
        async for listed in await client.list_schedules()
        if listed.id.startswith(PREFIX)
    ]
    return sorted(rows, key=lambda row: row.run_id)


async def _scheduled(listed: ScheduleDescription | ScheduleListDescription) -> Scheduled:
    memo = await listed.memo()
    info, schedule = listed.info, listed.schedule
    intervals = schedule.spec.intervals if schedule else ()
    recent = info.recent_actions if info else ()
    return Scheduled(
        schedule_id=listed.id,
        run_id=str(memo.get("run_id") or listed.id.removeprefix(PREFIX)),
        every_seconds=intervals[0].every.total_seconds() if intervals else None,
        search=bool(memo.get("search")),
        paused=bool(schedule and schedule.state.paused),
        next=tuple(info.next_action_times[:TIMES_SHOWN]) if info else (),
        last=recent[-1].started_at.astimezone(UTC) if recent else None,
        refreshes=tuple(
            result.action.workflow_id
            for result in recent
            if isinstance(result.action, ScheduleActionExecutionStartWorkflow)
        ),
    )


SCHEDULES = Hint("schedules list", "{} shows them")


async def delete_schedule(client: Client, name: str) -> Scheduled:
    """Delete the schedule of a run, named by any unambiguous part of its id or as `last`, the newest run.

    Refreshes that have begun go on. Raises NoSuchSchedule, NoSuchRun (`last`, and there is no run),
    RPCError.
    """
    by_id = {scheduled.schedule_id: scheduled for scheduled in await schedules(client)}
    if name == "last":
        name = f"{PREFIX}{await find_run(client, name)}"
        if name not in by_id:
            raise NoSuchSchedule(f"the newest run, {name.removeprefix(PREFIX)}, has no schedule", SCHEDULES)
    fitting = matching(by_id, name if name in by_id else name.removeprefix(PREFIX))
    if len(fitting) != 1:
        if not fitting:
            raise NoSuchSchedule(f"{name[:100]} matches no schedule", SCHEDULES)
        raise NoSuchSchedule(f"{name[:100]} matches several schedules: {', '.join(fitting[:4])}")
    try:
        await client.get_schedule_handle(fitting[0]).delete()
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:  # another command has just deleted it
            raise
    return by_id[fitting[0]]


def check_online(settings: Settings) -> None:
    """Raise BadInput when this machine asks nobody."""
    if settings.offline:
        reason = "DETERMINATOR_OFFLINE is set, so no authority can be asked; unset it to refresh a report"
        raise BadInput(reason)


async def refreshed(client: "Determinator", run: "Finished", *, search: bool) -> RefreshOutcome:
    """Refresh the report of a finished run and wait for it; the refresh goes on when the wait ends.

    Raises BadInput when this machine may ask nobody, Failure, NoConnection, StoreError.
    """
    check_online(client.settings)
    return await send(client, lambda connection: the_request(client, connection, run, search=search))


async def the_request(
    client: "Determinator", connection: "Connection", run: "Finished", *, search: bool
) -> RefreshRequest:
    """Return the input of a refresh on the server: all that the run found is known.

    It has the folder of documents that the run searched, where the server still knows the run.
    """
    from client.runs.rewinding import request_of

    if search and run.total is None:
        client.say("the run cannot be asked what it found: what it found and does not cite counts as new")
    store = EvidenceStore.at(client.settings.evidence_url)
    blob = await known_items(store, [ref for ref, _ in run.items])
    request = None
    if search:
        with suppress(RPCError):
            request = await request_of(connection.client, run.run_id)
    return RefreshRequest(
        run_id=run.run_id, search=search, known_blob=blob, library=request.library if request else None
    )


async def send(
    client: "Determinator", prepare: "Callable[[Connection], Awaitable[RefreshRequest]]"
) -> RefreshOutcome:
    """Have the server do what is asked of a finished report, and wait for it.

    Raises BadInput for what another message mends, Failure for what failed.
    """
    from client.runs.follow import why
    from client.runs.start import signing_key

    connection = await client.connect(for_run=True)
    try:
        request = await prepare(connection)
        key = signing_key(client.settings, embedded=client.embedded) if request.library else b""
        handle = await start_refresh(connection.client, request, connection.task_queue, key)
    finally:
        connection.release()
    if request.instruction is None:
        client.say(f"refreshing as {handle.id}; it goes on when this command is interrupted")
    try:
        return await handle.result()
    except WorkflowFailureError as error:
        cause = error.cause.cause if isinstance(error.cause, ActivityError) else error.cause
        if isinstance(cause, ApplicationError) and cause.type in ASKED_WRONGLY:
            raise BadInput(cause.message) from error
        raise Failure(f"{request.run_id}: {why(error)}") from error
