"""A team: its rules, and managers that make false claims, repeat themselves, stall or name no member."""

from collections.abc import Callable

import pytest

from activities.contracts.evidence import ModelChoice, StopReason
from activities.contracts.judge import JudgeAssessment
from activities.contracts.plan import ManagerInput, TeamLedger, TeamTurn
from activities.contracts.step import Member, Role
from activities.extractive.planning import ROTATION
from tests.workflows.conftest import Stage, a_request
from tests.workflows.script import MODEL, PROFILE
from workflows.rules.stopping import LoopState
from workflows.team import MAX_STALLS, TEMPERATURES, TeamState, apply_ledger, decide_round

SUFFICIENT = JudgeAssessment(scores={"relevance": 9}, confidence=0.9)
UNSURE = JudgeAssessment(scores={"relevance": 3}, confidence=0.3)
ROUNDS = {"max_iterations": 10, "max_tokens": None}
Manager = Callable[[ManagerInput], TeamLedger]


def after(member: Member, *, new: bool = True, **more: object) -> TeamState:
    """A team whose last turn was this member's."""
    turns = [TeamTurn(round=1, member=member, new=new)]
    return TeamState.model_validate({"turns": turns, "plan": ("a plan",), **more})


def ledger(member: str, **more: object) -> TeamLedger:
    return TeamLedger.model_validate(
        {"facts": ("a fact",), "plan": ("a plan",), "next_speaker": member, **more}
    )


# the rules


@pytest.mark.parametrize(
    ("named", "loop", "works", "overruled"),
    [
        ("searcher", LoopState(), "searcher", ""),
        ("judge", LoopState(evidence=3, unjudged=3), "judge", ""),
        ("hypothesizer", LoopState(evidence=3, judged=UNSURE), "hypothesizer", ""),
        ("judge", LoopState(), "searcher", "nothing_to_work_on"),
        ("judge", LoopState(evidence=3, judged=UNSURE), "searcher", "nothing_to_work_on"),
        ("hypothesizer", LoopState(), "searcher", "nothing_to_work_on"),
        ("reporter", LoopState(), "searcher", "not_sufficient"),
        ("reporter", LoopState(evidence=3, unjudged=3), "judge", "not_sufficient"),
        ("", LoopState(evidence=3, unjudged=3), "judge", "nobody_named"),
        ("searcher", LoopState(evidence=3, unjudged=3, iteration=5), "judge", "not_judged"),
    ],
)
def test_a_member_works_only_when_it_has_something_to_work_on(
    named: str, loop: LoopState, works: str, overruled: str
) -> None:
    _, turn = apply_ledger(ledger(named, instruction="for them"), TeamState(), loop)
    assert (turn.member, turn.overruled) == (works, overruled)
    own = overruled in ("", "nobody_named")
    assert turn.instruction == ("for them" if own else ""), "what was meant for another member is not told"


def test_what_was_asked_of_the_reporter_does_not_outlast_another_turn() -> None:
    team, turn = apply_ledger(ledger("reporter", instruction="be brief"), TeamState(), LoopState())
    assert (team.report_instruction, turn.instruction) == ("be brief", "")
    team, _ = apply_ledger(ledger("searcher", instruction="search on"), team, LoopState())
    assert team.report_instruction == ""


def test_a_turn_that_brought_nothing_is_a_stall_whatever_the_manager_says() -> None:
    team, _ = apply_ledger(ledger("searcher", progress=True), after("searcher", new=False), LoopState())
    assert team.stalls == 1
    team, _ = apply_ledger(
        ledger("searcher", progress=True), after("searcher", new=True, stalls=1), LoopState()
    )
    assert team.stalls == 0


@pytest.mark.parametrize(
    "said", [{"looping": True}, {"progress": False}, {"satisfied": True}, {"next_speaker": "reporter"}]
)
def test_a_manager_that_stalls_loops_or_ends_too_early_stalls_the_team(said: dict[str, object]) -> None:
    team, _ = apply_ledger(
        TeamLedger.model_validate({"next_speaker": "searcher", **said}), TeamState(), LoopState()
    )
    assert team.stalls == 1


@pytest.mark.parametrize(
    ("loop", "team", "stop"),
    [
        (LoopState(cancelled=True), TeamState(), "cancelled"),
        (LoopState(finish=True), TeamState(), "finished_by_reviewer"),
        (LoopState(out_of_time=True), TeamState(), "timeout"),
        (LoopState(refused="cost_budget_exceeded"), TeamState(), "cost_budget_exceeded"),
        (LoopState(judge_failures=3), after("judge"), "judge_unavailable"),
        (LoopState(statuses=("unavailable", "refused")), after("searcher"), "all_sources_failed"),
        (LoopState(judged=SUFFICIENT), after("judge"), "sufficient_evidence"),
        (LoopState(judged=SUFFICIENT, unread_steering=1), after("judge"), None),
        (LoopState(judged=SUFFICIENT, judge_failures=1), after("judge"), None),
        (LoopState(judged=UNSURE), after("judge"), None),
        (LoopState(iteration=5), after("searcher"), "max_iterations_reached"),
    ],
)
def test_why_a_team_ends(loop: LoopState, team: TeamState, stop: StopReason | None) -> None:
    assert decide_round(loop, team, PROFILE).stop == stop


# the runs


def works_by(manager: Manager, stage: Stage) -> None:
    stage.script.answers["manager"] = manager


def turns_of(stage: Stage) -> list[str]:
    """Who has worked, from what the manager was shown last."""
    steps = [call.step for call in stage.fakes.of("manager")]
    last = steps[-1]
    assert isinstance(last, ManagerInput)
    return [turn.member for turn in last.turns]


async def test_a_lying_manager_does_not_end_the_research(stage: Stage) -> None:
    """Satisfied at once, with progress, for the reporter: it is the judge's score that counts."""
    works_by(lambda _: ledger("reporter", satisfied=True, progress=True), stage)
    outcome, _, run = await stage.play(a_request("team", limits=ROUNDS))
    assert outcome.stop_reason == "sufficient_evidence"
    assert outcome.verified_claims > 0
    turns = [event.data for event in await run.events() if event.type == "turn"]
    assert [(t["member"], t.get("overruled")) for t in turns] == [
        ("searcher", "not_sufficient"),
        ("judge", "not_sufficient"),
        ("reporter", None),
    ]


async def test_a_looping_manager_is_ended_by_the_plans_it_may_make(stage: Stage) -> None:
    """The same search again and again: what it finds is judged, and the research ends."""
    stage.script.sufficient_at = None
    stage.script.answers["tool_selector"] = lambda step: {
        "tasks": [{"gap": step.gaps[0], "agent": "alpha", "query": "the same"}]
    }
    works_by(lambda _: ledger("searcher", instruction="the same"), stage)
    outcome, _, run = await stage.play(a_request("team", limits={**ROUNDS, "max_iterations": 50}))
    assert outcome.stop_reason == "no_new_evidence"
    assert outcome.verified_claims > 0
    assert len(stage.fakes.searches) == 1
    assert len(stage.fakes.of("judge")) == 1
    replans = [event.data["resets"] for event in await run.events() if event.type == "replanning"]
    assert replans == [1, 2, 3]
    assert len(stage.fakes.of("manager")) <= 3 * (MAX_STALLS + 1) + 2


async def test_a_manager_without_an_answer_is_skipped_and_the_report_says_so(stage: Stage) -> None:
    stage.script.always["manager"] = lambda _: (_ for _ in ()).throw(ValueError("no such ledger"))
    outcome, report, _ = await stage.play(a_request("team", limits=ROUNDS))
    assert outcome.stop_reason == "sufficient_evidence"
    assert any("Managing the team" in text for text in report.limitations)


async def test_the_facts_are_kept_and_the_plan_made_again(stage: Stage) -> None:
    shown: list[tuple[tuple[str, ...], tuple[str, ...], bool]] = []

    def manager(step: ManagerInput) -> TeamLedger:
        shown.append((step.facts, step.plan, step.replan))
        plan = (f"plan of round {step.round}",) if step.replan else step.plan
        return TeamLedger(facts=("kept",), plan=plan, progress=False, next_speaker="searcher")

    stage.script.sufficient_at = None
    works_by(manager, stage)
    await stage.play(a_request("team", limits=ROUNDS))
    assert shown[0] == ((), (), True)
    assert shown[1] == (("kept",), ("plan of round 1",), False)
    again = [number for number, (_, _, replan) in enumerate(shown) if replan][1]
    assert shown[again][:2] == (("kept",), ())


async def test_each_member_has_its_own_temperature_and_may_have_a_model_of_its_own(stage: Stage) -> None:
    roles: dict[Role, str] = {
        "manager": "large",
        "tool_selector": "quick",
        "judge": "strict",
        "hypothesis_generator": "inventive",
        "writer": "eloquent",
    }
    models: dict[str, ModelChoice] = {"default": MODEL}
    models |= {name: ModelChoice(backend="openai", model=model) for name, model in roles.items()}
    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    _, report, _ = await stage.play(a_request("team", limits=ROUNDS, models=models))
    asked = {call.role: call.step.model for call in stage.fakes.paid()}
    assert {role: asked[role].model for role in roles} == roles
    assert {role: asked[role].temperature for role in roles} == dict(TEMPERATURES)
    assert (asked["query_parser"].model, asked["query_parser"].temperature) == (MODEL.model, None)
    assert set(report.methodology.models) == {*roles.values(), MODEL.model}


async def test_without_a_model_the_manager_is_a_fixed_rotation(stage: Stage) -> None:
    stage.script.models = {"default": ModelChoice()}
    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    outcome, _, run = await stage.play(a_request("team", limits=ROUNDS))
    assert outcome.stop_reason == "searched_out"
    assert not stage.fakes.paid()
    turns = [event.data["member"] for event in await run.events() if event.type == "turn"]
    assert turns[:3] == list(ROTATION)
