"""A number, a quality or a frequency that is asked for has to be said."""

import pytest

from activities.text.verdict import Verdict, weigh


def way(question: str, said: str) -> str | None:
    found = weigh(question, [said])
    return found.way if isinstance(found, Verdict) else None


@pytest.mark.parametrize(
    ("question", "said", "unsaid"),
    [
        (
            "Does Werner syndrome usually start after the age of 10?",
            "Werner syndrome usually starts after the age of ten.",
            "Werner syndrome usually starts after the age of 20.",
        ),
        (
            "Was the Harbour trial a phase II trial?",
            "The Harbour trial was a phase II trial.",
            "The Harbour trial was a phase III trial.",
        ),
        (
            "Is tonsillectomy a minor operation?",
            "Tonsillectomy is a minor operation.",
            "Tonsillectomy is an operation.",
        ),
        (
            "Does zinc often cause cardiac toxicity?",
            "Zinc frequently causes cardiac toxicity.",
            "Zinc causes cardiac toxicity.",
        ),
    ],
)
def test_what_is_asked_with_it_has_to_be_said(question: str, said: str, unsaid: str) -> None:
    assert way(question, said) == "yes"
    assert way(question, unsaid) is None


def test_an_adjective_that_is_part_of_a_name_or_behind_a_preposition_is_no_quality_of_it() -> None:
    assert way("Is cardiac toxicity a side effect of zinc?", "Zinc causes cardiac toxicity.") == "yes"
    said = "Rods are activated by light of outer sources."
    assert way("Can rods be activated by an outer light source?", said) == "yes"
