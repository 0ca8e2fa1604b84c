"""What was found in each of two groups is read from sentences that set them against each other."""

import pytest

from activities.text.study_facts import results_by_arm
from activities.types import ArmResult, Evidence

METHODS = "METHODS: 200 adults with angina were randomly assigned to surgery or drugs. RESULTS: "


def read(text: str) -> tuple[tuple[ArmResult, str], ...]:
    return results_by_arm(
        Evidence(
            evidence_id="pmid:1",
            source="pubmed",
            title="Angina",
            text=METHODS + text,
            evidence_type="article",
        )
    )


@pytest.mark.parametrize(
    ("text", "measure", "one", "other"),
    [
        (
            "Mortality was 12 of 80 (15%) vs 20 of 82 (24%) (p = 0.1).",
            "Mortality",
            ("12 of 80 (15%)", ""),
            ("20 of 82 (24%)", ""),
        ),
        (
            "The complication rate was 15% in the surgery group and 24% in the control group.",
            "complication rate",
            ("15%", "surgery group"),
            ("24%", "control group"),
        ),
        (
            "Pain scores were lower after surgery (5.2 \u00b1 1.3 versus 6.1 \u00b1 1.4; P = 0.02).",
            "Pain scores",
            ("5.2 \u00b1 1.3", ""),
            ("6.1 \u00b1 1.4", ""),
        ),
        (
            "The 5-year survival of women was better than that of men (81% vs 70%, P<.001).",
            "5-year survival",
            ("81%", "women"),
            ("70%", "men"),
        ),
        (
            "The incidence in this group with cancer was 2.7% compared with 0.3% in the control group.",
            "incidence",
            ("2.7%", "cancer"),
            ("0.3%", "control group"),
        ),
        (
            "Stay for patients without cover was 13 days (5-60) vs. 17 days (8-60) for patients with cover.",
            "Stay",
            ("13 days (5-60)", "without cover"),
            ("17 days (8-60)", "cover"),
        ),
        (
            "The 5-year survival of women was lower than that of men (81% vs 70%, P<.001).",
            "5-year survival of women",
            ("81%", ""),
            ("70%", ""),
        ),
        (
            "Relapse occurred in 31% of those on drugs compared with 13% of surgical patients (p = 0.01).",
            "Relapse",
            ("31%", "drugs"),
            ("13%", "surgical patients"),
        ),
    ],
)
def test_the_values_of_two_groups_are_read_in_the_words_of_the_work(
    text: str, measure: str, one: tuple[str, str], other: tuple[str, str]
) -> None:
    ((result, place),) = read(text)
    assert (result.measure, (result.value, result.arm), (result.other_value, result.other_arm)) == (
        measure,
        one,
        other,
    )
    assert place == text
    assert result.text in text


@pytest.mark.parametrize(
    "text",
    [
        "Mean age was 45 \u00b1 3 years vs 46 \u00b1 4 years.",
        "Pain fell from 6.1 \u00b1 1.4 versus 5.2 \u00b1 1.3 after treatment.",
        "Sensitivity and specificity were 90% versus 80%.",
        "Death was noted in 40% of the first group, 57% in the second group, and 56% in the third group.",
        "Scores were 5.2 \u00b1 1.3 vs. 6.1 \u00b1 1.4 compared with baseline values.",
        "The power was 80% versus 90%.",
    ],
)
def test_characteristics_changes_and_more_than_two_groups_are_no_result_of_two_groups(text: str) -> None:
    assert read(text) == ()


def test_a_work_without_people_of_its_own_has_no_groups() -> None:
    review = Evidence(
        evidence_id="pmid:1",
        source="pubmed",
        title="Angina",
        text="RESULTS: Mortality was 12 of 80 (15%) vs 20 of 82 (24%).",
        evidence_type="review",
    )
    assert results_by_arm(review) == ()


def test_a_text_without_ends_of_sentences_is_not_read() -> None:
    assert read("was 12% in the surgery group and 24% in the control group " * 20) == ()
