"""A worker that succeeds a dead one has its activities retried before their heartbeats time out."""

import asyncio
import os
import socket
import subprocess
import sys
from datetime import timedelta
from uuid import uuid4

import pytest
from temporalio import activity, workflow
from temporalio.api.enums.v1 import EventType, TaskQueueKind
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from tests.workflows.conftest import until
from worker.lost_activities import forget_worker, is_gone, retry_lost_in
from workflows.steps.retry import retry_on_worker_loss

HOST = socket.gethostname()


@workflow.defn
class OneStep:
    """One activity with so many attempts, whose heartbeats are missed only after an hour."""

    @workflow.run
    async def run(self, attempts: int) -> int:
        async def step() -> int:
            found: int = await workflow.execute_activity(
                "step",
                start_to_close_timeout=timedelta(hours=2),
                heartbeat_timeout=timedelta(hours=1),
                retry_policy=RetryPolicy(maximum_attempts=attempts),
            )
            return found

        return await retry_on_worker_loss(step)


def dead_pid() -> int:
    """The pid of a process that has ended."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


@pytest.mark.parametrize(
    "identity",
    [
        f"{os.getpid()}@{HOST}",
        f"1@{HOST}",
        f"{dead_pid()}@another-host",
        "worker of a fleet",
        f"99999999999999999999@{HOST}",
        "",
    ],
    ids=["own", "another user's", "another machine", "no pid", "impossible pid", "empty"],
)
def test_a_process_that_may_be_alive_is_not_gone(identity: str) -> None:
    assert not is_gone(identity)


def test_a_dead_process_of_this_machine_is_gone() -> None:
    assert is_gone(f"{dead_pid()}@{HOST}")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show it")
def test_a_dead_process_that_nobody_reaps_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert is_gone(f"{ended.pid}@{HOST}")


@pytest.mark.invariant
@pytest.mark.parametrize("attempts", [1, 3])
async def test_what_a_dead_worker_executed_is_executed_again_at_once(
    temporal_client: Client, attempts: int
) -> None:
    queue, executions = f"lost-{uuid4().hex[:8]}", 0

    @activity.defn(name="step")
    async def step() -> int:
        nonlocal executions
        executions += 1
        if executions == 1:
            await asyncio.sleep(3600)
        return executions

    worker = Worker(
        temporal_client,
        task_queue=queue,
        workflows=[OneStep],
        activities=[step],
        workflow_runner=UnsandboxedWorkflowRunner(),
        identity=f"{dead_pid()}@{HOST}",
        graceful_shutdown_timeout=timedelta(0),
    )
    async with worker:
        run = await temporal_client.start_workflow(OneStep.run, attempts, id=queue, task_queue=queue)
        await until(lambda: asyncio.sleep(0, executions), lambda count: count == 1)
        assert await retry_lost_in(temporal_client, run.id, run.first_execution_run_id or "") == 1
        assert await asyncio.wait_for(run.result(), 60) == 2


async def test_what_a_living_worker_executes_is_left_alone(temporal_client: Client) -> None:
    queue, started = f"alive-{uuid4().hex[:8]}", asyncio.Event()

    @activity.defn(name="step")
    async def step() -> int:
        started.set()
        await asyncio.sleep(3600)
        return 0

    worker = Worker(
        temporal_client,
        task_queue=queue,
        workflows=[OneStep],
        activities=[step],
        workflow_runner=UnsandboxedWorkflowRunner(),
        graceful_shutdown_timeout=timedelta(0),
    )
    async with worker:
        run = await temporal_client.start_workflow(OneStep.run, 1, id=queue, task_queue=queue)
        await asyncio.wait_for(started.wait(), 60)
        assert await retry_lost_in(temporal_client, run.id, run.first_execution_run_id or "") == 0
        await run.terminate()
        with pytest.raises(WorkflowFailureError):
            await run.result()


@workflow.defn
class TwoSignals:
    """Ends with the second signal."""

    def __init__(self) -> None:
        self.signals = 0

    @workflow.run
    async def run(self) -> int:
        await workflow.wait_condition(lambda: self.signals == 2)
        return self.signals

    @workflow.signal
    def go_on(self) -> None:
        self.signals += 1


async def test_what_follows_is_not_sent_to_the_worker_that_had_the_run_before(
    temporal_client: Client,
) -> None:
    queue = f"forgotten-{uuid4().hex[:8]}"
    run = await temporal_client.start_workflow(TwoSignals.run, id=queue, task_queue=queue)

    async def events(kind: EventType.ValueType) -> list[HistoryEvent]:
        return [event async for event in run.fetch_history_events() if event.event_type == kind]

    async def tasks_done() -> int:
        return len(await events(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED))

    async with Worker(
        temporal_client,
        task_queue=queue,
        workflows=[TwoSignals],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        await until(tasks_done, lambda done: done == 1)
        await run.signal(TwoSignals.go_on)
        await until(tasks_done, lambda done: done == 2)
        await forget_worker(temporal_client, run.id, run.first_execution_run_id or "")
        await run.signal(TwoSignals.go_on)
        assert await asyncio.wait_for(run.result(), 60) == 2
    kinds = [
        event.workflow_task_scheduled_event_attributes.task_queue.kind
        for event in await events(EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED)
    ]
    assert kinds == [
        TaskQueueKind.TASK_QUEUE_KIND_NORMAL,
        TaskQueueKind.TASK_QUEUE_KIND_STICKY,
        TaskQueueKind.TASK_QUEUE_KIND_NORMAL,
    ]
