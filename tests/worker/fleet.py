"""A fleet of real worker processes in front of a local NCBI, for the rate tests.

Every process runs what a worker runs for PubMed: the registry, HTTP with its rate limiter, the search
activities and `hold_gate`. Run as a program this file is one such process."""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temporalio import workflow
from temporalio.api.enums.v1 import DescribeTaskQueueMode, PendingActivityState, TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.service import RPCError

with workflow.unsafe.imports_passed_through():
    from activities.contracts.evidence import Query
    from activities.contracts.search import HitsOfAll, SearchTask, SearchTasks
    from tests.replay import Asked, ReplayServer, Reply

ROOT = Path(__file__).parents[2]
QUEUE = "determinator-ncbi"
GATE = "determinator-gate-ncbi"
PATIENCE = 150.0
"""Seconds in which a fleet must have started or the gate have found a new holder; a dozen are common."""
NOTHING_FOUND = '{"header":{},"esearchresult":{"count":"0","idlist":[],"translationset":[]}}'


@workflow.defn
class Flood:
    """Many searches at once, as the sections of many runs make them."""

    @workflow.run
    async def run(self, searches: int) -> int:
        asked = [
            SearchTask(run_id="flood", source="pubmed", query=Query(text=f"question {number}"))
            for number in range(searches)
        ]
        tasks = [
            workflow.start_activity(  # `execute_activity` would begin each when it is awaited
                "search_pubmed",
                SearchTasks(run_id="flood", tasks=tuple(asked[first : first + 2])),
                result_type=HitsOfAll,
                task_queue=QUEUE,
                start_to_close_timeout=timedelta(seconds=60),
                heartbeat_timeout=timedelta(seconds=6),
                retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=200)),
            )
            for first in range(0, searches, 2)
        ]
        return sum([len((await task).answers) for task in tasks])


def busiest_second(moments: Sequence[float], window: float = 1.0) -> int:
    """The most of the moments that fall into any window of that length, wherever it is laid."""
    ordered, first, most = sorted(moments), 0, 0
    for last, moment in enumerate(ordered):
        while moment - ordered[first] >= window:
            first += 1
        most = max(most, last - first + 1)
    return most


def slow_ncbi(server: ReplayServer, slowest: float) -> None:
    """Answer every esearch after up to `slowest` seconds."""

    def answer(asked: Asked) -> Reply:
        return Reply(
            200, NOTHING_FOUND, {"content-type": "application/json"}, delay=random.uniform(0, slowest)
        )

    server.on("/esearch.fcgi", answer)


@dataclass(frozen=True, slots=True)
class Fleet:
    """So many worker processes on a general queue of their own, and the one gate they hold in turn."""

    client: Client
    queue: str
    processes: tuple[int, ...]
    """Ids of the processes; every one of them polls."""

    async def search(self, searches: int) -> WorkflowHandle[Flood, int]:
        """Begin so many searches at once."""
        return await self.client.start_workflow(
            Flood.run, searches, id=f"flood-{self.queue}", task_queue=self.queue
        )

    async def holder(self, alive: Sequence[int] = (), seconds: float = PATIENCE) -> int:
        """The process that holds the gate, once it is one of these (any of the fleet's without them)."""
        deadline = time.monotonic() + seconds
        while True:
            described = await self.client.get_workflow_handle(GATE).describe()
            pending = described.raw_description.pending_activities
            for held in pending:
                identity = held.last_worker_identity.partition("@")[0]
                started = held.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
                if started and identity.isdigit() and int(identity) in (alive or self.processes):
                    return int(identity)
            if time.monotonic() > deadline:
                raise TimeoutError(f"none of {alive} holds the gate: {pending}")
            await asyncio.sleep(0.1)

    async def end(self) -> None:
        """Leave nothing to the next fleet on this server, whatever became of this one."""
        for name in (f"flood-{self.queue}", GATE):
            with suppress(RPCError):  # it has ended, or never began
                await self.client.get_workflow_handle(name).terminate("the fleet is gone")


@asynccontextmanager
async def fleet(
    client: Client, size: int, address: str, ncbi: str, folder: Path, heartbeat: float, *, key: str = ""
) -> AsyncIterator[Fleet]:
    """A fleet of so many processes, once all of them poll. They are killed at the end."""
    queue = f"rates-{uuid.uuid4().hex[:8]}"
    await Fleet(client, queue, ()).end()  # a worker of another test may have left the gate on its own queue
    with started(size, [address, queue, str(heartbeat)], ncbi, folder, key) as processes:
        found = Fleet(client, queue, tuple(process.pid for process in processes))
        try:
            await all_poll(found, processes, folder)
            yield found
        finally:
            await found.end()


@contextmanager
def started(
    size: int, arguments: list[str], ncbi: str, folder: Path, key: str
) -> "Iterator[list[subprocess.Popen[bytes]]]":
    """The processes alone."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name != "NCBI_API_KEY"}
    environment |= {"DETERMINATOR_PUBMED_URL": ncbi, "PYTHONPATH": str(ROOT)}
    if key:
        environment["NCBI_API_KEY"] = key
    command = [sys.executable, "-m", "tests.worker.fleet", *arguments]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(size):
            environment["DETERMINATOR_HOME"] = str(folder / f"home-{number}")
            with (folder / f"worker-{number}.log").open("wb") as log:
                processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=ROOT))
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


async def all_poll(found: Fleet, processes: "list[subprocess.Popen[bytes]]", folder: Path) -> None:
    """Wait until every process polls the general queue: on a busy machine the first may be long before the
    last."""
    request = DescribeTaskQueueRequest(
        namespace=found.client.namespace,
        task_queue=TaskQueue(name=found.queue),
        # The plain mode knows only who polls one of the queue's partitions.
        api_mode=DescribeTaskQueueMode.DESCRIBE_TASK_QUEUE_MODE_ENHANCED,
        task_queue_types=[TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY],
        report_pollers=True,
    )
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = await found.client.workflow_service.describe_task_queue(request)
        kinds = [kind for version in answer.versions_info.values() for kind in version.types_info.values()]
        polling = {poller.identity.partition("@")[0] for kind in kinds for poller in kind.pollers}
        if polling >= {str(process) for process in found.processes}:
            return
        if time.monotonic() > deadline or any(process.poll() is not None for process in processes):
            raise TimeoutError(f"{polling} poll, of {found.processes}; their logs are in {folder}")
        await asyncio.sleep(0.1)


async def work(address: str, queue: str, heartbeat: float) -> None:
    from temporalio.worker import Worker

    from activities.evidence_store import EvidenceStore
    from activities.search_activity import SearchActivities
    from activities.settings import Settings
    from activities.sources.http.client import open_http
    from activities.sources.pubmed import PubMed
    from client.connection import open_client
    from worker.rate_gate_holder import gate_activities, start_gate
    from workflows.rate_gate import GateTerms, RateGate

    settings = Settings()
    client = await open_client({"target_host": address})
    async with open_http(settings) as http:
        sources = {"pubmed": PubMed(settings, http)}
        search = SearchActivities(sources, EvidenceStore.at(settings.evidence_url))
        await start_gate(client, queue, GateTerms(queue=QUEUE, heartbeat_seconds=heartbeat))
        worker = Worker(
            client,
            task_queue=queue,
            workflows=[RateGate, Flood],
            activities=gate_activities(client, http, sources, search),
            graceful_shutdown_timeout=timedelta(seconds=5),
            # a suspended process takes a task with each poll that it had begun, until its heartbeat is missed
            max_concurrent_activity_task_polls=2,
        )
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        async with worker:
            await stop.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("queue")
    parser.add_argument("heartbeat", type=float)
    given = parser.parse_args()
    asyncio.run(work(given.address, given.queue, given.heartbeat))
