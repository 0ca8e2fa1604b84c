"""Keep exactly one process of a fleet polling the task queue of a strictly limited API.

    keep_gates(client, settings, sources)     in each worker process: start the singleton workflows
    gate_activities(client, http, sources, search)   registered on the general queue: `hold_gate`

A holder runs an inner worker on the API's queue. It sends heartbeats and waits for their confirmation; each
confirmed heartbeat extends a lease that ends before Temporal would give the gate to another process. A holder
that was stopped, disconnected or starved therefore sends no further request
(`activities.sources.http.rate_limiter`). A new holder first waits for a whole window.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio import activity
from temporalio.client import AsyncActivityCancelledError, Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Interceptor, Worker

from activities.logs import log
from activities.search_activity import SearchActivities
from activities.settings import Settings
from activities.sources.base import Source
from activities.sources.http.client import Http
from activities.sources.http.rate_limiter import RateLimiter
from activities.sources.registry import ClosedSource, declared_info
from workflows.rate_gate import HOLD_GATE, GateTerms, RateGate, gate_id

HOLD_SECONDS = 12 * 3600.0
"""After so many seconds a holder gives the gate back, so that the workflow continues as new."""
GRACE = timedelta(seconds=3)
"""Time a request in flight has left when the gate is given back; less than a worker's grace period."""
LEASE_SHARE = 5 / 6
"""Share of the heartbeat time-out for which a lease is valid after its heartbeat was sent. Below one, so that
the lease ends before Temporal gives the gate to another process."""
SERVER_LIMIT_FACTOR = 1.5
"""The server's own limit is this many times the limiter's rate. The server's limit is an average that is
split among a queue's partitions: set to the limiter's rate, it cost a third of the throughput (1.8 of 2.6 a
second) and was no stricter. It is a second limit in case the gate fails."""
SOON = timedelta(seconds=1)
"""Delay before a gate that a stopping process gave back is scheduled again. Without a delay it often went to
one of that process's own polls, which were just being closed, and was then lost for a whole heartbeat
time-out."""
ELSEWHERE = timedelta(seconds=5)
CHECK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class LimitedQueue:
    """A limited queue: its rate limiter and the activities one process runs on it."""

    limiter: RateLimiter
    activities: Sequence[Callable[..., Any]]


def gated_queues(sources: Mapping[str, Source]) -> dict[str, list[str]]:
    """Queue -> names of the sources on it, of the sources that may be used."""
    queues: dict[str, list[str]] = {}
    for name in sources:
        queue = declared_info(sources, name).queue
        if queue is not None and not isinstance(sources[name], ClosedSource):
            queues.setdefault(queue, []).append(name)
    return queues


async def keep_gates(client: Client, settings: Settings, sources: Mapping[str, Source]) -> None:
    """Start the gate of every limited queue where it does not run, every minute, forever.

    A gate may be ended by hand, and its last holder may die. Any process may do this at any time.
    """
    while True:
        try:
            for queue in gated_queues(sources):
                await start_gate(client, settings.task_queue, GateTerms(queue=queue))
        except RPCError as error:
            log.warning("gates_not_checked", error=str(error))
        await asyncio.sleep(CHECK_SECONDS)


async def start_gate(client: Client, task_queue: str, terms: GateTerms) -> None:
    """Start one gate if it does not run; its holder polls `task_queue`, the general queue.

    A gate that was started on another one, where no worker polls any more, is replaced. Raises RPCError.
    """

    async def start(conflict: WorkflowIDConflictPolicy) -> None:
        await client.start_workflow(
            RateGate.run,
            terms,
            id=gate_id(terms.queue),
            task_queue=task_queue,
            id_conflict_policy=conflict,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            static_summary=f"Keeps one process polling {terms.queue}, so that its API's rate holds",
        )

    await start(WorkflowIDConflictPolicy.USE_EXISTING)
    gate = client.get_workflow_handle(gate_id(terms.queue))
    description = await gate.describe()
    if description.task_queue != task_queue and not await _is_held(gate, 2 * terms.heartbeat_seconds):
        log.warning("gate_moved", gate=gate.id, was=description.task_queue, now=task_queue)
        await start(WorkflowIDConflictPolicy.TERMINATE_EXISTING)


async def _is_held(gate: WorkflowHandle[Any, Any], seconds: float) -> bool:
    """Tell whether a process reports that it holds the gate within so many seconds.

    A new heartbeat is the only proof: the server lists who polled a queue for minutes after they died.
    """
    deadline = asyncio.get_running_loop().time() + seconds
    previous: datetime | None = None
    while True:
        for activity_info in (await gate.describe()).raw_description.pending_activities:
            if activity_info.HasField("last_heartbeat_time"):
                beat_at = activity_info.last_heartbeat_time.ToDatetime(UTC)
                if previous is not None and beat_at > previous:
                    return True
                previous = beat_at
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(seconds / 24)


def gate_activities(
    client: Client,
    http: Http,
    sources: Mapping[str, Source],
    search: SearchActivities,
    *,
    extra: Mapping[str, Sequence[Callable[..., Any]]] | None = None,
    interceptors: Sequence[Interceptor] = (),
    build_id: str | None = None,
) -> list[Callable[..., Any]]:
    """Return the activity to register on the general queue.

    `extra` adds activities to a limited queue: everything else that calls that API must run there too, or the
    rate is exceeded. `interceptors` and `build_id` are the worker's, for the inner one.
    """
    queues = {}
    for queue, names in gated_queues(sources).items():
        limiter = next((limit for name in names if (limit := http.rate_limiter(name))), None)
        if limiter is None:
            raise ValueError(
                f"the sources {', '.join(names)} are on {queue} but have no rate limiter (Http.pace)"
            )
        queues[queue] = LimitedQueue(limiter, [*search.definitions(queue), *(extra or {}).get(queue, ())])
    return [GateActivities(client, queues, interceptors, build_id).hold_gate]


class GateActivities:
    """Registered once per worker process."""

    def __init__(
        self,
        client: Client,
        queues: Mapping[str, LimitedQueue],
        interceptors: Sequence[Interceptor] = (),
        build_id: str | None = None,
    ) -> None:
        self._client = client
        self._queues = queues
        self._interceptors = interceptors
        self._build_id = build_id

    @activity.defn(name=HOLD_GATE)
    async def hold_gate(self, terms: GateTerms) -> None:
        """Poll the queue until this process shuts down, loses the gate or has held it long enough."""
        gate = self._queues.get(terms.queue)
        if gate is None:
            raise _give_back(f"this worker has no source on {terms.queue} enabled", ELSEWHERE)
        with gate.limiter.under_lease():
            await self._hold(gate, terms)
        if activity.is_worker_shutdown():
            raise _give_back("the worker is shutting down", SOON)

    async def _hold(self, gate: LimitedQueue, terms: GateTerms) -> None:
        """See `hold_gate`. Raises ApplicationError when the queue cannot be polled."""
        limiter = gate.limiter
        limiter.hold(limiter.window)
        worker = Worker(
            self._client,
            task_queue=terms.queue,
            activities=gate.activities,
            interceptors=self._interceptors,
            max_concurrent_activities=int(limiter.per_second * 2) + 2,
            max_task_queue_activities_per_second=limiter.per_second * SERVER_LIMIT_FACTOR,
            graceful_shutdown_timeout=GRACE,
            build_id=self._build_id,
        )
        log.info("gate_held", queue=terms.queue, attempt=activity.info().attempt)
        polls = asyncio.create_task(worker.run())
        heartbeats = asyncio.create_task(self._keep_lease(limiter, terms.heartbeat_seconds))
        shutdown = asyncio.create_task(activity.wait_for_worker_shutdown())
        try:
            await asyncio.wait(
                [polls, heartbeats, shutdown], timeout=HOLD_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
        except asyncio.CancelledError:
            limiter.require_lease()
            raise
        finally:
            if heartbeats.done():
                limiter.require_lease()  # another process may hold the gate: send nothing that waits
            await run_to_end(_close(worker, polls, heartbeats, shutdown))
            log.info("gate_given_back", queue=terms.queue)
        if not polls.cancelled() and (error := polls.exception()):
            raise ApplicationError(f"polling {terms.queue} failed: {error}", type="PollingFailed") from error

    async def _keep_lease(self, limiter: RateLimiter, heartbeat_seconds: float) -> None:
        """Send heartbeats; each confirmed one extends the lease. Returns when the gate is lost."""
        loop = asyncio.get_running_loop()
        handle = self._client.get_async_activity_handle(task_token=activity.info().task_token)
        beat = heartbeat_seconds / 4
        while True:
            sent_at = loop.time()
            activity.heartbeat()  # the SDK cancels without it, but does not confirm delivery
            try:
                await handle.heartbeat(rpc_timeout=timedelta(seconds=beat))
            except AsyncActivityCancelledError:
                return
            except RPCError as error:
                if error.status == RPCStatusCode.NOT_FOUND:
                    return
                # The server cannot be reached; meanwhile the lease expires by itself.
                log.warning("gate_heartbeat_failed", error=str(error))
            else:
                limiter.extend_lease(sent_at + heartbeat_seconds * LEASE_SHARE)
            await asyncio.sleep(beat)


async def _close(worker: Worker, polls: asyncio.Task[None], *tasks: asyncio.Task[None]) -> None:
    """Stop polling, and wait until no activity of the queue runs any more."""
    if worker.is_running:
        await worker.shutdown()
    for task in tasks:
        task.cancel()
    await asyncio.gather(polls, *tasks, return_exceptions=True)


async def run_to_end(work: Coroutine[Any, Any, None]) -> None:
    """Await work although this task is cancelled meanwhile, and raise CancelledError after it.

    A holder that lost the gate learns it twice: its own heartbeat is refused, and then the SDK cancels the
    activity. Were its end cut short by that, the lease would be required no longer while requests still wait.
    """
    task = asyncio.create_task(work)
    cancel: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancel = error
    task.result()
    if cancel is not None:
        raise cancel


def _give_back(reason: str, delay: timedelta) -> ApplicationError:
    """Return the error that ends an attempt without a fault.

    Another process gets the next attempt.
    """
    return ApplicationError(
        reason, type="GateGivenBack", category=ApplicationErrorCategory.BENIGN, next_retry_delay=delay
    )
