"""A deep run: the plan that was approved or edited is the plan that runs."""

from datetime import timedelta

import pytest
from temporalio.client import WorkflowUpdateFailedError

from activities.contracts.plan import PlanInput
from activities.roles import question
from tests.workflows.conftest import Stage, a_request
from tests.workflows.deep import a_plan, a_section, at_the_plan
from workflows.context import number_sections
from workflows.messages import EditPlan
from workflows.types import PlanView


async def test_a_plan_approved_after_three_days_is_the_plan_that_runs(stage: Stage) -> None:
    """As a person has edited it meanwhile."""
    run = await at_the_plan(stage)
    view = await run.ask("plan", PlanView)
    assert view.plan is not None
    assert not view.approved
    mine = view.plan.replace(report_outline=tuple(reversed(view.plan.report_outline[:2])))
    edit = EditPlan(plan=mine, by="bob")
    edited = await run.handle.execute_update("edit_plan", edit, result_type=PlanView)
    await stage.env.sleep(timedelta(days=3))
    await run.handle.signal("approve", {"gate": "plan", "by": "ann", "note": "fine"})
    outcome = await run.outcome()
    assert outcome.stop_reason == "sufficient_evidence"
    report = await run.report()
    assert [section.id for section in report.sections] == ["s2", "s1"]
    _, decision = report.methodology.approvals
    assert (decision.gate, decision.action, decision.by, decision.note) == ("plan", "approved", "ann", "fine")
    assert decision.at
    assert decision.plan_hash == edited.plan_hash == report.methodology.plan_hash != view.plan_hash
    assert (await run.budget()).elapsed_seconds < 600
    assert (await run.ask("plan", PlanView)).approved


WRONG = [
    (a_plan(), "1 to 5 sections"),
    (a_plan(*(a_section(n) for n in range(6))), "1 to 5 sections"),
    (a_plan(a_section(1, title="  ")), "title and a key question"),
    (a_plan(a_section(1, key_question="")), "title and a key question"),
    (a_plan(a_section(1, id="a"), a_section(2, id="a")), "same id"),
    (a_plan(a_section(1, id="../../other")), "letters, digits"),
    (a_plan(a_section(1, id="x" * 300)), "letters, digits"),
    (a_plan(a_section(1, key_question="q" * 100_000)), "at most"),
    (a_plan(a_section(1), title="t" * 100_000), "at most"),
]


async def test_an_edit_that_is_wrong_is_refused_and_changes_nothing(stage: Stage) -> None:
    run = await at_the_plan(stage)
    before = await run.ask("plan", PlanView)
    for plan, why in WRONG:
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await run.handle.execute_update("edit_plan", EditPlan(plan=plan))
        assert why in str(refused.value.cause)
        assert await run.ask("plan", PlanView) == before


def test_ids_that_are_given_stay() -> None:
    plan = a_plan(a_section(1), a_section(2, id="s1"), a_section(3), a_section(4, id="s3"))
    assert [s.id for s in number_sections(plan).report_outline] == ["s2", "s1", "s4", "s3"]


async def test_the_planner_is_told_what_will_be_searched(stage: Stage) -> None:
    await stage.play(a_request("deep", sources=("alpha",)))
    (step,) = (call.step for call in stage.fakes.of("planner"))
    assert isinstance(step, PlanInput)
    assert [option.info.name for option in step.sources] == ["alpha"]
    prompt = question.PLANNER.render(step, (), 4_000)
    assert f"{step.sources[0].info.title}: {step.sources[0].info.covers}" in prompt.user
