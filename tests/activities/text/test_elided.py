"""A title that leaves the verb of its question out is read as the question that it is."""

import pytest

from activities.text.elided import completed
from activities.text.verdict import weigh


@pytest.mark.parametrize(
    ("title", "question"),
    [
        (
            "Gallstones, a new cause of iron overload?",
            "Is Gallstones a new cause of iron overload?",
        ),
        (
            "Low sodium in heart failure: associated with early death?",
            "Is Low sodium in heart failure associated with early death?",
        ),
        ("Night shifts - an occupational hazard?", "Is Night shifts an occupational hazard?"),
        ("Night shifts--an occupational hazard?", "Is Night shifts an occupational hazard?"),
    ],
)
def test_the_verb_that_a_title_leaves_out_is_added(title: str, question: str) -> None:
    assert completed(title) == question


@pytest.mark.parametrize(
    "title",
    [
        "Gallstones: friend or foe?",
        "Iron overload: what causes it?",
        "Gallstones and iron overload",
        "Warfarin versus apixaban, a matter of taste or of whose cost?",
        "Gallstones and iron?",
    ],
)
def test_alternatives_and_questions_for_something_are_left_alone(title: str) -> None:
    assert completed(title) == title


def test_a_question_without_its_verb_has_a_direction() -> None:
    said = "Low sodium is associated with early death in heart failure."
    found = weigh("Low sodium in heart failure: associated with early death?", [said])
    assert not isinstance(found, str)
    assert found.way == "yes"
