"""Abbreviations come with the definition that the text gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.text.entities import abbreviations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Patients with chronic kidney disease (CKD) were seen.", {"CKD": "chronic kidney disease"}),
        ("Body mass index (BMI; kg/m2) was high.", {"BMI": "Body mass index"}),
        ("HRT (hormone replacement therapy) helps.", {"HRT": "hormone replacement therapy"}),
        ("tumor necrosis factor-alpha (TNF-\u03b1) rose", {"TNF-\u03b1": "tumor necrosis factor-alpha"}),
        ("In gastric cancer (n = 30) the mean age (52 years) was low.", {}),
        (
            "Heat shock transcription factor (HSF) and more (see below).",
            {"HSF": "Heat shock transcription factor"},
        ),
        ("An unrelated remark (XYZ) follows.", {}),
        ("(CKD) at the start", {}),
    ],
)
def test_a_definition_is_read_in_both_orders_and_nothing_else_is(text: str, expected: dict[str, str]) -> None:
    assert abbreviations(text) == expected


def test_a_definition_does_not_begin_in_the_sentence_before() -> None:
    assert abbreviations("The kidney. A chronic disease (KCD) is rare.") == {}


@given(st.text(max_size=300))
def test_any_text_is_read_without_failure(text: str) -> None:
    for short, long in abbreviations(text).items():
        assert short in text
        assert long in text or long in " ".join(text.split())
