"""What kind of answer a question asks for."""

import pytest

from activities.text.question import answer_fit, asked, compared
from activities.text.verdict import verdict


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Does aspirin prevent stroke?", "yes_no"),
        ("Statins in old age: do they help?", "yes_no"),
        ("What is Ruconest?", "definition"),
        ("Explain gene knock-down.", "definition"),
        ("What is the cause of Leigh syndrome?", "fact"),
        ("Which disease is treated with tezepelumab?", "fact"),
        ("When was Keytruda approved?", "fact"),
        ("Which genes are related to deafness?", "list"),
        ("List features of Zinner syndrome.", "list"),
        ("Metformin and dementia", "open"),
        ("What is known about gout and its treatment?", "open"),
        ("What affects survival in gout?", "open"),
        ("What predicts relapse after surgery?", "open"),
    ],
)
def test_the_form_of_answer_is_read_from_the_question(question: str, form: str) -> None:
    assert asked(question).form == form


@pytest.mark.parametrize(
    ("question", "answer", "beside"),
    [
        (
            "What is the incidence of Leigh syndrome?",
            "Leigh syndrome occurs in 1 of 40,000 births.",
            "Leigh syndrome is a severe disorder.",
        ),
        (
            "Which drug is used for hereditary angioedema?",
            "Icatibant is used in hereditary angioedema.",
            "Hereditary angioedema is used as a model of swelling.",
        ),
        (
            "What is the cause of Friedreich ataxia?",
            "Friedreich ataxia is caused by a repeat in the frataxin gene.",
            "Friedreich ataxia begins early in life.",
        ),
    ],
)
def test_a_sentence_that_gives_the_thing_asked_for_comes_before_one_that_does_not(
    question: str, answer: str, beside: str
) -> None:
    want = asked(question)
    assert answer_fit(want, question, answer) > answer_fit(want, question, beside)


def test_both_sides_of_a_comparison_are_read() -> None:
    sides = compared("Is laparoscopic surgery as safe as open surgery?")
    assert sides is not None
    assert [len(side) for side in sides] == [1, 1]
    assert compared("Does aspirin prevent stroke?") is None


def test_what_is_said_of_one_side_alone_has_no_direction() -> None:
    question = "Is laparoscopic surgery as safe as open surgery?"
    alone = "Laparoscopic surgery can be performed safely regardless of the size of the myomas."
    assert verdict(question, [alone]) is None
    assert verdict("Is laparoscopic surgery safe?", [alone]) is None


@pytest.mark.parametrize(
    "question",
    [
        "What is the mortality after emergency laparotomy?",
        "What is the half-life of warfarin?",
        "How fast did Roman couriers travel?",
        "How common is recurrence after repair of a hernia?",
    ],
)
def test_a_question_for_an_amount_is_answered_by_a_number(question: str) -> None:
    want = asked(question)
    assert (want.form, want.things) == ("fact", ("number",))
