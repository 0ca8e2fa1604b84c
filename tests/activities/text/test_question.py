"""What kind of answer a question asks for."""

import pytest

from activities.text.question import answer_fit, asked


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
