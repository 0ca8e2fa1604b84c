"""A note that has no sum says no price, and one that names nobody does not say who."""

import pytest

from activities.text.answer_given import NOT_GIVEN, may_hold, weighed
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
