"""A deep run: what was approved is what runs, one section's fate is its own, and one report comes out."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowUpdateFailedError

from activities.steps import (
    AgentSelectionPlan,
    AgentTask,
    DraftClaim,
    DraftParagraph,
    GapsInput,
    HypothesisInput,
    ParsedQuery,
    Proofread,
    ProofreadInput,
    SectionDraft,
    SelectInput,
    WriteInput,
)
from activities.types import Identifiers, ReportPlan, ReportPlanSection, Support
from tests.workflows.conftest import Run, Stage, a_request, until
from tests.workflows.fakes import PROFILE, document, outage, takes
from workflows.rules.plan import number_sections, plan_hash
from workflows.types import ChooseCandidates, EditPlan, PlanView

DAY = 86_400.0


def question_of(section: str) -> str:
    """The key question the scripted planner gives a section."""
    return f"question number {section[1:]}"


def a_plan(*sections: ReportPlanSection, title: str = "Edited") -> ReportPlan:
    return ReportPlan(report_title=title, report_outline=sections)


def a_section(number: int, **more: str) -> ReportPlanSection:
    return ReportPlanSection.model_validate({"title": f"T{number}", "key_question": f"Why {number}?", **more})


async def at_the_plan(stage: Stage, **request: Any) -> Run:
    run = await stage.start(a_request("deep", approve=("plan",), **request))
    await run.until(lambda p: p.waiting_for == "plan")
    return run


async def all_judging(stage: Stage, run: Run, *sections: str) -> None:
    """Wait until every section has come to its judge."""
    for section in sections or ("s1", "s2", "s3"):
        await stage.child(run, section).until(lambda p: p.phase == "judging")


# the plan gate


async def test_a_plan_approved_after_three_days_is_the_plan_that_runs(stage: Stage) -> None:
    run = await at_the_plan(stage)
    view = await run.handle.query("plan", result_type=PlanView)
    assert not view.approved
    await stage.env.sleep(timedelta(days=3))
    await run.handle.signal("approve", {"gate": "plan", "by": "ann", "note": "fine"})
    outcome = await run.outcome()
    assert outcome.stop_reason == "sufficient_evidence"
    report = await run.report()
    decision = report.methodology.approvals[0]
    assert (decision.gate, decision.action, decision.by, decision.note) == ("plan", "approved", "ann", "fine")
    assert decision.at
    assert decision.plan_hash == view.plan_hash == report.methodology.plan_hash
    assert (await run.budget()).elapsed_seconds < 600
    assert (await run.handle.query("plan", result_type=PlanView)).approved


@pytest.mark.parametrize(
    ("default", "stop"), [("approve", "sufficient_evidence"), ("reject", "rejected_by_reviewer")]
)
async def test_a_plan_nobody_looks_at_takes_the_stated_default(stage: Stage, default: str, stop: str) -> None:
    request = a_request("deep", approve=("plan",), approval_timeout_seconds=3 * DAY, approval_default=default)
    outcome, report, _ = await stage.play(request)
    assert outcome.stop_reason == stop
    assert report.methodology.approvals[0].action.startswith("timed_out")
    assert bool(stage.fakes.searches) == (default == "approve")
    assert len(report.sections) == 3


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (a_plan(), "1 to 5 sections"),
        (a_plan(*(a_section(n) for n in range(6))), "1 to 5 sections"),
        (a_plan(a_section(1, title="  ")), "title and a key question"),
        (a_plan(a_section(1, key_question="")), "title and a key question"),
        (a_plan(a_section(1, id="a"), a_section(2, id="a")), "same id"),
        (a_plan(a_section(1, id="../../other")), "letters, digits"),
        (a_plan(a_section(1, id="x" * 300)), "letters, digits"),
        (a_plan(a_section(1, key_question="q" * 100_000)), "at most"),
        (a_plan(a_section(1), title="t" * 100_000), "at most"),
    ],
)
async def test_an_edit_that_is_wrong_is_refused_and_changes_nothing(
    stage: Stage, plan: ReportPlan, why: str
) -> None:
    run = await at_the_plan(stage)
    before = await run.handle.query("plan", result_type=PlanView)
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await run.handle.execute_update("edit_plan", EditPlan(plan=plan))
    assert why in str(refused.value.cause)
    assert await run.handle.query("plan", result_type=PlanView) == before


async def test_an_edit_is_refused_when_no_gate_waits(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(30)
    run = await stage.start(a_request("deep"))
    await run.until(lambda p: p.phase == "researching")
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await run.handle.execute_update("edit_plan", EditPlan(plan=a_plan(a_section(1))))
    assert "while it waits" in str(refused.value.cause)
    await run.outcome()


async def test_an_edited_plan_is_the_one_that_runs(stage: Stage) -> None:
    run = await at_the_plan(stage)
    plan = a_plan(a_section(1), a_section(2, id="s7"), a_section(3))
    edited = await run.handle.execute_update("edit_plan", EditPlan(plan=plan, by="ann"), result_type=PlanView)
    assert edited.plan is not None
    assert [s.id for s in edited.plan.report_outline] == ["s1", "s7", "s3"]
    await run.handle.signal("approve", {"gate": "plan", "by": "bob"})
    await run.outcome()
    report = await run.report()
    assert report.title == "Edited"
    assert [(s.id, s.title, s.key_question) for s in report.sections] == [
        (f"s{n}", f"T{k}", f"Why {k}?") for k, n in ((1, 1), (2, 7), (3, 3))
    ]
    assert {c.step.question for c in stage.fakes.of("judge")} == {"Why 1?", "Why 2?", "Why 3?"}
    assert report.methodology.plan_hash == edited.plan_hash == plan_hash(edited.plan)
    assert [(d.action, d.by, d.plan_hash) for d in report.methodology.approvals] == [
        ("edited", "ann", edited.plan_hash),
        ("approved", "bob", edited.plan_hash),
    ]


def test_ids_that_are_given_stay() -> None:
    plan = a_plan(a_section(1), a_section(2, id="s1"), a_section(3), a_section(4, id="s3"))
    assert [s.id for s in number_sections(plan).report_outline] == ["s2", "s1", "s4", "s3"]


# sections


@pytest.mark.parametrize("failing", range(4))
async def test_sections_that_fail_leave_the_others_alone(stage: Stage, failing: int) -> None:
    """Any number of three: what a step of theirs answers cannot even be read, and their workflow fails."""
    doomed = [f"s{n}" for n in range(3, 3 - failing, -1)]

    def tools(step: SelectInput) -> AgentSelectionPlan | str:
        if step.section in doomed:
            return "this is no list of searches"
        return AgentSelectionPlan(tasks=(AgentTask(gap=step.gaps[0], agent="alpha", query=step.question),))

    stage.script.answers["tool_selector"] = tools
    run = await stage.start(a_request("deep"))
    outcome = await run.outcome()
    report = await run.report()
    assert [(s.id, s.title, s.key_question) for s in report.sections] == [
        (f"s{n}", f"Section {n}", f"question number {n}") for n in (1, 2, 3)
    ]
    for section in report.sections:
        assert section.status == ("failed" if section.id in doomed else "complete")
        assert bool(section.claims) == (section.id not in doomed)
        for claim in section.claims:
            assert question_of(section.id) in claim.support[0].quote
        named = [text for text in report.limitations if f'"{section.title}"' in text]
        assert bool(named) == (section.id in doomed)
    assert outcome.answered == (failing < 3)
    assert outcome.stop_reason == ("sufficient_evidence" if failing < 3 else "all_sources_failed")


async def test_a_section_can_be_cancelled_alone(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(60)
    run = await stage.start(a_request("deep"))
    await all_judging(stage, run)
    await stage.child(run, "s2").handle.cancel()
    outcome = await run.outcome()
    report = await run.report()
    assert {s.id: s.status for s in report.sections} == {
        "s1": "complete",
        "s2": "cancelled",
        "s3": "complete",
    }
    assert outcome.stop_reason == "sufficient_evidence"
    # what it had found until then is written up all the same
    assert all(section.claims for section in report.sections)


async def test_a_run_whose_sections_are_all_cancelled_alone_completes(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(60)
    run = await stage.start(a_request("deep"))
    await all_judging(stage, run)
    for section in ("s1", "s2", "s3"):
        await stage.child(run, section).handle.cancel()
    assert (await run.outcome()).stop_reason == "cancelled"
    assert (await run.handle.describe()).status == WorkflowExecutionStatus.COMPLETED


async def test_a_cancelled_run_cancels_its_sections_and_leaves_a_partial_report(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(600)
    stage.script.sections = 5
    run = await stage.start(a_request("deep", limits={"max_parallel_sections": 2}))
    await all_judging(stage, run, "s1", "s2")
    begun = await stage.env.get_current_time()
    await run.handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await run.outcome()
    closed = (await run.handle.describe()).close_time
    assert closed is not None
    assert (closed - begun).total_seconds() < 60
    assert (await run.handle.describe()).status == WorkflowExecutionStatus.CANCELED
    for section in ("s1", "s2"):
        assert (await stage.child(run, section).progress()).phase == "done"
    report = await run.report()
    assert report.stop_reason == "cancelled"
    assert [bool(s.claims) for s in report.sections] == [True, True, False, False, False]
    assert {s.status for s in report.sections} == {"cancelled"}
    assert [c.paid for c in stage.fakes.of("long_writer")] == [False, False]


async def test_a_cancel_while_writing_keeps_what_is_written(stage: Stage) -> None:
    def slow(step: WriteInput) -> None:
        if step.section_id == "s2":
            takes(600)

    stage.script.before["long_writer"] = slow
    run = await stage.start(a_request("deep"))
    await run.until(lambda p: p.message.endswith("Section 2"))
    await run.handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await run.outcome()
    report = await run.report()
    assert report.stop_reason == "cancelled"
    written = [(c.step.section, c.paid) for c in stage.fakes.of("long_writer")]
    assert written == [("s1", True), ("s2", False), ("s3", False)]
    assert all(section.claims for section in report.sections)
    assert [e.type for e in await run.events()].count("finished") == 1


async def test_a_section_is_written_while_others_are_still_researched(stage: Stage) -> None:
    stage.script.before["judge"] = lambda step: takes(600) if step.section == "s3" else None
    run = await stage.start(a_request("deep"))
    await stage.child(run, "s3").until(lambda p: p.phase == "judging")
    await run.until(lambda p: [s.status for s in p.sections] == ["complete", "complete", "running"])
    await until(lambda: asyncio.sleep(0, stage.fakes.of("long_writer")), lambda done: len(done) == 2)
    first, second = (c.step for c in stage.fakes.of("long_writer"))
    assert isinstance(second, WriteInput)
    assert (first.section, second.section) == ("s1", "s2")
    assert second.written
    assert (await stage.child(run, "s3").progress()).phase == "judging"
    assert (await run.outcome()).stop_reason == "sufficient_evidence"
    assert [c.step.section for c in stage.fakes.of("long_writer")] == ["s1", "s2", "s3"]


async def test_a_cancel_keeps_what_was_written_while_others_were_researched(stage: Stage) -> None:
    stage.script.before["judge"] = lambda step: takes(600) if step.section == "s3" else None
    run = await stage.start(a_request("deep"))
    await until(lambda: asyncio.sleep(0, stage.fakes.of("long_writer")), lambda done: len(done) == 2)
    await run.handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await run.outcome()
    assert [(c.step.section, c.paid) for c in stage.fakes.of("long_writer")] == [
        ("s1", True),
        ("s2", True),
        ("s3", False),
    ]
    assert [s.status for s in (await run.report()).sections] == ["complete", "complete", "cancelled"]


async def test_a_search_that_was_answered_before_a_cancel_is_kept(stage: Stage) -> None:
    def search(task: Any) -> Any:
        if task.source == "beta":
            takes(60)
        return [document(task.source, task.query.text)]

    stage.script.search = search
    run = await stage.start(a_request())
    await run.until(lambda p: p.phase == "searching")
    await until(lambda: asyncio.sleep(0, len(stage.fakes.answered)), lambda answered: answered == 1)
    await run.handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await run.outcome()
    assert [r.source for r in (await run.report()).references] == ["alpha"]


async def test_at_most_so_many_sections_run_at_once(stage: Stage) -> None:
    begun, judged, most = set[str](), set[str](), 0

    def slow(step: Any) -> None:
        nonlocal most
        begun.add(step.section)
        most = max(most, len(begun - judged))
        takes(30)
        judged.add(step.section)

    stage.script.before["judge"] = slow
    stage.script.sections = 5
    await stage.play(a_request("deep", limits={"max_parallel_sections": 2}))
    assert most == 2
    assert judged == {"s1", "s2", "s3", "s4", "s5"}


# what is shared


async def test_a_work_two_sections_found_is_one_reference_credited_to_both(stage: Stage) -> None:
    """Under different names: one section knows it by DOI, the other by PMID and DOI."""

    def search(task: Any) -> Any:
        own = document(task.source, task.query.text)
        common = own.model_copy(update={"title": "The common work of all sections", "year": 2001})
        if "number 1" in task.query.text:
            name = Identifiers(doi="10.1/common")
            return [common.model_copy(update={"evidence_id": "doi:10.1/common", "identifiers": name})]
        name = Identifiers(doi="10.1/common", pmid="77")
        return [common.model_copy(update={"evidence_id": "pmid:77", "identifiers": name})]

    stage.script.search = search
    _, report, run = await stage.play(a_request("deep", sources=("alpha",)))
    index = (await run.handle.query("evidence_index"))["items"]
    assert len(index) == 1
    assert sorted(index[0]["sections"]) == ["s1", "s2", "s3"]
    assert len(report.references) == 1
    counts = report.methodology.counts
    assert (counts.identified, counts.duplicates, counts.screened, counts.included) == (3, 2, 1, 1)


async def test_each_section_is_written_knowing_what_the_others_said(stage: Stage) -> None:
    _, report, _ = await stage.play(a_request("deep"))
    steps = [c.step for c in stage.fakes.of("long_writer") if isinstance(c.step, WriteInput)]
    assert [s.section_id for s in steps] == ["s1", "s2", "s3"]
    for number, step in enumerate(steps):
        earlier = [claim.id for s in report.sections[:number] for claim in s.claims]
        assert [claim.id for claim in step.written] == earlier


async def test_a_contradiction_between_sections_is_kept_on_both_sides(stage: Stage) -> None:
    def write(step: WriteInput) -> SectionDraft:
        ref = step.evidence[0]
        query = ref.title.removesuffix(f" in {ref.source}")
        assert query
        text = step.written[0].text if step.written else ""
        quote = quotes[ref.evidence_id]
        return SectionDraft(
            paragraphs=(
                DraftParagraph(
                    claims=(
                        DraftClaim(
                            text=quote,
                            support=(Support(evidence_id=ref.evidence_id, quote=quote),),
                            contradicts=(step.written[0].id,) if text else (),
                        ),
                    )
                ),
            )
        )

    quotes: dict[str, str] = {}

    def search(task: Any) -> Any:
        found = document(task.source, task.query.text)
        quotes[found.evidence_id] = found.text
        return [found]

    stage.script.sections = 2
    stage.script.search = search
    stage.script.answers["long_writer"] = write
    _, report, _ = await stage.play(a_request("deep"))
    one, other = (section.claims[0] for section in report.sections)
    assert one.contradicts == (other.id,)
    assert other.contradicts == (one.id,)


async def test_the_candidates_come_from_every_section(stage: Stage) -> None:
    stage.script.profile = PROFILE.model_copy(update={"name": "drug_repurposing", "candidates": True})
    run = await stage.start(a_request("deep", approve=("candidates",)))
    await run.until(lambda p: p.waiting_for == "candidates")
    await run.handle.execute_update("choose_candidates", ChooseCandidates(names=("sirolimus",), by="ann"))
    await run.outcome()
    report = await run.report()
    assert [c.name for c in report.candidates] == ["sirolimus"]
    step = stage.fakes.of("hypothesis_generator")[0].step
    assert isinstance(step, HypothesisInput)
    by_id = {ref.evidence_id: ref for ref in stage.fakes.published[-1].evidence}
    shown = [by_id[ref.evidence_id].sections for ref in step.evidence if ref.evidence_id in by_id]
    assert {name for sections in shown[:3] for name in sections} == {"s1", "s2", "s3"}


# what people say reaches the sections


async def test_signals_reach_sections_that_run(stage: Stage) -> None:
    stage.script.sufficient_at = 2
    stage.script.before["judge"] = lambda _: takes(60)
    run = await stage.start(a_request("deep", sources=("alpha",)))
    await all_judging(stage, run)
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.signal("add_source", {"source": "beta"})
    await run.handle.signal("pause")
    await stage.env.sleep(timedelta(days=7))
    for section in ("s1", "s2", "s3"):
        child = await stage.child(run, section).progress()
        assert (child.phase, child.iteration) == ("paused", 1)
    await run.handle.signal("resume")
    outcome = await run.outcome()
    assert outcome.stop_reason == "sufficient_evidence"
    assert (await run.budget()).elapsed_seconds < 1_000
    second = [c.step for c in stage.fakes.of("gap_evaluator") if isinstance(c.step, GapsInput)]
    assert [s.steering for s in second] == [("older people",)] * 3
    assert Counter(s.source for s in stage.fakes.searches) == {"alpha": 6, "beta": 3}
    assert all(c.paid for c in stage.fakes.of("long_writer")), "a week of pause left time for writing"


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


async def test_what_was_said_before_a_section_began_is_known_to_it(stage: Stage) -> None:
    run = await at_the_plan(stage)
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.signal("pause")
    await run.handle.signal("approve", {"gate": "plan"})
    await run.until(lambda p: p.phase == "paused")
    await run.handle.signal("resume")
    await run.outcome()
    steps = [c.step for c in stage.fakes.of("tool_selector")]
    assert {s.steering for s in steps} == {("older people",)}


async def test_time_that_is_added_reaches_sections_that_run(stage: Stage) -> None:
    stage.script.sufficient_at = 4
    stage.script.before["judge"] = lambda _: takes(200)
    run = await stage.start(a_request("deep", limits={"max_seconds": 600}))
    await all_judging(stage, run)
    await run.handle.execute_update("extend_budget", {"seconds": 3_000.0})
    assert (await run.outcome()).stop_reason == "sufficient_evidence"


# the proofreader


async def test_the_proofreader_reads_once_what_the_sections_wrote(stage: Stage) -> None:
    _, report, _ = await stage.play(a_request("deep", writer="proofreader"))
    assert Counter(c.role for c in stage.fakes.calls)["writer"] == 3
    assert len(stage.fakes.of("proofreader")) == 1
    assert stage.fakes.of("long_writer") == []
    step = stage.fakes.of("proofreader")[0].step
    assert isinstance(step, ProofreadInput)
    assert step.titles == {"s1": "Section 1", "s2": "Section 2", "s3": "Section 3"}
    for section in report.sections:
        assert section.claims
        assert all(question_of(section.id) in c.support[0].quote for c in section.claims)


async def test_a_draft_the_proofreader_lost_is_kept(stage: Stage) -> None:
    stage.script.answers["proofreader"] = lambda step: Proofread(drafts={"s1": step.drafts["s1"]})
    _, report, _ = await stage.play(a_request("deep", writer="proofreader"))
    assert all(section.claims for section in report.sections)


async def test_paid_drafts_survive_a_cancel(stage: Stage) -> None:
    stage.script.before["proofreader"] = lambda _: takes(600)
    run = await stage.start(a_request("deep", writer="proofreader"))
    await run.until(lambda p: p.phase == "writing")
    await run.handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await run.outcome()
    assert all(section.claims for section in (await run.report()).sections)
    assert stage.fakes.of("long_writer") == []
    assert len(stage.fakes.of("writer")) == 3


async def test_a_draft_names_works_as_the_ledger_does(stage: Stage) -> None:
    """Two sections quote one work, each under the name it knew: one reference, and both claims stand."""

    def search(task: Any) -> Any:
        found = document("alpha", "the common work")
        name = Identifiers(doi="10.1/common", pmid=None if "number 1" in task.query.text else "77")
        known = "doi:10.1/common" if "number 1" in task.query.text else "pmid:77"
        return [found.model_copy(update={"evidence_id": known, "identifiers": name})]

    def write(step: WriteInput) -> SectionDraft:
        quote = document("alpha", "the common work").text
        drugs = {"s1": "metformin", "s2": "sirolimus"}
        return SectionDraft(
            paragraphs=(
                DraftParagraph(
                    claims=(
                        DraftClaim(
                            text=f"In this cohort {drugs[step.section_id]} lowered mortality.",
                            support=(Support(evidence_id=step.evidence[0].evidence_id, quote=quote),),
                        ),
                    )
                ),
            )
        )

    stage.script.sections = 2
    stage.script.search = search
    stage.script.answers["writer"] = write
    _, report, _ = await stage.play(a_request("deep", writer="proofreader", sources=("alpha",)))
    assert len(report.references) == 1
    assert report.verification.verified == 2


# auto


@pytest.mark.parametrize(("chosen", "kind"), [("iterative", "IterativeResearch"), ("deep", "DeepResearch")])
async def test_auto_goes_on_as_the_mode_it_chose_under_the_same_id(
    stage: Stage, chosen: str, kind: str
) -> None:
    stage.script.mode = chosen
    outcome, report, run = await stage.play(a_request("auto"))
    described = await run.handle.describe()
    assert described.workflow_type == kind
    assert (outcome.run_id, report.mode) == (run.handle.id, chosen)
    assert len(stage.fakes.of("query_parser")) == 1
    progress = await run.progress()
    assert progress.mode == chosen
    assert progress.chosen_because == "because the script says so"
    events = await run.events()
    assert next(e for e in events if e.type == "mode").data == {"mode": chosen}
    assert [e.seq for e in events] == list(range(1, len(events) + 1))


async def test_what_is_said_while_auto_chooses_is_carried_on(stage: Stage) -> None:
    stage.script.mode = "deep"
    stage.script.before["query_parser"] = lambda _: takes(30)
    run = await stage.start(a_request("auto", limits={"max_iterations": 1}))
    await run.until(lambda p: p.phase == "starting")
    await run.handle.signal("steer", {"text": "older people"})
    await run.handle.execute_update("extend_budget", {"iterations": 1})
    await run.outcome()
    assert stage.fakes.of("planner")[0].step.steering == ("older people",)
    assert (await run.progress()).max_iterations == 2


async def test_auto_that_is_cancelled_leaves_a_report(stage: Stage) -> None:
    stage.script.before["query_parser"] = lambda _: takes(30)
    run = await stage.start(a_request("auto"))
    await run.until(lambda p: p.phase == "starting")
    await run.handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await run.outcome()
    assert (await run.report()).stop_reason == "cancelled"


async def test_auto_chooses_the_profile_as_well(stage: Stage) -> None:
    stage.script.answers["query_parser"] = lambda step: ParsedQuery(
        improved_query=step.question, research_mode="iterative", profile="drug_repurposing"
    )
    await stage.play(a_request("auto"))
    assert [p.profile for p in stage.fakes.prepared] == ["general", "drug_repurposing"]


async def test_an_outage_everywhere_is_told_as_one(stage: Stage) -> None:
    def down(_: Any) -> Any:
        raise outage()

    stage.script.search = down
    outcome, report, _ = await stage.play(a_request("deep"))
    assert outcome.stop_reason == "all_sources_failed"
    assert not outcome.answered
    assert {r.status for r in report.methodology.searches} == {"unavailable"}
