"""A run whose workflow task fails again and again is named with the reason, and ended with a report."""

import asyncio
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import TerminatedError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.evidence_store import EvidenceStore
from activities.settings import Settings
from client.connection import Connection
from client.run import Run
from client.runs.display import Display
from client.runs.stuck import Standstill, find_standstill
from tests.workflows.conftest import WORKFLOWS, Stage, a_request
from tests.workflows.fakes import Fakes
from worker.build import BUGS
from worker.daemon import end_stuck_runs
from workflows.handlers import ResearchHandlers
from workflows.messages import Declaration
from workflows.steps.judging import JudgeSteps
from workflows.types import Outcome

TASK_TIMEOUT = timedelta(seconds=3)
"""A worker says only once that a task failed: the next attempt begins when the last has timed out."""


@workflow.defn(name="StandsStill", sandboxed=False)
class StandsStill:
    @workflow.run
    async def run(self, fails: bool) -> None:
        if fails:
            raise BufferError("a number that no attribute holds")
        await workflow.wait_condition(lambda: False)


async def stands_still(client: Client, run_id: str) -> Standstill:
    """How a run stands still, once it does."""
    for _ in range(240):
        if still := await find_standstill(client, run_id):
            return still
        await asyncio.sleep(0.25)
    raise AssertionError("it goes on")


async def test_a_run_that_cannot_go_on_is_named_with_the_reason(temporal_client: Client) -> None:
    queue = f"stuck-{uuid.uuid4().hex[:8]}"
    runner = UnsandboxedWorkflowRunner()
    async with Worker(temporal_client, task_queue=queue, workflows=[StandsStill], workflow_runner=runner):
        for name, fails in ((f"{queue}-a", True), (f"{queue}-b", False)):
            await temporal_client.start_workflow(
                StandsStill.run, fails, id=name, task_queue=queue, task_timeout=TASK_TIMEOUT
            )
        still = await stands_still(temporal_client, f"{queue}-a")
        assert "cannot be decided (a number that no attribute holds)" in still.line
        assert await find_standstill(temporal_client, f"{queue}-b") is None
        assert await find_standstill(temporal_client, "no-such-run") is None
        ending = asyncio.create_task(end_stuck_runs(temporal_client, every=0.5, patience=3.0))
        # nothing of it can be executed: asked for a report, it stands still again
        with pytest.raises(WorkflowFailureError) as ended:
            await temporal_client.get_workflow_handle(f"{queue}-a").result()
        assert isinstance(ended.value.cause, TerminatedError)
        ending.cancel()
        await temporal_client.get_workflow_handle(f"{queue}-b").terminate()


def a_worker_of(stage: Stage) -> Worker:
    """As the product's: what is no bug of a known kind is tried again."""
    return Worker(
        stage.client,
        task_queue=stage.queue,
        workflows=WORKFLOWS,
        activities=stage.fakes.activities,
        workflow_runner=UnsandboxedWorkflowRunner(),
        workflow_failure_exception_types=BUGS,
    )


async def ended_or_terminated(handle: WorkflowHandle[Any, Outcome]) -> Outcome | None:
    """The outcome of the newest execution of a run; None for one that was terminated for another one."""
    try:
        return await handle.result()
    except WorkflowFailureError:
        return None


@pytest.mark.parametrize("mode", ["iterative", "deep"])
async def test_a_run_that_cannot_go_on_ends_with_a_report_of_what_it_had(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    judge = JudgeSteps.judge

    async def breaks(self: JudgeSteps) -> None:
        if self.context.state.loop.iteration == 2 or mode == "deep":
            raise BufferError("a number that no attribute holds")
        await judge(self)

    monkeypatch.setattr(JudgeSteps, "judge", breaks)
    fakes = Fakes(EvidenceStore.at(str(tmp_path / "evidence")))
    fakes.script.sufficient_at = 3
    stage = Stage(temporal_client, fakes, queue=f"stuck-{uuid.uuid4().hex[:8]}")
    async with a_worker_of(stage):
        ending = asyncio.create_task(end_stuck_runs(temporal_client, every=0.5, patience=3.0))
        begun = await stage.start(a_request(mode), stage.queue, task_timeout=TASK_TIMEOUT)
        settings = Settings(home=tmp_path, store_url=str(tmp_path / "evidence"))
        run = Run(settings, Connection(temporal_client, embedded=False, address=""), begun.handle.id)
        outcome = (await run.follow(Display())).outcome
        ending.cancel()
        assert outcome is not None
        assert outcome.stop_reason == "cannot_continue"
        report = await run.draft()
        assert any(
            statement.values.get("stop_reason") == "cannot_continue" for statement in report.statements
        )
        assert report.methodology.searches
        assert [event.type async for event in run.events(follow=False)].count("complete") == 1


# three tries within seconds each: on a machine that is busy the last one is over before the report is there
@pytest.mark.chaos
# of a task that fails, the SDK leaves the coroutines of its other signals behind
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_message_that_stops_a_run_is_left_out_of_its_end(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = ResearchHandlers._read_signal

    def breaks(self: ResearchHandlers, signal: Declaration, *rest: Any) -> Any:
        if signal.name == "steer":
            raise BufferError("a text that nothing can read")
        return read(self, signal, *rest)

    monkeypatch.setattr(ResearchHandlers, "_read_signal", breaks)
    fakes = Fakes(EvidenceStore.at(str(tmp_path / "evidence")))
    fakes.script.hangs = "judge"
    stage = Stage(temporal_client, fakes, queue=f"stuck-{uuid.uuid4().hex[:8]}")
    async with a_worker_of(stage):
        ending = asyncio.create_task(end_stuck_runs(temporal_client, every=0.5, patience=3.0))
        run = await stage.start(a_request(), stage.queue, task_timeout=TASK_TIMEOUT)
        await run.until(lambda p: p.phase == "judging")
        await run.handle.signal("steer", {"text": "only adults"})
        handle = temporal_client.get_workflow_handle(run.handle.id, result_type=Outcome)
        outcomes = [await ended_or_terminated(handle) for _ in range(3)]
        ending.cancel()
        assert outcomes[-1] is not None
        assert outcomes[-1].stop_reason == "cannot_continue"


async def test_a_run_that_is_given_up_asks_no_model_more(stage: Stage) -> None:
    run = await stage.judging(a_request())
    await stage.env.sleep(1)
    asked = len(stage.fakes.paid())
    await run.handle.signal("give_up", {"reason": "a number that no attribute holds"})
    assert (await run.outcome()).stop_reason == "cannot_continue"
    assert len(stage.fakes.paid()) <= asked + 1, "the call that was under way"
    assert "a number that no attribute holds" in [event.message for event in await run.events()][-3:][0]
