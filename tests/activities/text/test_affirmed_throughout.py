"""A conclusion that affirms throughout answers yes, where a sentence of it says what is asked."""

import pytest

from activities.text.verdict import Verdict, weigh

QUESTION = "Can early drainage of abscesses be learned by simulation in rural clinics?"
SAID = "In rural clinics simulation of drainage was quickly learned."
SETTING = "Early drainage of abscesses in rural clinics was learned by simulation or at the bedside."


def read(*stated: str, question: str = QUESTION, results: str = "") -> str:
    """The way, or `none`."""
    found = weigh(question, stated, f"{question} {SETTING} {results} {' '.join(stated)}")
    return found.way if isinstance(found, Verdict) else "none"


def test_it_answers_yes_and_rests_on_the_sentence_that_says_what_is_asked() -> None:
    stated = ["Rural clinics treat many abscesses.", SAID]
    assert weigh(QUESTION, stated, f"{QUESTION} {SETTING} {' '.join(stated)}") == Verdict("yes", SAID)


@pytest.mark.parametrize(
    "other",
    [
        "Nurses did not take part.",
        "However, nurses took part.",
        "Whether costs fall is uncertain.",
        "This was seen in some clinics only.",
    ],
)
def test_it_is_none_where_any_sentence_denies_weighs_doubts_or_restricts(other: str) -> None:
    assert read(SAID) == "yes"
    assert read(SAID, other) == "none"


@pytest.mark.parametrize(
    "said",
    [
        "In rural clinics simulation of drainage was offered.",
        "In rural clinics simulation of drainage should be learned.",
        "Bread was quickly learned.",
    ],
)
def test_it_is_none_where_no_sentence_says_what_is_asked_of_it(said: str) -> None:
    assert read(said) == "none"


def test_a_hedge_affirms_only_what_the_tests_of_the_work_bear_out() -> None:
    said = "In rural clinics simulation of drainage may be quickly learned."
    assert read(said, results="Skill was greater (p = 0.002).") == "yes"
    assert read(said) == "none"
    assert read(said, results="Skill was equal (p = 0.7).") == "none"


def test_the_opposite_change_and_what_is_awaited_affirm_nothing() -> None:
    asked = "Does simulation increase the duration of drainage in rural clinics?"
    assert read("Simulation increased the duration of drainage.", question=asked) == "yes"
    assert read("Simulation shortened the duration of drainage.", question=asked) != "yes"
    asked = "Is simulation of drainage approved by rural clinics?"
    assert read("Simulation of drainage is awaiting approval by rural clinics.", question=asked) == "none"


def test_quotes_of_a_work_without_conclusions_affirm_nothing_as_a_whole() -> None:
    said = "In rural clinics drainage of abscesses was quickly learned."
    assert read(said) == "yes"
    assert isinstance(weigh(QUESTION, [said]), str)


def test_a_quality_is_affirmed_by_a_judgement_only() -> None:
    asked = "Is simulation of drainage accurate in rural clinics?"
    assert read("The accuracy of simulation of drainage was 27 % in rural clinics.", question=asked) == "none"
