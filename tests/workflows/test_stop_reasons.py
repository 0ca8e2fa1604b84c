"""Why a single loop ends, beside what every mode promises (`test_every_mode`)."""

from activities.contracts.errors import RateLimited
from activities.contracts.evidence import ModelChoice
from activities.contracts.judge import ReflectInput
from activities.contracts.plan import KnowledgeGapOutput
from activities.contracts.search import SearchTask
from activities.contracts.step import Role
from tests.workflows.conftest import Stage, a_request, limitations, said_of_steps
from tests.workflows.script import down, failing, outage, refused
from tests.workflows.test_every_mode import ended


async def test_a_step_that_hangs_is_cut_off_by_the_time_limit(stage: Stage) -> None:
    """In real time: the server does not skip while an activity runs."""
    stage.script.hangs = "judge"
    outcome, report, run = await stage.play(a_request(limits={"max_seconds": 4}))
    assert outcome.stop_reason == "timeout"
    assert outcome.answered
    assert (await run.budget()).elapsed_seconds < 6
    assert "model_did_not_answer" not in limitations(report)


async def test_a_judge_that_recovers_is_used_again(stage: Stage) -> None:
    stage.script.before["judge"] = failing(down(), 6)
    await ended(stage, "iterative", "sufficient_evidence")


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
    """The store fails under every thinking step, with and without a model."""
    roles: tuple[Role, ...] = ("observer", "gap_evaluator", "writer")
    stage.script.always = dict.fromkeys(roles, failing(outage()))
    outcome, report, _ = await stage.play(a_request())
    assert outcome.stop_reason == "sufficient_evidence"
    # the sentences by which works were judged to answer stand in place of the draft
    assert outcome.answered
    assert "writer" in said_of_steps(report, "step_failed")
