"""A deep run: the sections become one report."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError

from activities.drafts import DraftClaim, DraftParagraph, Proofread, ProofreadInput, SectionDraft, WriteInput
from activities.steps import HypothesisInput, PlanInput
from activities.types import Identifiers, ModelChoice, ReportPlan, ReportPlanSection, Support
from tests.workflows.conftest import Stage, a_request, until
from tests.workflows.deep import question_of
from tests.workflows.script import PROFILE, document, takes
from workflows.types import ChooseCandidates


async def drafted(stage: Stage, count: int) -> None:
    """Wait until so many sections have been drafted."""
    await until(lambda: asyncio.sleep(0, stage.fakes.of("long_writer")), lambda done: len(done) == count)


def drafts_of(stage: Stage) -> list[WriteInput]:
    """What the long writer was given, in the order of the sections."""
    steps = [call.step for call in stage.fakes.of("long_writer") if isinstance(call.step, WriteInput)]
    return sorted(steps, key=lambda step: step.section_id)


async def test_a_cancel_while_writing_keeps_what_is_written(stage: Stage) -> None:
    stage.script.before["long_writer"] = lambda step: takes(600) if step.section_id == "s2" else None
    run = await stage.start(a_request("deep"))
    await drafted(stage, 2)
    await stage.cancel(run)
    with pytest.raises(WorkflowFailureError):
        await run.outcome()
    report = await run.report()
    assert report.stop_reason == "cancelled"
    written = {c.step.section: c.paid for c in stage.fakes.of("long_writer")}
    # which of the others was finished before the cancel is a matter of time; what was is kept
    assert set(written) == {"s1", "s2", "s3"}
    assert not written["s2"]
    assert written["s1"] or written["s3"]
    assert all(section.claims for section in report.sections)
    assert [e.type for e in await run.events()].count("complete") == 1


async def test_a_section_is_written_while_others_are_still_researched(stage: Stage) -> None:
    stage.script.before["judge"] = lambda step: takes(600) if step.section == "s3" else None
    run = await stage.start(a_request("deep"))
    await stage.child(run, "s3").until(lambda p: p.phase == "judging")
    await run.until(lambda p: [s.status for s in p.sections] == ["complete", "complete", "running"])
    await drafted(stage, 2)
    assert [step.section_id for step in drafts_of(stage)] == ["s1", "s2"]
    assert (await stage.child(run, "s3").progress()).phase == "judging"
    assert (await run.outcome()).stop_reason == "sufficient_evidence"
    assert [step.section_id for step in drafts_of(stage)] == ["s1", "s2", "s3"]


async def test_sections_are_drafted_at_the_same_time_and_compared_once(stage: Stage) -> None:
    stage.script.model_seconds = 0.5
    _, report, _ = await stage.play(a_request("deep"))
    calls = stage.fakes.of("long_writer")
    assert len(calls) == 3
    assert max(call.began for call in calls) < min(call.ended for call in calls)
    for step in drafts_of(stage):
        assert step.written == ()
        assert step.other_sections == tuple(
            question_of(name) for name in ("s1", "s2", "s3") if name != step.section_id
        )
    (compared,) = stage.fakes.of("proofreader")
    assert compared.paid
    assert compared.began >= max(call.ended for call in calls)
    assert isinstance(compared.step, ProofreadInput)
    assert list(compared.step.drafts) == ["s1", "s2", "s3"]
    assert all(section.claims for section in report.sections)


async def test_an_item_that_several_sections_found_belongs_to_one_and_is_reported_once(
    stage: Stage,
) -> None:
    """The common work is about the third section's question."""

    def search(task: Any) -> Any:
        own = document(task.source, task.query.text)
        common = document(task.source, "about question 3").model_copy(update={"title": "On question 3"})
        return [common, own]

    def plan(step: PlanInput) -> ReportPlan:
        outline = [ReportPlanSection(title=f"Part {n}", key_question=f"question {w}") for n, w in parts]
        return ReportPlan(report_title="A plan", report_outline=tuple(outline))

    parts = ((1, "alpha"), (2, "beta"), (3, "gamma"))
    stage.script.search = search
    stage.script.answers["planner"] = plan
    _, report, _ = await stage.play(a_request("deep", sources=("alpha",)))
    common = document("alpha", "about question 3").evidence_id
    owned = [step.section_id for step in drafts_of(stage) if common not in step.shared]
    assert len(owned) == 1, "one section owns it, the others received it as another's"
    citing = [s.id for s in report.sections for c in s.claims if common in {q.evidence_id for q in c.support}]
    assert citing == owned


async def test_without_a_model_each_section_is_written_after_the_one_before(stage: Stage) -> None:
    stage.script.models = {"default": ModelChoice()}
    _, report, _ = await stage.play(a_request("deep"))
    for number, step in enumerate(drafts_of(stage)):
        earlier = [claim.id for s in report.sections[:number] for claim in s.claims]
        assert [claim.id for claim in step.written] == earlier
    assert not stage.fakes.of("proofreader")


async def test_a_cancel_keeps_what_was_written_while_others_were_researched(stage: Stage) -> None:
    stage.script.before["judge"] = lambda step: takes(600) if step.section == "s3" else None
    run = await stage.start(a_request("deep"))
    await drafted(stage, 2)
    await stage.cancel(run)
    with pytest.raises(WorkflowFailureError):
        await run.outcome()
    written = {c.step.section: c.paid for c in stage.fakes.of("long_writer")}
    assert written == {"s1": True, "s2": True, "s3": False}
    assert [s.status for s in (await run.report()).sections] == ["complete", "complete", "cancelled"]


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
    index = (await run.ask("evidence_index", dict))["items"]
    assert len(index) == 1
    assert sorted(index[0]["sections"]) == ["s1", "s2", "s3"]
    assert len(report.references) == 1
    counts = report.methodology.counts
    assert (counts.identified, counts.duplicates, counts.screened, counts.included) == (3, 2, 1, 1)


async def test_a_contradiction_between_sections_is_kept_on_both_sides(stage: Stage) -> None:
    def compare(step: ProofreadInput) -> Proofread:
        """The first claims of the two sections contradict each other."""
        one, other = (draft.paragraphs[0].claims[0] for draft in step.drafts.values())
        drafts = {}
        for (name, draft), against in zip(step.drafts.items(), (other, one), strict=True):
            first = draft.paragraphs[0].claims[0].model_copy(update={"contradicts": (against.text,)})
            rest = draft.paragraphs[1:]
            drafts[name] = draft.model_copy(update={"paragraphs": (DraftParagraph(claims=(first,)), *rest)})
        return Proofread(drafts=drafts)

    stage.script.sections = 2
    stage.script.answers["proofreader"] = compare
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
    await stage.cancel(run)
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
