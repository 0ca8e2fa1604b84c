"""A row of a table answers with the cell that is asked for."""

import pytest

from activities.text.amounts import gives_amount
from activities.text.answer_reader import Passage
from activities.text.answers import answers
from activities.text.rows import cells

FLEET = [
    "Plate: HH-A 12; Model: Sprinter; Driver: Keller; Next inspection: 2026-09-01; Mileage: 84210",
    "Plate: HH-B 77; Model: Caddy; Driver: Okafor; Next inspection: 2027-01-15; Mileage: 32900",
]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Who drives the Caddy?", "Okafor"),
        ("When is the next inspection of the Sprinter?", "2026-09-01"),
        ("Which plate does the Caddy have?", "HH-B 77"),
        ("What is the mileage of the Sprinter?", "84210"),
    ],
)
def test_the_cell_under_the_heading_that_is_asked_for_is_named(question: str, name: str) -> None:
    found = answers(question, [Passage("file", row) for row in FLEET])
    assert [answer.name.removeprefix("Mileage: ") for answer in found] == [name]


def test_a_number_is_named_with_its_heading() -> None:
    rows = [
        "Region: North; Revenue (EUR): 120500; Units: 310",
        "Region: South; Revenue (EUR): 45100; Units: 120",
    ]
    found = answers("How much revenue did the South make?", [Passage("file", row) for row in rows])
    assert [answer.name for answer in found] == ["Revenue (EUR): 45100"]


def test_a_number_under_a_heading_of_money_is_a_sum() -> None:
    assert gives_amount("How much did the repair cost?", "Work: repair; Cost: 1200")
    assert not gives_amount("How much did the repair cost?", "Work: repair; Floor: 3")


@pytest.mark.parametrize(
    "text", ["The cause: rain.", "It failed; the reason: rain.", "One sentence. Its end: here; and: there."]
)
def test_a_sentence_with_a_colon_is_no_row(text: str) -> None:
    assert not cells(text)
