"""Workflows of others hire research: `determinator.temporal`, and the Nexus service of a worker."""

import asyncio
import importlib
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio import workflow
from temporalio.api.nexus.v1 import EndpointSpec, EndpointTarget
from temporalio.api.operatorservice.v1 import CreateNexusEndpointRequest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

import determinator
from activities.evidence_store import EvidenceStore
from determinator import temporal
from tests.workflows.conftest import QUEUE, Stage, a_worker, until
from tests.workflows.fakes import Fakes
from tests.workflows.script import failing
from worker.build import ResearchHandler
from workflows.types import DEFAULT_TASK_QUEUE

EXAMPLES = Path(__file__).parents[2] / "examples"
THEIRS = "theirs"


@workflow.defn
class Hirer:
    """Hires a run for each question under one budget, and says what is left of it."""

    @workflow.run
    async def run(
        self, questions: list[str], mode: str, tokens: int, each: int, queue: str, endpoint: str
    ) -> dict[str, Any]:
        budget = temporal.Budget(limits=temporal.Limits(max_tokens=tokens))
        requests = [
            temporal.ResearchRequest.model_validate(
                {"question": question, "mode": mode, "limits": {"max_tokens": each}}
            )
            for question in questions
        ]
        hired = (
            temporal.research_child(
                request, budget, name=f"hired-{place}", task_queue=queue, endpoint=endpoint
            )
            for place, request in enumerate(requests)
        )
        ended = await asyncio.gather(*hired, return_exceptions=True)
        for ending in ended:
            if isinstance(ending, asyncio.CancelledError):
                raise ending
        return {
            "titles": [ending.title for ending in ended if not isinstance(ending, BaseException)],
            "used": budget.used.tokens,
            "left": budget.free("tokens"),
        }


async def hire(client: Client, *args: Any) -> dict[str, Any]:
    async with Worker(
        client, task_queue=THEIRS, workflows=[Hirer], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        answer: dict[str, Any] = await client.execute_workflow(
            Hirer.run, args=args, id=f"hirer-{uuid4().hex[:8]}", task_queue=THEIRS
        )
        return answer


def test_the_types_are_imported_by_either_name() -> None:
    module = importlib.import_module("determinator.temporal")
    assert module.research_child is temporal.research_child
    assert determinator.temporal is temporal
    assert set(temporal.__all__) <= set(vars(temporal))


async def test_questions_wait_for_what_others_leave_and_never_exceed_the_budget(stage: Stage) -> None:
    """Room for two at a time: the third begins when one has given back what it did not use."""
    stage.script.sufficient_at = None
    at_once: list[int] = []
    open_runs: set[str] = set()

    def begins(step: Any) -> None:
        open_runs.add(step.run_id)
        at_once.append(len(open_runs))

    stage.script.always["judge"] = begins
    stage.script.publish = lambda step: open_runs.discard(step.run_id)
    answer = await hire(
        stage.client, [f"question {n}?" for n in range(5)], "simple", 60_000, 25_000, QUEUE, ""
    )
    assert len(answer["titles"]) == 5
    assert max(at_once) == 2
    paid = sum(call.usage.tokens for call in stage.fakes.calls)
    assert 0 < paid == answer["used"] == 60_000 - answer["left"]


async def test_a_run_without_an_account_is_charged_its_whole_lease(stage: Stage) -> None:
    stage.script.publish = failing(ApplicationError("no disk", non_retryable=True))
    answer = await hire(stage.client, ["question one?"], "simple", 60_000, 25_000, QUEUE, "")
    assert answer == {"titles": [], "used": 25_000, "left": 35_000}


async def test_the_example_hires_from_a_sandbox_with_another_data_converter(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    survey = importlib.import_module("survey").Survey
    theirs = await Client.connect(temporal_client.service_client.config.target_host)
    fakes = Fakes(EvidenceStore.at(str(tmp_path / "evidence")))
    async with (
        a_worker(temporal_client, fakes, DEFAULT_TASK_QUEUE),
        Worker(theirs, task_queue=THEIRS, workflows=[survey]),
    ):
        questions = ["question one?", "question two?"]
        answer = await theirs.execute_workflow(
            survey.run, args=[questions, 50_000], id=f"survey-{uuid4().hex[:8]}", task_queue=THEIRS
        )
    assert len(answer["answers"]) == len(questions)
    assert answer["tokens"] == sum(call.usage.tokens for call in fakes.calls)


async def test_a_nexus_operation_is_one_run_that_is_cancelled_with_it(
    temporal_client: Client, tmp_path: Path
) -> None:
    queue = f"nexus-{uuid4().hex[:8]}"
    target = EndpointTarget(
        worker=EndpointTarget.Worker(namespace=temporal_client.namespace, task_queue=queue)
    )
    await temporal_client.operator_service.create_nexus_endpoint(
        CreateNexusEndpointRequest(spec=EndpointSpec(name=queue, target=target))
    )
    fakes = Fakes(EvidenceStore.at(str(tmp_path / "evidence")))
    async with a_worker(temporal_client, fakes, queue, nexus_service_handlers=[ResearchHandler()]):
        answer = await hire(temporal_client, ["question one?"], "auto", 60_000, 25_000, "", queue)
        assert answer["titles"] == ["question one?"]
        assert answer["used"] == sum(call.usage.tokens for call in fakes.calls)
        assert {step.run_id[:6] for step in fakes.published} == {"hired-"}
        waits = asyncio.Event()

        fakes.script.holds["judge"] = lambda _: waits.wait()
        async with Worker(
            temporal_client, task_queue=THEIRS, workflows=[Hirer], workflow_runner=UnsandboxedWorkflowRunner()
        ):
            handle = await temporal_client.start_workflow(
                Hirer.run,
                args=[["question two?"], "simple", 60_000, 25_000, "", queue],
                id=queue,
                task_queue=THEIRS,
            )

            async def judging() -> bool:
                return "judge" in fakes.attempts[4:]

            await until(judging, bool)
            await handle.cancel()
            with pytest.raises(WorkflowFailureError):
                await handle.result()
        assert fakes.published[-1].stop_reason == "cancelled"
