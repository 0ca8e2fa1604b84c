"""Which works are on a subject, and which sentences tell of its benefits and of its harms."""

from activities.extractive.on_subject import on_subject
from activities.extractive.topics import sought
from activities.text.facets import is_about, reports_harm
from activities.text.sentences import sentences
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
