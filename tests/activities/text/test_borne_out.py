"""A conclusion whose wording alone is not certain has a direction where the tests of its work bear it out."""

import pytest

from activities.text.verdict import Undecided, Verdict, weigh

QUESTION = "Does early physiotherapy lower the frequency of frozen shoulder after mastectomy?"
STATED = "With physiotherapy the mobility of shoulders improved."
SETTING = f"{QUESTION} We compared early physiotherapy with usual care after mastectomy for frozen shoulder."
FOUND = "Frozen shoulder was found in 4 % and 15 % (p = 0.002)."
NOTHING = "Frozen shoulder was found in 14 % and 15 % (p = 0.82)."


def read(stated: str, results: str) -> Verdict | Undecided:
    return weigh(QUESTION, [stated], f"{SETTING} {results} {stated}")


def test_an_affirming_conclusion_is_a_yes_where_the_tests_found_something() -> None:
    assert read(STATED, FOUND) == Verdict("yes", STATED)


def test_it_is_none_where_they_found_nothing_or_where_there_are_none() -> None:
    assert isinstance(read(STATED, NOTHING), str)
    assert isinstance(read(STATED, ""), str)


def test_a_sentence_that_does_not_name_what_is_asked_about_is_not_borne_out() -> None:
    assert isinstance(read("Scars looked better in winter.", FOUND), str)


@pytest.mark.parametrize(
    "stated",
    [
        "With physiotherapy the mobility of shoulders improved, but it is costly.",
        "It is unclear whether with physiotherapy the mobility of shoulders improved.",
        "Physiotherapy should be improved for the mobility of shoulders.",
    ],
)
def test_a_conclusion_that_weighs_doubts_or_demands_is_not_borne_out(stated: str) -> None:
    assert isinstance(read(stated, FOUND), str)


def test_a_hedged_finding_is_none_where_the_tests_found_nothing() -> None:
    stated = "Early physiotherapy may lower the frequency of frozen shoulder after mastectomy."
    assert read(stated, FOUND) == Verdict("yes", stated)
    assert read(stated, NOTHING) == "hedged"
    assert read(stated, "") == "hedged"


def test_a_denial_is_a_no_where_the_tests_found_nothing() -> None:
    stated = "Women had a frozen shoulder as often, regardless of physiotherapy."
    assert read(stated, NOTHING) == Verdict("no", stated)
    assert isinstance(read(stated, FOUND), str)


def test_a_concession_beside_a_conclusion_is_not_weighed_against_it() -> None:
    stated = "Although mastectomy is painful, with physiotherapy the mobility of shoulders improved."
    assert read(stated, FOUND) == Verdict("yes", stated)
    assert isinstance(read(stated, NOTHING), str)
