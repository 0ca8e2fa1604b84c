"""The results of a work in the table of works: each number once."""

from activities.report.formats.results import results
from activities.types import ArmResult, ComputedEffect, WorkRow

ARM = ArmResult(
    text="12/80 (15%) after early surgery versus 20/81 (25%) after waiting, p = 0.03",
    measure="mortality",
    value="12/80 (15%)",
    arm="early surgery",
    other_value="20/81 (25%)",
    other_arm="waiting",
)
DIFFERENCE = ComputedEffect(
    text=ARM.text, events=12, total=80, other_events=20, other_total=81, difference=-9.7, low=-22, high=2.6
)


def shown(**fields: object) -> list[str]:
    row = WorkRow.model_validate({"evidence_id": "pmid:1", **fields})
    return [reading.text for reading in results(row, {}).readings]


def test_a_result_by_group_has_its_test_and_its_difference_and_is_printed_once() -> None:
    texts = shown(arms=(ARM,), computed=(DIFFERENCE,), numbers=("15% versus 25%, p = 0.03", "12/80 (15%)"))
    assert texts == [
        (
            "Mortality: 12/80 (15%) (early surgery) against 20/81 (25%) (waiting), p = 0.03, "
            "risk difference \u22129.7 points (95% CI \u221222.0 to +2.6), computed"
        )
    ]


def test_numbers_that_no_group_has_stay() -> None:
    assert shown(arms=(ARM,), numbers=("OR 1.8 (95% CI 1.1 to 2.9)",))[1:] == ["OR 1.8 (95% CI 1.1 to 2.9)"]


def test_a_difference_of_other_counts_is_printed_with_them() -> None:
    other = DIFFERENCE.model_copy(update={"events": 3, "total": 40})
    assert shown(arms=(ARM,), computed=(other,))[1].startswith("3/40 against 20/81: risk difference")


def test_a_number_within_another_is_not_repeated() -> None:
    assert shown(numbers=("OR 1.8", "OR 1.8 (95% CI 1.1 to 2.9)")) == ["OR 1.8 (95% CI 1.1 to 2.9)"]
    assert shown(numbers=("OR 1.8", "OR 1.8")) == ["OR 1.8"]


def test_a_test_that_does_not_say_what_it_tests_is_left_out() -> None:
    assert shown(numbers=("(P = 0.01)", "p<0.05")) == []


def test_two_values_without_what_they_are_of_are_left_out() -> None:
    assert shown(numbers=("245 versus 151", "21% vs. 0%", "21% vs. 0% of falls")) == ["21% vs. 0% of falls"]


def test_what_was_measured_does_not_say_which_group_had_more() -> None:
    arm = ARM.model_copy(update={"measure": "had lower rates of clear margins"})
    assert shown(arms=(arm,))[0].startswith("Clear margins: 12/80")


def test_each_result_keeps_its_place() -> None:
    row = WorkRow(evidence_id="pmid:1", arms=(ARM,), numbers=("OR 1.8",))
    read = results(row, {"arms.0": "a", "numbers": "b"}).readings
    assert [reading.anchor for reading in read] == ["a", "b"]
