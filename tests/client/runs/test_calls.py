"""What a run waits for is shown while it waits: each model call with role, age, tokens and attempt."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.contracts.evidence import Usage
from activities.heartbeat import heartbeating
from activities.models.base import Progress as CallProgress
from client.runs.query import ModelCall, call_line, calls_under_way
from tests.client.seen import progress
from tests.workflows.conftest import until


@workflow.defn
class OneCall:
    @workflow.run
    async def run(self) -> None:
        await workflow.execute_activity(
            "judge_evidence",
            start_to_close_timeout=timedelta(hours=1),
            heartbeat_timeout=timedelta(seconds=15),
        )


async def test_a_call_under_way_is_read_from_its_heartbeats(temporal_client: Client) -> None:
    queue, answered = f"calls-{uuid4().hex[:8]}", asyncio.Event()

    @activity.defn(name="judge_evidence")
    async def judge() -> None:
        shown = CallProgress("judge", usage=lambda: Usage(calls=1, output_tokens=340))
        async with heartbeating(shown.details):
            await answered.wait()

    worker = Worker(
        temporal_client,
        task_queue=queue,
        workflows=[OneCall],
        activities=[judge],
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    async with worker:
        run = await temporal_client.start_workflow(OneCall.run, id=queue, task_queue=queue)
        seen = progress(run_id=queue)
        (call,) = await until(lambda: calls_under_way(temporal_client, seen), lambda calls: len(calls) == 1)
        answered.set()
        await run.result()
        assert await calls_under_way(temporal_client, seen) == ()
    assert (call.role, call.tokens, call.attempt, call.waiting) == ("judge", 340, 1, False)
    assert 0 <= call.seconds < 60


async def test_an_unknown_run_has_no_calls(temporal_client: Client) -> None:
    assert await calls_under_way(temporal_client, progress(run_id=f"none-{uuid4().hex}")) == ()


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (ModelCall(role="judge", seconds=12.4, tokens=1340), "judge  12 s  1,340 tokens"),
        (
            ModelCall(role="long_writer", section="s2", seconds=3, attempt=2),
            "long writer [s2]  3 s  attempt 2",
        ),
        (ModelCall(role="judge", seconds=5, waiting=True), "judge  5 s  waits for its turn"),
        (ModelCall(role="library", files_read=1200, files=3000), "indexing 1,200 of 3,000 files"),
    ],
    ids=["tokens", "attempt", "waiting", "files"],
)
def test_a_call_is_one_line(call: ModelCall, line: str) -> None:
    assert call_line(call) == line
