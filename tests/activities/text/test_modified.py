"""A sentence on a day ticket says nothing of a season ticket."""

import pytest

from activities.text.answer_reader import Passage
from activities.text.answers import answers
from activities.text.concepts import Concepts
from activities.text.modified import modified, on_another
from activities.text.tokens import terms


def is_on_another(question: str, text: str) -> bool:
    concepts = Concepts(question)
    (spoken,) = concepts.read([terms(text)], [text])
    return on_another(question, concepts.words, spoken, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does a student card cost?", "The family card is 35 euros."),
        ("What does the outer cabin cost?", "A night in the inner cabin costs 60 francs."),
        ("What did the garden fence cost?", "The garden chairs came to 90 pounds."),
        ("How many guest towels are left?", "There are 14 kitchen towels in the cupboard."),
    ],
)
def test_a_thing_of_the_same_kind_is_another_one(question: str, text: str) -> None:
    assert is_on_another(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does a student card cost?", "A card is 35 euros."),
        ("What does a student card cost?", "The student card is 20 euros."),
        ("What does a student card cost?", "The family card is 35 euros, that of a student 20."),
        ("What does a big tent cost?", "The large tent is 300 euros."),
        ("What is the yearly fee?", "This year's fee is 12 euros."),
        ("How much did the gardener get?", "The gardener got 300 euros."),
    ],
)
def test_a_name_that_is_shortened_or_reworded_is_no_other_one(question: str, text: str) -> None:
    assert not is_on_another(question, text)


def test_the_verb_behind_a_name_is_no_part_of_it() -> None:
    assert [pair.noun for pair in modified("What does a student card cost?")] == ["card"]


def test_the_price_that_stands_at_the_whole_name_comes_first() -> None:
    text = "The family card is 35 euros, the day card 9 euros, and the student card 20 euros."
    found = answers("What does a student card cost?", [Passage("a", text)])
    assert found[0].name == "20 euros"


def test_other_prices_are_not_named_in_answer() -> None:
    assert answers("What does a student card cost?", [Passage("a", "The family card is 35 euros.")]) == ()
