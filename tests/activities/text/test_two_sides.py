"""Findings that are set against others: both sides are said, or the conclusion that is drawn from them."""

import pytest

from activities.text.verdict import Verdict, weigh

QUESTION = "Does oral zinc improve the healing of leg ulcers in diabetes?"
DENIED = "Oral zinc did not improve the healing of leg ulcers in diabetes."


@pytest.mark.parametrize(
    "against",
    [
        "However, the healing of leg ulcers was better in people with low zinc.",
        "In people with low zinc, however, the healing of leg ulcers was better.",
    ],
)
def test_a_denial_with_an_affirmation_against_it_is_mixed_and_both_are_quoted(against: str) -> None:
    work = f"We gave oral zinc to people with leg ulcers and diabetes. {DENIED} {against}"
    assert weigh(QUESTION, [DENIED, against], work) == Verdict("mixed", f"{DENIED} {against}")


def test_sentences_that_do_not_follow_each_other_in_the_work_are_not_quoted_as_one() -> None:
    against = "However, the healing of leg ulcers was better in people with low zinc."
    work = f"{DENIED} Pain was rare. {against}"
    assert weigh(QUESTION, [DENIED, against], work) == Verdict("mixed", DENIED)


@pytest.mark.parametrize(
    "after",
    [
        "However, if the dose is raised the healing of leg ulcers might be better.",
        "However, nausea did not differ.",
    ],
)
def test_conditions_and_further_denials_are_no_other_side(after: str) -> None:
    found = weigh(QUESTION, [DENIED, after], f"{DENIED} {after}")
    assert not (isinstance(found, Verdict) and found.way == "mixed")


def test_a_conclusion_that_is_drawn_stands_after_what_was_weighed() -> None:
    weighed = "Pain fell with zinc. However, nausea was common."
    drawn = "Thus, oral zinc does not improve the healing of leg ulcers in diabetes."
    findings = ["Pain fell with zinc.", "However, nausea was common.", drawn]
    assert weigh(QUESTION, findings, f"{weighed} {drawn}") == Verdict("no", drawn)
    assert isinstance(weigh(QUESTION, [drawn.removeprefix("Thus, "), *findings[:2]], weighed), str)
