"""Names that a number sets apart."""

import pytest

from activities.extractive.query import topic_of
from activities.text.ranking import RELEVANT, rank
from activities.text.tokens import phrases
from activities.types import Evidence


def relevance(question: str, title: str, text: str) -> float:
    document = Evidence(evidence_id="x:1", source="library", title=title, text=text)
    (item,) = rank(question, [document])
    return item.relevance


def work(disease: str) -> tuple[str, str]:
    return (
        f"Exercise and complications of {disease}",
        f"In a trial of 300 patients exercise prevented the complications of {disease} for five years.",
    )


@pytest.mark.parametrize(
    ("asked", "same", "another"),
    [
        ("type 2 diabetes", "type II diabetes", "type 1 diabetes"),
        ("type 2 diabetes", "types 1 and 2 diabetes", "T1DM"),
        ("type 2 diabetes", "diabetes mellitus, type 2", "diabetes mellitus, type 1"),
        ("stage III colon cancer", "stage 3 colon cancer", "stage II colon cancer"),
        ("stage 2 colon cancer", "stage I-III colon cancer", "stage IV colon cancer"),
        ("grade 4 glioma", "grade IV glioma", "grade 2 glioma"),
        ("herpes simplex virus 2", "herpes simplex virus 2", "herpes simplex virus 1"),
    ],
)
def test_a_work_that_gives_a_name_another_number_is_about_a_neighbour(
    asked: str, same: str, another: str
) -> None:
    question = f"Does exercise prevent complications of {asked}?"
    assert relevance(question, *work(same)) >= RELEVANT
    assert relevance(question, *work(another)) < RELEVANT


def test_a_work_that_gives_no_number_may_be_about_either() -> None:
    assert relevance("Does exercise prevent complications of type 2 diabetes?", *work("diabetes")) >= RELEVANT


def test_a_measure_sets_nothing_apart() -> None:
    title, text = work("diabetes")
    text = text.replace("five years", "12 weeks")
    assert relevance("Does exercise for 20 weeks prevent complications of diabetes?", title, text) >= RELEVANT


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Which approved drugs help in type 2 diabetes?", "type 2 diabetes"),
        ("Is group B streptococcus dangerous?", "group B streptococcus"),
        ("What is known about factor V Leiden?", "factor V Leiden"),
    ],
)
def test_searches_and_sections_keep_the_number_of_a_name(question: str, named: str) -> None:
    assert named in phrases(question)
    assert named in topic_of(question)
