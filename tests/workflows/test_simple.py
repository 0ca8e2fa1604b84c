"""The simple mode: few searches at once, few model calls, an end to each search."""

import asyncio
from dataclasses import replace

import pytest

from activities.contracts.evidence import Evidence
from activities.contracts.judge import JudgeBatch, JudgeInput
from activities.contracts.plan import ParsedQuery
from activities.contracts.search import SearchTask
from tests.workflows.conftest import QUESTION, Stage, a_request
from tests.workflows.script import document
from workflows import simple


def most_at_once(times: list[tuple[str, float, float]]) -> int:
    return max(sum(began <= at < ended for _, began, ended in times) for _, at, _ in times)


async def test_a_report_of_one_section_needs_four_model_calls(stage: Stage) -> None:
    outcome, _, _ = await stage.play(a_request("simple"))
    assert outcome.verified_claims > 0
    assert [call.role for call in stage.fakes.paid()] == ["query_parser", "judge", "writer", "writer"]


async def test_at_most_three_searches_run_at_once_and_every_source_is_asked(stage: Stage) -> None:
    stage.script.answers["query_parser"] = lambda step: ParsedQuery(
        improved_query=step.question,
        profile="biomedical",
        research_questions=("one?", "two?", "three?", "four?"),
    )
    stage.script.search_seconds = 0.3
    await stage.play(a_request("simple"))
    asked = {(s.source, s.query.text) for s in stage.fakes.searches}
    assert {source for source, _ in asked} == {"alpha", "beta"}
    assert len(asked) == 6
    assert most_at_once(stage.fakes.search_times) == 3


async def test_what_the_judge_recommends_is_searched_next_then_general_queries(stage: Stage) -> None:
    def judged(step: JudgeInput) -> JudgeBatch:
        more = ("metformin in cohorts",) if step.iteration == 1 else ()
        return stage.fakes.judged(step, enough=False, recommended_searches=more)

    stage.script.answers["judge"] = judged
    _, report, _ = await stage.play(a_request("simple", limits={"max_iterations": 10, "max_tokens": None}))
    assert report.stop_reason == "searched_out"
    gaps = {
        i: {row.gap for row in stage.fakes.published[-1].searches if row.iteration == i} for i in (1, 2, 3)
    }
    plain = QUESTION.rstrip("?")
    assert gaps == {
        1: {QUESTION},
        2: {"metformin in cohorts"},
        3: {f"{plain} mechanism of action", f"{plain} clinical evidence"},
    }


async def test_a_search_that_hangs_is_given_up_and_does_not_hold_the_run(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In real time, since the server does not skip while an activity runs; the seconds of a search are fewer
    here."""
    monkeypatch.setattr(simple, "TRAITS", replace(simple.TRAITS, search_seconds=2.0))

    async def hangs(task: SearchTask) -> list[Evidence]:
        if task.source == "beta":
            await asyncio.sleep(3_600)
        return [document(task.source, task.query.text)]

    stage.script.slow_search = hangs
    outcome, report, _ = await stage.play(a_request("simple", limits={"max_seconds": 600}))
    assert outcome.verified_claims > 0
    rows = {row.source: row for row in report.methodology.searches}
    assert (rows["alpha"].status, rows["beta"].status) == ("ok", "unavailable")
    assert rows["beta"].seconds < simple.SEARCH_SECONDS


@pytest.mark.parametrize("sure_at", [3, 99])
async def test_sufficient_scores_end_the_run_only_when_the_judge_recommends_to_synthesize(
    stage: Stage, sure_at: int
) -> None:
    def judged(step: JudgeInput) -> JudgeBatch:
        return stage.fakes.judged(
            step,
            enough=True,
            recommendation="synthesize" if step.iteration >= sure_at else "continue",
            recommended_searches=(f"metformin in cohort {step.iteration}",),
        )

    stage.script.answers["judge"] = judged
    outcome, report, _ = await stage.play(
        a_request("simple", limits={"max_iterations": 4, "max_tokens": None})
    )
    assert outcome.stop_reason == "sufficient_evidence"
    assert outcome.verified_claims > 0
    assert report.methodology.iterations == min(sure_at, 4)
