"""A deep run: the sections become one report."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError

from activities.steps import (
    DraftClaim,
    DraftParagraph,
    HypothesisInput,
    Proofread,
    ProofreadInput,
    SectionDraft,
    WriteInput,
)
from activities.types import Identifiers, Support
from tests.workflows.conftest import Stage, a_request, until
from tests.workflows.deep import question_of
from tests.workflows.fakes import PROFILE, document, takes
from workflows.types import ChooseCandidates


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
