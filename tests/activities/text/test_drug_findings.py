"""What a sentence finds of a drug, and what several together find."""

import pytest

from activities.text.drug_findings import Finding, finding, together
from activities.text.parts import Part

Said = tuple[Part, str]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Exenatide had positive effects on motor scores in Parkinson's disease.", "for"),
        ("Men who took terazosin had slower motor decline than 293 men who did not.", "for"),
        ("Salbutamol use was associated with a lower risk of Parkinson's disease.", "for"),
        ("Isradipine did not slow the clinical progression of the disease.", "against"),
        ("Deferiprone was associated with worse scores than placebo over 36 weeks.", "against"),
        ("Simvastatin was futile as a treatment of moderate disease.", "against"),
        ("Although nilotinib was tolerated, its low exposure argues against further testing.", "against"),
        (
            "Inosine, compared with placebo, made no significant difference to progression.",
            "against",
        ),
        ("No significant difference was detected between mitoxantrone and the combination.", "none"),
        ("The duration of imatinib used for sarcoma is not based on its mutations.", "none"),
        ("Ublituximab is being evaluated for the treatment of relapsing disease.", "none"),
        ("Deferiprone reduced relapses but did not reduce disability.", "for"),
        ("Participants received deferiprone 15 mg per kilogram twice daily.", "none"),
    ],
)
def test_a_gain_a_failure_and_harm_are_told_apart(sentence: str, found: Finding) -> None:
    assert finding(sentence) == found


def test_what_a_work_says_before_its_results_is_not_found_by_it() -> None:
    background: Said = ("background", "Simvastatin was neuroprotective and improved survival in mice.")
    conclusion: Said = ("conclusion", "Simvastatin did not slow the progression of the disease.")
    assert together([background]) == "none"
    assert together([background, conclusion]) == "against"


def test_works_that_disagree_are_mixed() -> None:
    first: Said = ("conclusion", "Salbutamol reduced the risk of the disease.")
    second: Said = ("conclusion", "Salbutamol did not reduce the risk of the disease.")
    assert together([first, second]) == "mixed"
