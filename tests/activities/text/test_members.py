"""What is enumerated under a class is one of it."""

import pytest

from activities.text.verdict import Verdict, weigh

ASKED = "Is hoarfrost considered a solid precipitate?"


@pytest.mark.parametrize(
    "said",
    [
        "Solid precipitates such as hoarfrost and rime damage power lines.",
        "Power lines bear solid precipitates, including rime and hoarfrost.",
        "Hoarfrost and other solid precipitates damage power lines.",
        "Hoarfrost has been described as an example of solid precipitates.",
    ],
)
def test_an_enumeration_under_a_class_affirms_it(said: str) -> None:
    assert weigh(ASKED, [said]) == Verdict("yes", said)


@pytest.mark.parametrize(
    ("said", "way"),
    [
        ("Abciximab is a potent and costly antibody.", "yes"),
        ("Abciximab, an antibody, binds to platelets.", "yes"),
        ("The antibody abciximab binds to platelets.", "yes"),
        ("Abciximab was given to adults who had never received an antibody.", None),
    ],
)
def test_a_thing_and_a_class_that_are_only_named_together_affirm_nothing(said: str, way: str | None) -> None:
    found = weigh("Is abciximab an antibody?", [said])
    assert (found.way if isinstance(found, Verdict) else None) == way


@pytest.mark.parametrize(
    "said",
    [
        "Liquid precipitates such as hoarfrost damage power lines.",
        "Solid precipitates such as sleet damage lines that hoarfrost has covered.",
        "Hoarfrost is not an example of solid precipitates.",
    ],
)
def test_another_class_another_member_and_a_denial_do_not(said: str) -> None:
    found = weigh(ASKED, [said])
    assert not (isinstance(found, Verdict) and found.way == "yes")
