"""A fleet of real worker processes in front of a local NCBI, for the rate tests and `benchmarks/rates.py`.

Every process runs what a worker runs for PubMed: the registry, HTTP with its gate, the search activities and
`hold_gate`. Run as a program this file is one such process.
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from temporalio import workflow
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from activities.steps import Hits, SearchTask
    from activities.types import Query
    from tests.replay import Asked, ReplayServer, Reply

ROOT = Path(__file__).parents[2]
QUEUE = "determinator-ncbi"
GENERAL = "rates"
GATE = "determinator-gate-ncbi"
NOTHING_FOUND = '{"header":{},"esearchresult":{"count":"0","idlist":[],"translationset":[]}}'


@workflow.defn
class Flood:
    """Many searches at once, as the sections of many runs make them."""

    @workflow.run
    async def run(self, searches: int) -> int:
        tasks = [
            workflow.execute_activity(
                "search_pubmed",
                SearchTask(run_id="flood", source="pubmed", query=Query(text=f"question {number}")),
                result_type=Hits,
                task_queue=QUEUE,
                start_to_close_timeout=timedelta(seconds=60),
                heartbeat_timeout=timedelta(seconds=6),
                retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=200)),
            )
            for number in range(searches)
        ]
        return len([await task for task in tasks])


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


@contextmanager
def fleet(size: int, address: str, ncbi: str, folder: Path, heartbeat: float) -> Iterator[list[int]]:
    """So many worker processes; yields their ids. They are killed at the end."""
    processes = []
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for number in range(size):
            environment = {
                **{name: value for name, value in os.environ.items() if name != "NCBI_API_KEY"},
                "DETERMINATOR_HOME": str(folder / f"home-{number}"),
                "DETERMINATOR_PUBMED_URL": ncbi,
                "PYTHONPATH": str(ROOT),
            }
            command = [sys.executable, "-m", "tests.worker.fleet", address, str(heartbeat)]
            with (folder / f"worker-{number}.log").open("wb") as log:
                processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=ROOT))
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


async def holder(client: Client, alive: Sequence[int], seconds: float = 60) -> int:
    """The process that holds the gate, once it is one of these."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        described = await client.get_workflow_handle(GATE).describe()
        for pending in described.raw_description.pending_activities:
            identity = pending.last_worker_identity.partition("@")[0]
            started = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
            if started and identity.isdigit() and int(identity) in alive:
                return int(identity)
        await asyncio.sleep(0.1)
    raise TimeoutError("nobody holds the gate")


async def end_gate(client: Client) -> None:
    """Leave no gate of one fleet to the next."""
    await client.get_workflow_handle(GATE).terminate("the fleet is gone")


async def work(address: str, heartbeat: float) -> None:
    from temporalio.worker import Worker

    from activities.evidence import EvidenceStore
    from activities.search import SearchActivities
    from activities.settings import Settings
    from activities.sources.http import open_http
    from activities.sources.pubmed import build
    from client.connect import open_client
    from worker.gate import gate_activities, start_gate
    from workflows.rate_gate import GateTerms, RateGate

    settings = Settings()
    client = await open_client({"target_host": address})
    async with open_http(settings) as http:
        sources = {"pubmed": build(settings, http)}
        search = SearchActivities(sources, EvidenceStore.at(settings.evidence_url))
        await start_gate(client, GENERAL, GateTerms(queue=QUEUE, heartbeat_seconds=heartbeat))
        worker = Worker(
            client,
            task_queue=GENERAL,
            workflows=[RateGate, Flood],
            activities=gate_activities(client, http, sources, search),
            graceful_shutdown_timeout=timedelta(seconds=5),
        )
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        async with worker:
            await stop.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("heartbeat", type=float)
    given = parser.parse_args()
    asyncio.run(work(given.address, given.heartbeat))
