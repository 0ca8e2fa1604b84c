"""Which sentences of a text can be quoted alone."""

import pytest

from activities.contracts.evidence import Evidence, EvidenceType
from activities.text.sentences import quotable, sentences, split


def quotes(text: str, kind: EvidenceType) -> list[str]:
    """The quotable sentences of a text of a kind."""
    work = Evidence(evidence_id="a", source="library", title="Note", text=text, evidence_type=kind)
    return [sentence.quote for sentence in sentences(work)]


def test_a_sentence_is_quoted_alone_or_with_its_neighbour_and_a_fragment_or_heading_is_not() -> None:
    assert quotes("The shop was down from noon. About 310 orders were lost.", "document") == [
        "The shop was down from noon.",
        "About 310 orders were lost.",
    ]
    text = "Tertiary endoscopy referral center. The operation cured nine of ten patients within a year."
    assert quotes(text, "article") == ["The operation cured nine of ten patients within a year."]
    text = "Ann is the owner. She bought the house in 2011.\n\nThe boiler is in the cellar. It leaks."
    assert quotes(text, "document") == [
        "Ann is the owner. She bought the house in 2011.",
        "The boiler is in the cellar. It leaks.",
    ]
    text = "Working from home in summer\n\nBudget for training: 8,000 euros"
    assert quotes(text, "document") == ["Budget for training: 8,000 euros"]


def test_a_number_with_a_space_after_its_point_ends_no_sentence() -> None:
    text = "The volume was larger on the right (P<0. 001). The score was the same on both sides."
    assert [sentence.quote for sentence in split("x", text)] == [text[:46], text[47:]]
    other = "All of the strokes were seen by day 10. 12 of the patients were seen again a year later."
    assert len(split("x", other)) == 2


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Mitglied kann jede Person werden, die das 12. Lebensjahr vollendet hat."),
        ("pl", "Kaucja zostanie zwrócona do 10. dnia po wyprowadzce najemcy z mieszkania."),
        ("es", "El vecino del 4.\u00ba B vota en contra del presupuesto de la empresa."),
        ("fr", "M. Diallo s'occupe de la réservation du car pour la sortie au musée."),
    ],
)
def test_an_ordinal_or_an_initial_ends_no_sentence(language: str, text: str) -> None:
    assert [sentence.quote for sentence in split("x", f"{text} {text}", language=language)] == [text, text]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "细胞毒性药物通过杀死活化的T细胞来抑制免疫反应。"),
        ("ar", "يعني الخطأ E18 أن خرطوم التصريف مسدود."),
        ("hi", "त्रुटि E18 का अर्थ है कि निकास नली बंद है।"),
    ],
)
def test_a_letter_in_another_script_makes_no_heading_of_a_sentence(language: str, text: str) -> None:
    assert [sentence.quote for sentence in split("x", text, kind="document", language=language)] == [text]
    assert not quotable("REPORT OF THE MEETING IN THE SCHOOL HALL", own=True)


def test_a_statement_of_thai_ends_at_a_blank() -> None:
    text = "ต้องชำระค่าเช่าเดือนละ 8,500 บาท เงินประกันเท่ากับค่าเช่าสามเดือน ผู้เช่าต้องแจ้งล่วงหน้าสามเดือนก่อนย้ายออก"
    first, *others = [one.quote for one in split("x", text, kind="document", language="th")]
    assert [first, *others] == [text[:32], *text[33:].split(" ")]


def test_a_quotation_mark_that_nothing_closes_hides_no_sentence() -> None:
    text = (
        "The office wrote of \u201ethe bills of the applicant for television and sport in all these years. "
    )
    sentence = "The member of the house proposed a card for the payment of allowances and of tax credits. "
    every = [one.quote for one in split("x", text + 7 * sentence, kind="document")]
    assert every == [text.strip(), *7 * [sentence.strip()]]


@pytest.mark.parametrize(
    "glued", [".CONCLUSION: ", ").CONCLUSIONS: ", ")CONCLUSIONS: ", ".Conclusion: ", "%.Conclusions: "]
)
def test_a_heading_glued_to_a_sentence_begins_a_part(glued: str) -> None:
    text = (
        f"METHODS: Pain fell by 5 points in both groups (P<0.05{glued}The drug lowers pain in older adults. "
    )
    *_, last = split("a", text if ")" in glued else text.replace("(P", "P"))
    assert (last.before_findings, last.quote) == (False, "The drug lowers pain in older adults.")


def test_a_bracket_that_nothing_closes_is_a_slip_and_one_that_is_closed_later_a_cut() -> None:
    slip = "The drug reduced the index in all patients (reduction 14% (95%CI 4 to 40%, p = 0.033)."
    other = "Nothing else was seen in any of the others (of whom there were 40)."
    assert [sentence.quote for sentence in split("a", f"RESULTS: {slip} {other}")] == [slip, other]
    assert not quotable(
        "The drug reduced the index in all patients (as was seen before.", after=" It was 5)."
    )


def test_a_stop_without_a_blank_and_the_marks_of_items_within_a_sentence_are_read_as_such() -> None:
    """As abstracts have them whose lines were joined."""
    first = "Adults were randomized to either i) two years of group therapy (MBT) or ii) one year of support."
    second = "Outcome was read by a blinded rater of function (GAF)."
    third = "Fifty-eight patients completed two years of the treatment that they were given."
    text = f"{first} {second}{third}"
    assert [one.quote for one in split("x", text)] == [first, second, third]
