"""Refreshing reports on the server: once, or on a schedule of Temporal's.

A refresh is a workflow (`workflows.refresh`), so it goes on when the command that started it ends. A schedule
starts one at each of its times. Times missed while the server was down are caught up with one refresh, when
it is up again; a refresh that still runs at the next time is not started twice.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleListDescription,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    WorkflowHandle,
)
from temporalio.service import RPCError, RPCStatusCode

from activities.evidence_store import EvidenceStore
from activities.permits import sign
from activities.refresh import RefreshOutcome, RefreshRequest
from activities.types import EvidenceRef
from client.failures import BadInput
from client.runs.listing import find_run, matching

WORKFLOW = "RefreshReport"
PREFIX = "refresh-"
"""What the ids of refreshes and of their schedules begin with; the id of the run follows."""
MIN_INTERVAL_SECONDS = 60.0
"""The shortest time between two refreshes of a schedule."""
TIMES_SHOWN = 3


class NoSuchSchedule(BadInput):
    """No schedule, or more than one, has that name."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A schedule of refreshes."""

    schedule_id: str
    run_id: str
    every: timedelta | None
    search: bool
    next_times: tuple[datetime, ...]
    last_time: datetime | None
    refreshes: tuple[str, ...]
    """Ids of the latest refreshes that it has started."""
    paused: bool = False


async def known_items(store: EvidenceStore, refs: Sequence[EvidenceRef]) -> str:
    """Store references to all that a run found, one a line; return the key. Raises StoreError."""
    lines = "".join(f"{ref.model_dump_json()}\n" for ref in refs)
    return await store.put_bytes(lines.encode(), "jsonl") if refs else ""


def refresh_id(run_id: str) -> str:
    """An id for one refresh: two of one run at the same moment are two workflows."""
    return f"{PREFIX}{run_id}-{uuid.uuid4().hex[:8]}"


async def start_refresh(
    client: Client, request: RefreshRequest, task_queue: str, key: bytes = b""
) -> WorkflowHandle[object, RefreshOutcome]:
    """Start a refresh. `key` signs the library that it searches (see `activities.permits`). Raises
    RPCError."""
    workflow_id = refresh_id(request.run_id)
    if request.library and key:
        signature = sign(key, workflow_id, "library", request.library)
        request = request.model_copy(update={"library_signature": signature})
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
    """Refresh a report each time so much has passed, from now on. A schedule that the run has is replaced.
    Raises RPCError."""
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
    found = await client.get_schedule_handle(name).describe()
    return Scheduled(
        schedule_id=name,
        run_id=request.run_id,
        every=every,
        search=request.search,
        next_times=tuple(found.info.next_action_times[:TIMES_SHOWN]),
        last_time=None,
        refreshes=(),
    )


async def schedules(client: Client) -> list[Scheduled]:
    """The schedules of refreshes, by run. Raises RPCError."""
    found = [
        await _scheduled(listed)
        async for listed in await client.list_schedules()
        if listed.id.startswith(PREFIX)
    ]
    return sorted(found, key=lambda one: one.run_id)


async def _scheduled(listed: ScheduleListDescription) -> Scheduled:
    memo = await listed.memo()
    info, schedule = listed.info, listed.schedule
    intervals = schedule.spec.intervals if schedule else ()
    recent = info.recent_actions if info else ()
    return Scheduled(
        schedule_id=listed.id,
        run_id=str(memo.get("run_id") or listed.id.removeprefix(PREFIX)),
        every=intervals[0].every if intervals else None,
        search=bool(memo.get("search")),
        next_times=tuple(info.next_action_times[:TIMES_SHOWN]) if info else (),
        last_time=recent[-1].started_at.astimezone(UTC) if recent else None,
        refreshes=tuple(
            result.action.workflow_id
            for result in recent
            if isinstance(result.action, ScheduleActionExecutionStartWorkflow)
        ),
        paused=bool(schedule and schedule.state.paused),
    )


async def delete_schedule(client: Client, name: str) -> Scheduled:
    """Delete the schedule of a run, named by any unambiguous part of its id or as `last`, the newest run.
    Refreshes that have begun go on. Raises NoSuchSchedule, NoSuchRun (`last`, and there is no run),
    RPCError."""
    known = {one.schedule_id: one for one in await schedules(client)}
    if name == "last":
        name = f"{PREFIX}{await find_run(client, name)}"
        if name not in known:
            raise NoSuchSchedule(
                f"the newest run, {name.removeprefix(PREFIX)}, has no schedule; "
                "`determinator schedules list` shows them"
            )
    found = matching(known, name if name in known else name.removeprefix(PREFIX))
    if len(found) != 1:
        listed = ", ".join(found[:4]) if found else "`determinator schedules list` shows them"
        raise NoSuchSchedule(
            f"{name[:100]} matches {'several schedules' if found else 'no schedule'}: {listed}"
        )
    try:
        await client.get_schedule_handle(found[0]).delete()
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:  # another command has just deleted it
            raise
    return known[found[0]]
