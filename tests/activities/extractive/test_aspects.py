"""Which works are on a subject, and which sentences tell of its benefits and of its harms."""

import pytest

from activities.extractive.on_subject import on_subject
from activities.extractive.topics import sought
from activities.text.facets import is_about, reports_harm
from activities.text.sentences import sentences
from activities.types import Claim
from tests.activities.extractive.abstracts import document, texts, written

BENEFITS = sought("What are the benefits of keyhole surgery?").facets[0]


def test_a_work_in_which_something_presents_is_none_on_screening() -> None:
    presents = document(
        1,
        "OBJECTIVE: To show how melanomas of the skin present in clinics.\nRESULTS: Skin cancer presented"
        " late in 40 of 300 people.",
        title="How skin cancer presents in clinics",
    )
    screens = document(
        2,
        "OBJECTIVE: To study screening for skin cancer in clinics.\nRESULTS: Screening found skin cancer"
        " early in 40 of 300 people.",
        title="Skin checks of 300 people",
    )
    assert on_subject("cancer screening", [presents, screens]) == (False, True)


def test_what_raises_the_risk_of_a_disease_is_no_harm_of_it() -> None:
    work = document(
        3,
        "RESULTS: Sleep apnoea is a risk factor for gout. Gout led to kidney failure in 4% of patients.",
        title="Gout and its risks",
    )
    question = "What harms, adverse effects and risks are reported for gout?"
    assert texts(written(question, [work], title="Safety and limits")) == [
        "Gout led to kidney failure in 4% of patients."
    ]


def test_a_benefit_that_is_denied_is_none() -> None:
    said = sentences(
        document(
            4,
            "RESULTS: A drain seems not useful in reducing leaks after surgery. Keyhole surgery reduced"
            " pain in most of the patients. Keyhole surgery was not only safe but shorter than open surgery.",
        )
    )
    assert [is_about(BENEFITS, sentence) for sentence in said] == [False, True, True]


def test_a_false_result_and_overdiagnosis_are_harms_of_a_test() -> None:
    assert reports_harm("Mammograms gave 43 false-positive results.")
    assert reports_harm("Overdiagnosis was estimated at 10%.")
    assert not reports_harm("Mammograms gave 43 positive results.")


def test_near_a_section_are_works_on_its_subject_and_not_those_that_share_the_wording_of_sections() -> None:
    stranger = document(
        5, "RESULTS: The mechanisms and pathways behind growth are known.", title="Mechanisms of growth"
    )
    kin = document(6, "RESULTS: Gout flares were counted in 300 people.", title="Counting gout flares")
    draft = written(
        "What is known of the mechanisms and pathways behind gout?", [stranger, kin], title="Mechanism"
    )
    assert [near.evidence_id for near in draft.nearest] == ["pmid:6"]


def test_what_a_review_announces_is_no_finding() -> None:
    review = document(
        7,
        "In this part of the review we summarize treatments that lower gout flares in people. "
        "Allopurinol treatment lowered gout flares by 40% in most people who took it.",
        title="Treatments of gout",
    )
    assert texts(written("What treatments are there for gout?", [review], title="Treatment of gout")) == [
        "Allopurinol treatment lowered gout flares by 40% in most people who took it."
    ]


def test_a_work_that_is_quoted_elsewhere_and_says_nothing_of_a_section_repeats_nothing_there() -> None:
    work = document(
        8, "RESULTS: Gout led to kidney failure in 4% of 300 patients.", title="Kidney failure in gout"
    )
    question = "What harms, adverse effects and risks are reported for gout?"
    (claim,) = [c for p in written(question, [work], title="Safety").paragraphs for c in p.claims]
    before = Claim(id="s1c1", text=claim.text, support=claim.support)
    background = written("What is the background of gout?", [work], title="Background", written=(before,))
    assert background.unused == {"no_sentence": ("pmid:8",)}
    again = written(question, [work], title="Safety", written=(before,))
    assert again.unused == {"repeats": ("pmid:8",)}


def test_of_whom_a_question_asks_need_only_be_said_once_in_a_work_on_its_subject() -> None:
    work = document(
        9,
        "BACKGROUND: Hip fracture is costly.\nRESULTS: Nails were inserted in 300 people with a hip fracture."
        " The average older woman with a hip fracture walked again within six weeks of surgery.",
        title="Nails against hip fracture",
    )
    young = document(10, "RESULTS: A hip fracture of boys healed within weeks.", title="Hip fracture in boys")
    assert on_subject("hip fracture in older people", [work, young]) == (True, False)


@pytest.mark.parametrize(
    ("begins", "kept"),
    [
        ("It may be appropriate for selected patients", False),
        ("It is likely that patients recover sooner", True),
    ],
)
def test_a_sentence_whose_it_only_the_one_before_explains_is_left_out(begins: str, *, kept: bool) -> None:
    work = document(
        11,
        f"RESULTS: We saw 300 patients in two clinics. {begins} after keyhole surgery, and it is effective.",
        title="Keyhole surgery",
    )
    said = texts(written("What are the benefits of keyhole surgery?", [work], title="Benefits"))
    assert any(text.startswith(begins) for text in said) is kept
