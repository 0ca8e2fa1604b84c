"""Of a table those rows are quoted that hold what the question says."""

import pytest

from activities.documents.row_form import LEAST_CHARS
from activities.documents.tables import lines
from activities.drafts import DraftClaim, SectionDraft
from activities.extractive.table_rows import without_other_rows
from activities.text.ranking import rank
from activities.text.rows import cells
from activities.types import Evidence, EvidenceType
from activities.verification.quote_check import MIN_QUOTE_CHARS, check
from tests.activities.extractive.abstracts import document, texts, written

RACES = "\n\n".join(
    f"Year: {year}; Winner: {winner}; Entrants: {count}"
    for year, winner, count in (
        (2021, "Hana Novak", 312),
        (2022, "Joao Reis", 401),
        (2023, "Hana Novak", 455),
    )
)


def claims_of(draft: SectionDraft) -> list[DraftClaim]:
    return [claim for paragraph in draft.paragraphs for claim in paragraph.claims]


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


def note_with_a_table() -> Evidence:
    table = [["Tool", "No", "By"], ["axe", "3", "Al"], ["saw", "9", "Boris"]]
    text = "\n\n".join(("The key of the shed hangs behind the kitchen door.", *lines(table)))
    return document(5, text, "tools", "document")


def test_a_short_row_is_quoted_alone() -> None:
    note = note_with_a_table()
    (claim,) = claims_of(written("Who has the axe?", [note]))
    assert claim.support[0].quote == "One row of the table: Tool: axe; No: 3; By: Al"
    assert not check([claim], {note.evidence_id: note}).dropped


def test_the_shortest_row_can_be_quoted() -> None:
    (row,) = lines([["a", "b"], ["c", "1"]], headed=True)
    assert len(row) >= MIN_QUOTE_CHARS
    assert LEAST_CHARS == MIN_QUOTE_CHARS
    assert [(cell.value, row[cell.start]) for cell in cells(row)] == [("c", "c"), ("1", "1")]


def test_a_note_with_a_table_is_not_quoted_as_a_whole() -> None:
    """Without a table it is: what answers may use no word of the question."""
    assert not any(
        "key of the shed" in text for text in texts(written("Who has the axe?", [note_with_a_table()]))
    )
    alone = document(
        5,
        "The key of the shed hangs behind the kitchen door. Ana holds the axe now.",
        "tools",
        "document",
    )
    assert any("key of the shed" in text for text in texts(written("Who has the axe?", [alone])))


PLANS = "\n\n".join(
    lines(
        [
            ["Plan", "Price", "Note"],
            ["Oak", "\u20ac14", "best seller"],
            ["Fir", "\u20ac9", ""],
            ["Yew", "\u20ac9.50", ""],
        ]
    )
)


def test_the_row_that_a_question_compares_its_way_to_is_quoted_alone() -> None:
    plans = document(6, PLANS, "plans", "document")
    (claim,) = claims_of(written("What is the cheapest plan?", [plans]))
    assert [s.quote for s in claim.support] == ["One row of the table: Plan: Fir; Price: \u20ac9"]
    assert claim.text == f"{claim.support[0].quote}."
    assert not check([claim], {plans.evidence_id: plans}).dropped
    assert len(claims_of(written("Which plans cost less than 10 euros?", [plans]))) == 2


def test_the_tables_of_an_article_are_not_compared() -> None:
    article = document(6, PLANS, "plans", "article")
    assert not rank("What is the cheapest plan?", [article])[0].compared


def test_other_rows_stay_below_for_a_model_that_reads_them() -> None:
    (item,) = rank("What is the cheapest plan?", [document(6, PLANS, "plans", "document")])
    assert item.compared == 1
    assert {r.sentence.quote for r in item.ranked} == {*PLANS.split("\n\n")}
