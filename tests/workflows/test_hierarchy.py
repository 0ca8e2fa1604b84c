"""Sub-teams: judged attempts, feedback in the next task, the best result kept, failures that stay alone."""

from typing import Any

import pytest
from temporalio.client import WorkflowFailureError

from activities.steps import JudgeAssessment, JudgeInput, SelectInput
from tests.workflows.conftest import Stage, a_request
from tests.workflows.deep import all_judging
from tests.workflows.script import takes
from workflows.hierarchy import SUB_TEAM
from workflows.rules.attempts import Attempt, better

UNBOUNDED = {"max_tokens": None}
CONFIDENCE = {1: 0.3, 2: 0.7, 3: 0.4, 4: 0.5, 5: 0.6}


def scored(stage: Stage, confidence: dict[int, float]) -> None:
    """A judge that scores each attempt as given, and finds the items of that attempt relevant."""

    def answer(step: JudgeInput) -> JudgeAssessment:
        return JudgeAssessment(
            scores={"relevance": 5},
            confidence=confidence[step.iteration],
            gaps=(f"gap {step.iteration} of {step.question}",),
            recommended_searches=(),
            relevant=tuple(
                ref.evidence_id for ref in step.evidence if f"gap-{step.iteration - 1}-" in ref.evidence_id
            ),
            shown=len(step.evidence),
        )

    stage.script.answers["judge"] = answer


def an_attempt(iteration: int, confidence: float, *scores: int) -> Attempt:
    named = {f"c{n}": score for n, score in enumerate(scores)}
    return Attempt(iteration=iteration, judged=JudgeAssessment(scores=named, confidence=confidence))


def test_the_best_attempt_is_the_one_with_the_highest_score_not_the_latest() -> None:
    attempts = [an_attempt(1, 0.4, 9), an_attempt(2, 0.7, 5), an_attempt(3, 0.7, 6), an_attempt(4, 0.7, 6)]
    best: Attempt | None = None
    for attempt in attempts:
        best = better(best, attempt)
    assert best is attempts[2]


async def test_each_task_is_a_child_workflow_that_refines_it_at_most_five_times(stage: Stage) -> None:
    stage.script.sections = 2
    scored(stage, CONFIDENCE)
    outcome, _, run = await stage.play(a_request("hierarchical", limits=UNBOUNDED))
    assert outcome.stop_reason == "max_iterations_reached"
    for section in ("s1", "s2"):
        assert (await stage.child(run, section).handle.describe()).workflow_type == SUB_TEAM
    judged = [call.step for call in stage.fakes.of("judge") if call.step.section == "s1"]
    assert [step.iteration for step in judged if isinstance(step, JudgeInput)] == [1, 2, 3, 4, 5]


async def test_the_judges_feedback_is_the_next_task(stage: Stage) -> None:
    stage.script.sections = 1
    scored(stage, CONFIDENCE)
    await stage.play(a_request("hierarchical", limits=UNBOUNDED))
    steps = [call.step for call in stage.fakes.of("tool_selector")]
    assert [step.gaps for step in steps if isinstance(step, SelectInput)] == [
        ("question number 1",),
        *((f"gap {n} of question number 1",) for n in (1, 2, 3, 4)),
    ]


async def test_the_best_result_is_kept_and_not_the_latest(stage: Stage) -> None:
    stage.script.sections = 1
    scored(stage, CONFIDENCE)
    _, report, run = await stage.play(a_request("hierarchical", limits=UNBOUNDED))
    kept = (await stage.child(run, "s1").outcome()).findings
    assert kept is not None
    assert kept.confidence == 0.7
    assert "gap-1-" in kept.evidence[0].evidence_id
    events = await stage.child(run, "s1").events()
    assert [event.data["attempt"] for event in events if event.type == "best_attempt"] == [2]
    # what the best attempt rests on is what the report cites
    assert all("gap-1-" in ref.evidence_id for ref in report.references[:2])
    assert report.confidence <= 0.7


async def test_a_sub_team_that_fails_leaves_the_others_alone(stage: Stage) -> None:
    stage.script.answers["tool_selector"] = lambda step: (
        "this is no list of searches"
        if step.section == "s2"
        else {"tasks": [{"gap": "all", "agent": "alpha", "query": step.question}]}
    )
    _, report, _ = await stage.play(a_request("hierarchical"))
    assert [section.status for section in report.sections] == ["complete", "failed", "complete"]
    assert report.references


async def test_a_cancelled_sub_team_returns_what_it_found(stage: Stage) -> None:
    stage.script.before["judge"] = lambda step: takes(60) if step.section == "s3" else None
    run = await stage.start(a_request("hierarchical"))
    await stage.child(run, "s3").until(lambda p: p.phase == "judging")
    await stage.cancel(stage.child(run, "s3"))
    assert (await run.outcome()).stop_reason == "sufficient_evidence"
    assert [section.status for section in (await run.report()).sections][2] == "cancelled"


async def test_sub_teams_spend_no_more_than_the_run_has(stage: Stage) -> None:
    stage.script.sufficient_at = None
    run = await stage.start(a_request("hierarchical", limits={"max_tokens": 120_000, "max_iterations": 50}))
    outcome = await run.outcome()
    budget = await run.budget()
    assert outcome.verified_claims > 0
    assert budget.used.tokens == sum(call.usage.tokens for call in stage.fakes.calls) <= 120_000
    assert budget.reserved_tokens == 0


@pytest.mark.parametrize("signal", ["pause", "finish_now"])
async def test_signals_reach_every_sub_team(stage: Stage, signal: str) -> None:
    stage.script.before["judge"] = lambda _: takes(600)
    run = await stage.start(a_request("hierarchical"))
    await all_judging(stage, run)
    await run.handle.signal(signal)

    def heard(progress: Any) -> bool:
        return bool(progress.paused if signal == "pause" else progress.stop_reason)

    if signal == "pause":
        for section in ("s1", "s2", "s3"):
            await stage.child(run, section).until(heard)
        await run.handle.signal("resume")
    outcome = await run.outcome()
    assert outcome.stop_reason == ("sufficient_evidence" if signal == "pause" else "finished_by_reviewer")


async def test_a_cancelled_parent_cancels_its_sub_teams_and_reports(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(600)
    run = await stage.start(a_request("hierarchical"))
    await all_judging(stage, run)
    await stage.cancel(run)
    with pytest.raises(WorkflowFailureError):
        await run.outcome()
    report = await run.report()
    assert report.stop_reason == "cancelled"
    assert {section.status for section in report.sections} == {"cancelled"}
    assert report.references
