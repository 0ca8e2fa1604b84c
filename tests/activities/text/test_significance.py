"""Tests that a text reports are counted for and against a finding."""

import pytest

from activities.text.significance import balance


@pytest.mark.parametrize(
    "text",
    [
        "Pain was lower in the laser group (p < 0.001).",
        "Pain was lower in the laser group (P=0.03).",
        "The groups differed significantly in pain.",
        "Smokers died earlier (HR 1.62, 95% CI 1.20-2.19).",
        "Smokers died earlier (odds ratio 0.62 [95% CI: 0.41 to 0.93]).",
    ],
)
def test_a_test_that_found_something_counts_for_a_finding(text: str) -> None:
    assert balance(text) > 0


@pytest.mark.parametrize(
    "text",
    [
        "Pain was 4 against 5 (p = 0.41).",
        "Pain was 4 against 5 (P > 0.05).",
        "There was no significant difference in pain.",
        "Pain was not associated with age.",
        "Smokers died as often (HR 1.12, 95% CI 0.80-1.59).",
        "The difference was nonsignificant.",
    ],
)
def test_a_test_that_found_nothing_counts_against_it(text: str) -> None:
    assert balance(text) < 0


def test_a_text_without_tests_counts_for_neither() -> None:
    assert balance("Forty patients had a headache; 12 of them had two.") == 0
    assert balance("Weight fell (p = 0.01); height did not differ (p = 0.70).") == 0 - 1
