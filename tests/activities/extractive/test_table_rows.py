"""Of a table those rows are quoted that hold what the question says."""

import pytest

from activities.extractive.table_rows import without_other_rows
from activities.text.ranking import rank
from activities.types import Evidence, EvidenceType

RACES = "\n\n".join(
    f"Year: {year}; Winner: {winner}; Entrants: {count}"
    for year, winner, count in (
        (2021, "Hana Novak", 312),
        (2022, "Joao Reis", 401),
        (2023, "Hana Novak", 455),
    )
)


def rows(question: str, text: str = RACES, kind: EvidenceType = "document") -> list[str]:
    """The rows that may answer, in the order of the text."""
    table = Evidence(evidence_id="t", source="library", title="Races", text=text, evidence_type=kind)
    (item,) = rank(question, [table], None)
    kept = {ranked.sentence.quote for ranked in without_other_rows(question, item).ranked}
    return [row for row in text.split("\n\n") if row in kept]


def test_the_row_has_the_numbers_of_the_question() -> None:
    assert rows("Who won the race in 2022?") == [RACES.split("\n\n")[1]]
    assert rows("Who won the race in 2018?") == []


def test_a_row_whose_cells_say_nothing_of_the_question_does_not_answer() -> None:
    assert rows("When were the pear trees planted?", "Variety: Topaz; Planted: 2009; Trees: 120") == []


def test_every_row_may_be_a_member_of_a_list() -> None:
    assert len(rows("Which winners are there?")) == 3


@pytest.mark.parametrize("kind", ["article", "randomized_trial"])
def test_the_text_of_a_work_has_no_rows(kind: EvidenceType) -> None:
    assert rows("Who won the race in 2018?", kind=kind) == RACES.split("\n\n")
