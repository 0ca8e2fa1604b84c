"""What is treated is no side effect of the treatment."""

import pytest

from activities.text.answer_reader import Passage
from activities.text.answers import answers
from activities.text.entities import of_kind
from activities.text.treated import treated


def named(question: str, *texts: str) -> list[str]:
    passages = [Passage(f"w{place}", text) for place, text in enumerate(texts)]
    return [found.name for found in answers(question, passages, texts)]


def test_the_disease_that_a_drug_is_given_for_is_not_named_among_its_harms() -> None:
    texts = (
        "Warfarin, given for atrial fibrillation, was followed by intracranial hemorrhage and skin necrosis.",
        "Patients with atrial fibrillation on warfarin had more gastrointestinal bleeding.",
        "The use of warfarin for atrial fibrillation raises the risk of intracranial hemorrhage.",
    )
    for asked in ("side effects", "harms", "adverse effects"):
        found = named(f"What are the {asked} of warfarin?", *texts)
        assert found[0] == "intracranial hemorrhage"
        assert "atrial fibrillation" not in found


def test_the_general_word_for_the_treated_disease_is_not_named_either() -> None:
    found = named(
        "What are the side effects of tamoxifen?",
        "Women with breast cancer who took tamoxifen had more endometrial polyps and stroke.",
        "The cancer recurred in few; stroke was more frequent with tamoxifen.",
    )
    assert "stroke" in found
    assert "cancer" not in {name.casefold() for name in found}


def test_a_complication_that_people_get_is_named() -> None:
    found = named(
        "What are the complications of measles?",
        "Measles can lead to pneumonia, encephalitis and otitis media.",
        "In children with measles, pneumonia was the most frequent complication.",
    )
    assert {"pneumonia", "encephalitis", "otitis media"} <= set(found)


@pytest.mark.parametrize(
    "text",
    [
        "Women with early breast cancer were followed up.",
        "Breast cancer survivors were followed up.",
        "Tamoxifen is used for breast cancer.",
        "Tamoxifen was approved to treat breast cancer.",
    ],
)
def test_a_disease_that_was_there_before_is_treated(text: str) -> None:
    (disease,) = of_kind("breast cancer", ("disease",))
    assert [(found.id, found.name) for found in treated([text])] == [(disease.id, disease.name)]


@pytest.mark.parametrize(
    "text",
    ["Tamoxifen was associated with breast cancer.", "Three women developed breast cancer in the trial."],
)
def test_a_disease_that_came_later_is_not(text: str) -> None:
    assert not list(treated([text]))
