"""Continuing as new: nothing that was known, said, decided or waited for is lost; and no decision depends on
the worker's memory."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.contracts.candidates import PART as CANDIDATES
from activities.evidence_store import EvidenceStore
from activities.payloads import DATA_CONVERTER
from tests.workflows.conftest import TEST_SERVER, Run, Stage, a_request, a_worker, until
from tests.workflows.fakes import Fakes
from tests.workflows.histories import id_of
from tests.workflows.script import PROFILE, takes
from workflows.messages import MAX_STEERING
from workflows.rate_gate import HOLD_GATE, GateTerms, RateGate
from workflows.state import MAX_PLAIN_BYTES, RunState
from workflows.types import PlanView

pytestmark = pytest.mark.invariant

DAY = 86_400.0


async def runs_of(stage: Stage, run: Run) -> int:
    """How many runs one workflow id has had."""
    count, run_id = 1, (await run.handle.describe()).raw_description.workflow_execution_info.first_run_id
    run_id = run_id or run.handle.first_execution_run_id or ""
    while True:
        handle = stage.client.get_workflow_handle(run.handle.id, run_id=run_id)
        last = [event async for event in handle.fetch_history_events()][-1]
        continued = last.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
        if not continued:
            return count
        count, run_id = count + 1, continued


async def test_a_loop_that_continues_as_new_ends_as_one_that_does_not(stage: Stage) -> None:
    stage.script.sufficient_at = 5
    whole, whole_report, _ = await stage.play(a_request(), "whole")
    begun = len(stage.fakes.calls)
    parts, report, run = await stage.play(a_request(history_events=50), "parts")
    assert await runs_of(stage, run) >= 3
    # the judge and the look ahead are under way at once, in either order
    assert sorted(c.role for c in stage.fakes.calls[begun:]) == sorted(
        c.role for c in stage.fakes.calls[:begun]
    )
    fields = {"run_id", "report_blob", "markdown_blob", "events"}
    assert parts.model_dump(exclude=fields) == whole.model_dump(exclude=fields)
    assert report.methodology.searches == whole_report.methodology.searches
    assert report.methodology.tokens == whole_report.methodology.tokens
    events = await run.events()
    assert [e.seq for e in events] == list(range(events[0].seq, events[-1].seq + 1))
    assert [e.type for e in events].count("complete") == 1


async def test_a_gate_and_its_time_out_survive_continuing_as_new(stage: Stage) -> None:
    request = a_request(history_events=50, approve=("plan",), approval_timeout_seconds=10 * DAY)
    run = await stage.start(request)
    await run.until(lambda p: p.waiting_for == "plan")
    begun, plan = await stage.env.get_current_time(), await run.ask("plan", PlanView)
    for day in range(1, 8):
        await stage.env.sleep(timedelta(days=1))
        for _ in range(10):
            await run.handle.signal("steer", {"text": f"day {day}"})
    waiting = await run.until(lambda p: p.waiting_for == "plan")
    assert waiting.budget.elapsed_seconds < 60
    assert (len(waiting.steering), waiting.steering[-1]) == (MAX_STEERING, "day 7")
    outcome = await run.outcome()
    assert await runs_of(stage, run) >= 2
    assert outcome.stop_reason == "sufficient_evidence"
    assert (await run.ask("plan", PlanView)).plan == plan.plan
    report = await run.report()
    decided = datetime.fromisoformat(report.methodology.approvals[0].at)
    assert abs((decided - begun).total_seconds() - 10 * DAY) < 120, "the time-out did not begin again"
    assert [d.action for d in report.methodology.approvals] == ["timed_out_approved"]
    assert (await run.budget()).elapsed_seconds < 600
    asked = [e for e in await run.events() if e.type == "awaiting_approval"]
    assert len(asked) <= 1


@pytest.mark.usefixtures("many_works")
async def test_writing_goes_on_where_it_was(stage: Stage) -> None:
    stage.script.sections = 5
    outcome, report, run = await stage.play(a_request("deep", history_events=60))
    assert await runs_of(stage, run) >= 2
    assert sorted(c.step.section for c in stage.fakes.of("writer")) == ["s1", "s2", "s3", "s4", "s5"]
    assert len(stage.fakes.of("editor")) == 1
    assert outcome.stop_reason == "sufficient_evidence"
    assert all(section.claims for section in report.sections)


async def test_candidates_are_named_once_however_often_the_run_continues(live: Stage) -> None:
    live.script.profile = PROFILE.model_copy(update={"name": "drug_repurposing", "candidates": True})
    request = a_request("deep", history_events=60, approve=("candidates",))
    run = await live.start(request, live.queue)
    await run.until(lambda p: p.waiting_for == "candidates")
    for _ in range(40):
        await run.handle.signal("steer", {"text": "wait"})
    await run.until(lambda p: p.waiting_for == "candidates")
    await run.decide("reject", "candidates")
    await run.outcome()
    assert await runs_of(live, run) >= 2
    assert len(live.fakes.of("hypothesis_generator")) == 1
    assert CANDIDATES.of_report(await run.report()) == ()


async def test_a_rate_gate_that_is_given_back_continues_as_new(stage: Stage) -> None:
    """Its holder fails once, then gives it back."""
    held = 0

    @activity.defn(name=HOLD_GATE)
    async def hold(_: GateTerms) -> None:
        nonlocal held
        takes(1)
        held += 1

    async with Worker(stage.client, task_queue="gate", workflows=[RateGate], activities=[hold]):
        gate: WorkflowHandle[Any, Any] = await stage.client.start_workflow(
            RateGate.run, GateTerms(queue="determinator-ncbi"), id=id_of(1, "gate"), task_queue="gate"
        )
        stage.runs.append(gate)
        await until(lambda: stage.env.sleep(1), lambda _: held > 1)
        await stage.client.get_workflow_handle(gate.id).terminate()
    assert await runs_of(stage, Run(gate)) > 1


def test_a_state_that_is_too_large_is_packed_and_comes_back_whole() -> None:
    from activities.contracts.evidence import EvidenceRef

    small = RunState()
    assert small.pack() is small
    state = RunState()
    state.evidence.refs = [
        EvidenceRef(evidence_id=f"pmid:{n}", blob="b" * 90, source="pubmed", title=f"{n} " * 60)
        for n in range(1_000)
    ]
    before = state.model_dump_json()
    carried = state.pack()
    assert len(before) > MAX_PLAIN_BYTES
    assert len(carried.model_dump_json()) < MAX_PLAIN_BYTES
    assert (
        RunState.unpack(RunState.model_validate_json(carried.model_dump_json())).model_dump_json() == before
    )
    assert RunState.unpack(None) == RunState()


async def test_a_worker_without_memory_makes_the_same_run(tmp_path: Path) -> None:
    """With no cache every step of the workflow is a replay of all before it: whatever is not deterministic
    fails here."""
    fakes = Fakes(EvidenceStore.at(str(tmp_path)))
    fakes.script.mode = "deep"
    fakes.script.sufficient_at = fakes.script.sections = 2  # each step is the replay of all before it
    async with (
        await WorkflowEnvironment.start_time_skipping(
            test_server_existing_path=str(TEST_SERVER), data_converter=DATA_CONVERTER
        ) as env,
        a_worker(env.client, fakes, max_cached_workflows=0),
    ):
        outcome, report, run = await Stage(env.client, fakes, env).play(a_request("auto"))
        assert outcome.stop_reason == "sufficient_evidence"
        assert report.references
        assert [e.type for e in await run.events()].count("complete") == 1
