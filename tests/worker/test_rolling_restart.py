"""A rolling restart: workers end and are replaced one after the other while runs go on."""

import asyncio
import operator
import uuid
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor, Worker

from activities.evidence_store import EvidenceStore
from client.runs.start import start
from tests.conftest import client_of
from tests.workflows.conftest import WORKFLOWS, a_request, until
from tests.workflows.fakes import Fakes
from worker.build import build_worker

RUNS = 12
RESTARTS = 3


class Completions(Interceptor):
    """Counts how often each step of each run completed."""

    def __init__(self) -> None:
        self.of: Counter[tuple[str, str, str]] = Counter()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        counts = self.of

        class Counting(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
                output = await super().execute_activity(input)
                info = activity.info()
                counts[info.workflow_run_id or "", info.activity_id, info.activity_type] += 1
                return output

        return Counting(next)


@pytest.mark.invariant
async def test_a_rolling_restart_of_two_workers_repeats_nothing_and_loses_no_run(
    dev_server: str, temporal_client: Client, tmp_path: Path
) -> None:
    queue = f"rolling-{uuid.uuid4().hex[:8]}"
    fakes, done = Fakes(EvidenceStore.at(str(tmp_path))), Completions()

    async def begin() -> tuple[Worker, asyncio.Task[None]]:
        worker = build_worker(
            await client_of(dev_server),  # as in a process of its own
            queue,
            activities=fakes.activities,
            workflows=WORKFLOWS,
            interceptors=[done],
            max_concurrent_activities=4,
        )
        return worker, asyncio.create_task(worker.run())

    workers = [await begin(), await begin()]
    started = []
    for number in range(RUNS):
        request = a_request("simple").model_copy(
            update={"question": f"Does it help in case {queue} {number}?"}
        )
        started.append((await start(temporal_client, request, queue)).run_id)
    waiting = [asyncio.create_task(temporal_client.get_workflow_handle(run).result()) for run in started]

    async def completed() -> int:
        return done.of.total()

    for wanted in range(RUNS, (RESTARTS + 1) * RUNS, RUNS):  # a run has more steps than there are restarts
        await until(completed, partial(operator.le, wanted))
        worker, running = workers.pop(0)
        workers.append(await begin())  # the new one comes before the old one goes
        await worker.shutdown()
        await running
    assert not all(task.done() for task in waiting)
    outcomes = await asyncio.gather(*waiting)
    for worker, running in workers:
        await worker.shutdown()
        await running
    assert len(outcomes) == RUNS
    repeated = {step: times for step, times in done.of.items() if times > 1}
    assert repeated == {}
    assert sum(times for (_, _, name), times in done.of.items() if name == "publish_report") == RUNS
