"""A quality is denied by one that excludes it, said of the same thing."""

import pytest

from activities.text.contraries import contrary_said
from activities.text.thesaurus import antonyms
from activities.text.verdict import Verdict, weigh


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Is Darier disease a recessive disorder?", "Darier disease is an autosomal dominant disorder."),
        ("Is alkaptonuria common?", "Alkaptonuria is a rare disease of metabolism."),
        ("Is scurvy rare among sailors?", "Scurvy was common among sailors."),
        ("Is the cause of sarcoidosis known?", "The cause of sarcoidosis is still unknown."),
        ("Is a lipoma a malignant tumour?", "A lipoma is a benign tumour of fat."),
    ],
)
def test_an_excluding_quality_of_the_same_thing_is_a_no(question: str, said: str) -> None:
    assert weigh(question, [said]) == Verdict("no", said)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Is Darier disease a recessive disorder?", "Darier disease is not a dominant disorder."),
        ("Is Darier disease a recessive disorder?", "Darier disease has recessive and dominant forms."),
        ("Is Darier disease a recessive disorder?", "Tuberous sclerosis is a dominant disorder."),
        ("Is alkaptonuria common?", "In alkaptonuria a rare enzyme is lacking."),
        ("Is a lipoma a malignant tumour?", "A lipoma was taken from a woman with benign headaches."),
    ],
)
def test_a_quality_that_is_denied_or_said_of_something_else_is_none(question: str, said: str) -> None:
    assert not contrary_said(question, said)


def test_antonyms_are_those_of_adjectives() -> None:
    assert "recessive" in antonyms("dominant")
    assert antonyms("Benign") >= {"malignant"}
    assert antonyms("pancreatic") == frozenset()
