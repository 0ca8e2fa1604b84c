"""A deep run: signals and extensions reach the running sections."""

from datetime import timedelta

from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.errors import Unavailable
from activities.contracts.judge import HypothesisInput
from tests.workflows.conftest import Stage, a_request
from tests.workflows.deep import all_judging
from tests.workflows.script import takes
from tests.workflows.test_look_up import Register, candidates_from


async def test_every_message_may_reach_a_run_while_its_sections_work(stage: Stage) -> None:
    """At each gate and between them; what is said before a section begins is known to it."""
    candidates_from(stage, chembl=Register(), opentargets=Register(fails=Unavailable("down")))
    stage.script.sufficient_at = 2
    stage.script.before["judge"] = lambda _: takes(60)
    gates = ("plan", "candidates", "report")
    run = await stage.start(a_request("deep", sources=("alpha", "chembl"), approve=gates))
    await run.until(lambda p: p.waiting_for == "plan")
    await run.handle.signal("steer", {"text": "adults"})
    await run.handle.signal("pause")
    await run.handle.signal("approve", {"gate": "plan", "by": "ann"})
    await run.until(lambda p: p.phase == "paused")
    await run.handle.signal("resume")
    await all_judging(stage, run)
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.signal("add_source", {"source": "beta"})
    await run.handle.signal("pause")
    await run.handle.execute_update("extend_budget", {"tokens": 9_000, "seconds": 60, "iterations": 1})
    await stage.env.sleep(timedelta(days=7))
    for section in ("s1", "s2", "s3"):
        child = await stage.child(run, section).progress()
        assert (child.phase, child.iteration) == ("paused", 1)
    await run.handle.signal("resume")
    await stage.env.sleep(timedelta(hours=1))
    await run.until(lambda p: p.waiting_for == "candidates")
    await run.handle.execute_update("choose_candidates", {"names": ["sirolimus"], "by": "bob"})
    await run.until(lambda p: p.waiting_for == "report")
    await run.handle.signal("approve", {"gate": "report", "by": "ann"})
    outcome = await run.outcome()
    assert outcome.stop_reason == "sufficient_evidence"
    assert (await run.budget()).elapsed_seconds < 1_000
    steps = {role: [c.step for c in stage.fakes.of(role)] for role in ("tool_selector", "gap_evaluator")}
    assert {step.steering for step in steps["tool_selector"][:3]} == {("adults",)}
    assert [step.steering for step in steps["gap_evaluator"]] == [("adults", "older people")] * 3
    assert {task.source for task in stage.fakes.searches} == {"alpha", "beta"}
    assert all(c.paid for c in stage.fakes.of("writer")), "a week of pause left time for writing"
    assert [c.name for c in CANDIDATES.of_report(await run.report())] == ["sirolimus"]
    named = stage.fakes.of("hypothesis_generator")[-1].step
    assert isinstance(named, HypothesisInput)
    by_id = {ref.evidence_id: ref for ref in stage.fakes.published[-1].evidence}
    shown = [by_id[ref.evidence_id].sections for ref in named.evidence if ref.evidence_id in by_id]
    assert {name for sections in shown[:3] for name in sections} == {"s1", "s2", "s3"}


async def test_finishing_ends_every_section_and_begins_no_other(stage: Stage) -> None:
    stage.script.sufficient_at = None
    stage.script.before["judge"] = lambda _: takes(60)
    run = await stage.start(a_request("deep", limits={"max_parallel_sections": 2}))
    await all_judging(stage, run, "s1", "s2")
    await run.handle.signal("finish_now")
    outcome = await run.outcome()
    report = await run.report()
    assert outcome.stop_reason == "finished_by_reviewer"
    assert [bool(s.claims) for s in report.sections] == [True, True, False]
    assert "before it was begun" in " ".join(report.limitations)
    assert len(stage.fakes.of("judge")) == 2


async def test_time_that_is_added_reaches_sections_that_run(stage: Stage) -> None:
    stage.script.sufficient_at = 4
    stage.script.before["judge"] = lambda _: takes(200)
    run = await stage.start(a_request("deep", limits={"max_seconds": 600}))
    await all_judging(stage, run)
    await run.handle.execute_update("extend_budget", {"seconds": 3_000.0})
    assert (await run.outcome()).stop_reason == "sufficient_evidence"
