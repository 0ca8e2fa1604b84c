"""Sub-teams: judged attempts, feedback in the next task, the best result kept, failures that stay alone."""

from activities.contracts.judge import JudgeBatch, JudgeInput
from activities.contracts.plan import ManagerInput, SelectInput, TeamLedger
from activities.extractive.planning import manage
from tests.workflows.conftest import Stage, a_request

UNBOUNDED = {"max_tokens": None}


async def test_each_task_is_given_to_a_team_with_a_manager_and_a_judge_of_its_own(stage: Stage) -> None:
    stage.script.sections = 2
    outcome, report, run = await stage.play(a_request("hierarchical", limits=UNBOUNDED))
    assert outcome.stop_reason == "sufficient_evidence"
    for section in ("s1", "s2"):
        assert (await stage.child(run, section).handle.describe()).workflow_type == "SubTeamResearch"
        for role in ("manager", "judge"):
            steps = [call.step for call in stage.fakes.of(role) if call.step.section == section]
            assert {step.question for step in steps} == {f"question number {section[1]}"}
        turns = [e.data["member"] for e in await stage.child(run, section).events() if e.type == "turn"]
        assert turns[-1] == "reporter"
        assert {"searcher", "judge"} <= set(turns)
    assert report.references


async def test_what_managers_hold_for_known_reaches_the_writers_and_each_manager_once(stage: Stage) -> None:
    def answer(step: ManagerInput) -> TeamLedger:
        return manage(step).model_copy(update={"facts": (f"known of {step.question}",)})

    stage.script.sections, stage.script.answers["manager"] = 2, answer
    await stage.play(a_request("hierarchical", limits=UNBOUNDED))
    told = [step for call in stage.fakes.of("manager") if isinstance(step := call.step, ManagerInput)]
    assert any(step.facts for step in told)
    assert not any(fact in step.background for step in told for fact in step.facts)
    *_, writer = stage.fakes.of("writer")
    for section in ("1", "2"):
        assert f"known of question number {section}" in writer.step.background


async def test_what_the_judge_misses_goes_back_to_the_manager_and_is_searched(stage: Stage) -> None:
    stage.script.sections, stage.script.sufficient_at = 1, 6
    await stage.play(a_request("hierarchical", limits=UNBOUNDED))
    told = [step.judged_gaps for c in stage.fakes.of("manager") if isinstance(step := c.step, ManagerInput)]
    assert ("something is missing",) in told
    gaps = [step.gaps for c in stage.fakes.of("tool_selector") if isinstance(step := c.step, SelectInput)]
    assert ("something is missing",) in gaps


async def test_the_best_attempt_is_returned_and_not_the_latest(stage: Stage) -> None:
    """Works that answer otherwise make the second attempt less sure than the first."""

    def answer(step: JudgeInput) -> JudgeBatch:
        batch = stage.fakes.judged(step, enough=False)
        sides = ("yes",) if not step.judged else ("no",)
        judged = (
            judgement.model_copy(update={"direction": side})
            for judgement in batch.judgements
            for side in sides
        )
        return batch.model_copy(update={"judgements": tuple(judged)})

    stage.script.sections, stage.script.answers["judge"] = 1, answer
    _, _, run = await stage.play(a_request("hierarchical", limits={**UNBOUNDED, "max_iterations": 4}))
    kept = (await stage.child(run, "s1").outcome()).findings
    events = await stage.child(run, "s1").events()
    sure = [float(str(e.data["confidence"])) for e in events if e.type == "judge_complete"]
    assert kept is not None
    assert len(sure) == 2
    assert kept.confidence == max(sure) == sure[0]
    assert [e.data["attempt"] for e in events if e.type == "best_attempt"] == [2]
