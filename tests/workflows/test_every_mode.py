"""What every mode promises: each stop reason leaves one report that says why, people's decisions count, and
no budget is exceeded. The modes with stories of their own add theirs in files of their own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.judge import JudgeBatch, JudgeInput
from activities.contracts.step import Role
from activities.contracts.stop_reasons import STOPS, StopReason
from tests.workflows.conftest import Stage, a_request
from tests.workflows.script import down, failing, outage, takes
from workflows.types import Outcome

MODES = ("iterative", "simple", "team", "hierarchical", "graph")


@pytest.fixture(autouse=True)
def two_parts(stage: Stage) -> None:
    """Of a question that sub-teams research: more would show no more."""
    stage.script.sections = 2


LAST_TURN = {"team": "reporter", "graph": "write"}
"""The member or node that writes the report, where turns are events."""


async def ended(stage: Stage, mode: str, stop: StopReason, **request: Any) -> Outcome:
    """Play a run; it must end for this reason, with one report that says so."""
    outcome, report, run = await stage.play(a_request(mode, **request))
    progress = await run.progress()
    assert outcome.stop_reason == report.stop_reason == progress.stop_reason == stop
    assert (report.mode, progress.mode, progress.phase) == (mode, mode, "done")
    assert report.executive_summary
    assert report.sections
    assert any(STOPS[stop].because in text for text in report.limitations) == STOPS[stop].early
    events = await run.events()
    assert [e.type for e in events].count("complete") == 1
    assert outcome.answered == (outcome.verified_claims > 0)
    if mode in LAST_TURN:  # whatever ends the run, it ends in a synthesis
        assert [e.data["member"] for e in events if e.type == "turn"][-1] == LAST_TURN[mode]
    budget = await run.budget()
    within_limits(budget)
    assert budget.used.cost_microusd == sum(call.usage.cost_microusd or 0 for call in stage.fakes.calls)
    return outcome


def within_limits(budget: Any) -> None:
    limits = budget.limits
    assert budget.reserved_tokens == 0
    assert limits.max_tokens is None or budget.used.tokens <= limits.max_tokens
    if limits.max_cost_microusd is not None:
        assert budget.used.cost_microusd <= limits.max_cost_microusd


WRITERS: tuple[Role, ...] = ("writer", "verifier", "editor")


def recommends_more(stage: Stage) -> None:
    """A judge whose recommendations never run out."""

    def answer(step: JudgeInput) -> JudgeBatch:
        at = stage.script.sufficient_at
        enough = at is not None and step.iteration >= at
        gaps = () if enough else (f"gap {step.iteration}",)
        more = (f"more {step.iteration} {step.question}",)
        return stage.fakes.judged(step, enough=enough, gaps=gaps, recommended_searches=more)

    stage.script.answers["judge"] = answer


def never(stage: Stage) -> None:
    stage.script.sufficient_at = None
    recommends_more(stage)


def each_judgement_takes(stage: Stage) -> None:
    never(stage)
    stage.script.before["judge"] = lambda _: takes(100)


def nothing_is_found(stage: Stage) -> None:
    stage.script.sufficient_at = None
    stage.script.search = lambda _: ()


def every_source_is_down(stage: Stage) -> None:
    stage.script.search = failing(outage())


def the_judge_is_down(stage: Stage) -> None:
    stage.script.before["judge"] = failing(down())


WAYS: Mapping[StopReason, tuple[Callable[[Stage], None], dict[str, Any], bool]] = {
    "sufficient_evidence": (recommends_more, {}, True),
    "max_iterations_reached": (never, {"max_iterations": 3}, True),
    "token_budget_exceeded": (never, {"max_tokens": 16_000}, True),
    "cost_budget_exceeded": (never, {"max_cost_microusd": 45_000}, True),
    "timeout": (each_judgement_takes, {"max_seconds": 600}, True),
    "no_new_evidence": (nothing_is_found, {}, False),
    "judge_unavailable": (the_judge_is_down, {}, True),
    "all_sources_failed": (every_source_is_down, {}, False),
}
"""What happens, within which limits, and whether the report answers."""
OF_OTHER_MODES: Mapping[str, Sequence[StopReason]] = {
    "hierarchical": ("token_budget_exceeded", "judge_unavailable", "all_sources_failed"),
    "team": ("token_budget_exceeded",),
    "graph": ("all_sources_failed",),
}
"""The stop reasons that another kind of loop has for itself, and no test of its rules alone."""


@pytest.mark.parametrize(
    ("stop", "mode"),
    [(stop, "iterative") for stop in WAYS]
    + [(stop, mode) for mode, stops in OF_OTHER_MODES.items() for stop in stops],
)
async def test_each_way_to_end_leaves_one_report_that_says_why(
    stage: Stage, mode: str, stop: StopReason
) -> None:
    happens, limits, answers = WAYS[stop]
    happens(stage)
    named = "searched_out" if stop == "no_new_evidence" and mode in ("iterative", "graph") else stop
    within = {"max_iterations": 50, "max_tokens": None, **limits}
    outcome = await ended(stage, mode, named, limits=within)
    assert outcome.answered is answers
    writing = any(call.paid for role in WRITERS for call in stage.fakes.of(role))
    if stop == "token_budget_exceeded":
        assert writing
    if stop in ("no_new_evidence", "judge_unavailable", "all_sources_failed"):
        assert stage.fakes.of("judge") == []
        assert not writing, "no model was paid to make something up"
    if stop == "judge_unavailable":
        assert stage.fakes.attempts.count("judge") >= 3
    if stop == "all_sources_failed":
        assert {row.status for row in stage.fakes.published[-1].searches} == {"unavailable"}


@pytest.mark.parametrize("mode", ["iterative", "hierarchical"])  # without sections, and with them
async def test_finished_by_reviewer(stage: Stage, mode: str) -> None:
    run = await at_its_first_judge(stage, mode)
    await run.handle.signal("finish_now")
    outcome = await run.outcome()
    assert outcome.stop_reason == "finished_by_reviewer"
    assert outcome.verified_claims > 0
    assert [e.type for e in await run.events()].count("complete") == 1


@pytest.mark.parametrize("mode", ["iterative", "hierarchical"])
async def test_rejected_by_reviewer(stage: Stage, mode: str) -> None:
    run = await stage.start(a_request(mode, approve=("plan",)))
    await run.until(lambda p: p.waiting_for == "plan")
    await run.handle.signal("reject", {"gate": "plan", "by": "ann", "note": "not now"})
    assert (await run.outcome()).stop_reason == "rejected_by_reviewer"
    decision = (await run.report()).methodology.approvals[0]
    said = (decision.gate, decision.action, decision.by, decision.note)
    assert said == ("plan", "rejected", "ann", "not now")
    assert stage.fakes.searches == []


@pytest.mark.parametrize("mode", ["iterative", "team", "hierarchical"])
async def test_cancelled(stage: Stage, mode: str) -> None:
    run = await at_its_first_judge(stage, mode)
    begun = await stage.env.get_current_time()
    await stage.cancelled(run)
    closed = (await run.handle.describe()).close_time
    assert closed is not None
    assert (closed - begun).total_seconds() < 60
    report = await run.report()
    assert report.stop_reason == "cancelled"
    assert report.references, "what had been found is in the report"
    assert not any(call.paid for role in WRITERS for call in stage.fakes.of(role))


@pytest.mark.parametrize("mode", ["iterative", "hierarchical", "graph"])
async def test_the_gates_wait_for_a_person(stage: Stage, mode: str) -> None:
    stage.script.profile = stage.script.profile.model_copy(update={"candidates": True})
    run = await stage.start(a_request(mode, approve=("plan", "candidates", "report")))
    await run.until(lambda p: p.waiting_for == "plan")
    assert stage.fakes.searches == []
    await run.handle.signal("approve", {"gate": "plan", "by": "ann"})
    await run.until(lambda p: p.waiting_for == "candidates")
    await run.handle.execute_update("choose_candidates", {"names": ["aspirin"], "by": "bob"})
    await run.until(lambda p: p.waiting_for == "report")
    await run.handle.signal("approve", {"gate": "report", "by": "cy"})
    assert (await run.outcome()).stop_reason == "sufficient_evidence"
    report = await run.report()
    assert [(a.gate, a.action) for a in report.methodology.approvals] == [
        ("plan", "approved"),
        ("candidates", "chosen"),
        ("report", "approved"),
    ]
    assert [c.name for c in CANDIDATES.of_report(report)] == ["aspirin"]


@pytest.mark.parametrize("mode", ["simple", "hierarchical"])  # `test_people` has the first
async def test_a_paused_run_asks_nothing_until_it_is_resumed_and_then_does_as_told(
    stage: Stage, mode: str
) -> None:
    run = await at_its_first_judge(stage, mode, sufficient_at=2)
    await run.handle.signal("pause")
    await run.until(lambda p: p.paused)
    await stage.env.sleep(3_600)
    held = len(stage.fakes.paid())
    assert (await run.progress()).paused
    await stage.env.sleep(3_600)
    assert len(stage.fakes.paid()) == held
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.signal("resume")
    outcome = await run.outcome()
    assert outcome.verified_claims > 0
    assert (await run.budget()).elapsed_seconds < 3_600
    later = [call.step for call in stage.fakes.paid() if "older people" in call.step.steering]
    assert later
    assert any("older people" in search.query.text for search in stage.fakes.searches) or any(
        call.role in ("tool_selector", "manager") for call in stage.fakes.calls if call.step in later
    )


@pytest.mark.parametrize("mode", MODES[2:])  # of a loop like the first, `test_long_runs` compares both kinds
async def test_a_long_run_continues_as_new_and_loses_nothing(stage: Stage, mode: str) -> None:
    stage.script.sufficient_at = 5
    recommends_more(stage)
    outcome, report, run = await stage.play(
        a_request(mode, history_events=50, limits={"max_iterations": 50, "max_tokens": None})
    )
    assert outcome.stop_reason == "sufficient_evidence"
    assert len(stage.fakes.of("query_parser")) == 1
    events = await run.events()
    assert [e.seq for e in events] == list(range(events[0].seq, events[0].seq + len(events)))
    assert report.methodology.iterations >= 1
    assert (await run.budget()).used.tokens == sum(call.usage.tokens for call in stage.fakes.calls)


async def at_its_first_judge(stage: Stage, mode: str, sufficient_at: int | None = 1) -> Any:
    """A run, or the first of its child workflows, that is being judged for ten minutes."""
    stage.script.sufficient_at = sufficient_at
    recommends_more(stage)
    first: dict[str, int] = {}

    def wait_at_the_first(step: Any) -> None:
        if first.setdefault(step.section, step.iteration) == step.iteration:
            takes(600)

    stage.script.before["judge"] = wait_at_the_first
    run = await stage.start(a_request(mode))
    judged = stage.child(run, "s1") if mode == "hierarchical" else run
    await judged.until(lambda p: p.phase == "judging")
    return run
