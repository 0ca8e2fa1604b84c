"""A row of a table can be read and quoted alone."""

import pytest
from lxml import html

from activities.documents.tables import SHORT_ROW, as_paragraphs, lines

SENSORS = [["sensor", "place", "status"], ["T-1", "roof", "drifts"], ["T-2", "", "ok"]]


def test_cells_stand_behind_their_headings_and_captions_and_groups_stay() -> None:
    assert [*lines(SENSORS)] == [
        "sensor: T-1; place: roof; status: drifts",
        f"{SHORT_ROW}sensor: T-2; status: ok",
    ]
    rows = [["All sensors", "", ""], ["", "", ""], *SENSORS[:2], ["Cellar", "", ""], ["T-9", "cellar", "new"]]
    assert [*lines(rows)] == [
        "All sensors",
        "sensor: T-1; place: roof; status: drifts",
        "Cellar",
        "sensor: T-9; place: cellar; status: new",
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [["Name", "Petra"], ["Born", "1981"], ["Plan", "all"]],
            ["Name: Petra", f"{SHORT_ROW}Born: 1981", f"{SHORT_ROW}Plan: all"],
        ),
        ([["T-1", "4.5"], ["T-2", "6.0"]], [f"{SHORT_ROW}T-1: 4.5", f"{SHORT_ROW}T-2: 6.0"]),
        ([["1", "2", "3"], ["4", "5", "6"]], ["1 | 2 | 3", "4 | 5 | 6"]),
    ],
)  # fmt: skip
def test_without_headings_no_row_is_taken_for_them(rows: list[list[str]], said: list[str]) -> None:
    assert [*lines(rows)] == said


def test_a_table_of_facts_in_a_page_becomes_paragraphs_and_a_layout_stays() -> None:
    facts = "<table><tr><th>Plant</th><th>Price</th></tr><tr><td>Rose</td><td>12 euros</td></tr></table>"
    layout = f"<table><tr><td>{facts}</td><td>Beside it.</td></tr></table>"
    page = html.fromstring(f"<html><body>{layout}<p>After it.</p></body></html>")
    as_paragraphs(page)
    assert [p.text for p in page.iter("p")] == ["Plant | Price", "Rose | 12 euros", "After it."]
    assert len(list(page.iter("table"))) == 1


def test_headings_that_each_page_repeats_are_no_row() -> None:
    assert not [line for line in lines([*SENSORS, SENSORS[0]]) if "sensor: sensor" in line]
