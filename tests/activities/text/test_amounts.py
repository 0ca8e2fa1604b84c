"""Numbers that answer a question for an amount."""

import pytest

from activities.text.amounts import asks_for_money
from activities.text.answer_reader import Passage
from activities.text.answers import answers


@pytest.mark.parametrize(
    ("question", "texts", "named"),
    [
        (
            "What is the mortality after emergency laparotomy?",
            (
                "This study is of patients who had an emergency laparotomy from June 2010 to May 2012.",
                "In all, 477 emergency laparotomies were performed in 446 patients over 70 years.",
                "Mortality within a month of emergency laparotomy was 12.4% (p<0.001).",
            ),
            ["12.4%"],
        ),
        (
            "What is the recurrence rate of inguinal hernia?",
            ("Of 303 inguinal hernias 213 (70.2%) were on both sides.", "Inguinal hernias recurred in 1.2%."),
            ["1.2%"],
        ),
        (
            "What is the half-life of warfarin?",
            ("In 14 adults the half-life of warfarin was 36 to 42 hours.",),
            ["36 to 42 hours"],
        ),
        ("When was insulin discovered?", ("Insulin was discovered by 2 men in 1921 in Toronto.",), ["1921"]),
        (
            "How many people have gout?",
            ("In 2020 gout affected 41,000,000 people.",),
            ["41,000,000 people"],
        ),
        (
            "How fast did Roman couriers travel?",
            ("A Roman courier travelled 50 miles a day.",),
            ["50 miles"],
        ),
    ],
)
def test_an_amount_is_named_in_its_unit_and_no_other_number_is(
    question: str, texts: tuple[str, ...], named: list[str]
) -> None:
    found = answers(question, [Passage(f"x:{number}", text) for number, text in enumerate(texts)])
    assert [answer.name for answer in found] == named


@pytest.mark.parametrize(
    ("question", "text", "named"),
    [
        (
            "What dose of radiation did the parotid gland receive?",
            "The dose of radiation to the parotid gland was 11.1-46.6 Gy.",
            "11.1-46.6 Gy",
        ),
        (
            "What is the median length of stay after early extubation?",
            "The median length of stay after early extubation was 4 days (interquartile range, 3-6).",
            "4 days",
        ),
        (
            "What is the rate of atrophy after orchiopexy?",
            "The rate of atrophy after orchiopexy was 16 of 133, 12%, in boys.",
            "16 of 133",
        ),
    ],
)
def test_an_amount_is_named_whole_and_alone(question: str, text: str, named: str) -> None:
    assert answers(question, [Passage("w:0", text)])[0].name == named


def test_a_share_is_no_count() -> None:
    said = "Of the children with cerebral palsy, five (6 per cent) had no record at all."
    found = answers("How many children with cerebral palsy had no record?", [Passage("w:0", said)])
    assert not any("per cent" in answer.name for answer in found)


def test_a_count_is_named_with_those_that_it_is_of() -> None:
    said = "Recurrence after surgery of hernia was seen in 12 of 340 patients (3.5%)."
    found = answers("How many patients had recurrence after surgery of hernia?", [Passage("w:0", said)])
    assert [answer.name for answer in found] == ["12 of 340 patients"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("The boiler failed on 14 February 2023.", "14 February 2023"),
        ("The boiler failed on February 14th, 2023.", "February 14th, 2023"),
        ("The boiler failed on the 3rd of May.", "3rd of May"),
        ("The boiler failed, noted 2023-02-14.", "2023-02-14"),
        ("The boiler failed on 14.02.2023.", "14.02.2023"),
        ("The boiler failed in 1348.", "1348"),
        ("The boiler failed in August.", "August"),
        ("The boiler failed in August 2021.", "August 2021"),
        ("The boiler failed on Tuesday.", "Tuesday"),
        ("The boiler failed at 17:40.", "17:40"),
        ("The boiler failed at half past six.", "half past six"),
        ("The boiler failed in mid-June.", "mid-June"),
        ("The boiler failed within two weeks.", "within two weeks"),
    ],
)
def test_a_date_is_named_as_a_whole(text: str, named: str) -> None:
    found = answers("When did the boiler fail?", [Passage("x:1", text)])
    assert [answer.name for answer in found] == [named]


def test_a_count_is_no_year_and_a_verb_no_month() -> None:
    for text in (
        "The boiler failed after 1348 hours.",
        "The boiler may fail.",
        "It failed on a march.",
    ):
        assert answers("When did the boiler fail?", [Passage("x:1", text)]) == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("The repair of the 2 pumps cost 412 euros.", "412 euros"),
        ("The repair of the 2 pumps cost \u00a33.5 million.", "\u00a33.5 million"),
        ("The repair of the 2 pumps cost CHF 1'250.", "CHF 1'250"),
    ],
)
def test_a_sum_answers_how_much_money(text: str, named: str) -> None:
    found = answers("How much did the repair of the pumps cost?", [Passage("x:1", text)])
    assert [answer.name for answer in found] == [named]


@pytest.mark.parametrize(
    ("question", "money"),
    [
        ("How much did the repair cost?", True),
        ("How much revenue was lost?", True),
        ("How much did they pay?", True),
        ("How much fruit did each plant give?", False),
        ("How much sleep do children need?", False),
        ("Did it cost much?", False),
        ("What did the repair of the pumps cost?", True),
        ("What does the adviser charge for her time?", True),
        ("What did the fire damage?", False),
        ("What did the cost of the pumps depend on?", False),
        ("What did he buy?", False),
    ],
)
def test_a_question_asks_for_money_where_something_is_paid_or_owned(question: str, money: bool) -> None:
    assert asks_for_money(question) is money
