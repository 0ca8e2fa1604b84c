"""Changes of a finished report: what is touched, and that nothing else is."""

import re

import pytest

from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.candidates import Candidate
from activities.contracts.evidence import (
    CiteMark,
    Emphasis,
    EvidenceRef,
    ReportPlanSection,
    Statement,
    Support,
)
from activities.contracts.publish import PlannedSection, PublishInput
from activities.contracts.revise import Instruction, Revised, Wanted
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    Edited,
    EditedSentence,
    SectionDraft,
    SentenceVerdict,
    Verdicts,
)
from activities.messages import in_language
from activities.report.formats.statements import sentence as wording
from activities.report.instructions import add_dispute, apply_change, decide_disputes, sentence_of


def on(work: str) -> Support:
    return Support(evidence_id=work, quote=f"What {work} has found in its many participants.")


def a_section(name: str) -> PlannedSection:
    claims = tuple(
        DraftClaim(id=f"{name}.{n}", text=f"Finding {n} of {name}.", support=(on(work), on("w3")))
        for n, work in ((1, "w1"), (2, "w2"))
    )
    return PlannedSection(
        section=ReportPlanSection(id=name, title=name, key_question="?"),
        draft=SectionDraft(paragraphs=(DraftParagraph(claims=claims),)),
    )


REPORT = PublishInput(
    run_id="ask-1",
    question="Does it?",
    mode="deep",
    profile="general",
    title="It",
    sections=(a_section("s1"), a_section("s2")),
    edited=Edited(answer=(EditedSentence(id="a1", text="It does.", claims=("s1.1", "s2.1")),)),
    generated_at="2026-01-01",
)


def sentences(step: PublishInput) -> dict[str, DraftClaim]:
    claims: list[DraftClaim] = [*(step.edited.sentences if step.edited else ())]
    claims += [sentence for planned in step.sections for sentence in planned.draft.sentences]
    return {claim.id: claim for claim in claims}


def say(problem: str = "", name: str = "s1.1") -> Verdicts:
    found = Statement(code=problem) if problem else None
    return Verdicts(verdicts=(SentenceVerdict(id=name, problem=found),))


NEW = DraftClaim(id="s1.1", text="Put plainly.", support=(on("w1"), on("w3")), state="ask", reworded=True)
NARROW = NEW.replace(text="Finding 1 of s1.", support=(on("w3"),), reworded=False)


@pytest.mark.parametrize(
    ("revised", "verdicts", "gone", "texts"),
    [
        (Revised(removed=("s1.2",)), Verdicts(), {"s1.2"}, {}),
        (Revised(sections=("s2",), removed=("s2.1", "s2.2")), Verdicts(), {"s2.1", "s2.2"}, {}),
        (Revised(sentences=(NEW,)), say(), set(), {"s1.1": "Put plainly."}),
        (Revised(sentences=(NEW,)), say("not_supported"), set(), {}),
        (Revised(sentences=(NEW,)), Verdicts(), set(), {}),  # nobody has read it
        (Revised(works=("w1",), sentences=(NARROW,)), say("not_supported"), {"s1.1"}, {}),
    ],
)
def test_only_what_is_touched_changes(
    revised: Revised, verdicts: Verdicts, gone: set[str], texts: dict[str, str]
) -> None:
    before = sentences(REPORT)
    after = sentences(apply_change(REPORT, revised, SectionDraft(), verdicts, ()))
    assert set(before) - set(after) == gone
    assert {name: claim.text for name, claim in after.items() if claim.text != before[name].text} == texts
    assert all(claim == before[name] for name, claim in after.items() if name not in texts)


def test_a_reworded_sentence_loses_the_places_of_its_first_words() -> None:
    """Its citations stand at its end, and what is stressed is what it says still."""
    stresses = (Emphasis(words="Finding", at=0, style="strong"), Emphasis(words="s1", at=13, style="em"))
    marks = (CiteMark(at=9, works=("w1",)),)
    first, *others = REPORT.sections
    draft = first.draft.changed(lambda claim: (claim.replace(marks=marks, emphasis=stresses),))
    step = REPORT.replace(sections=(first.replace(draft=draft), *others))
    new = sentences(step)["s1.1"].worded("Put plainly, s1 has one.").replace(state="ask", reworded=True)
    after = sentences(apply_change(step, Revised(sentences=(new,)), SectionDraft(), say(), ()))["s1.1"]
    assert (after.text, after.marks) == ("Put plainly, s1 has one.", ())
    assert after.emphasis == (stresses[1],)


@pytest.mark.parametrize(("section", "name"), [("s2", "s2.3"), ("", "s3.1")])
def test_new_text_gets_ids_that_no_sentence_had(section: str, name: str) -> None:
    claim = DraftClaim(id="new.1", text="Also this.", support=(on("w9"),), state="ask")
    draft = SectionDraft(answer=(claim,))
    ref = EvidenceRef(evidence_id="w9", blob="b", source="s", title="t")
    revised = Revised(write=Wanted(question="And this?", section=section))
    after = apply_change(REPORT, revised, draft, say(name="new.1"), (ref,))
    assert set(sentences(after)) - set(sentences(REPORT)) == {name}
    assert sentences(after)[name].state == "stands"
    assert after.evidence == (ref,)


SAME = DraftClaim(id="s2.3", text="Finding 1 of s1.", support=(on("w1"),))
ELSEWHERE = SAME.replace(support=(on("w9"),))
OTHER_WORDS = SAME.replace(text="The first finding.")


@pytest.mark.parametrize(
    ("repeat", "revised", "printed"),
    [
        (SAME, Revised(), ["Finding 1 of s1."]),
        (SAME, Revised(removed=("s1.1",)), []),
        (SAME, Revised(sentences=(NEW,)), ["Put plainly."]),
        (SAME, Revised(sections=("s1",), removed=("s1.1", "s1.2")), ["Finding 1 of s1."]),
        (SAME, Revised(works=("w1",), removed=("s1.1",)), []),
        (ELSEWHERE, Revised(works=("w1",), removed=("s1.1",)), ["Finding 1 of s1."]),
        (OTHER_WORDS, Revised(removed=("s1.1",)), []),
    ],
)
def test_what_is_taken_out_is_not_printed_in_the_next_place_that_says_it(
    repeat: DraftClaim, revised: Revised, printed: list[str]
) -> None:
    first, second = REPORT.sections
    claims = (*second.draft.paragraphs[0].claims, repeat)
    draft = second.draft.replace(paragraphs=(DraftParagraph(claims=claims),))
    edited = Edited(repeated=(("s2.3", "s1.1"),)) if repeat is OTHER_WORDS else REPORT.edited
    sections = (first, second.replace(draft=draft))
    step = REPORT.replace(sections=sections, edited=edited)
    after = sentences(apply_change(step, revised, SectionDraft(), say(), ()))
    texts = {claim.text for name, claim in after.items() if name in ("s1.1", "s2.3")}
    assert sorted(texts) == printed
    if not revised.touches:
        decision = Instruction(kind="decide", by="bob", sentence="s1.1", upheld=True)
        dispute = Instruction(kind="dispute", text="43, not 34", by="ada", sentence="s1.1")
        taken = sentences(decide_disputes(add_dispute(step, dispute, "2026-01-02", Verdicts()), decision))
        assert {taken[name].state for name in ("s1.1", "s2.3")} == {"refused"}


def test_a_dispute_changes_no_sentence_until_it_is_decided() -> None:
    asked = Instruction(kind="dispute", text="43, not 34", by="ada", sentence="s1.1")
    open_one = add_dispute(REPORT, asked, "2026-01-02", Verdicts(verdicts=(SentenceVerdict(id="s1.1"),)))
    assert sentences(open_one) == sentences(REPORT)
    assert [(d.by, d.reader, d.decision) for d in open_one.disputes] == [("ada", "stands", "")]
    choice = Instruction(kind="decide", by="bob", sentence="s1.1")
    kept = decide_disputes(open_one, choice)
    assert sentences(kept) == sentences(REPORT)
    assert kept.disputes[0].decision == "rejected"
    taken = decide_disputes(open_one, choice.replace(upheld=True))
    sentence = sentence_of(taken, "s1.1")
    assert sentence is not None
    assert (sentence.state, taken.disputes[0].decided_by) == ("refused", "bob")


def test_a_work_that_is_left_out_speaks_for_no_candidate_any_more() -> None:
    one = Candidate(name="Metformin", support=(on("w1"), on("w2")), safety=(on("w1"),))
    step = REPORT.replace(candidates=(one,))
    (after,) = CANDIDATES.of_input(apply_change(step, Revised(works=("w1",)), SectionDraft(), Verdicts(), ()))
    assert after.quotes == (on("w2"),)
    assert (after.name, after.safety) == ("Metformin", ())


def test_the_answer_of_a_report_outlives_the_section_that_it_was_written_with() -> None:
    answer = DraftClaim(id="s1.a1", text="It does.", support=(on("w1"),))
    first, second = REPORT.sections
    whole = first.replace(draft=first.draft.replace(answer=(answer,)))
    step = REPORT.replace(sections=(whole, second), edited=None)
    revised = Revised(sections=("s1",), removed=("s1.1", "s1.2"))
    (left,) = apply_change(step, revised, SectionDraft(), Verdicts(), ()).sections
    assert (left.section.id, left.draft.answer) == ("s2", (answer,))
    several = step.replace(sections=(whole, second.replace(draft=second.draft.replace(answer=(answer,)))))
    (left,) = apply_change(several, revised, SectionDraft(), Verdicts(), ()).sections
    assert [claim.id for claim in left.draft.answer] == ["s1.a1"], "its own, and no other is put before it"


@pytest.mark.parametrize("text", ["", "table 2 says 34"])
def test_a_version_names_what_was_asked_where_there_are_words_of_it(text: str) -> None:
    statement = Statement.of(
        "revised_version", version=2, at="2026-01-02", by="bob", kind="decide", text=text
    )
    assert wording(statement).endswith(f"{text})." if text else " of bob (decide).")
    for language in ("de", "es", "fr", "zh"):
        with in_language(language):
            assert re.search(r"[\s:：]\)|：）", wording(statement)) is None  # noqa: RUF001
