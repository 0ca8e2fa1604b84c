"""Every exit of a single loop leaves a report that says why it ended."""

from typing import Any

import pytest
from temporalio.client import WorkflowFailureError

from activities.contracts.errors import RateLimited
from activities.contracts.evidence import ModelChoice, StopReason
from activities.contracts.judge import JudgeInput, ReflectInput
from activities.contracts.plan import AgentSelectionPlan, AgentTask, KnowledgeGapOutput
from activities.contracts.publish import Decision
from activities.contracts.search import SearchTask
from activities.contracts.step import Role
from activities.contracts.stop_reasons import STOPS
from tests.workflows.conftest import Stage, a_request, limitations, said_of_steps
from tests.workflows.script import COST, down, outage, refused, takes
from workflows.types import Approval, Outcome


async def ended(stage: Stage, stop: StopReason, **request: Any) -> Outcome:
    """Play a run; it must end for this reason, with a report that says so."""
    outcome, report, run = await stage.play(a_request(**request))
    progress = await run.progress()
    assert outcome.stop_reason == report.stop_reason == progress.stop_reason == stop
    assert progress.phase == "done"
    assert report.executive_summary
    assert report.sections
    assert any(STOPS[stop].because in text for text in report.limitations) == STOPS[stop].early
    assert [e.type for e in await run.events()].count("complete") == 1
    assert outcome.answered == (outcome.verified_claims > 0)
    limits = progress.budget.limits
    if limits.max_tokens is not None:
        assert progress.budget.used.tokens <= limits.max_tokens
    assert progress.budget.reserved_tokens == 0
    return outcome


async def test_sufficient_evidence(stage: Stage) -> None:
    outcome = await ended(stage, "sufficient_evidence")
    assert outcome.verified_claims > 0


async def test_max_iterations(stage: Stage) -> None:
    stage.script.sufficient_at = None
    outcome = await ended(stage, "max_iterations_reached", limits={"max_iterations": 3, "max_tokens": None})
    assert outcome.verified_claims > 0
    steps = [c.step for c in stage.fakes.of("judge")]
    assert [s.iteration for s in steps if isinstance(s, JudgeInput)] == [1, 2, 3]


async def test_token_budget(stage: Stage) -> None:
    stage.script.sufficient_at = None
    outcome = await ended(stage, "token_budget_exceeded", limits={"max_iterations": 50, "max_tokens": 40_000})
    assert outcome.verified_claims > 0
    # what was kept back for the writer paid for it
    assert [c.paid for c in stage.fakes.of("writer")] == [True]


async def test_cost_budget(stage: Stage) -> None:
    stage.script.sufficient_at = None
    limits = {"max_iterations": 50, "max_tokens": None, "max_cost_microusd": 60_000}
    outcome, report, run = await stage.play(a_request(limits=limits))
    assert outcome.stop_reason == "cost_budget_exceeded"
    assert report.methodology.cost_usd is not None
    assert report.methodology.cost_usd <= 0.06
    assert (await run.budget()).used.cost_microusd == sum(
        c.usage.cost_microusd or 0 for c in stage.fakes.calls
    )
    assert stage.fakes.of("writer")[0].paid


async def test_unknown_prices_do_not_lift_the_money_limit(stage: Stage) -> None:
    stage.script.sufficient_at = None
    stage.script.usage = lambda role, _: COST.model_copy(
        update={"cost_microusd": None if role == "judge" else 1_600}
    )
    limits = {"max_iterations": 50, "max_tokens": None, "max_cost_microusd": 60_000}
    outcome, report, _ = await stage.play(a_request(limits=limits))
    assert outcome.stop_reason == "cost_budget_exceeded"
    assert report.methodology.cost_usd is None
    assert len(stage.fakes.paid()) < 20


async def test_timeout(stage: Stage) -> None:
    stage.script.sufficient_at = None
    stage.script.before["judge"] = lambda _: takes(100)
    await ended(stage, "timeout", limits={"max_iterations": 50, "max_seconds": 600, "max_tokens": None})
    assert 3 <= len(stage.fakes.of("judge")) <= 5


async def test_a_step_that_hangs_is_cut_off_by_the_time_limit(stage: Stage) -> None:
    """In real time: the server does not skip while an activity runs."""
    stage.script.hangs = "judge"
    outcome, report, run = await stage.play(a_request(limits={"max_seconds": 4}))
    assert outcome.stop_reason == "timeout"
    assert outcome.answered
    assert (await run.budget()).elapsed_seconds < 6
    assert "model_did_not_answer" not in limitations(report)


async def test_no_new_evidence(stage: Stage) -> None:
    stage.script.sufficient_at = None
    stage.script.search = lambda task: ()
    stage.script.answers["tool_selector"] = lambda step: AgentSelectionPlan(
        tasks=tuple(AgentTask(gap=gap, agent="alpha", query=f"{gap} {step.iteration}") for gap in step.gaps)
    )
    outcome = await ended(stage, "no_new_evidence")
    assert not outcome.answered
    assert len(stage.fakes.of("judge")) == 0


async def test_no_gap_left(stage: Stage) -> None:
    stage.script.sufficient_at = None
    stage.script.answers["gap_evaluator"] = lambda step: KnowledgeGapOutput(
        outstanding_gaps=("a gap",) if step.iteration == 1 else ()
    )
    outcome = await ended(stage, "searched_out")
    assert outcome.answered


async def test_judge_unavailable(stage: Stage) -> None:
    def fails(_: object) -> None:
        raise down()

    stage.script.before["judge"] = fails
    outcome = await ended(stage, "judge_unavailable")
    # three verdicts were asked for; nothing was made up, and no model was paid to write
    assert stage.fakes.of("judge") == []
    assert stage.fakes.attempts.count("judge") >= 3
    assert [c.paid for c in stage.fakes.of("writer")] == [False]
    assert outcome.answered


async def test_a_judge_that_recovers_is_used_again(stage: Stage) -> None:
    failures = iter([True] * 6 + [False] * 100)

    def fails(_: object) -> None:
        if next(failures):
            raise down()

    stage.script.before["judge"] = fails
    await ended(stage, "sufficient_evidence")


async def test_a_key_that_is_refused_is_not_tried_again(stage: Stage) -> None:
    def fails(_: object) -> None:
        raise refused("auth")

    roles: tuple[Role, ...] = ("query_parser", "tool_selector", "judge")
    stage.script.before = dict.fromkeys(roles, fails)
    await ended(stage, "judge_unavailable")
    assert stage.fakes.attempts.count("query_parser") == 1
    assert stage.fakes.attempts.count("tool_selector") == 0
    assert stage.fakes.attempts.count("judge") == 1


async def test_a_model_refused_in_one_role_does_not_silence_another(stage: Stage) -> None:
    def fails(_: object) -> None:
        raise refused("model_not_found")

    other = ModelChoice(backend="openai", model="m2")
    stage.script.models = {**stage.script.models, "tool_selector": other}
    stage.script.before["tool_selector"] = fails
    await ended(stage, "sufficient_evidence")
    assert [c.paid for c in stage.fakes.of("tool_selector")] == [False]
    assert [c.paid for c in stage.fakes.of("judge")] == [True]


async def test_all_sources_failed(stage: Stage) -> None:
    def fails(_: SearchTask) -> tuple[()]:
        raise outage()

    stage.script.search = fails
    await ended(stage, "all_sources_failed")
    run = stage.fakes.published[-1]
    assert {row.status for row in run.searches} == {"unavailable"}
    assert stage.fakes.of("reflector") == []


async def test_an_outage_is_never_an_empty_answer_and_changes_no_query(stage: Stage) -> None:
    """One source is down in the first iteration: the row says so, and the same query goes out again."""
    asked: list[str] = []

    def search(task: SearchTask) -> tuple[()]:
        if task.source == "beta":
            asked.append(task.query.text)
            if len(asked) == 1:
                raise outage(RateLimited)
        return ()

    stage.script.search = search
    stage.script.answers["gap_evaluator"] = lambda _: KnowledgeGapOutput(outstanding_gaps=("one gap",))
    outcome, report, _ = await stage.play(a_request())
    assert outcome.stop_reason == "no_new_evidence"
    rows = [(r.source, r.status) for r in report.methodology.searches]
    assert rows == [("alpha", "empty"), ("beta", "rate_limited"), ("beta", "empty")]
    assert asked[0] == asked[1]
    steps = [c.step for c in stage.fakes.of("reflector")]
    shown = [row for s in steps if isinstance(s, ReflectInput) for row in s.searches]
    assert shown
    assert {s.status for s in shown} == {"empty"}


async def test_finished_by_reviewer(stage: Stage) -> None:
    stage.script.sufficient_at = None
    stage.script.before["judge"] = lambda _: takes(30)
    run = await stage.start(a_request(limits={"max_iterations": 50}))
    await run.until(lambda p: p.iteration == 1 and p.phase == "judging")
    await run.handle.signal("finish_now")
    assert (await run.outcome()).stop_reason == "finished_by_reviewer"
    assert (await run.report()).references
    assert len(stage.fakes.of("judge")) == 1


async def test_rejected_by_reviewer(stage: Stage) -> None:
    run = await stage.start(a_request(approve=("plan",)))
    await run.until(lambda p: p.waiting_for == "plan")
    await run.handle.signal("reject", Approval(gate="plan", by="ann", note="not now"))
    outcome = await run.outcome()
    assert outcome.stop_reason == "rejected_by_reviewer"
    report = await run.report()
    assert report.methodology.approvals[0].model_dump(include={"gate", "action", "by", "note"}) == Decision(
        gate="plan", action="rejected", by="ann", note="not now"
    ).model_dump(include={"gate", "action", "by", "note"})
    assert stage.fakes.searches == []
    assert [c.role for c in stage.fakes.paid()] == ["query_parser"]


async def test_cancelled(stage: Stage) -> None:
    stage.script.sufficient_at = None
    stage.script.before["judge"] = lambda _: takes(600)
    run = await stage.start(a_request(limits={"max_iterations": 50}))
    await run.until(lambda p: p.phase == "judging")
    begun = await stage.env.get_current_time()
    await stage.cancel(run)
    with pytest.raises(WorkflowFailureError) as failure:
        await run.outcome()
    assert "cancel" in str(failure.value.cause).lower()
    closed = (await run.handle.describe()).close_time
    assert closed is not None
    assert (closed - begun).total_seconds() < 60
    report = await run.report()
    assert report.stop_reason == "cancelled"
    assert report.references, "what had been found is in the report"
    assert [c.paid for c in stage.fakes.of("writer")] == [False]


@pytest.mark.parametrize("tokens", [0, 1_000, 3_000, 10_000, 20_000])
async def test_a_budget_that_is_spent_early_still_leaves_a_report(stage: Stage, tokens: int) -> None:
    stage.script.sufficient_at = None
    await ended(stage, "token_budget_exceeded", limits={"max_tokens": tokens, "max_iterations": 50})


async def test_a_step_that_nothing_can_answer_does_not_cost_the_report(stage: Stage) -> None:
    """The store fails under every thinking step, with and without a model."""

    def broken(_: object) -> None:
        raise outage()

    roles: tuple[Role, ...] = ("observer", "gap_evaluator", "writer")
    stage.script.always = dict.fromkeys(roles, broken)
    outcome, report, _ = await stage.play(a_request())
    assert outcome.stop_reason == "sufficient_evidence"
    # the sentences by which works were judged to answer stand in place of the draft
    assert outcome.answered
    assert "writer" in said_of_steps(report, "step_failed")
