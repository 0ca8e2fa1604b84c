"""How a study was conducted, and the absolute effects that its numbers allow to compute."""

import pytest

from activities.text.arm_effects import risk_difference
from activities.text.study_facts import computed_effects, stated_conduct
from activities.types import Evidence


def work(text: str) -> Evidence:
    return Evidence(evidence_id="pmid:1", source="library", title="A work", text=text)


ALLOCATED = (
    "METHODS: Patients were randomly assigned by sealed envelopes. The assessors were blinded. "
    "RESULTS: 12 patients were lost to follow-up."
)
STATED = (
    "randomly assigned",
    "sealed envelopes",
    "assessors were blinded",
    "12 patients were lost to follow-up",
)
OPEN = "METHODS: The assessors were not blinded (NCT01234567)."


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (ALLOCATED, STATED),
        (OPEN, ("assessors were not blinded", "NCT01234567")),
        ("METHODS: We searched for randomized controlled trials of the drug.", ()),
        ("METHODS: Previous randomized controlled trial data were used.", ()),
        ("CONCLUSIONS: A randomized trial is needed.", ()),
    ],
)
def test_what_a_study_states_of_its_conduct_is_read_with_its_place(
    text: str, stated: tuple[str, ...]
) -> None:
    found = stated_conduct(work(text))
    assert tuple(fact.text for fact in found) == stated
    assert all(fact.text in fact.place for fact in found)


@pytest.mark.parametrize(
    ("counts", "effect"),
    [
        # Newcombe, Stat Med 1998, 17:873-890, table II, method 10
        ((56, 70, 48, 80), (20.0, 5.2, 33.4)),
        ((9, 10, 3, 10), (60.0, 17.1, 80.9)),
        ((10, 10, 0, 10), (100.0, 60.8, 100.0)),
    ],
)
def test_the_interval_of_a_risk_difference_is_newcombes(
    counts: tuple[int, int, int, int], effect: tuple[float, float, float]
) -> None:
    assert risk_difference(*counts) == pytest.approx(effect, abs=0.11)


def test_an_absolute_effect_is_computed_from_two_groups_that_a_sentence_sets_against_each_other() -> None:
    ((effect, place),) = computed_effects(
        work("RESULTS: Deaths were fewer (7/40 [17.5%] versus 15/42 [35.7%]).")
    )
    assert (effect.events, effect.total, effect.other_events, effect.other_total) == (7, 40, 15, 42)
    assert effect.difference == -18.2
    assert effect.low < effect.difference < effect.high
    assert effect.text in place


@pytest.mark.parametrize(
    "text",
    [
        "RESULTS: Deaths were fewer (7/40 [27.5%] versus 15/42 [35.7%]).",
        "RESULTS: Sensitivity was 7/40 versus 15/42.",
        "RESULTS: Pressure fell from 140/90 to 120/80.",
        "RESULTS: Nine of 10 died, and 7 of 40 bled.",
        "BACKGROUND: Deaths were fewer (7/40 versus 15/42).",
    ],
    ids=["shares disagree", "a test", "pressures", "two outcomes", "others' work"],
)
def test_nothing_is_computed_from_numbers_that_are_no_two_groups(text: str) -> None:
    assert computed_effects(work(text)) == ()
