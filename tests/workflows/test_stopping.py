"""Routing: every exit, which reason has priority, and that no loop runs for ever."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.errors import RateLimited
from activities.contracts.evidence import ModelChoice, StopReason
from activities.contracts.judge import JudgeAssessment, ReflectInput
from activities.contracts.plan import KnowledgeGapOutput
from activities.contracts.search import SearchTask
from activities.contracts.step import Role
from tests.workflows.conftest import Stage, a_request, limitations, said_of_steps
from tests.workflows.script import PROFILE, failing, outage, refused
from tests.workflows.test_every_mode import ended
from workflows.rules.stopping import (
    MAX_JUDGE_FAILURES,
    LastStep,
    LoopState,
    NextStep,
    decide_next,
    is_off_subject,
    is_sufficient,
    is_worth_judging,
)

GOOD = JudgeAssessment(scores={"relevance": 9}, confidence=0.9)
POOR = JudgeAssessment(scores={"relevance": 9}, confidence=0.5)


class After(LoopState):
    """A loop after a step."""

    happened: LastStep


def state(happened: LastStep = "start", **more: Any) -> After:
    return After.model_validate({"happened": happened, "iteration": 1, "max_iterations": 5, **more})


def decide(after: After) -> NextStep:
    return decide_next(after.happened, after, PROFILE)


@pytest.mark.parametrize(
    ("given_state", "expected"),
    [
        (state(cancelled=True), "cancelled"),
        (state(rejected=True), "rejected_by_reviewer"),
        (state(finish=True), "finished_by_reviewer"),
        (state(out_of_time=True), "timeout"),
        (state(refused="token_budget_exceeded"), "token_budget_exceeded"),
        (state(refused="cost_budget_exceeded"), "cost_budget_exceeded"),
        (state("judge", judged=POOR, nearly_spent="token_budget_exceeded"), "token_budget_exceeded"),
        (state("judge", judge_failures=MAX_JUDGE_FAILURES), "judge_unavailable"),
        (state("search", statuses=("unavailable", "rate_limited")), "all_sources_failed"),
        (state("search", statuses=("empty",), stalled=2), "no_new_evidence"),
        (state("evaluate_gaps"), "searched_out"),
        (state("select_tools"), "searched_out"),
        (state("judge", judged=GOOD), "sufficient_evidence"),
        (state("judge", judged=POOR, iteration=5), "max_iterations_reached"),
    ],
)
def test_every_stop_reason_is_reached(given_state: After, expected: StopReason) -> None:
    step = decide(given_state)
    assert (step.step, step.stop) == ("write", expected)
    assert step.reason


ORDER: list[tuple[StopReason, dict[str, object]]] = [
    ("cancelled", {"cancelled": True}),
    ("rejected_by_reviewer", {"rejected": True}),
    ("finished_by_reviewer", {"finish": True}),
    ("timeout", {"out_of_time": True}),
    ("token_budget_exceeded", {"refused": "token_budget_exceeded"}),
    ("cost_budget_exceeded", {"nearly_spent": "cost_budget_exceeded"}),
    ("judge_unavailable", {"judge_failures": MAX_JUDGE_FAILURES}),
    ("sufficient_evidence", {"judged": GOOD}),
]


@given(st.lists(st.sampled_from(range(len(ORDER))), min_size=1))
def test_people_come_before_limits_and_limits_before_evidence(which: list[int]) -> None:
    more: dict[str, object] = {}
    for place in which:
        more |= ORDER[place][1]
    assert decide(state("judge", **more)).stop == ORDER[min(which)][0]


@pytest.mark.parametrize(
    "done",
    [
        state("judge", judged=GOOD, unread_steering=1),
        state("evaluate_gaps", unread_steering=1),
        state("select_tools", unread_steering=1),
        state("search", statuses=("empty",), stalled=2, unread_steering=1),
    ],
)
def test_what_a_reviewer_said_is_acted_on_before_the_run_ends(done: After) -> None:
    assert decide(done).step == "observe"
    last = done.model_copy(update={"iteration": 5})
    assert decide(last).stop == "max_iterations_reached"


ADVICE = JudgeAssessment(confidence=0.2, recommendation="continue")
WRITE = JudgeAssessment(recommendation="synthesize", relevant=("a",), confidence=0.4)
MORE = GOOD.replace(recommendation="continue", gaps=("a gap",), recommended_searches=("a search",))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        # an outage of some sources is no reason to stop
        (state("search", statuses=("unavailable", "empty")), "observe"),
        # nothing new is not judged again; new items are, though as many old ones were forgotten
        (state("search", statuses=("ok",), evidence=240, judged=POOR, unjudged=0), "observe"),
        (state("search", statuses=("ok",), evidence=240, judged=POOR, unjudged=10), "judge"),
        # a judge that recommends to write is believed
        (state("judge", judged=WRITE), "sufficient_evidence"),
        (state("judge", judged=WRITE.replace(relevant=())), "searched_out"),
        # one that names gaps with their searches is, while rounds bring works that answer
        (state("judge", judged=MORE, gained=2), "observe"),
        (state("judge", judged=MORE, gained=0), "sufficient_evidence"),
        (state("judge", judged=MORE.replace(recommended_searches=()), gained=2), "sufficient_evidence"),
        (state("judge", judged=MORE, gained=2, iteration=5), "max_iterations_reached"),
        # a folder that was read whole is not searched again, unless a source may be added
        (state("judge", judged=ADVICE, found_all=True), "searched_out"),
        (state("judge", judged=ADVICE, found_all=True, unjudged=1), "observe"),
        (state("judge", judged=ADVICE, found_all=True, unread_steering=1), "observe"),
        # a round on another subject is the last
        (state("judge", iteration=2, judged=ADVICE, off_subject=True), "searched_out"),
        (state("judge", iteration=2, judged=ADVICE), "observe"),
    ],
)
def test_what_follows_from_the_evidence(after: After, expected: str) -> None:
    step = decide(after)
    assert (step.stop or step.step) == expected


@pytest.mark.parametrize(
    ("scores", "confidence", "suffices"),
    [
        ({"relevance": 9}, 0.9, True),
        ({"relevance": 9}, 0.5, False),
        ({"relevance": 5}, 1.0, False),
        ({"relevance": 9}, None, False),
        ({}, 1.0, True),  # a criterion that does not apply has no score
    ],
)
def test_neither_confidence_nor_scores_alone_suffice(
    scores: dict[str, int], confidence: float | None, suffices: bool
) -> None:
    assert is_sufficient(PROFILE, JudgeAssessment(scores=scores, confidence=confidence)) is suffices
    assert not is_sufficient(PROFILE, None)


def test_a_round_is_off_subject_or_too_far_by_the_share_of_its_works() -> None:
    assert [is_off_subject(grades) for grades in ((0, 0, 1), (0, 2, 1), ())] == [True, False, False]
    assert [is_worth_judging(*counts) for counts in ((1, 20), (1, 21), (0, 0))] == [True, False, False]


async def test_a_step_that_hangs_is_cut_off_by_the_time_limit(stage: Stage) -> None:
    """In real time: the server does not skip while an activity runs."""
    stage.script.hangs = "judge"
    outcome, report, run = await stage.play(a_request(limits={"max_seconds": 4}))
    assert outcome.stop_reason == "timeout"
    assert outcome.answered
    assert (await run.budget()).elapsed_seconds < 60, "a step has a time-out of minutes"
    assert "model_did_not_answer" not in limitations(report)


async def test_a_key_that_is_refused_is_not_tried_again(stage: Stage) -> None:
    roles: tuple[Role, ...] = ("query_parser", "tool_selector", "judge")
    stage.script.before = dict.fromkeys(roles, failing(refused("auth")))
    await ended(stage, "iterative", "judge_unavailable")
    assert stage.fakes.attempts.count("query_parser") == 1
    assert stage.fakes.attempts.count("tool_selector") == 0
    assert stage.fakes.attempts.count("judge") == 1


async def test_a_model_refused_in_one_role_does_not_silence_another(stage: Stage) -> None:
    other = ModelChoice(backend="openai", model="m2")
    stage.script.models = {**stage.script.models, "tool_selector": other}
    stage.script.before["tool_selector"] = failing(refused("model_not_found"))
    await ended(stage, "iterative", "sufficient_evidence")
    assert [c.paid for c in stage.fakes.of("tool_selector")] == [False]
    assert [c.paid for c in stage.fakes.of("judge")] == [True]


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


async def test_a_step_that_nothing_can_answer_does_not_cost_the_report(stage: Stage) -> None:
    """The store fails under every step that a role does, with and without a model."""
    roles: tuple[Role, ...] = ("observer", "gap_evaluator", "writer")
    stage.script.always = dict.fromkeys(roles, failing(outage()))
    outcome, report, _ = await stage.play(a_request())
    assert outcome.stop_reason == "sufficient_evidence"
    # the sentences by which works were judged to answer stand in place of the draft
    assert outcome.answered
    assert "writer" in said_of_steps(report, "step_failed")
