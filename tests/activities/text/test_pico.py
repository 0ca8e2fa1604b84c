"""Population, intervention, comparison and outcome of a question, in its own words."""

import pytest

from activities.text.pico import Parts, parts_of


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Does metformin reduce mortality in patients with type 2 diabetes?",
            Parts("patients with type 2 diabetes", "metformin", "", "mortality"),
        ),
        (
            "Is laparoscopic surgery as safe as open surgery for colorectal cancer?",
            Parts("colorectal cancer", "laparoscopic surgery", "open surgery", ""),
        ),
        (
            "Is vitamin D better than placebo for preventing fractures in older women?",
            Parts("older women", "vitamin D", "placebo", "fractures"),
        ),
        (
            "Early discharge: does it affect quality of care?",
            Parts("", "Early discharge", "", "quality of care"),
        ),
        (
            "Which approved drugs could be repurposed for Alzheimer's disease?",
            Parts("Alzheimer's disease", "approved drugs", "", ""),
        ),
        (
            "What is known about laparoscopic surgery compared with open surgery, its harms and costs?",
            Parts("", "laparoscopic surgery", "open surgery", ""),
        ),
        (
            "What is known about survival in lung cancer?",
            Parts("lung cancer", "", "", "survival"),
        ),
    ],
)
def test_the_parts_are_words_of_the_question(question: str, parts: Parts) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize("question", ["", "?", "Tell me more", "Can the pain be predicted preoperatively?"])
def test_a_form_that_is_not_read_gives_no_part(question: str) -> None:
    assert not parts_of(question)
