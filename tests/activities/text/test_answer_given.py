"""A note that has no sum says no price, and one that names nobody does not say who."""

import pytest

from activities.text.answer_given import NOT_GIVEN, may_hold, under_another_condition, weighed
from activities.text.directness import log_odds
from activities.text.needle import Needle
from activities.types import EvidenceType
from tests.activities.extractive.abstracts import document

REPAIR = "The bridge by the mill was mended in June. The planks had rotted where water stood for long."


def shift(question: str, text: str, kind: EvidenceType = "document") -> float:
    """By how much a text changes the log odds of even odds that it answers."""
    work = document(1, f"# Notes\n\n{text}", "# Notes", kind)
    needle = Needle(question, [work])
    (reading,) = needle.readings()
    return log_odds(weighed(question, needle, reading, work, 0.5))


@pytest.mark.parametrize(
    ("question", "gives"),
    [
        ("What did the mending of the bridge cost?", "The carpenter sent a bill of 380 euros."),
        ("Who mended the bridge?", "Anna Lindqvist did it with her brother."),
        ("How many planks had rotted?", "Of the 40 planks, eleven were replaced."),
        ("How many workers mended the bridge?", "Four people were needed."),
    ],
)
def test_a_note_answers_for_a_sum_a_person_or_a_number_only_where_it_has_one(
    question: str, gives: str
) -> None:
    assert shift(question, REPAIR) == pytest.approx(NOT_GIVEN, abs=0.01)
    assert shift(question, f"{REPAIR} {gives}") >= 0


def test_a_row_of_a_table_of_costs_has_a_sum() -> None:
    assert may_hold("What did the planks cost?", "Item: planks; Cost: 380")
    assert not may_hold("What did the planks cost?", "Item: planks; Length: 380")


@pytest.mark.parametrize(
    "question",
    [
        "When was the bridge mended?",
        "Was the bridge mended?",
        "Where is the bridge?",
        "How many hours did the mending take?",
    ],
)
def test_times_places_and_measures_are_written_in_too_many_ways_to_be_missed(question: str) -> None:
    assert shift(question, REPAIR) >= 0


def test_an_abstract_is_not_held_to_lack_a_number() -> None:
    assert shift("How many planks had rotted?", REPAIR, "observational") >= 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who painted the bridge?", "The bridge is a fine sight. In the inn Otto Varga served trout."),
        ("What does the bridge toll cost?", "The bridge opens at eight. Lunch at the inn was 14 euros."),
    ],
)
def test_a_name_or_a_sum_in_a_sentence_on_something_else_is_not_what_is_asked_for(
    question: str, text: str
) -> None:
    assert shift(question, text) == pytest.approx(NOT_GIVEN, abs=0.01)


def test_the_price_of_another_ticket_is_not_the_one_that_is_asked_for() -> None:
    question, text = "What does a return passage cost?", "Ferry in May. A single passage costs 9 euros."
    assert shift(question, text) == pytest.approx(NOT_GIVEN, abs=0.01)
    assert shift(question, f"{text} A return passage costs 15 euros.") >= 0


def test_a_note_that_does_not_name_a_role_does_not_say_who_has_it() -> None:
    text = "Rowing club in May. Present: Otto Varga (captain), Lena Moss."
    assert shift("Who is the treasurer of the rowing club?", text) == pytest.approx(NOT_GIVEN, abs=0.01)
    assert shift("Who is the captain of the rowing club?", text) >= 0


def test_a_sentence_that_surely_means_what_is_asked_speaks_for_its_note() -> None:
    text = "The gate was mended. We picked the cherries in early July."
    assert shift("When did you harvest the cherries?", text) > 0


def test_which_person_of_a_kind_is_answered_by_somebody_who_is_named() -> None:
    question = "Which plumber mended the tap?"
    assert shift(question, "The tap was mended. It drips no more.") == pytest.approx(NOT_GIVEN, abs=0.01)
    assert shift(question, "The tap was mended by Ilse Brandt, who is a plumber.") >= 0


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("Does the glue hold at 80 degrees?", "At 40 degrees the glue held for a day.", True),
        (
            "Does the glue hold at 80 degrees?",
            "The glue held at 40 degrees, at eighty degrees it failed.",
            False,
        ),
        ("Does the glue hold at 80 degrees?", "The glue was bought from 40 shops.", False),
        ("Did the glue hold for 3 hours?", "The glue held for 5 hours.", False),
    ],
)
def test_what_holds_at_another_number_is_not_what_is_asked(question: str, text: str, other: bool) -> None:
    assert under_another_condition(question, text) is other
    assert (shift(question, text) < 0) is other
