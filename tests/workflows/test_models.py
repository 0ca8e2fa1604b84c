"""While the model is down: nothing is invented, nothing waits for ever, and what was wasted is counted."""

import asyncio

import pytest

from activities.contracts.evidence import ModelChoice, Usage
from activities.contracts.judge import Weighed, WeighInput
from activities.contracts.step import Role
from activities.contracts.write import Passage
from activities.report.formats.prose import model_fault
from tests.workflows.conftest import Stage, a_request, limitations, said_of_steps
from tests.workflows.script import COST, down, failing
from workflows.rules.stopping import MAX_JUDGE_FAILURES
from workflows.steps.ordering import in_order

ROLES: tuple[Role, ...] = (
    *("query_parser", "planner", "observer", "gap_evaluator", "tool_selector", "judge", "writer"),
)


def away(stage: Stage, seconds: float) -> None:
    """The model is down for so long, of the server's time, once it has answered the first paid attempt."""
    asked: list[float] = []

    def fails(_: object) -> None:
        asked.append(stage.fakes.now)
        if len(asked) > 1 and stage.fakes.now - asked[1] < seconds:
            raise down()

    stage.script.before = dict.fromkeys(ROLES, fails)


async def test_half_an_hour_without_a_model_ends_well(stage: Stage) -> None:
    away(stage, 1_800)
    outcome, report, run = await stage.play(a_request())
    assert outcome.stop_reason == "judge_unavailable"
    assert outcome.answered
    budget = await run.budget()
    assert budget.elapsed_seconds < 600
    assert budget.used.calls == len(stage.fakes.paid()) + sum(
        1 for e in await run.events() if e.type == "error"
    )
    assert "judge" in said_of_steps(report, "model_did_not_answer")
    assert model_fault(report), "no judge and no writer was answered: the run is no success"


async def test_a_run_that_waits_for_its_model_goes_on_when_it_is_back(stage: Stage) -> None:
    away(stage, 1_800)
    outcome, report, run = await stage.play(a_request(wait_for_model=True, limits={"max_seconds": 7_200}))
    assert outcome.stop_reason == "sufficient_evidence"
    assert stage.fakes.of("judge")
    for role in ("query_parser", "judge", "writer"):
        assert all(call.paid for call in stage.fakes.of(role))
    assert "waiting_for_model" in [e.type for e in await run.events()]
    budget = await run.budget()
    assert 1_800 <= budget.elapsed_seconds < 3_000
    assert budget.used.calls > len(stage.fakes.paid())
    assert "model_did_not_answer" not in limitations(report)


async def test_waiting_for_a_model_ends_with_the_time_limit(stage: Stage) -> None:
    away(stage, 1e9)
    outcome, _, run = await stage.play(a_request(wait_for_model=True, limits={"max_seconds": 3_600}))
    assert outcome.stop_reason in ("timeout", "judge_unavailable")
    assert (await run.budget()).elapsed_seconds <= 3_600


@pytest.mark.parametrize("stop", ["finished_by_reviewer", "cancelled"])
async def test_waiting_for_a_model_can_be_ended(stage: Stage, stop: str) -> None:
    away(stage, 1e9)
    run = await stage.start(a_request(wait_for_model=True, limits={"max_seconds": 1e6}))
    await stage.env.sleep(60)  # the five attempts before
    await run.until(lambda p: p.phase == "waiting_for_model")
    if stop == "cancelled":
        assert (await stage.cancelled(run)).stop_reason == stop
    else:
        await run.handle.signal("finish_now")
        assert (await run.outcome()).stop_reason == stop


async def test_while_a_model_is_known_to_be_down_it_is_asked_once_a_step(stage: Stage) -> None:
    """Five attempts find out; after that every step asks once whether it is back."""
    stage.script.before = dict.fromkeys(ROLES, failing(down()))
    await stage.play(a_request())
    assert stage.fakes.attempts.count("query_parser") == 5
    assert stage.fakes.attempts.count("judge") == MAX_JUDGE_FAILURES


async def test_a_planner_without_a_model_still_plans(stage: Stage) -> None:
    stage.script.before = {"planner": failing(down()), "writer": failing(down())}
    outcome, report, _ = await stage.play(a_request("deep"))
    assert outcome.answered
    assert len(report.sections) == 3
    assert "planner" in said_of_steps(report, "model_did_not_answer")
    assert not model_fault(report), "others were answered"


async def test_what_was_paid_before_a_failure_is_counted(stage: Stage) -> None:
    from activities.contracts.errors import ModelUnusable, to_application_error

    paid = Usage(calls=2, input_tokens=500, output_tokens=100, cost_microusd=900)
    unusable = to_application_error(ModelUnusable("not the shape that was asked for", usage=paid))
    stage.script.before = {"writer": failing(unusable)}
    outcome, report, run = await stage.play(a_request())
    assert outcome.stop_reason == "sufficient_evidence"
    assert (await run.budget()).by_role["writer"].tokens == 2 * paid.tokens, "an answer and a draft"
    assert report.methodology.tokens == 2 * paid.tokens + COST.tokens * len(stage.fakes.paid())


# a small model

SMALL = {"default": ModelChoice(backend="openai", model="tiny", effort="small")}


@pytest.mark.parametrize(
    ("weighed", "order"),
    [
        ({}, "abcd"),
        ({"a": 0.9, "b": 0.95}, "abcd"),
        ({"a": 0.6, "b": 0.95}, "bacd"),
        ({"a": 0.49, "b": 0.5}, "bcda"),
        ({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}, "abcd"),
    ],
)
def test_a_small_model_and_the_encoder_order_together(weighed: dict[str, float], order: str) -> None:
    """What it calls beside the question is last, what it was not asked about keeps its place."""
    passages = [Passage(evidence_id=name, quotes=("x",)) for name in "abcd"]
    assert "".join(passage.evidence_id for passage in in_order(passages, weighed)) == order


async def test_a_small_model_puts_passages_in_order_and_judges_nothing(stage: Stage) -> None:
    chances = iter((0.1, 0.9))
    asked: dict[str, float] = {}

    def weigh(step: WeighInput) -> Weighed:
        [ref] = step.evidence
        return Weighed(yes=asked.setdefault(ref.evidence_id, next(chances)))

    stage.script.models, stage.script.answers["orderer"] = SMALL, weigh
    _, report, run = await stage.play(a_request())
    assert {call.role for call in stage.fakes.paid()} == {"orderer"}
    beside, near = asked
    shown = [passage.evidence_id for section in report.sections for passage in section.passages]
    assert shown == [near, beside]
    assert (report.confidence, report.judgements, report.written_by) == (None, (), "extractive")
    assert {"model": "tiny", "works": 2} in [s.values for s in report.statements]
    assert report.executive_summary.startswith(
        "A small model put the passages in order and did nothing else."
    )
    said = [event.message for event in await run.events() if event.type == "synthesizing"]
    assert any("tiny puts 2 works in order, about 8 s more" in text for text in said)


async def test_finishing_drops_the_works_that_wait_for_a_small_model(stage: Stage) -> None:
    release = asyncio.Event()

    stage.script.models, stage.script.holds["orderer"] = SMALL, lambda _: release.wait()
    run = await stage.start(a_request())
    await run.until(lambda p: "in order" in p.message)
    await run.handle.signal("finish_now")
    await run.outcome()
    report = await run.report()
    assert not stage.fakes.of("orderer")
    release.set()
    assert len(report.sections[0].passages) == 2
    assert "ordered_by_small_model" not in limitations(report)
