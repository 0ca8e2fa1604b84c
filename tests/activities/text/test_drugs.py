"""Drugs named in a text."""

from activities.text.drugs import drugs_named


def test_a_substance_that_was_measured_is_no_drug() -> None:
    assert drugs_named("Aspirin inhibited prostaglandin E2 synthesis.") == (("aspirin", 1),)
