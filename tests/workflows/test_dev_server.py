"""On the real development server: what the one that skips time cannot show."""

import asyncio
import random
from contextlib import suppress
from pathlib import Path

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.service import RPCError

from activities.evidence_store import EvidenceStore
from client.connection import register_attributes
from tests.conftest import client_of, dev_server_of
from tests.workflows.conftest import Run, Stage, a_request, a_worker
from tests.workflows.fakes import Fakes
from workflows.types import PlanView

SECONDS = 40.0


async def test_a_run_goes_on_after_everything_was_killed_while_a_gate_waited(
    temporal_binary: Path, tmp_path: Path
) -> None:
    fakes = Fakes(EvidenceStore.at(str(tmp_path / "evidence")))
    request = a_request("deep", approve=("plan",))
    with dev_server_of(temporal_binary, tmp_path) as address:
        client = await client_of(address)
        async with a_worker(client, fakes):
            run = await Stage(client, fakes).start(request, "killed")
            await run.until(lambda p: p.waiting_for == "plan")
            before = await run.handle.query("plan", result_type=PlanView)
    assert [c.role for c in fakes.calls] == ["query_parser", "planner"]
    with dev_server_of(temporal_binary, tmp_path) as address:
        client = await client_of(address)
        async with a_worker(client, fakes):
            run = Run(client.get_workflow_handle("killed"), store=fakes.store)
            waiting = await run.until(lambda p: p.waiting_for == "plan")
            assert waiting.budget.used.calls == 2
            assert await run.handle.query("plan", result_type=PlanView) == before
            await run.handle.signal("approve", {"gate": "plan", "by": "ann"})
            async with asyncio.timeout(SECONDS):
                await run.handle.result()
            report = await run.report()
    assert report.stop_reason == "sufficient_evidence"
    assert report.methodology.plan_hash == before.plan_hash
    assert [c.role for c in fakes.calls].count("planner") == 1
    assert all(section.claims for section in report.sections)


async def test_a_cancel_at_any_moment_leaves_one_report_and_no_running_section(live: Stage) -> None:
    """Eight cancels, from the first step to the last."""
    live.script.sufficient_at = 2
    draw = random.Random(7)

    async def one(number: int) -> None:
        mode = ("iterative", "deep")[number % 2]
        run = await live.start(a_request(mode), f"{live.queue}-{number}")
        await asyncio.sleep(draw.uniform(0, 1.2))
        with suppress(RPCError):  # it may be over
            await run.handle.cancel()
        cancelled = False
        try:
            await run.outcome()
        except WorkflowFailureError:
            cancelled = True
        described = await run.handle.describe()
        expected = WorkflowExecutionStatus.CANCELED if cancelled else WorkflowExecutionStatus.COMPLETED
        assert described.status == expected, number
        report = await run.report()
        assert (report.stop_reason == "cancelled") == cancelled, number
        assert report.executive_summary
        assert [e.type for e in await run.events()].count("complete") == 1, number
        for section in (await run.progress()).sections:
            if section.workflow_id:
                child = await live.client.get_workflow_handle(section.workflow_id).describe()
                assert child.status != WorkflowExecutionStatus.RUNNING, (number, section.id)
        ends.append(cancelled)

    ends: list[bool] = []
    await asyncio.gather(*(one(number) for number in range(8)))
    assert ends.count(True) > 2


async def test_a_section_that_is_terminated_is_named_and_its_budget_stays_counted(live: Stage) -> None:
    live.script.hangs = "judge"
    run = await live.start(a_request("deep", limits={"max_sections": 3}), f"{live.queue}-ended")
    for section in ("s1", "s2", "s3"):
        await live.child(run, section).until(lambda p: p.phase == "judging")
    live.script.hangs = None
    await live.child(run, "s2").handle.terminate("the machine room is on fire")
    for section in ("s1", "s3"):
        await live.child(run, section).handle.cancel()
    await run.outcome()
    report = await run.report()
    assert {s.id: s.status for s in report.sections} == {"s1": "cancelled", "s2": "failed", "s3": "cancelled"}
    said = next(text for text in report.limitations if "“Section 2”" in text)
    assert "failed" in said
    assert "Terminated" in said
    budget = await run.budget()
    assert budget.reserved_tokens > 0, "what it may have spent stays held"
    assert budget.limits.max_tokens is not None
    assert budget.used.tokens + budget.reserved_tokens <= budget.limits.max_tokens


async def metadata(run: Run) -> WorkflowMetadata:
    """What the Web UI asks a run for, beside its history."""
    found: WorkflowMetadata = await run.handle.query(
        "__temporal_workflow_metadata", result_type=WorkflowMetadata
    )
    return found


async def test_the_web_ui_shows_what_waits_how_far_the_sections_are_and_what_each_message_is_for(
    live: Stage,
) -> None:
    run = await live.start(a_request("deep", approve=("plan",)), f"{live.queue}-details")
    await run.until(lambda p: p.waiting_for == "plan")
    plan = (await run.handle.query("plan", result_type=PlanView)).plan
    assert plan
    waiting = await metadata(run)
    for section in plan.report_outline:
        assert section.title in waiting.current_details
    assert '{"gate": "plan"}' in waiting.current_details
    definition = waiting.definition
    messages = (*definition.signal_definitions, *definition.query_definitions, *definition.update_definitions)
    own = [message for message in messages if not message.name.startswith("__")]
    assert len(own) > 20
    assert [message.name for message in own if not message.description] == []
    await run.handle.signal("approve", {"gate": "plan"})
    await run.outcome()
    shown = (await metadata(run)).current_details
    for section in (await run.progress()).sections:
        assert f"| {section.title} | {section.status} |" in shown


async def test_search_attributes_follow_the_run(live: Stage) -> None:
    assert await register_attributes(live.client)
    request = a_request("deep", indexed=True, approve=("plan",), limits={"max_sections": 1})
    run = await live.start(request, f"{live.queue}-indexed")
    await run.until(lambda p: p.waiting_for == "plan")

    async def attributes() -> dict[str, object]:
        described = await run.handle.describe()
        return {pair.key.name: pair.value for pair in described.typed_search_attributes}

    waiting = await attributes()
    assert waiting["DeterminatorPhase"] == "waiting_for_approval"
    chosen = await run.progress()
    assert (waiting["DeterminatorMode"], waiting["DeterminatorProfile"]) == (chosen.mode, chosen.profile)
    await run.handle.signal("pause")
    await run.until(lambda p: p.paused)
    assert (await attributes())["DeterminatorPhase"] == "paused"
    await run.handle.signal("resume")
    await run.until(lambda p: not p.paused)
    assert (await attributes())["DeterminatorPhase"] == "waiting_for_approval"
    await run.handle.signal("approve", {"gate": "plan"})
    outcome = await run.outcome()
    at_the_end = await attributes()
    assert at_the_end["DeterminatorPhase"] == "done"
    assert at_the_end["DeterminatorStopReason"] == outcome.stop_reason
    assert int(str(at_the_end["DeterminatorIteration"])) >= 1
    assert int(str(at_the_end["DeterminatorTokens"])) > 0
    assert at_the_end["DeterminatorConfidence"] == (await run.report()).confidence
    # each update is an event of a section's history, and lists show the run
    described = await live.child(run, "s1").handle.describe()
    named = {pair.key.name for pair in described.typed_search_attributes}
    assert not {"DeterminatorPhase", "DeterminatorStopReason"} & named


async def test_an_id_without_room_for_those_of_sections_is_refused_at_once(stage: Stage) -> None:
    run = await stage.start(a_request("deep"), "x" * 900)
    with pytest.raises(WorkflowFailureError) as raised:
        await run.outcome()
    assert "at most 400 characters" in str(raised.value.cause)
    assert stage.fakes.calls == []
