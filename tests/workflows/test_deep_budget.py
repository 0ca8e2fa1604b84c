"""One budget for a deep run and all its sections: never exceeded, never hoarded, always enough to write."""

import random
from collections import Counter

import pytest

from activities.contracts.evidence import Price, Usage
from activities.contracts.step import Role, StepContext
from activities.roles.allowances import ALLOWANCES
from tests.workflows.conftest import Run, Stage, a_request, limitations
from tests.workflows.script import COST, document, takes

pytestmark = [pytest.mark.invariant, pytest.mark.usefixtures("many_works")]


def spent(stage: Stage) -> Usage:
    """What the scripted models really used, which only they know."""
    return sum((call.usage for call in stage.fakes.calls), Usage())


WRITING = ("writer", "verifier", "editor")


def spending_at_random(stage: Stage, seed: int, share_of_writing: float = 1.0) -> None:
    """Every call uses any amount up to its allowance, at its price; those that write, up to a share of it."""
    draw = random.Random(seed)

    def usage(role: Role, _: StepContext) -> Usage:
        allowance, share = ALLOWANCES[role], share_of_writing if role in WRITING else 1.0
        tokens_in = draw.randint(0, int(allowance.input_tokens * share))
        tokens_out = draw.randint(0, int(allowance.output_tokens * share))
        return Usage(
            calls=1,
            input_tokens=tokens_in,
            output_tokens=tokens_out,
            cost_microusd=tokens_in + 4 * tokens_out,
        )

    stage.script.usage = usage


def whole_prompt(role: Role, _: StepContext) -> Usage:
    """Every call reads as much as it may."""
    return COST.model_copy(update={"input_tokens": ALLOWANCES[role].input_tokens})


async def accounted(stage: Stage, run: Run) -> Usage:
    """What the run says it has used, which must be what was really used."""
    status = await run.budget()
    real = spent(stage)
    assert status.used.tokens == real.tokens
    assert sum(usage.tokens for usage in status.by_role.values()) == real.tokens
    return real


async def test_parallel_sections_never_exceed_the_run_s_tokens(stage: Stage) -> None:
    """Which call uses which amount depends on whose turn comes first. What is kept back for writing is what
    calls have used so far: it is enough for writers that use less."""
    tokens = 180_000
    spending_at_random(stage, 2, share_of_writing=0.25)
    stage.script.sections = 5
    stage.script.sufficient_at = None
    limits = {"max_tokens": tokens, "max_iterations": 50}
    outcome, report, run = await stage.play(a_request("deep", limits=limits))
    assert outcome.stop_reason == "token_budget_exceeded"
    real = await accounted(stage, run)
    assert real.tokens <= tokens
    assert real.tokens > tokens * 0.6, "what sections leave goes to the others"
    assert all(c.paid for c in stage.fakes.of("writer")), "the report could be paid for"
    assert report.sections


async def test_a_budget_too_small_for_planning_still_plans_and_reports(stage: Stage) -> None:
    outcome, report, run = await stage.play(a_request("deep", limits={"max_tokens": 1_500}))
    assert outcome.stop_reason == "token_budget_exceeded"
    assert [c.paid for c in stage.fakes.of("planner")] == [False]
    assert len(report.sections) == 3
    assert "planned_without_model" in limitations(report)
    assert (await accounted(stage, run)).tokens <= 1_500


async def test_one_section_that_runs_out_does_not_end_the_others(stage: Stage) -> None:
    """The first is never satisfied; the others are, at once."""
    stage.script.sections = 3
    stage.script.usage = whole_prompt
    stage.script.before["judge"] = lambda step: takes(30) if step.section == "s1" else None
    stage.script.answers["judge"] = lambda step: stage.fakes.judged(step, enough=step.section != "s1")
    limits = {"max_tokens": 150_000, "max_iterations": 50}
    outcome, report, run = await stage.play(a_request("deep", limits=limits))
    assert {s.id: s.status for s in report.sections} == {"s1": "partial", "s2": "complete", "s3": "complete"}
    assert outcome.stop_reason == "token_budget_exceeded"
    assert all(section.claims for section in report.sections)
    assert (await accounted(stage, run)).tokens <= 150_000


async def test_a_budget_that_ends_in_synthesis_is_written_to_the_end(stage: Stage) -> None:
    """Writing needs more than was reserved: the last sections are quoted without a model."""
    stage.script.sections = 5
    limits = {"max_tokens": 20_000}
    writing = ALLOWANCES["writer"]
    whole = Usage(calls=1, input_tokens=writing.input_tokens, output_tokens=writing.output_tokens)
    stage.script.usage = lambda role, _: whole if role == "writer" else COST
    outcome, report, run = await stage.play(a_request("deep", limits=limits))
    paid = [c.paid for c in stage.fakes.of("writer")]
    assert False in paid
    assert all(section.claims for section in report.sections if section.status != "failed")
    assert "written_without_model" in limitations(report)
    assert outcome.answered
    assert (await accounted(stage, run)).tokens <= 20_000


async def test_more_tokens_reach_a_section_that_waits_for_them(stage: Stage) -> None:
    """One section waits for budget while the other works; what is added is handed to it."""
    stage.script.sections = 2
    stage.script.usage = whole_prompt
    stage.script.sufficient_at = 3
    stage.script.before["judge"] = lambda step: takes(600) if step.section == "s2" else None
    run = await stage.start(a_request("deep", limits={"max_tokens": 75_000}))
    await stage.child(run, "s1").until(lambda p: p.iteration == 2)
    await run.handle.execute_update("extend_budget", {"tokens": 200_000})
    assert (await run.outcome()).stop_reason == "sufficient_evidence"
    assert (await accounted(stage, run)).tokens <= 275_000


async def test_no_section_spends_more_than_the_limit_of_one_section(stage: Stage) -> None:
    spending_at_random(stage, 5)
    stage.script.prices = {"m1": Price(input_per_million=1.0, output_per_million=4.0)}
    stage.script.sections = 2
    stage.script.sufficient_at = None
    limits = {"max_tokens": None, "max_iterations": 50}
    money = {"max_cost_microusd": 10_000_000, "max_section_cost_microusd": 45_000}
    outcome, _, run = await stage.play(a_request("deep", limits={**limits, **money}))
    assert outcome.stop_reason == "cost_budget_exceeded"
    spent_by = {s.id: s.spent_microusd for s in (await run.progress()).sections}
    assert set(spent_by) == {"s1", "s2"}
    each = Counter[str]()
    for call in stage.fakes.calls:
        if "/" in call.workflow_id:
            each[call.workflow_id] += call.usage.cost_microusd or 0
    assert min(each.values()) > 0
    assert max(each.values()) <= 45_000


async def test_no_section_works_longer_than_the_limit_of_one_section(stage: Stage) -> None:
    stage.script.sections, stage.script.sufficient_at = 2, None
    stage.script.before["judge"] = lambda _: takes(100)
    limits = {"max_seconds": 100_000.0, "max_section_seconds": 250.0, "max_iterations": 50}
    outcome, report, _ = await stage.play(a_request("deep", limits=limits))
    assert outcome.stop_reason == "timeout"
    assert report.sections
    assert max(record.iteration for record in report.methodology.searches) <= 4


async def test_what_a_section_leaves_goes_to_the_others(stage: Stage) -> None:
    """Two sections are done at once; the third may use what they left, far beyond its own share."""
    stage.script.sections = 3
    stage.script.sufficient_at = None
    stage.script.usage = whole_prompt
    stage.script.search = lambda task: [document("alpha", task.query.text.split(" in ")[0])]
    stage.script.before["judge"] = lambda step: takes(30) if step.section == "s3" else None
    stage.script.answers["gap_evaluator"] = lambda step: (
        {"outstanding_gaps": [f"gap {step.iteration} of {step.question}"] if step.section == "s3" else []}
    )
    limits = {"max_tokens": 300_000, "max_iterations": 50}
    outcome, _, run = await stage.play(a_request("deep", limits=limits))
    progress = await run.progress()
    third = next(s for s in progress.sections if s.id == "s3")
    used = sum(usage.tokens for usage in third.by_role.values())
    assert used > 300_000 / 3
    assert outcome.stop_reason == "token_budget_exceeded"
    assert (await accounted(stage, run)).tokens <= 300_000
