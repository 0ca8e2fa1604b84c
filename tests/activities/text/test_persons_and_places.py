"""Who and where: persons, bodies and places in a sentence, and sentences that answer such questions."""

import pytest

from activities.text import answering
from activities.text.answer_reader import Passage
from activities.text.answers import answers
from activities.text.persons_and_places import persons, places
from activities.text.ranking import RELEVANT, rank
from activities.types import Evidence

LEASE = (
    "The lease of the flat was signed by Marta Lindqvist and the owner on 3 March 2021. "
    "The lease of the flat was drawn up with care and has nine pages. "
    "The keys of the flat hang in the kitchen cupboard. "
    "The lease of the flat costs 1,150 euros a month."
)


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("It was signed by Marta Lindqvist and the owner.", ["Marta Lindqvist", "owner"]),
        ("Dr. Osei declared it void.", ["Dr. Osei"]),
        ("The committee approved the plan in May.", ["committee"]),
        ("In Cascais the embassy issued it.", ["embassy"]),
        ("Ludwig van Beethoven wrote it.", ["Ludwig van Beethoven"]),
        ("On Monday nothing was signed.", []),
        ("Nothing was signed.", []),
        ("Twenty-three singers came.", []),
    ],
)
def test_persons_and_bodies_are_named(sentence: str, named: list[str]) -> None:
    assert [name for name, _, _ in persons(sentence)] == named


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("The deposit is held at the cantonal bank in Zug.", ["cantonal bank", "Zug"]),
        ("The keys hang in the kitchen cupboard.", ["kitchen cupboard"]),
        ("The keys were lost in a hurry.", []),
        ("Zug was sold.", []),
    ],
)
def test_places_are_named_behind_their_prepositions(sentence: str, named: list[str]) -> None:
    assert [name for name, _, _ in places(sentence)] == named


@pytest.mark.parametrize(
    ("question", "first", "name"),
    [
        ("Who signed the lease of the flat?", "Marta", "Marta Lindqvist"),
        ("When was the lease of the flat signed?", "3 March 2021", "3 March 2021"),
        ("Where are the keys of the flat?", "cupboard", "kitchen cupboard"),
        ("How much does the lease of the flat cost?", "euros", "1,150 euros"),
    ],
)
def test_the_sentence_that_gives_what_is_asked_for_comes_first(question: str, first: str, name: str) -> None:
    document = Evidence(evidence_id="x:1", source="library", title="Flat in Birkenweg", text=LEASE)
    (item,) = rank(question, [document])
    assert first in item.ranked[0].sentence.text
    found = answers(question, [Passage("x:1", ranked.sentence.quote) for ranked in item.ranked])
    assert found[0].name == name


TRIP = (
    "We left on the ninth and reached the town after two days by train. "
    "Ana booked the rooms near the castle for 96 euros a night. "
    "Jonas lost his passport at the beach."
)


def trip(text: str) -> Evidence:
    return Evidence(
        evidence_id="x:2", source="library", title="Summer trip", text=text, evidence_type="document"
    )


def test_a_note_that_gives_what_is_asked_for_answers_where_the_rest_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answering, "embedder", lambda: None)  # to which both speak of the rooms
    asked = "How much did the rooms cost per night?"
    (given,), (not_given,) = rank(asked, [trip(TRIP)]), rank(asked, [trip(TRIP.replace("96 euros a", "the"))])
    assert given.relevance >= RELEVANT > not_given.relevance


def test_a_note_on_something_else_does_not_answer_for_a_sum_that_it_gives() -> None:
    (item,) = rank("How much did the tickets for the concert cost?", [trip(TRIP)])
    assert item.relevance < RELEVANT


def test_a_name_that_begins_a_sentence_is_the_person_and_what_it_is_called_is_not() -> None:
    assert [name for name, _, _ in persons("Ann is the owner of the house.")] == ["Ann"]
    assert [name for name, _, _ in persons("Receipts go to the treasurer.")] == ["treasurer"]
