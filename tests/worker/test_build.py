"""How workers are built: a bug fails a run, an upgrade does not, versions only where they are asked for."""

import importlib
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from activities.settings import Settings
from tests.workflows.conftest import until
from worker.build import BUGS, build_worker, deployment, research_worker
from worker.resources import LateModel, methods, open_resources
from workflows.modes import workflow_classes


@workflow.defn(name="Changing", sandboxed=False)
class Buggy:
    @workflow.run
    async def run(self, what: str) -> str:
        if what == "bug":
            return {"a": "b"}[what]
        await workflow.sleep(timedelta(milliseconds=1))
        await workflow.execute_activity("nothing", start_to_close_timeout=timedelta(minutes=1))
        return what


@workflow.defn(name="Changing", sandboxed=False)
class Upgraded:
    @workflow.run
    async def run(self, what: str) -> str:
        await workflow.wait_condition(lambda: False)
        return what


CLOCK = """
import time
from temporalio import workflow


@workflow.defn
class Clock:
    @workflow.run
    async def run(self, whose: str) -> float:
        return workflow.time() if whose == "ours" else time.time()
"""


async def test_a_bug_in_workflow_code_fails_the_run_at_once(temporal_client: Client) -> None:
    queue = f"build-{uuid.uuid4()}"
    async with build_worker(temporal_client, queue, workflows=[Buggy]):
        with pytest.raises(WorkflowFailureError) as failed:
            await temporal_client.execute_workflow(
                "Changing", "bug", id=queue, task_queue=queue, execution_timeout=timedelta(minutes=2)
            )
    assert isinstance(failed.value.cause, ApplicationError)
    assert failed.value.cause.type == "KeyError"


async def test_a_mode_of_another_package_that_asks_the_clock_fails_at_once(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs in the sandbox; ours do not."""
    (tmp_path / "a_mode_of_others.py").write_text(CLOCK)
    monkeypatch.syspath_prepend(tmp_path)
    theirs = importlib.import_module("a_mode_of_others").Clock
    queue = f"build-{uuid.uuid4()}"
    async with build_worker(temporal_client, queue, workflows=[theirs]):
        assert await temporal_client.execute_workflow("Clock", "ours", id=queue, task_queue=queue)
        with pytest.raises(WorkflowFailureError) as failed:
            await temporal_client.execute_workflow("Clock", "machine", id=f"{queue}-2", task_queue=queue)
    assert isinstance(failed.value.cause, ApplicationError)
    assert "time.time" in failed.value.cause.message
    ours = [workflow._Definition.must_from_class(cls) for cls in workflow_classes()]  # no public way
    assert not any(mode.sandboxed for mode in ours)


async def test_a_history_that_does_not_fit_leaves_the_run_waiting(temporal_client: Client) -> None:
    queue = f"build-{uuid.uuid4()}"
    async with build_worker(temporal_client, queue, workflows=[Buggy]):
        handle = await temporal_client.start_workflow("Changing", "upgrade", id=queue, task_queue=queue)
        await until(handle.fetch_history, lambda history: len(history.events) >= 10)
    async with build_worker(temporal_client, queue, workflows=[Upgraded]):
        await handle.signal("wake")
        failed = "workflow_task_failed_event_attributes"
        await until(handle.fetch_history, lambda history: any(e.HasField(failed) for e in history.events))
        assert (await handle.describe()).status == WorkflowExecutionStatus.RUNNING
    await handle.terminate()


def test_non_determinism_is_no_bug() -> None:
    assert not issubclass(workflow.NondeterminismError, BUGS)


def test_a_version_is_claimed_only_when_the_deployment_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEMPORAL_DEPLOYMENT_NAME", raising=False)
    monkeypatch.setenv("TEMPORAL_WORKER_BUILD_ID", "b1")
    assert deployment() is None
    monkeypatch.setenv("TEMPORAL_DEPLOYMENT_NAME", "determinator")
    version = deployment()
    assert version is not None
    assert version.use_worker_versioning
    assert (version.version.deployment_name, version.version.build_id) == ("determinator", "b1")


async def test_the_production_worker_registers_every_step(home: Path, temporal_client: Client) -> None:
    async with open_resources(Settings()) as resources:
        worker = research_worker(temporal_client, resources, resources.settings.task_queue)
        assert isinstance(worker, Worker)
        config = worker.config()
        names = {getattr(a, "__temporal_activity_definition").name for a in config["activities"]}
    assert {"observe", "evaluate_gaps", "select_tools", "search_library", "judge_evidence"} <= names
    assert {"prepare", "write_section", "publish_report", "hold_gate"} <= names
    # strictly limited sources are polled only by the process that holds their gate
    assert "search_pubmed" not in names
    assert {w.__name__ for w in config["workflows"]} >= {"AutoResearch", "IterativeResearch", "DeepResearch"}


def test_only_declared_activities_are_registered() -> None:
    assert methods(LateModel) == []
