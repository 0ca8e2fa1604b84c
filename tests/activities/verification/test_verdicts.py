"""What becomes of sentences between writer and page: what stands, what is read, what is printed instead."""

import pytest

from activities.contracts.evidence import Statement, Support, Vigilance
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    SectionDraft,
    SentenceVerdict,
    Verdicts,
    with_ids,
)
from activities.verification.verdicts import (
    is_rewordable,
    open_sentences,
    printable_draft,
    rewordable_paragraphs,
    sentences_with_context,
    with_rewordings,
    with_verdicts,
)

ONE = Support(evidence_id="pmid:1", quote="Sleep lowered the risk of dementia in adults.")
TWO = Support(evidence_id="pmid:2", quote="Sleep did not change cognition in a trial.")
NOT_SAID = Statement(code="not_supported", values={"verdict": "partly", "reason": "only in a trial"})


def claim(text: str, *support: Support, state: str = "ask", **more: object) -> DraftClaim:
    return DraftClaim.model_validate({"text": text, "support": support, "state": state, **more})


def drafted(*paragraphs: tuple[DraftClaim, ...], answer: tuple[DraftClaim, ...] = ()) -> SectionDraft:
    made = tuple(DraftParagraph(claims=claims) for claims in paragraphs)
    return with_ids("s1", SectionDraft(answer=answer, paragraphs=made))


DRAFT = drafted(
    (claim("Sleep lowered risk.", ONE, state="stands"), claim("Sleep helps.", TWO)),
    (claim("Sleep cures.", TWO, state="refused"),),
    answer=(claim("Sleep may help.", ONE, TWO),),
)


def texts(draft: SectionDraft) -> list[str]:
    return [sentence.text for sentence in draft.claims]


def test_every_sentence_has_an_id_and_keeps_it() -> None:
    assert [sentence.id for sentence in DRAFT.claims] == ["s1.a1", "s1.1", "s1.2", "s1.3"]
    assert with_ids("s9", DRAFT) == DRAFT


def test_a_confirmed_sentence_stands_and_another_is_refused_with_the_reason() -> None:
    assert [sentence.id for sentence in open_sentences(DRAFT.sentences)] == ["s1.a1", "s1.2"]
    verdicts = Verdicts(
        verdicts=(
            SentenceVerdict(id="s1.a1"),
            SentenceVerdict(id="s1.2", problem=NOT_SAID),
            SentenceVerdict(id="s1.1", problem=NOT_SAID),
        )
    )
    judged = with_verdicts(DRAFT, verdicts)
    assert [(sentence.state, sentence.stands_by) for sentence in judged.claims] == [
        ("stands", "reader"),
        ("stands", "quote"),
        ("refused", "quote"),
        ("refused", "quote"),
    ], "a verdict that was not asked for counted"
    rewordable = [
        sentence
        for paragraph in rewordable_paragraphs(judged)
        for sentence in paragraph.claims
        if is_rewordable(sentence)
    ]
    assert [(one.id, one.problem) for one in rewordable] == [("s1.2", NOT_SAID), ("s1.3", None)]


def test_a_second_wording_has_the_id_of_the_first_and_what_is_left_out_is_not_printed() -> None:
    judged = with_verdicts(DRAFT, Verdicts(verdicts=(SentenceVerdict(id="s1.2", problem=NOT_SAID),)))
    again = claim("Sleep did not change cognition.", TWO, state="stands", id="s1.2", reworded=True)
    out = claim("Sleep cures.", TWO, state="out", id="s1.3")
    final = with_rewordings(judged, drafted((again, out)))
    assert [(sentence.id, sentence.text) for sentence in printable_draft(final).paragraphs[0].claims] == [
        ("s1.1", "Sleep lowered risk."),
        ("s1.2", "Sleep did not change cognition."),
    ]
    assert len(printable_draft(final).paragraphs) == 1, "what its writer left out was printed"
    kinds = {refusal.text: refusal.kind for refusal in printable_draft(final).refused}
    assert kinds == {"Sleep helps.": "reworded", "Sleep may help.": "wording", "Sleep cures.": "claim"}
    assert rewordable_paragraphs(final) == ()


def test_what_nobody_confirmed_is_replaced_by_its_quotes_and_listed() -> None:
    final = printable_draft(DRAFT)
    assert texts(final) == [ONE.quote, TWO.quote, "Sleep lowered risk.", TWO.quote]
    assert [sentence.id for sentence in final.claims] == ["s1.a1", "s1.a1.2", "s1.1", "s1.2"]
    assert [refusal.text for refusal in final.refused] == ["Sleep may help.", "Sleep helps.", "Sleep cures."]
    assert {refusal.reason for refusal in final.refused} == {Statement(code="not_read")}
    assert printable_draft(final) == final


def test_a_refused_sentence_leaves_one_quote_of_each_work() -> None:
    near = Support(evidence_id="pmid:1", quote="Conversion to open surgery was needed in three patients.")
    far = Support(evidence_id="pmid:1", quote="The median age of the patients was sixty years.")
    lie = claim("Three patients needed conversion to open surgery.", far, near, TWO, state="refused")
    (paragraph,) = printable_draft(drafted((lie,))).paragraphs
    assert [(sentence.id, sentence.text) for sentence in paragraph.claims] == [
        ("s1.1", near.quote),
        ("s1.1.2", TWO.quote),
    ]


def test_a_row_of_a_table_or_a_heading_is_never_printed_in_place_of_a_sentence() -> None:
    for quote in (
        "Age at entry, years (mean, SD) | 64.2 (8.1) | 63.9 (7.7) | 0.72",
        "characteristics of the patients in both of the study groups",
        "Outcomes of the patients in the two groups of the study",
    ):
        lie = claim("Age differed.", Support(evidence_id="pmid:1", quote=quote), state="refused")
        final = printable_draft(drafted((lie,)))
        assert texts(final) == []
        assert [refusal.kind for refusal in final.refused] == ["claim"]


def test_where_the_first_sentence_of_an_answer_falls_the_rest_of_it_stands() -> None:
    rest = claim("Sleep lowered risk.", ONE, state="stands")
    missing = claim("No work compares the two.", kind="inference", state="refused", problem=NOT_SAID)
    final = printable_draft(drafted(answer=(missing, rest)))
    assert [sentence.text for sentence in final.answer] == ["Sleep lowered risk."]
    quoted = printable_draft(drafted(answer=(claim("Sleep cures.", TWO, state="refused"), rest)))
    assert [sentence.text for sentence in quoted.answer] == [TWO.quote, "Sleep lowered risk."]


def test_what_a_reader_confirms_that_misses_planted_errors_is_not_confirmed() -> None:
    carried = Support(evidence_id="pmid:2", quote="Sleep did not change cognition in this trial.")
    verdicts = Verdicts(
        verdicts=(
            SentenceVerdict(id="s1.a1", support=(carried,)),
            SentenceVerdict(id="s1.2", problem=NOT_SAID),
        ),
        vigilance=Vigilance(planted=4, noticed=3, true=4, refused=1),
    )
    assert with_verdicts(DRAFT, verdicts).answer[0].support == (carried,), "its reader's labels carry it"
    doubted = verdicts.replace(vigilance=Vigilance(planted=3, noticed=2))
    judged = with_verdicts(DRAFT, doubted)
    problem = judged.answer[0].problem
    assert problem is not None
    assert (judged.answer[0].state, problem.code) == ("refused", "not_confirmed")
    assert texts(printable_draft(judged))[0] == carried.quote, "what it named stands in its place"
    assert not any(is_rewordable(sentence) for sentence in judged.answer), "its wording was not found wrong"
    assert [sentence.problem for sentence in judged.claims if sentence.id == "s1.2"] == [NOT_SAID]


def test_vigilance_adds_up_and_without_planted_errors_nothing_is_doubted() -> None:
    assert Vigilance().is_believed
    assert Vigilance(planted=1, true=2) + Vigilance(planted=2, noticed=2, refused=1) == Vigilance(
        planted=3, noticed=2, true=2, refused=1
    )


def test_a_sentence_that_cites_nothing_is_printed_only_when_it_was_read() -> None:
    open_one = claim("Follow-up was short.", kind="inference")
    read = claim("No work studied children.", kind="inference", state="stands", stands_by="reader")
    final = printable_draft(drafted((open_one, read)))
    assert texts(final) == ["No work studied children."]
    assert [(refusal.kind, refusal.text) for refusal in final.refused] == [("claim", "Follow-up was short.")]


def test_a_citation_that_no_quote_is_from_goes_and_the_reader_says_what_leans() -> None:
    marks = ({"at": 5, "works": ("pmid:1",)}, {"at": 12, "works": ("pmid:1", "pmid:2")})
    written = claim("Sleep helps, it seems.", cites=("pmid:1", "pmid:2"), marks=marks)
    verdicts = Verdicts(verdicts=(SentenceVerdict(id="s1.1", support=(TWO,), leans=True),))
    (made,) = with_verdicts(drafted((written,)), verdicts).claims
    assert (made.state, made.kind, made.cites, made.leans) == ("stands", "finding", ("pmid:2",), True)
    assert [(mark.at, mark.works) for mark in made.marks] == [(12, ("pmid:2",))]


LEANING = (
    claim("Sleep may help older adults.", ONE, id="s1.1", state="stands"),
    claim("It did not change their cognition.", TWO, id="s1.2", leans=True),
    claim("Nor did it change their mood.", TWO, id="s1.3", leans=True),
    claim("Sleep lowered risk.", ONE, id="s1.4", state="stands"),
)


def test_a_sentence_is_read_with_the_ones_before_it_in_its_paragraph() -> None:
    texts = [sentence.text for sentence in LEANING[:3]]
    after = [sentence.after for sentence in sentences_with_context(drafted(LEANING[:3], LEANING[3:]))]
    assert after == ["", texts[0], " ".join(texts[:2]), ""]


def test_a_sentence_falls_with_the_one_that_it_leans_on() -> None:
    fell = LEANING[1].replace(state="refused", problem=NOT_SAID)
    stood = LEANING[2].replace(state="stands", stands_by="reader")
    final = printable_draft(drafted((LEANING[0], fell, stood, LEANING[3])))
    assert [sentence.text for sentence in final.claims] == [LEANING[0].text, LEANING[3].text]
    codes = {refusal.text: refusal.reason.code for refusal in final.refused}
    assert codes == {fell.text: "not_supported", stood.text: "leans_on_refused"}
    left_out = fell.replace(state="out")
    assert stood.text in texts(printable_draft(drafted((LEANING[0], left_out, stood))))


@pytest.mark.parametrize(("code", "printed_too"), [("not_read", True), ("not_supported", False)])
def test_a_quote_stands_among_sentences_only_for_what_nobody_read(code: str, printed_too: bool) -> None:
    fell = LEANING[1].replace(state="refused", problem=Statement.of(code))
    among = printable_draft(drafted((LEANING[0], fell, LEANING[3])))
    assert (TWO.quote in texts(among)) is printed_too
    assert texts(printable_draft(drafted((fell,)))) == [TWO.quote]


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_sentence_that_stood_stands_again_where_its_second_wording_falls(confirmed: bool) -> None:
    stood = claim("Sleep lowered risk.", TWO, state="stands", stands_by="reader", id="s1.1")
    again = stood.replace(text="Sleep may lower risk.", state="ask", reworded=True)
    changed = with_rewordings(drafted((stood,)), drafted((again,)))
    problem = None if confirmed else NOT_SAID
    final = with_verdicts(changed, Verdicts(verdicts=(SentenceVerdict(id="s1.1", problem=problem),)))
    assert texts(printable_draft(final)) == [again.text if confirmed else stood.text]
    assert texts(printable_draft(changed)) == [stood.text], "nobody has read the second wording"


def test_what_leans_on_a_refused_sentence_may_be_written_again_with_it() -> None:
    """And is read again; what else stands in the paragraph stays."""
    fell = LEANING[1].replace(state="refused", problem=NOT_SAID)
    stood = LEANING[2].replace(state="stands", stands_by="reader")
    draft = drafted((LEANING[0], fell, stood, LEANING[3]))
    again = stood.replace(text="Sleep did not change mood.", state="ask", reworded=True, leans=False)
    other = LEANING[3].replace(text="Sleep doubles risk.", state="ask")
    final = with_rewordings(draft, drafted((fell.replace(state="out"), again)))
    assert [sentence.text for sentence in open_sentences(sentences_with_context(final))] == [again.text]
    assert other.text not in texts(final)
