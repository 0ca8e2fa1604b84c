"""A question for safety is answered by harms, not by benefits."""

import pytest

from activities.text.verdict import Verdict, weigh


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Is day surgery safe for hernia repair?",
            "Day surgery for hernia repair did not increase readmissions or complications.",
        ),
        (
            "Is early feeding safe after colectomy?",
            "Early feeding after colectomy was not associated with a higher rate of anastomotic leak.",
        ),
        (
            "Is metformin safe in pregnancy?",
            "Metformin in pregnancy was not associated with congenital malformations.",
        ),
    ],
)
def test_a_denied_harm_is_a_yes_to_a_question_for_safety(question: str, said: str) -> None:
    assert weigh(question, [said]) == Verdict("yes", said)


def test_a_stated_harm_is_no_yes() -> None:
    said = "Metformin in pregnancy may increase the risk of childhood obesity."
    assert isinstance(weigh("Is metformin safe in pregnancy?", [said]), str)


def test_a_denied_harm_is_no_benefit() -> None:
    said = "Metformin in pregnancy did not increase complications."
    found = weigh("Is metformin safe and effective in pregnancy?", [said])
    assert not (isinstance(found, Verdict) and found.way == "yes")
