"""Hooks see every search and model call, may stop one, and never break a run by failing themselves."""

from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, cast
from uuid import uuid4

import pytest
import structlog
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    UnsandboxedWorkflowRunner,
    Worker,
)

from activities.contracts.errors import ModelRefused, to_application_error
from activities.contracts.evidence import Query, Usage
from activities.contracts.judge import JudgeAssessment, JudgeInput
from activities.contracts.search import Hits, HitsOfAll, SearchTask, SearchTasks
from activities.contracts.step import StepAnswer
from activities.hooks import Call, CallOutcome, Hook, HookError, HookInterceptor, LogHook, Veto, load_hooks
from activities.profiles.loader import load_profile
from activities.settings import Settings

SEARCH = SearchTask(run_id="ask-1", source="stub", query=Query(text="metformin"))
JUDGE = JudgeInput(
    run_id="ask-1", question="Does it work?", profile=load_profile("general"), iteration=1, evidence=()
)
PAID = Usage(calls=1, input_tokens=90, output_tokens=10, cost_microusd=7)
done: list[str] = []


@activity.defn(name="search_stub")
async def search_stub(task: SearchTask) -> Hits:
    done.append(task.source)
    return Hits(source=task.source, query=task.query.text, status="empty")


@activity.defn
async def judge_evidence(step: JudgeInput) -> StepAnswer[JudgeAssessment]:
    if step.question == "fail":
        raise to_application_error(ModelRefused("no", usage=PAID))
    return StepAnswer(output=JudgeAssessment(), usage=PAID, model="m")


@activity.defn
async def bookkeeping(text: str) -> str:
    return text


@workflow.defn
class Steps:
    """Runs one search, one model call and one step that is neither."""

    @workflow.run
    async def run(self, question: str) -> list[str]:
        once = RetryPolicy(maximum_attempts=1)
        limit = timedelta(seconds=20)
        said: list[str] = []
        for name, argument in (
            ("search_stub", SEARCH),
            ("judge_evidence", JUDGE.model_copy(update={"question": question})),
            ("bookkeeping", "x"),
        ):
            try:
                await workflow.execute_activity(
                    name, argument, start_to_close_timeout=limit, retry_policy=once
                )
                said.append("")
            except ActivityError as error:
                said.append(str(error.cause))
        return said


class Recorder:
    """Remembers what it saw."""

    def __init__(self, name: str = "", log: list[str] | None = None) -> None:
        self.name = name
        self.log = [] if log is None else log
        self.calls: list[Call] = []
        self.outcomes: list[CallOutcome] = []

    async def before(self, call: Call) -> None:
        self.calls.append(call)
        self.log.append(f"before {self.name}")

    async def after(self, call: Call, outcome: CallOutcome) -> None:
        self.outcomes.append(outcome)
        self.log.append(f"after {self.name}")


class Broken:
    async def before(self, call: Call) -> None:
        raise RuntimeError("hook bug")

    async def after(self, call: Call, outcome: CallOutcome) -> None:
        raise RuntimeError("hook bug")


class Ending:
    """Raises what ends an event loop."""

    async def before(self, call: Call) -> None:
        raise KeyboardInterrupt

    async def after(self, call: Call, outcome: CallOutcome) -> None:
        raise SystemExit(3)


class NoSearches:
    async def before(self, call: Call) -> None:
        if call.kind == "search":
            raise Veto("searches are off today")


Run = Callable[..., Coroutine[Any, Any, list[str]]]


@pytest.fixture
def run(temporal_client: Client) -> Run:
    async def go(*hooks: Hook, question: str = "Does it work?") -> list[str]:
        done.clear()
        queue = f"hooks-{uuid4()}"
        async with Worker(
            temporal_client,
            task_queue=queue,
            workflows=[Steps],
            activities=[search_stub, judge_evidence, bookkeeping],
            interceptors=[HookInterceptor(hooks)],
            workflow_runner=UnsandboxedWorkflowRunner(),
            workflow_failure_exception_types=[Exception],
        ):
            return await temporal_client.execute_workflow(Steps.run, question, id=queue, task_queue=queue)

    return go


async def test_a_hook_sees_each_search_and_model_call_and_nothing_else(run: Run) -> None:
    hook = Recorder()
    assert await run(hook) == ["", "", ""]
    assert [(c.kind, c.name, c.run_id, c.attempt) for c in hook.calls] == [
        ("search", "search_stub", "ask-1", 1),
        ("model", "judge_evidence", "ask-1", 1),
    ]
    search, judge = hook.outcomes
    assert (search.status, search.error) == ("empty", "")
    assert (judge.model, judge.usage) == ("m", PAID)
    assert isinstance(judge.output, StepAnswer)


async def test_a_veto_stops_the_call_and_a_broken_hook_breaks_nothing(run: Run) -> None:
    said = await run(NoSearches())
    assert "searches are off today" in said[0]
    assert said[1:] == ["", ""]
    assert done == []
    hook = Recorder()
    assert await run(Broken(), Ending(), hook) == ["", "", ""]
    assert len(hook.outcomes) == 2


async def test_the_default_hook_logs_one_line_a_call_with_the_runs_id(run: Run) -> None:
    with structlog.testing.capture_logs() as logged:
        await run(LogHook(), question="fail")
    lines = [entry for entry in logged if entry["event"] in ("search_done", "model_done", "call_failed")]
    assert [(e["event"], e["run_id"]) for e in lines] == [("search_done", "ask-1"), ("call_failed", "ask-1")]


def test_a_hook_is_named_in_the_settings() -> None:
    here = "tests.activities.test_hooks"
    named = Settings(hooks=[f"{here}:Recorder", f"{here}:NoSearches"])
    assert [type(h).__name__ for h in load_hooks(named)] == ["LogHook", "Recorder", "NoSearches"]


@pytest.mark.parametrize(
    "name", ["nowhere:x", "tests.activities.test_hooks:missing", "json:dumps", "json", ""]
)
def test_a_hook_that_cannot_be_loaded_is_named(name: str) -> None:
    with pytest.raises(HookError, match="hook"):
        load_hooks(Settings(hooks=[name]))


async def test_each_search_of_one_step_is_seen() -> None:
    """Searches of a library are one step; a hook sees them one by one, as if each were a step of its own."""
    searches = tuple(SEARCH.model_copy(update={"query": Query(text=text)}) for text in ("one", "two"))

    class Inner(ActivityInboundInterceptor):
        async def execute_activity(self, input: ExecuteActivityInput) -> HitsOfAll:  # noqa: A002 - the SDK's
            found = [await search_stub(task) for task in input.args[0].tasks]
            return HitsOfAll(answers=tuple(found))

    recorder = Recorder()
    inbound = HookInterceptor([recorder]).intercept_activity(Inner(cast(ActivityInboundInterceptor, None)))
    step = SearchTasks(run_id="ask-1", tasks=searches)
    await ActivityEnvironment().run(
        inbound.execute_activity, ExecuteActivityInput(fn=search_stub, args=[step], executor=None, headers={})
    )
    assert [(call.kind, call.name, call.step) for call in recorder.calls] == [
        ("search", "search_stub", search) for search in searches
    ]
    seen = [cast(Hits, outcome.output).query for outcome in recorder.outcomes]
    assert seen == ["one", "two"]
