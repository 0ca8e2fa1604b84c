"""A question that compares is answered with the rows it compares its way to, or left to other rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.documents.tables import lines
from activities.text.column_values import read_column
from activities.text.comparatives import comparison
from activities.text.compared_rows import compared
from activities.types import Evidence

ROOMS = [
    ["Room", "Floor", "Seats", "Rent (EUR)", "Renovated", "Height"],
    ["Aster", "1", "40", "1,200", "2019-04-01", "2.6 m"],
    ["Birch", "2", "18", "950", "2021-09-15", "3.1 m"],
    ["Cedar", "2", "120", "3,400", "2015-01-20", "4.0 m"],
    ["Dogwood", "1", "", "2,100", "2018-11-30", "2.4 m"],
    ["Total", "", "178", "7,650", "", ""],
]
RUNS = [
    ["Runner", "Country", "Time", "Born"],
    ["Ola", "Norway", "41:07", "1991"],
    ["Pia", "Norway", "39:55", "1984"],
    ["Rui", "Portugal", "40:30", "1998"],
]


def table(rows: list[list[str]], facts: dict[str, str]) -> Evidence:
    text = "\n\n".join(lines(rows, headed=True))
    return Evidence(
        evidence_id="t", source="library", title="bookings", text=text, evidence_type="document", facts=facts
    )


def firsts(question: str, rows: list[list[str]], **facts: str) -> list[str]:
    """The first cells of the rows that are given."""
    found = compared(question, table(rows, facts))
    return [row.split(";")[0].split(": ")[-1] for row in found.rows] if found else []


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which room has the most seats?", ["Cedar"]),
        ("Which room has the fewest seats?", ["Birch"]),
        ("What is the cheapest room?", ["Birch"]),
        ("Which room is the most expensive?", ["Cedar"]),
        ("Which room is the least expensive?", ["Birch"]),
        ("Which room costs most?", ["Cedar"]),
        ("Which room is the lowest?", ["Dogwood"]),
        ("Which room on floor 1 is the highest?", ["Aster"]),
        ("Which room was renovated first?", ["Cedar"]),
        ("When was the cheapest room renovated?", ["Birch"]),
        ("What is the latest renovated date?", ["Birch"]),
        ("Which room was renovated most recently?", ["Birch"]),
        ("Which rooms have more than 30 seats?", ["Aster", "Cedar"]),
        ("Which rooms have at least 18 seats?", ["Aster", "Birch", "Cedar"]),
        ("Which rooms cost less than 1,000 euros?", ["Birch"]),
        ("Which rooms are higher than 3 m?", ["Birch", "Cedar"]),
        ("Which floor has the cheapest room?", ["Birch"]),
        ("How many seats are there in total?", ["Total"]),
        ("What is the total rent?", ["Total"]),
    ],
)
def test_the_rows_that_a_comparison_gives(question: str, names: list[str]) -> None:
    assert firsts(question, ROOMS) == names


@pytest.mark.parametrize(
    "question",
    [
        "Which room has the most windows?",
        "Which room has the highest ceiling?",
        "Which room is the oldest?",
        "Which was the last room?",
        "In which room is the rent highest?",
        "Which room has the second most seats?",
        "Which room does not have the most seats?",
        "Which room has the most seats and the lowest rent?",
        "Which rooms have more seats than Aster?",
        "Which rooms cost less than 1,000 dollars?",
        "Which rooms have more than 500 seats?",
        "What is the average rent in total?",
        "What is the rent of Cedar in total?",
        "Does Cedar have the most seats?",
        "What is the rent of Cedar?",
    ],
)
def test_where_the_column_or_the_comparison_is_not_sure_none_is_made(question: str) -> None:
    assert firsts(question, ROOMS) == []


def test_the_fastest_has_the_least_time_and_the_oldest_the_first_year() -> None:
    assert firsts("Who was the fastest?", RUNS) == ["Pia"]
    assert firsts("Which runner was the slowest?", RUNS) == ["Ola"]
    assert firsts("Which runner had the longest time?", RUNS) == ["Ola"]
    assert firsts("Which runner from Norway was the slowest?", RUNS) == ["Ola"]
    assert firsts("Which runner was born first?", RUNS) == ["Pia"]


def test_what_several_rows_of_one_thing_have_is_not_compared() -> None:
    assert firsts("Which country had the slowest time?", RUNS) == []
    assert firsts("Which country has the slowest runner?", RUNS) == ["Ola"]


@given(
    st.lists(
        st.sampled_from(
            ("which", "who", "most", "least", "first", "cheapest", "than", "more", "total", "2", "room")
        )
    ),
    st.lists(st.lists(st.text("1a.,-:%\u20ac ;\n", max_size=6), min_size=1, max_size=4), max_size=5),
)
def test_no_question_and_no_table_is_an_error(words: list[str], cells: list[list[str]]) -> None:
    compared(" ".join(("which", *words)), table([["room", "seats", "cost", "day"], *cells], {}))
    compared(" ".join(("who", *words)), table(ROOMS, {}))


def test_a_column_with_an_adjective_that_is_not_asked_for_is_another() -> None:
    drugs = [["Drug", "Adverse effects", "Price"], ["abc", "4", "$2"], ["def", "9", "$3"], ["ghi", "1", "$5"]]
    assert firsts("Which drug is the most effective?", drugs) == []
    assert firsts("Which drug has the most effects?", drugs) == []
    assert firsts("Which drug has the most adverse effects?", drugs) == ["def"]
    drugs[0] = ["Drug", "Side effects", "Monthly price"]
    assert firsts("Which drug is the most effective?", drugs) == []
    assert firsts("Which drug has the most side effects?", drugs) == ["def"]
    drugs[0] = ["Drug", "Failed tests", "Monthly price"]
    assert firsts("Which drug has the fewest tests?", drugs) == []
    assert firsts("Which drug failed the fewest tests?", drugs) == ["ghi"]
    assert firsts("Which drug has the lowest price?", drugs) == ["abc"]


def test_equal_rows_are_all_given() -> None:
    assert firsts("Which room has the most seats?", [*ROOMS[:4], ["Elm", "3", "120", "1", "", ""]]) == [
        "Cedar",
        "Elm",
    ]


def test_a_part_of_a_table_and_two_tables_are_not_compared() -> None:
    question = "Which room has the most seats?"
    assert firsts(question, ROOMS, cut="only the first 200 rows were read") == []
    assert firsts(question, [*ROOMS[:3], ["North wing", "", "", "", "", ""], *ROOMS[3:]]) == []


@pytest.mark.parametrize(
    ("after", "whole"),
    [
        ("", True),
        ("The rooms are let by the office of the house, which is open on weekdays.", True),
        ("7", False),
        ("Elm 3 200 4,400 2012-01-01 5.0 m", False),
        ("North wing", False),
    ],
)
def test_a_table_on_a_page_is_compared_where_it_surely_ends(after: str, whole: bool) -> None:
    page = table(ROOMS, {})
    page = page.model_copy(update={"text": f"{page.text}\n\n{after}".strip(), "pages": (0,)})
    assert bool(compared("Which room has the most seats?", page)) is whole


def test_more_rows_than_are_quoted_are_no_list() -> None:
    many = [ROOMS[0], *([f"R{n}", "1", str(n + 50), "1", "", ""] for n in range(30))]
    assert firsts("Which rooms have more than 10 seats?", many) == []
    assert len(firsts("Which rooms have more than 65 seats?", many)) == 14


def test_less_than_nothing_is_less_only_of_what_has_a_scale() -> None:
    drifts = [["Probe", "Drift", "Temperature"], ["A1", "-0.5", "-4"], ["A2", "0.1", "1"], ["A3", "2", "3"]]
    assert firsts("Which probe drifts least?", drifts) == []
    assert firsts("Which probe drifts most?", drifts) == ["A3"]
    assert firsts("Which probe was the coldest?", drifts) == ["A1"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,204", "986", "n/a", ""], (1204.0, 986.0, None, None)),
        (["1.204,5", "986,0"], (1204.5, 986.0)),
        (["\u20ac7.99", "\u20ac14"], (7.99, 14.0)),
        (["91.5%", "87 %"], (91.5, 87.0)),
        (["1 minute", "20 minutes"], (1.0, 20.0)),
        (["\u22120.07", "+2.6"], (-0.07, 2.6)),
        (["05:10", "04:40"], (18600.0, 16800.0)),
        (["3 March 2025", "Mar 1, 2025"], (739313.0, 739311.0)),
    ],
)
def test_the_values_of_a_column(cells: list[str], values: tuple[float | None, ...]) -> None:
    column = read_column(cells)
    assert column is not None
    assert column.values == values


@pytest.mark.parametrize(
    "cells",
    [
        ["3 GB", "500 MB"],
        ["about 5", "6"],
        ["5-10", "12"],
        ["1.204", "412"],
        ["\u20ac5", "$6"],
        ["2:41:07", "38:55"],
        ["12", ""],
        ["12", "red"],
    ],
)
def test_a_column_of_more_than_one_kind_or_unit_has_no_values(cells: list[str]) -> None:
    assert read_column(cells) is None


def test_a_question_that_compares_nothing_is_left_alone() -> None:
    assert comparison("Which drug is used for asthma?") is None
    assert comparison("Is metformin the most effective drug?") is None
