"""Answers to questions for a fact or a list, read from sentences."""

import pytest

from activities.text.answer_reader import Passage
from activities.text.answers import answers, leading


def named(question: str, *texts: str) -> list[str]:
    passages = [Passage(f"pmid:{number}", text) for number, text in enumerate(texts)]
    return [found.name.casefold() for found in answers(question, passages)]


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            "Which drug is used for hereditary angioedema?",
            "Icatibant is used for hereditary angioedema in adults.",
            "icatibant",
        ),
        (
            "What is the generic name of Tecentriq?",
            "Patients were given atezolizumab (Tecentriq) every three weeks.",
            "atezolizumab",
        ),
        (
            "What is the prevalence of Wilson disease?",
            "The prevalence of Wilson disease is estimated at 1 in 30,000 births.",
            "1 in 30,000",
        ),
        (
            "Which phase was the clinical trial ABC-12?",
            "ABC-12 was a phase III clinical trial in 300 adults.",
            "phase iii",
        ),
        (
            "What does CABG stand for?",
            "Coronary artery bypass grafting (CABG) is a common operation on the heart.",
            "coronary artery bypass grafting",
        ),
        (
            "What is the cause of phenylketonuria?",
            "Phenylketonuria is caused by mutations in the PAH gene.",
            "mutations in the pah gene",
        ),
        (
            "Nusinersen was developed for which disease?",
            "Nusinersen was developed for spinal muscular atrophy in infants.",
            "spinal muscular atrophy",
        ),
    ],
)
def test_a_fact_is_read_from_the_sentence_that_states_it(question: str, text: str, answer: str) -> None:
    assert named(question, text)[:1] == [answer]


def test_every_member_of_an_enumeration_answers_a_question_for_a_list() -> None:
    question = "Which drugs were compared in the ABC-12 trial?"
    found = named(question, "The ABC-12 trial compared metformin, sitagliptin and empagliflozin.")
    assert set(found) == {"metformin", "sitagliptin", "empagliflozin"}


def test_what_more_works_name_comes_first() -> None:
    question = "Which disease is treated with rilonacept?"
    texts = (
        "Rilonacept is used in gout.",
        "Rilonacept is used in recurrent pericarditis.",
        "Rilonacept was given to people with recurrent pericarditis.",
    )
    assert "pericarditis" in named(question, *texts)[0]


def test_what_the_question_names_is_no_answer() -> None:
    question = "Which disease is treated with rilonacept?"
    assert "rilonacept" not in named(question, "Rilonacept (Arcalyst) is used in pericarditis.")


def test_a_sentence_on_another_thing_gives_no_answer() -> None:
    assert named("Which disease is treated with rilonacept?", "Atorvastatin is used in stroke.") == []


@pytest.mark.parametrize("question", ["Does aspirin prevent stroke?", "Aspirin and stroke"])
def test_a_question_for_no_fact_has_no_answers(question: str) -> None:
    assert named(question, "Aspirin prevents stroke, and gout is a disease of the joints.") == []


def test_the_sentences_that_together_name_most_of_a_list_lead() -> None:
    question = "Which drugs were tested in the ABC-12 trial?"
    passages = [
        Passage("pmid:1", "The ABC-12 trial tested metformin."),
        Passage("pmid:2", "The ABC-12 trial tested metformin, sitagliptin and empagliflozin."),
    ]
    assert leading(question, answers(question, passages))[0] == 1


def test_what_is_of_the_kind_asked_for_leaves_out_what_is_not_and_the_general_word_beside_it() -> None:
    found = named("L9LS was developed for which disease?", "L9LS was developed for malaria, an infection.")
    assert found == ["malaria"]


def test_a_mode_of_inheritance_is_named() -> None:
    found = named("How is Leigh syndrome inherited?", "Leigh syndrome is an autosomal recessive disease.")
    assert found == ["autosomal recessive"]


def test_how_many_there_are_is_no_member_of_a_list() -> None:
    found = named(
        "What are the hallmarks of cancer?",
        "The six hallmarks of cancer include sustained growth, immune evasion and invasion.",
    )
    assert {"immune evasion", "invasion"} <= set(found)
    assert not any("six" in name for name in found)


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            "Which bacteria cause Smith cough?",
            "Smith cough is caused by Bordetella pertussis.",
            "bordetella pertussis",
        ),
        (
            "Which chromosome is tripled in Smith syndrome?",
            "In Smith syndrome chromosome 21 is tripled.",
            "chromosome 21",
        ),
        ("In which chromosome is ABC1 located?", "ABC1 is located on chromosome 4q35.", "chromosome 4q35"),
        ("What is the sensitivity of the Smith test?", "The Smith test had a sensitivity of 91%.", "91%"),
    ],
)
def test_a_name_by_number_or_genus_answers_for_its_kind(question: str, text: str, answer: str) -> None:
    assert named(question, text) == [answer]


def test_where_the_kind_asked_for_is_not_named_nothing_is() -> None:
    said = "Smith cough was described by Maria Costa in infants."
    assert named("Which chromosome is tripled in Smith cough?", said) == []
    assert named("Which bacteria cause Smith cough?", said) == []
