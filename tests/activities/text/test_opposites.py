"""A change is never taken for its opposite."""

import pytest

from activities.text.opposites import change
from activities.text.verdict import verdict


@pytest.mark.parametrize(
    ("question", "finding", "expected"),
    [
        ("Does zinc raise mortality in sepsis?", "Zinc significantly lowered mortality in sepsis.", "no"),
        ("Does zinc lower mortality in sepsis?", "Zinc significantly increased mortality in sepsis.", "no"),
        ("Does zinc lower mortality in sepsis?", "Zinc significantly reduced mortality in sepsis.", "yes"),
        ("Does zinc improve memory in dementia?", "Zinc significantly impaired memory in dementia.", "no"),
        ("Does tea protect against gout?", "Tea increased the risk of gout.", "no"),
        ("Does tea reduce the risk of gout?", "A lower intake of tea raised the risk of gout.", None),
    ],
)
def test_the_opposite_of_the_change_asked_for_is_no_yes(
    question: str, finding: str, expected: str | None
) -> None:
    found = verdict(question, [finding])
    assert (found.way if found else None) == expected


@pytest.mark.parametrize(
    ("question", "finding"),
    [
        ("Does zinc raise mortality in sepsis?", "Zinc did not lower mortality in sepsis."),
        ("Does zinc raise mortality in sepsis?", "Zinc was not associated with lower mortality in sepsis."),
        ("Does zinc lower mortality in sepsis?", "Zinc was not associated with higher mortality in sepsis."),
        ("Does zinc worsen memory in dementia?", "Zinc did not improve memory in dementia."),
    ],
)
def test_the_opposite_that_was_not_seen_neither_affirms_nor_denies(question: str, finding: str) -> None:
    assert verdict(question, [finding]) is None


@pytest.mark.parametrize(
    ("question", "finding", "expected"),
    [
        ("Does zinc raise mortality?", "Zinc lowered costs.", "none"),
        ("Does zinc affect mortality?", "Zinc lowered mortality.", "none"),
        ("Does zinc improve pain?", "Zinc reduced pain.", "as asked"),
        ("Does zinc improve survival?", "Zinc reduced survival.", "uncertain"),
        ("Does zinc raise mortality?", "Zinc lowered mortality and raised costs.", "opposite"),
    ],
)
def test_only_a_change_of_the_same_thing_is_compared(question: str, finding: str, expected: str) -> None:
    assert change(question, finding) == expected


def test_a_change_belongs_to_what_stands_behind_it() -> None:
    said = "Harmaline is an activator of tyrosine kinase A and an inhibitor of monoamine oxidase."
    assert change("Does harmaline activate tyrosine kinase A?", said) == "as asked"
    assert change("Does harmaline inhibit tyrosine kinase A?", said) == "opposite"


def test_more_often_and_less_often_are_changes() -> None:
    asked = "Are falls more frequent among shift workers?"
    assert change(asked, "Falls were more likely among shift workers.") == "as asked"
    assert change(asked, "Falls were less likely among shift workers.") == "opposite"
