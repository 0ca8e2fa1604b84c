"""What a work says as possible only is no finding of it."""

import pytest

from activities.text.hedges import unhedged
from activities.text.verdict import Verdict, weigh

ASKED = "Does evening light delay the sleep of shift workers?"


@pytest.mark.parametrize(
    "said",
    [
        "Evening light may delay the sleep of shift workers.",
        "Evening light might also delay the sleep of shift workers.",
        "Evening light could possibly delay the sleep of shift workers.",
        "Evening light perhaps delays the sleep of shift workers.",
        "Evening light is a nuisance that may delay the sleep of shift workers.",
        "Evening light is common in factories and may delay the sleep of shift workers.",
    ],
)
def test_what_is_only_possible_is_no_yes(said: str) -> None:
    assert weigh(ASKED, [said]) == "hedged" or not isinstance(weigh(ASKED, [said]), Verdict)


def test_what_is_only_possibly_not_so_is_no_no() -> None:
    asked = "Is evening light necessary for shift workers?"
    assert weigh(asked, ["Evening light is not necessary for shift workers."]) == Verdict(
        "no", "Evening light is not necessary for shift workers."
    )
    assert weigh(asked, ["Evening light may not be necessary for shift workers."]) == "hedged"


@pytest.mark.parametrize(
    "said",
    [
        "Evening light delays the sleep of shift workers.",
        "Evening light delays the sleep of shift workers and may raise the number of accidents.",
        "Evening light delays the sleep of shift workers; curtains might help.",
    ],
)
def test_what_is_stated_beside_a_hedge_stands(said: str) -> None:
    assert weigh(ASKED, [said]) == Verdict("yes", said)


def test_a_hypothesis_that_is_supported_may_be_worded_as_one() -> None:
    said = "The data support the hypothesis that evening light may delay the sleep of shift workers."
    assert weigh(ASKED, [said]) == Verdict("yes", said)


def test_an_ability_and_a_name_with_a_hedge_in_it_are_no_hedges() -> None:
    assert (
        unhedged("Can nurses read the film?", "Nurses could read the film.") == "Nurses could read the film."
    )
    assert unhedged("Do nurses read it?", "Nurses could not read it.") == "Nurses could not read it."
    said = "Scans were read in suspected fractures."
    assert unhedged("Are scans read in suspected fractures?", said) == said
    assert unhedged("Is a scan of use?", "A scan is possible.") == "A scan is possible."
