"""What sections are called and asked."""

import pytest

from activities.extractive.query import split_clauses, topic_of


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What is known about survival in lung cancer?", "survival in lung cancer"),
        ("Does metformin reduce mortality in diabetes?", "metformin, mortality and diabetes"),
    ],
)
def test_a_topic_keeps_the_words_that_join_its_names(question: str, topic: str) -> None:
    assert topic_of(question) == topic


def test_what_belongs_to_the_first_thing_of_a_list_is_asked_of_it_by_name() -> None:
    asked = (
        "What is known about laparoscopic surgery compared with open surgery, its outcomes, harms and costs?"
    )
    assert "laparoscopic surgery outcomes" in split_clauses(asked)
