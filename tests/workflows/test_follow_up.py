"""A run that begins with the evidence of an earlier one."""

from collections.abc import Callable

import pytest

from activities.contracts.evidence import EvidenceRef
from activities.contracts.plan import ParsedQuery, ParseQueryInput
from activities.contracts.prepare import PART as CONTINUES
from activities.contracts.prepare import Continued, FollowUp
from client.runs.refreshing import known_items
from tests.workflows.conftest import Run, Stage, a_request, limitations
from tests.workflows.script import document
from workflows.types import EvidenceIndex


async def evidence_of(stage: Stage, run: Run) -> FollowUp:
    """The evidence of a finished run, as the command stores it."""
    index = await run.ask("evidence_index", EvidenceIndex)
    return FollowUp(run_id=run.handle.id, blob=await known_items(stage.fakes.store, index.items))


@pytest.mark.parametrize("mode", ["deep"])
async def test_a_run_builds_on_the_evidence_of_an_earlier_one(stage: Stage, mode: str) -> None:
    stage.script.sections = 2
    _, before, earlier = await stage.play(a_request())
    stage.script.search = lambda _: ()
    follow_up = await evidence_of(stage, earlier)
    outcome, report, run = await stage.play(a_request(mode, follow_up=follow_up), "ask-follow-up")
    assert outcome.answered
    assert {reference.from_run for reference in report.references} == {earlier.handle.id}
    known = {reference.evidence_id for reference in before.references}
    assert {reference.evidence_id for reference in report.references} <= known
    assert limitations(report).count("follow_up") == 1
    assert CONTINUES.of_report(report) == Continued(run_id=earlier.handle.id, question=before.question)
    assert any(section.claims for section in report.sections)
    (imported,) = [event for event in await run.events() if event.type == "imported"]
    assert imported.data == {"run_id": earlier.handle.id, "items": len(known)}
    assert report.methodology.counts.identified >= report.methodology.counts.included > 0


async def test_what_the_run_finds_itself_does_not_count_as_imported(stage: Stage) -> None:
    _, _, earlier = await stage.play(a_request())
    follow_up = await evidence_of(stage, earlier)
    stage.script.answers["writer"] = lambda step: stage.fakes.drafted(
        step.model_copy(update={"evidence": tuple(reversed(step.evidence))})
    )
    stage.script.search = lambda task: [document(task.source, "later work")]
    _, report, _ = await stage.play(a_request(follow_up=follow_up), "ask-follow-up")
    assert {reference.from_run for reference in report.references} == {"", earlier.handle.id}


async def test_retracted_and_unreadable_items_are_not_imported(stage: Stage) -> None:
    good = await stage.fakes.store.put(document("alpha", "good"))
    bad = (await stage.fakes.store.put(document("alpha", "bad"))).model_copy(update={"standing": "retracted"})
    lost = EvidenceRef(evidence_id="pmid:1", blob="blobs/00/" + "0" * 64 + ".json", source="alpha", title="T")
    stage.fakes.documents[good.blob] = document("alpha", "good")
    stage.script.search = lambda _: ()
    blob = await known_items(stage.fakes.store, [bad, lost, good])
    _, report, _ = await stage.play(a_request(follow_up=FollowUp(run_id="ask-0", blob=blob)))
    assert [reference.evidence_id for reference in report.references] == [good.evidence_id]


async def test_a_list_that_cannot_be_read_is_named_and_the_run_goes_on(stage: Stage) -> None:
    missing = FollowUp(run_id="ask-0", blob="blobs/00/" + "0" * 64 + ".jsonl")
    outcome, report, _ = await stage.play(a_request(follow_up=missing))
    assert outcome.answered
    assert "follow_up_missing" in limitations(report)


async def test_a_chain_of_three_is_researched_and_reported_as_questions_that_stand_alone(
    stage: Stage,
) -> None:
    """Each follow-up is read beside the question and the answer before it, and every later step and section
    has the question as it stands alone."""
    mode, stage.script.sections = "deep", 2
    _, first, run = await stage.play(a_request(question="Does metformin slow dementia?"), "ask-first")
    told: list[ParseQueryInput] = []

    def rewritten(text: str) -> Callable[[ParseQueryInput], ParsedQuery]:
        def answer(step: ParseQueryInput) -> ParsedQuery:
            told.append(step)
            return ParsedQuery(
                improved_query=text, research_mode="iterative", profile=stage.script.profile.name
            )

        return answer

    stage.script.answers["query_parser"] = rewritten("Does metformin slow dementia in women?")
    follow_up = await evidence_of(stage, run)
    asked = a_request(mode, question="And in women?", follow_up=follow_up)
    _, second, run = await stage.play(asked, "ask-second")
    assert (told[-1].earlier_question, told[-1].question) == (first.question, "And in women?")
    assert told[-1].earlier_answer
    assert (second.question, second.asked) == ("Does metformin slow dementia in women?", "And in women?")

    stage.script.answers["query_parser"] = rewritten("Which dose of metformin slows dementia in women?")
    asked = a_request(mode, question="Which dose?", follow_up=await evidence_of(stage, run))
    _, third, run = await stage.play(asked, "ask-third")
    assert told[-1].earlier_question == second.question
    assert CONTINUES.of_report(third) == Continued(run_id="ask-second", question=second.question)
    assert (third.question, third.asked) == (
        "Which dose of metformin slows dementia in women?",
        "Which dose?",
    )
    (read,) = [event for event in await run.events() if event.type == "read"]
    assert read.data["question"] == third.question
    asked_of_writer = {
        call.step.question for call in stage.fakes.of("writer") if call.step.run_id == "ask-third"
    }
    assert "Which dose?" not in asked_of_writer
    assert (await run.progress()).question == third.question
