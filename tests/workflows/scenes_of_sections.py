"""Scenes whose histories are recorded: runs with sections."""

from contextlib import suppress
from datetime import timedelta

from temporalio.client import WorkflowFailureError, WorkflowUpdateFailedError

from activities.contracts.errors import Unavailable
from activities.contracts.evidence import ReportPlan, ReportPlanSection, Usage
from activities.contracts.plan import KnowledgeGapOutput
from activities.contracts.prepare import FollowUp
from activities.contracts.step import Role, StepContext
from activities.roles.allowances import ALLOWANCES
from client.runs.refreshing import known_items
from tests.workflows.conftest import Stage, a_request
from tests.workflows.recording import first_run, keep
from tests.workflows.scenes_of_loops import comparing
from tests.workflows.script import COST, PROFILE, document, takes
from tests.workflows.test_look_up import Register, candidates_from
from workflows.types import EditPlan


async def edited_plan(stage: Stage) -> None:
    stage.script.sufficient_at = 2
    run = await stage.start(a_request("deep", approve=("plan",)))
    await run.until(lambda p: p.waiting_for == "plan")
    outline = tuple(ReportPlanSection(title=f"T{n}", key_question=f"Why {n}?") for n in (1, 2))
    plan = ReportPlan(report_title="Edited", report_outline=outline)
    await run.handle.execute_update("edit_plan", EditPlan(plan=plan, by="ann"))
    await run.handle.signal("approve", {"gate": "plan", "by": "bob"})
    await run.outcome()
    await keep("deep-edited-plan", run)


async def parent_cancelled(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(600)
    run = await stage.start(a_request("deep"))
    for section in ("s1", "s2", "s3"):
        await stage.child(run, section).until(lambda p: p.phase == "judging")
    await run.handle.cancel()
    with suppress(WorkflowFailureError):
        await run.outcome()
    await keep("deep-parent-cancelled", run)


async def candidates(stage: Stage) -> None:
    """Every gate, every message that may reach a deep run while its sections work, and candidates that are
    looked up in one source that answers and in one that fails."""
    candidates_from(stage, chembl=Register(), opentargets=Register(fails=Unavailable("down")))
    stage.script.sufficient_at = 2
    stage.script.before["judge"] = lambda _: takes(600)
    gates = ("plan", "candidates", "report")
    run = await stage.start(a_request("deep", approve=gates, approval_timeout_seconds=86_400.0))
    await run.until(lambda p: p.waiting_for == "plan")
    await run.handle.signal("approve", {"gate": "plan", "by": "ann"})
    for section in ("s1", "s2", "s3"):
        await stage.child(run, section).until(lambda p: p.phase == "judging")
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.signal("add_source", {"source": "gamma"})
    await run.handle.signal("pause")
    await run.handle.execute_update("extend_budget", {"tokens": 9_000, "seconds": 60, "iterations": 1})
    await run.handle.signal("resume")
    await stage.env.sleep(timedelta(hours=1))
    await run.until(lambda p: p.waiting_for == "candidates")
    with suppress(WorkflowUpdateFailedError):
        await run.handle.execute_update("choose_candidates", {"names": ["penicillin"]})
    await run.handle.execute_update("choose_candidates", {"names": ["aspirin"], "by": "bob"})
    await run.until(lambda p: p.waiting_for == "report")
    await run.handle.signal("approve", {"gate": "report", "by": "ann"})
    await run.outcome()
    await keep("deep-candidates", run)


async def leases(stage: Stage) -> None:
    """A section asks for more than its share, and is given what the others left until nothing is left. It is
    offered what the others found, and reflects on searches that brought little."""

    def usage(role: Role, _: StepContext) -> Usage:
        return COST.model_copy(update={"input_tokens": ALLOWANCES[role].input_tokens})

    stage.script.sufficient_at, stage.script.usage = None, usage
    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    stage.script.search = lambda task: [document("alpha", task.query.text.split(" in ")[0])]
    stage.script.answers["gap_evaluator"] = lambda step: KnowledgeGapOutput(
        outstanding_gaps=(f"gap {step.iteration} of {step.question}",) if step.section == "s3" else ()
    )
    run = await stage.start(a_request("deep", limits={"max_tokens": 150_000, "max_iterations": 50}))
    await run.outcome()
    await keep("deep-leases", run)
    await keep("deep-leases-section", stage.child(run, "s3"))


async def continuing(stage: Stage) -> None:
    """A run with sections that continues as new, and the one it goes on as."""
    stage.script.sections = 5
    run = await stage.start(a_request("deep", history_events=60))
    await run.outcome()
    await keep("deep-continuing", await first_run(stage, run))
    await keep("deep-continued", run)


async def rejected(stage: Stage) -> None:
    run = await stage.start(a_request("deep", approve=("plan",)))
    await run.until(lambda p: p.waiting_for == "plan")
    await run.handle.signal("reject", {"gate": "plan", "by": "ann", "note": "too broad"})
    await run.outcome()
    await keep("deep-rejected", run)


async def section_failed(stage: Stage) -> None:
    """One section's workflow fails, another is cancelled alone."""
    stage.script.before["judge"] = lambda step: takes(60) if step.section == "s3" else None
    stage.script.answers["tool_selector"] = lambda step: (
        "this is no list of searches"
        if step.section == "s2"
        else {"tasks": [{"gap": "all", "agent": "alpha", "query": step.question}]}
    )
    run = await stage.start(a_request("deep"))
    await stage.child(run, "s3").until(lambda p: p.phase == "judging")
    await stage.child(run, "s3").handle.cancel()
    await run.outcome()
    await keep("deep-section-failed", run)


async def effects_beside(stage: Stage) -> None:
    """The effects of works that compare are read while the last section is drafted."""
    comparing(stage)
    run = await stage.start(a_request("deep"))
    await run.outcome()
    await keep("deep-effects-beside", run)


async def followed_up(stage: Stage) -> None:
    """A deep run that begins with the evidence of another run."""
    ref = await stage.fakes.store.put(document("alpha", "earlier"))
    stage.fakes.documents[ref.blob] = document("alpha", "earlier")
    blob = await known_items(stage.fakes.store, [ref])
    run = await stage.start(a_request("deep", follow_up=FollowUp(run_id="ask-0", blob=blob)))
    await run.outcome()
    await keep("deep-follow-up", run)
