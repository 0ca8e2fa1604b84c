"""Definitions and appositions name what is asked for."""

import pytest

from activities.text.answer_reader import Passage
from activities.text.answers import answers

SUBSTRATES = "List the luciferase substrates"


def named(question: str, *texts: str) -> list[str]:
    return [found.name for found in answers(question, [Passage(f"w:{n}", t) for n, t in enumerate(texts)])]


@pytest.mark.parametrize(
    "text",
    [
        "Coelenterazine, a natural substrate of Renilla luciferase, crosses membranes.",
        "Coelenterazine is a bright substrate of luciferase.",
        "Mice were given the luciferase substrates coelenterazine and furimazine.",
    ],
)
def test_what_a_sentence_says_is_of_the_kind_is_named(text: str) -> None:
    assert any("oelenterazine" in name for name in named(SUBSTRATES, text))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("Palmar erythema is a redness of the palms.", "a redness of the palms"),
        ('Palmar erythema ("liver palms") was seen in cirrhosis.', "liver palms"),
        ("Palmar erythema, a reddening of both palms, was seen in cirrhosis.", "a reddening of both palms"),
    ],
)
def test_what_a_thing_is_is_named_where_its_name_stands_before(text: str, meaning: str) -> None:
    assert named("What is palmar erythema?", text) == [meaning]


def test_what_another_thing_is_defines_nothing() -> None:
    said = "Palmar erythema is common. Cirrhosis is a disease of the liver."
    assert "a disease of the liver" not in named("What is palmar erythema?", said)


def test_a_drug_that_is_only_met_with_a_disease_is_no_treatment() -> None:
    asked = "What are the treatment options for prostate cancer?"
    assert named(asked, "Digoxin use was associated with a lower risk of prostate cancer.") == []
    assert named(asked, "Docetaxel is a first-line treatment of prostate cancer.") == ["Docetaxel"]
