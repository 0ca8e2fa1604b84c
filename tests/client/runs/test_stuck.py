"""A run whose workflow task fails again and again is named, with the reason."""

import asyncio
import uuid

from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from client.runs.stuck import stuck


@workflow.defn(name="StandsStill", sandboxed=False)
class StandsStill:
    @workflow.run
    async def run(self, fails: bool) -> None:
        if fails:
            raise BufferError("a number that no attribute holds")
        await workflow.wait_condition(lambda: False)


async def test_a_run_that_cannot_go_on_is_named_with_the_reason(temporal_client: Client) -> None:
    queue = f"stuck-{uuid.uuid4().hex[:8]}"
    runner = UnsandboxedWorkflowRunner()
    async with Worker(temporal_client, task_queue=queue, workflows=[StandsStill], workflow_runner=runner):
        for name, fails in ((f"{queue}-a", True), (f"{queue}-b", False)):
            await temporal_client.start_workflow(StandsStill.run, fails, id=name, task_queue=queue)
        for _ in range(120):
            if why := await stuck(temporal_client, f"{queue}-a"):
                break
            await asyncio.sleep(0.5)
        assert "cannot be decided (a number that no attribute holds)" in why
        assert await stuck(temporal_client, f"{queue}-b") == ""
        assert await stuck(temporal_client, "no-such-run") == ""
        for name in ("a", "b"):
            await temporal_client.get_workflow_handle(f"{queue}-{name}").terminate()
