"""A stage for workflow tests: a real Temporal test server that skips time, a real worker that executes
workflows as the product's does, and scripted activities."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import pytest
from temporalio.api.testservice.v1 import LockTimeSkippingRequest, UnlockTimeSkippingRequest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.evidence_store import EvidenceStore
from activities.payloads import DATA_CONVERTER
from activities.report.schema import Report
from tests.workflows.fakes import Fakes
from tests.workflows.histories import id_of, record
from tests.workflows.script import Script, takes
from workflows.amounts import Limits
from workflows.event_types import AgentEvent
from workflows.modes import WORKFLOW_OF_MODE, workflow_classes
from workflows.rate_gate import RateGate
from workflows.refresh import RefreshReport
from workflows.review.workflow import SystematicReview
from workflows.types import BudgetStatus, ItemsAfter, Outcome, Progress, ReportView, ResearchRequest

TEST_SERVER = Path(sys.executable).parent / "temporal-test-server"
QUEUE = "stage"
SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 0.32
"""Real seconds between two questions."""
PATIENCE = 60.0
"""Real seconds until a test that waits for something gives up."""
LOST = 8.0
"""Real seconds after which a query or a result is asked for again: the server that skips time forgets one
that meets the end of a run of the workflow."""
T = TypeVar("T")
QUESTION = "Does metformin lower mortality in people with diabetes?"
WORKFLOWS = [*workflow_classes(), RateGate, RefreshReport, SystematicReview]


def a_request(mode: str = "iterative", limits: dict[str, Any] | None = None, **more: Any) -> ResearchRequest:
    """A request with the defaults of the command line."""
    return ResearchRequest.model_validate(
        {"question": QUESTION, "mode": mode, "limits": Limits.model_validate(limits or {}), **more}
    )


@dataclass
class Run:
    """A run on the stage."""

    handle: WorkflowHandle[Any, Outcome]
    latest: WorkflowHandle[Any, Outcome] | None = None
    """Of the last run of the workflow, where the other is of the first."""
    store: EvidenceStore | None = None

    async def outcome(self) -> Outcome:
        """Its result; while this waits, time is skipped. Where that of the first run is lost (see `LOST`), it
        is that of the last run once this is over."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOST):
                    return await self.handle.result()
            if self.latest and (await self.latest.describe()).close_time:
                return await self.latest.result()

    async def ask(self, query: str, kind: type[T], argument: Any = None) -> T:
        """The answer to a query, asked again when it is lost (see `LOST`)."""
        arguments = [] if argument is None else [argument]
        async with asyncio.timeout(PATIENCE):
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOST):
                        answer: T = await self.handle.query(query, args=arguments, result_type=kind)
                        return answer

    async def progress(self) -> Progress:
        return await self.ask("progress", Progress)

    async def budget(self) -> BudgetStatus:
        return await self.ask("budget", BudgetStatus)

    async def events(self, after: int = 0) -> list[AgentEvent]:
        return await self.ask("events", list[AgentEvent], ItemsAfter(after=after))

    async def report(self) -> Report:
        view = await self.ask("report", ReportView)
        assert self.store is not None
        return Report.model_validate_json(await self.store.get_bytes(view.blob))

    async def decide(self, signal: str, gate: str) -> None:
        """Approve or reject until it no longer waits: the server that skips time may lose a signal that meets
        the moment in which the workflow continues as new, which the real server refuses in that moment."""

        async def decided() -> Progress:
            await self.handle.signal(signal, {"gate": gate})
            await asyncio.sleep(0.2)
            return await self.progress()

        await until(decided, lambda progress: progress.waiting_for != gate)

    async def resume(self) -> None:
        """Resume it until it is no longer paused (see `decide`)."""

        async def resumed() -> Progress:
            await self.handle.signal("resume")
            return await self.progress()

        await until(resumed, lambda progress: not progress.paused)

    async def until(self, met: Callable[[Progress], bool]) -> Progress:
        """Wait, in real time, until its progress meets a condition."""
        answer: Progress = await until(self.progress, met)
        return answer


async def until(ask: Callable[[], Any], met: Callable[[Any], bool], patience: float = PATIENCE) -> Any:
    """Ask until the answer meets a condition, more and more seldom: each answer costs the worker as much as a
    step. A workflow that is not there yet is asked again."""
    pause = SHORTEST_PAUSE
    async with asyncio.timeout(patience):
        while True:
            with suppress(RPCError, TimeoutError):
                async with asyncio.timeout(LOST):
                    answer = await ask()
                if met(answer):
                    return answer
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


def limitations(report: Report) -> list[str]:
    """The codes of a report's limitations."""
    return [statement.code for statement in report.statements]


def said_of_steps(report: Report, code: str) -> list[str]:
    """The steps that limitations with a code are about."""
    return [statement.text("step") for statement in report.statements if statement.code == code]


@dataclass
class Stage:
    """Where a test's runs are executed."""

    client: Client
    fakes: Fakes
    skipping: WorkflowEnvironment | None = None
    """Where time is skipped; None on the real server."""
    queue: str = QUEUE
    runs: list[WorkflowHandle[Any, Outcome]] = field(default_factory=list)
    """Those that were started, in order."""

    @property
    def env(self) -> WorkflowEnvironment:
        assert self.skipping is not None
        return self.skipping

    @property
    def script(self) -> Script:
        return self.fakes.script

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Skip no time meanwhile: a run that is paused has no timer, so that ten years would pass, its limit,
        before it is resumed."""
        service = self.env.client.test_service
        await service.lock_time_skipping(LockTimeSkippingRequest())
        try:
            yield
        finally:
            await service.unlock_time_skipping(UnlockTimeSkippingRequest())

    async def start(
        self,
        request: ResearchRequest,
        name: str = "",
        mode: str = "",
        task_timeout: timedelta | None = None,
    ) -> Run:
        handle: WorkflowHandle[Any, Outcome] = await self.client.start_workflow(
            WORKFLOW_OF_MODE[mode or request.mode],
            request,
            id=id_of(len(self.runs) + 1, name),
            task_queue=self.queue,
            result_type=Outcome,
            task_timeout=task_timeout,
        )
        self.runs.append(handle)
        return Run(handle, self.client.get_workflow_handle(handle.id, result_type=Outcome), self.fakes.store)

    async def play(self, request: ResearchRequest, name: str = "") -> tuple[Outcome, Report, Run]:
        """A run from its start to its report."""
        run = await self.start(request, name)
        outcome = await run.outcome()
        return outcome, await run.report(), run

    async def judging(self, request: ResearchRequest, seconds: float = 30.0) -> Run:
        """A run at its judge, which takes so long each time."""
        self.script.before["judge"] = lambda _: takes(seconds)
        run = await self.start(request)
        await run.until(lambda p: p.phase == "judging")
        return run

    async def cancelled(self, run: Run) -> Report:
        """The report that a run leaves which is cancelled."""
        await self.cancel(run)
        with pytest.raises(WorkflowFailureError):
            await run.outcome()
        return await run.report()

    async def cancel(self, run: Run) -> None:
        """Cancel a run when what its fakes have begun is recorded: its server loses a cancel that meets the
        end of a first attempt, and a step that the fakes have answered may not have reached the run. While a
        step is under way no time is skipped."""
        await self.env.sleep(1)
        await run.handle.cancel()

    def child(self, run: Run, section: str) -> Run:
        """A section of a deep run."""
        return Run(
            self.client.get_workflow_handle(f"{run.handle.id}/{section}", result_type=Outcome),
            store=self.fakes.store,
        )


@pytest.fixture
async def live(temporal_client: Client, tmp_path: Path) -> AsyncIterator[Stage]:
    """A stage whose server is the real one, which loses nothing. It is shared, so names of runs begin with
    the queue."""
    fakes = Fakes(EvidenceStore.at(str(tmp_path / "evidence")))
    queue = f"live-{uuid4().hex[:8]}"
    async with a_worker(temporal_client, fakes, queue):
        stage = Stage(temporal_client, fakes, queue=queue)
        yield stage
        await record(stage.client, stage.runs)


def a_worker(client: Client, fakes: Fakes, queue: str = QUEUE, **more: Any) -> Worker:
    """As `worker.build` makes it, but any exception in a workflow ends the run: none hides in retries.
    The SDK's deadlock detection waits longer: on a busy machine a task may wait 2 s for a core."""
    worker = Worker(
        client,
        task_queue=queue,
        workflows=WORKFLOWS,
        workflow_failure_exception_types=[Exception],
        build_id="stage",
        **{"activities": fakes.activities, "workflow_runner": UnsandboxedWorkflowRunner(), **more},
    )
    if worker._workflow_worker is not None:
        worker._workflow_worker._deadlock_timeout_seconds = int(PATIENCE)
    return worker


@asynccontextmanager
async def a_stage(store: Path) -> AsyncIterator[Stage]:
    fakes = Fakes(EvidenceStore.at(str(store)))
    async with (
        await WorkflowEnvironment.start_time_skipping(
            test_server_existing_path=str(TEST_SERVER), data_converter=DATA_CONVERTER
        ) as env,
        a_worker(env.client, fakes),
    ):
        stage = Stage(env.client, fakes, env)
        yield stage
        await record(stage.client, stage.runs)


@pytest.fixture
def many_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the works of a run count as too many for one call to write all sections."""
    monkeypatch.setattr("workflows.sections.drafting.MAX_FOR_ONE_CALL", 0)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """A stage of the test's own."""
    async with a_stage(tmp_path / "evidence") as stage:
        yield stage
