"""A deep run: the sections become one report."""

import asyncio
from typing import Any

import pytest

from activities.contracts.evidence import Identifiers, Statement, Support
from activities.contracts.judge import PART as TABLE
from activities.contracts.judge import JudgeInput
from activities.contracts.profile import Criterion
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    Edited,
    EditedSentence,
    EditInput,
    SectionDraft,
    SentenceState,
    SentenceVerdict,
    Verdicts,
    VerifyInput,
    WriteInput,
)
from tests.workflows.conftest import PATIENCE, Stage, a_request, until
from tests.workflows.deep import question_of
from tests.workflows.script import PROFILE, document, down, meeting, takes

DRUGS = ("Metformin", "Aspirin")


async def drafted(stage: Stage, count: int) -> None:
    """Wait until so many sections have been drafted."""
    await until(lambda: asyncio.sleep(0, stage.fakes.of("writer")), lambda done: len(done) == count)


def drafts_of(stage: Stage) -> list[WriteInput]:
    """What the writer was given, in the order of the sections."""
    steps = [call.step for call in stage.fakes.of("writer") if isinstance(call.step, WriteInput)]
    return sorted(steps, key=lambda step: step.section_id)


@pytest.mark.usefixtures("many_works")
async def test_a_cancel_while_writing_keeps_what_is_written(stage: Stage) -> None:
    stage.script.before["writer"] = lambda step: takes(600) if step.section_id == "s2" else None
    run = await stage.start(a_request("deep"))
    await drafted(stage, 2)
    report = await stage.cancelled(run)
    assert report.stop_reason == "cancelled"
    written = {c.step.section: c.paid for c in stage.fakes.of("writer")}
    # which of the others was finished before the cancel is a matter of time; what was is kept
    assert set(written) == {"s1", "s2", "s3"}
    assert not written["s2"]
    assert written["s1"] or written["s3"]
    assert all(section.claims for section in report.sections)
    assert [e.type for e in await run.events()].count("complete") == 1


@pytest.mark.parametrize(("mode", "works"), [("iterative", ""), ("deep", "many_works")])
async def test_a_cancel_while_a_draft_is_read_prints_the_draft(
    stage: Stage, mode: str, works: str, request: pytest.FixtureRequest
) -> None:
    """It was paid for; passages took its place."""
    if works:
        request.getfixturevalue(works)
    started, ended = asyncio.Event(), asyncio.Event()

    async def hold(_: VerifyInput) -> None:
        started.set()
        await ended.wait()

    stage.script.sufficient_at = 1
    stage.script.answers["writer"] = lambda step: sentences(stage, step, "ask")
    stage.script.holds = {"verifier": hold}
    run = await stage.start(a_request(mode))
    await asyncio.wait_for(started.wait(), PATIENCE)
    report = await stage.cancelled(run)
    ended.set()
    assert all(call.paid for call in stage.fakes.of("writer")), "no passages take its place"
    texts = [claim.text for section in report.sections for claim in section.claims]
    assert texts


async def test_all_sections_over_few_works_are_written_in_one_call_with_one_answer(stage: Stage) -> None:
    """The writer is told of the outline, its draft is divided, and no editor is asked."""

    def write(step: WriteInput) -> SectionDraft:
        text = stage.fakes.documents[step.evidence[0].blob].text
        support = (Support(evidence_id=step.evidence[0].evidence_id, quote=text),)
        answer = DraftClaim(text="Metformin lowered mortality.", support=support)
        return stage.fakes.drafted(step).replace(answer=(answer,))

    stage.script.answers["writer"] = write
    _, report, _ = await stage.play(a_request("deep"))
    step, *_ = drafts_of(stage)
    assert [section.id for section in step.outline] == ["s1", "s2", "s3"]
    assert (step.other_sections, step.written) == ((), ())
    texts = [stage.fakes.documents[ref.blob].text for ref in step.evidence]
    for planned in step.outline:
        assert any(planned.key_question in text for text in texts), "the works of all sections"
    assert not stage.fakes.of("editor")
    assert [claim.id for claim in report.answer] == ["s1.a1"]
    assert not any(section.answer for section in report.sections), "the answer stands once"
    for section in report.sections:
        assert section.claims
        assert all(claim.id.startswith(f"{section.id}.") for claim in section.claims)


@pytest.mark.usefixtures("many_works")
async def test_sections_are_drafted_at_the_same_time_and_edited_once(stage: Stage) -> None:
    stage.script.holds["writer"] = meeting(3)
    _, report, _ = await stage.play(a_request("deep"))
    calls = stage.fakes.of("writer")
    assert [call.paid for call in calls] == [True] * 3
    for step in drafts_of(stage):
        assert step.other_sections == tuple(
            question_of(name) for name in ("s1", "s2", "s3") if name != step.section_id
        )
    (edited,) = stage.fakes.of("editor")
    assert edited.paid
    assert edited.began >= max(call.ended for call in calls)
    assert isinstance(edited.step, EditInput)
    assert list(edited.step.claims) == ["s1", "s2", "s3"]
    assert all(section.claims for section in report.sections)


@pytest.mark.usefixtures("many_works")
async def test_a_work_two_sections_found_is_one_reference_credited_to_both(stage: Stage) -> None:
    """Under different names: one section knows it by DOI, the others by PMID and DOI, and each quotes it
    under the name it knows."""

    def search(task: Any) -> Any:
        by_doi = "number 1" in task.query.text
        name = Identifiers(doi="10.1/common", pmid=None if by_doi else "77")
        known = {"evidence_id": "doi:10.1/common" if by_doi else "pmid:77", "identifiers": name}
        return [document("alpha", "the common work").model_copy(update=known)]

    def write(step: WriteInput) -> SectionDraft:
        quote = document("alpha", "the common work").text
        drug = {"s1": "metformin", "s2": "sirolimus", "s3": "aspirin"}[step.section_id]
        support = (Support(evidence_id=step.evidence[0].evidence_id, quote=quote),)
        claim = DraftClaim(text=f"In this cohort {drug} lowered mortality.", support=support)
        return SectionDraft(paragraphs=(DraftParagraph(claims=(claim,)),))

    stage.script.search = search
    stage.script.answers["writer"] = write
    _, report, run = await stage.play(a_request("deep", sources=("alpha",)))
    index = (await run.ask("evidence_index", dict))["items"]
    assert len(index) == 1
    assert sorted(index[0]["sections"]) == ["s1", "s2", "s3"]
    assert len(report.references) == 1
    assert report.verification.verified == 3
    counts = report.methodology.counts
    assert (counts.screened, counts.included) == (1, 1)
    assert counts.duplicates == counts.identified - 1 > 1


async def test_a_work_that_several_sections_judged_is_screened_once(stage: Stage) -> None:
    def search(task: Any) -> Any:
        own = (document(task.source, f"{task.query.text} {n}") for n in range(30))
        return [document(task.source, "the common work"), *own]

    stage.script.search = search
    _, report, _ = await stage.play(a_request("deep", sources=("alpha",)))
    steps = [call.step for call in stage.fakes.of("judge") if isinstance(call.step, JudgeInput)]
    judged = [ref.evidence_id for step in steps for ref in step.evidence]
    counts = report.methodology.counts
    assert counts.screened == len(set(judged)) < len(judged) < counts.identified - counts.duplicates


UNSUPPORTED = Statement(code="not_supported", values={"verdict": "partly", "reason": "not there"})


def sentences(stage: Stage, step: WriteInput, state: SentenceState) -> SectionDraft:
    """One sentence in words of its own, on two works."""
    texts = [stage.fakes.documents[ref.blob] for ref in step.evidence[:2]]
    support = tuple(Support(evidence_id=one.evidence_id, quote=one.text) for one in texts)
    if step.failed:
        again = {
            "text": "Metformin lowered mortality.",
            "state": "stands",
            "reworded": True,
            "support": support,
        }
        claims = tuple(
            claim.model_copy(update=again) for paragraph in step.failed for claim in paragraph.claims
        )
    else:
        text = "Metformin lowered mortality in both cohorts."
        claims = (DraftClaim(text=text, support=support, state=state),)
    return SectionDraft(paragraphs=(DraftParagraph(claims=claims),))


@pytest.mark.usefixtures("many_works")
async def test_what_is_written_again_is_told_what_the_other_sentences_compute(stage: Stage) -> None:
    def write(step: WriteInput) -> SectionDraft:
        draft = sentences(stage, step, "refused")
        if step.failed:
            return draft
        total = (
            draft.paragraphs[0]
            .claims[0]
            .model_copy(update={"state": "stands", "computed": ("209 + 218 = 427",)})
        )
        return draft.model_copy(update={"answer": (total,)})

    stage.script.answers["writer"] = write
    await stage.play(a_request("iterative"))
    steps = [call.step for call in stage.fakes.of("writer") if isinstance(call.step, WriteInput)]
    (again,) = [step for step in steps if step.failed]
    assert again.computed == ("209 + 218 = 427",)


@pytest.mark.usefixtures("many_works")
async def test_the_editor_reads_the_answers_of_the_sections(stage: Stage) -> None:
    def write(step: WriteInput) -> SectionDraft:
        draft = sentences(stage, step, "stands")
        return draft.model_copy(update={"answer": draft.paragraphs[0].claims})

    def edit(step: EditInput) -> Edited:
        said = tuple(EditedSentence(text=c.text, claims=(c.id,)) for c in step.answers["s1"])
        return Edited(title=step.title, answer=said)

    stage.script.answers["writer"] = write
    stage.script.answers["editor"] = edit
    _, report, _ = await stage.play(a_request("deep"))
    (step,) = [call.step for call in stage.fakes.of("editor")]
    assert isinstance(step, EditInput)
    assert [claim.id for claim in step.answers["s1"]] == ["s1.a1"]
    assert [claim.rests_on or claim.id for claim in report.answer] == [("s1.a1",), "s2.a1", "s3.a1"]


@pytest.mark.parametrize(("minimum", "asked"), [(0, False), (6, True)])
async def test_the_editor_is_asked_for_a_mechanism_where_the_profile_requires_one(
    stage: Stage, minimum: int, asked: bool
) -> None:
    """A criterion that may be scored and need not be met asks for none."""
    criterion = Criterion(name="mechanism", description="explained and supported", minimum=minimum)
    criteria = (*PROFILE.criteria, criterion)
    stage.script.profile = PROFILE.model_copy(update={"criteria": criteria})
    await stage.play(a_request("simple"))
    (step,) = [call.step for call in stage.fakes.of("editor")]
    assert isinstance(step, EditInput)
    assert step.asks_mechanism is asked


@pytest.mark.parametrize(("problem", "calls"), [(None, 2), (UNSUPPORTED, 3)])
async def test_what_the_verifier_does_not_confirm_is_written_once_more(
    stage: Stage, problem: Statement | None, calls: int
) -> None:
    stage.script.answers["writer"] = lambda step: sentences(stage, step, "ask")
    stage.script.answers["verifier"] = lambda step: Verdicts(
        verdicts=tuple(SentenceVerdict(id=s.id, problem=problem) for s in step.sentences)
    )
    _, report, _ = await stage.play(a_request())
    assert len(stage.fakes.of("verifier")) == 1
    assert len(stage.fakes.of("writer")) == calls
    assert len(report.sections[0].claims[0].support) == 2


@pytest.mark.parametrize("fails", ["", "answer", "labels"])
async def test_a_whole_report_is_made_of_an_answer_and_written_at_once_where_that_fails(
    stage: Stage, fails: str
) -> None:
    def write(step: WriteInput) -> SectionDraft:
        if fails == ("answer" if step.is_plain else "labels" if step.plain_answer else "never"):
            raise down()
        return stage.fakes.drafted(step) if step.is_plain else sentences(stage, step, "ask")

    stage.script.answers["writer"] = write
    stage.script.answers["verifier"] = lambda step: Verdicts(
        verdicts=tuple(SentenceVerdict(id=s.id) for s in step.sentences)
    )
    _, report, run = await stage.play(a_request())
    assert [claim.text for claim in report.claims()] == ["Metformin lowered mortality in both cohorts."]
    assert report.written_by == "model"
    made = [(step.is_plain, step.plain_answer) for step in drafts_of(stage)]
    plain, labels, at_once = (True, ""), (False, "The answer."), (False, "")
    assert made == {"": [plain, labels], "answer": [at_once], "labels": [plain, at_once]}[fails]
    assert len(stage.fakes.of("verifier")) == 1
    failed = [e for e in await run.events() if e.type == "error" and e.data["kind"] == "model_failed"]
    assert len(failed) == bool(fails)


@pytest.mark.usefixtures("many_works")
async def test_second_wordings_and_the_editors_own_are_read_in_one_last_call(stage: Stage) -> None:
    """While the editor works, what was refused is written once more."""

    def write(step: WriteInput) -> SectionDraft:
        draft = sentences(stage, step, "refused")
        return draft.changed(lambda one: (one.model_copy(update={"state": "ask"}),)) if step.failed else draft

    def edit(step: EditInput) -> Edited:
        said = step.claims["s1"][0]
        own = EditedSentence(
            id="a1", text="Mortality was lower.", claims=(said.id,), support=said.support, state="ask"
        )
        return Edited(answer=(own,))

    stage.script.answers["writer"] = write
    stage.script.answers["editor"] = edit
    meet = meeting(2)
    stage.script.holds["editor"] = meet
    stage.script.holds["writer"] = lambda step: meet(step) if step.failed else asyncio.sleep(0)
    stage.script.sections = 2
    _, report, _ = await stage.play(a_request("deep"))
    *_, read = (call.step for call in stage.fakes.of("verifier"))
    assert isinstance(read, VerifyInput)
    assert [sentence.id for sentence in read.sentences] == ["s1.1", "s2.1", "a1"]
    assert len([step for step in drafts_of(stage) if step.failed]) == 1
    assert [(claim.text, claim.stands_by) for claim in report.claims()] == [
        ("Metformin lowered mortality.", "reader")
    ]
    assert [(one.text, one.stands_by) for one in report.answer] == [("Mortality was lower.", "reader")]
    check = report.verification
    assert (check.by_reader, check.by_quote, check.reader) == (1, 0, "same_model")


async def test_the_quotes_stand_in_place_of_what_fails_twice_and_the_run_says_so(stage: Stage) -> None:
    stage.script.answers["writer"] = lambda step: (
        SectionDraft() if step.failed else sentences(stage, step, "ask")
    )
    stage.script.answers["verifier"] = lambda step: Verdicts(
        verdicts=tuple(SentenceVerdict(id=s.id, problem=UNSUPPORTED) for s in step.sentences)
    )
    _, report, run = await stage.play(a_request())
    claims = report.sections[0].claims
    assert [claim.text for claim in claims] == [claim.support[0].quote for claim in claims]
    assert claims
    assert report.verification.dropped
    (event,) = [e for e in await run.events() if e.type == "refused"]
    assert event.data["share"] == 1


async def test_a_run_whose_writer_wrote_nothing_quotes_the_works_that_were_judged_to_answer(
    stage: Stage,
) -> None:
    stage.script.answers["writer"] = lambda step: SectionDraft()
    outcome, report, _ = await stage.play(a_request())
    assert outcome.answered
    assert {claim.text for claim in report.sections[0].claims} <= {
        d.text for d in stage.fakes.documents.values()
    }


async def test_the_table_is_filled_beside_the_writing(stage: Stage) -> None:
    stage.script.holds["extractor"] = meet = meeting(2)

    async def hold(step: WriteInput) -> None:
        if step.is_plain:
            await meet(step)

    stage.script.holds["writer"] = hold
    await stage.play(a_request(columns=("dose", "outcome")))
    assert [call.paid for role in ("extractor", "writer") for call in stage.fakes.of(role)] == [True] * 3
    assert TABLE.of_input(stage.fakes.published[-1]).columns == ("dose", "outcome")
