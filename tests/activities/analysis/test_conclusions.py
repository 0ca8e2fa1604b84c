"""A model concludes; code refutes a direction only by checked effects, and caps the certainty."""

from typing import Any

import pytest

from activities.analysis.certainty import CERTAINTIES
from activities.analysis.conclusions import conclude, is_refuted, numbers_stand, recompute
from activities.contracts.appraisal import (
    Appraisal,
    Certainty,
    Conclusion,
    ConclusionDirection,
    Proposed,
    StudyEffect,
    WorkFacts,
)
from activities.contracts.evidence import Support

TRIAL = WorkFacts(design="randomized_trial", randomized=True, full_text=True)
COHORT = WorkFacts(design="observational", full_text=True)


def read(name: str, direction: str = "lower", **fields: object) -> StudyEffect:
    support = (Support(evidence_id=name, quote=str(fields.pop("quote", f"What {name} says."))),)
    given = {"outcome": "mortality", "group": "drug", "comparator": "placebo", "support": support}
    return StudyEffect.model_validate({**given, "evidence_id": name, "direction": direction, **fields})


def counted(
    name: str, events: int, total: int, control: int, control_total: int, way: str = "lower"
) -> StudyEffect:
    figures = {"events": str(events), "total": str(total)}
    figures |= {"control_events": str(control), "control_total": str(control_total)}
    quote = f"{events} of {total} against {control} of {control_total} died."
    return read(name, way, figures=figures, quote=quote)


def stated(
    name: str, estimate: str, low: str, high: str, direction: str = "lower", **fields: object
) -> StudyEffect:
    figures = {"measure": "HR", "estimate": estimate, "low": low, "high": high}
    more = fields.pop("figures", {})
    assert isinstance(more, dict)
    quote = f"The hazard ratio was {estimate} (95% CI, {low} to {high}) in {more.get('n', 'all')} people."
    return read(name, direction, figures={**figures, **more}, quote=quote, **fields)


def one(*effects: StudyEffect, facts: WorkFacts = TRIAL, proposed: tuple[Proposed, ...] = ()) -> Conclusion:
    works = {effect.evidence_id: facts for effect in effects}
    (made,) = conclude(Appraisal(effects=effects, proposed=proposed), works)
    assert recompute(made) == made, "a check makes it a second time"
    assert all(map(numbers_stand, made.works))
    return made


def proposes(direction: ConclusionDirection, certainty: Certainty) -> tuple[Proposed, ...]:
    return (Proposed(outcome="Mortality", direction=direction, certainty=certainty),)


def codes(made: Conclusion) -> list[str]:
    return [concern.code for concern in made.concerns]


LOWER = (counted("a", 40, 400, 80, 400), counted("b", 35, 380, 70, 390), counted("c", 50, 500, 95, 500))
"""370 events."""
FORTY = read("a", "higher", figures={"n": "40"}, quote="40 people.")
SAME = (counted("a", 40, 400, 41, 400, "no_difference"), counted("b", 80, 800, 78, 790, "no_difference"))


def test_without_a_proposal_the_direction_is_that_of_the_pool() -> None:
    made = one(*LOWER)
    assert (made.direction, made.certainty, made.concerns) == ("lower", "high", ())
    assert made.pooled is not None
    assert made.pooled.works == ("a", "b", "c")
    assert made.pooled.result.high < 1
    assert one(*SAME).direction == "no_difference"


@pytest.mark.parametrize("proposed", ["lower", "no_difference", "uncertain", "not_enough_data"])
def test_a_direction_stands_that_no_effect_refutes(proposed: ConclusionDirection) -> None:
    for works in (LOWER, SAME, (read("a", "lower"), read("b", "higher"))):
        made = one(*works, proposed=proposes(proposed, "low"))
        assert made.direction == proposed
        assert not is_refuted(made)


def test_a_direction_is_refuted_only_where_every_checked_effect_is_on_the_other_side() -> None:
    made = one(*LOWER, proposed=proposes("higher", "high"))
    assert (made.direction, made.by_effects) == ("lower", "lower")
    assert is_refuted(made)
    mixed = (*LOWER, counted("d", 40, 400, 41, 400, "no_difference"))
    assert one(*mixed, proposed=proposes("higher", "high")).direction == "higher"


def test_very_low_certainty_takes_no_direction_away() -> None:
    small = counted("a", 2, 42, 9, 43)
    made = one(small, facts=COHORT, proposed=proposes("lower", "high"))
    assert (made.direction, made.certainty) == ("lower", "very_low")
    assert one(*LOWER, proposed=proposes("lower", "very_low")).direction == "lower"


@pytest.mark.parametrize(
    ("facts", "starts", "certainty", "reason"),
    [
        ({"full_text": False}, "high", "moderate", "abstracts_only"),
        ({"in_people": False}, "high", "very_low", "not_in_people"),
        ({"direct": False}, "high", "moderate", "indirect"),
        ({"under_concern": True}, "high", "moderate", "under_concern"),
        ({"randomized": False, "direct": False}, "low", "very_low", "indirect"),
    ],
)
def test_checked_fields_cap_the_certainty(
    facts: dict[str, bool], starts: str, certainty: str, reason: str
) -> None:
    made = one(*LOWER, facts=TRIAL.model_copy(update=facts))
    assert (made.starts, made.certainty, codes(made)) == (starts, certainty, [reason])


@pytest.mark.parametrize(
    "effects",
    [
        LOWER,
        SAME,
        (counted("a", 2, 42, 1, 63, "no_difference"),),
        (counted("a", 60, 2_000, 80, 2_000, "no_difference"),),
        (read("a", "lower", figures={"n": "40"}, quote="40 people."), read("b", "higher")),
    ],
)
@pytest.mark.parametrize("facts", [TRIAL, COHORT, TRIAL.model_copy(update={"full_text": False})])
def test_concerns_add_up_to_the_level_and_each_counts_once(
    effects: tuple[StudyEffect, ...], facts: WorkFacts
) -> None:
    made = one(*effects, facts=facts)
    levels = CERTAINTIES.index(made.starts) - sum(concern.levels for concern in made.concerns)
    assert CERTAINTIES[levels] == made.certainty
    imprecision = {"few_participants", "few_events", "wide_interval", "few_studies", "no_numbers"}
    assert len(imprecision.intersection(codes(made))) <= 1


ONE = ("a", "0.80", "0.70", "0.91")
REVIEW = TRIAL.replace(synthesis=True)


@pytest.mark.parametrize(
    ("works", "facts", "certainty", "concerns"),
    [
        # one study counts as a concern unless it is large or already imprecise
        ((stated(*ONE, figures={"n": "1500"}),), TRIAL, "moderate", ["one_study"]),
        ((stated(*ONE, figures={"n": "5022"}),), TRIAL, "high", []),
        ((stated(*ONE, figures={"n": "90"}),), TRIAL, "low", ["few_participants"]),
        ((stated(*ONE),), REVIEW, "high", []),
        # too few events lower by one level and far too few by two
        ((counted("a", 60, 2_000, 110, 2_000),), TRIAL, "moderate", ["few_events"]),
        ((counted("a", 12, 2_000, 30, 2_000),), TRIAL, "low", ["few_events"]),
        # participants that a work does not say are not none
        ((FORTY, read("b", "higher")), TRIAL, "low", ["few_participants"]),
        ((read("a", "higher"), read("b", "higher")), TRIAL, "moderate", ["no_numbers"]),
    ],
)
def test_few_studies_events_and_participants_lower_the_certainty(
    works: tuple[StudyEffect, ...], facts: WorkFacts, certainty: str, concerns: list[str]
) -> None:
    made = one(*works, facts=facts)
    assert (made.certainty, codes(made)) == (certainty, concerns)


def test_works_on_both_sides_or_none_leave_it_open() -> None:
    made = one(read("a", "lower"), read("b", "higher"))
    assert made.direction == "uncertain"
    assert "opposite" in codes(made)
    (made,) = conclude(Appraisal(proposed=proposes("lower", "high")), {})
    assert (made.direction, made.certainty) == ("not_enough_data", "very_low")


def test_trials_count_alone_where_there_are_trials() -> None:
    works = {"a": TRIAL, "b": TRIAL, "c": TRIAL, "d": COHORT}
    cohort = counted("d", 900, 9_000, 400, 9_000, "higher")
    (made,) = conclude(Appraisal(effects=(*LOWER, cohort)), works)
    assert [work.counted for work in made.works] == [True, True, True, False]
    assert (made.direction, made.starts, made.certainty) == ("lower", "high", "high")
    assert made.pooled is not None
    assert made.pooled.works == ("a", "b", "c")


def test_what_has_less_than_half_of_the_people_is_not_pooled() -> None:
    small = (counted("a", 10, 100, 20, 100), counted("b", 12, 110, 22, 110))
    large = read("c", "no_difference", figures={"n": "9000"}, quote="9000 people.")
    made = one(*small, large)
    assert made.pooled is None
    assert made.direction == "no_difference"
    assert one(*small).pooled is not None


SURVIVAL: dict[str, Any] = {"outcome": "survival", "counts": "deaths", "opposite": True}


def test_an_effect_stays_in_the_direction_in_which_its_work_counts_it() -> None:
    rows = (("a", "0.84", "0.73", "0.97"), ("b", "0.80", "0.70", "0.92"))
    made = one(*(stated(*row, "higher", **SURVIVAL) for row in rows))
    assert [made.direction, *(work.direction for work in made.works)] == ["higher"] * 3
    first = made.works[0].result
    assert first is not None
    assert (first.estimate, first.low, first.high) == (0.84, 0.73, 0.97)
    assert made.pooled is not None
    assert made.pooled.opposite
    assert made.pooled.result.high < 1, "pooled as they are counted"
    made = one(stated("a", "1.60", "1.20", "2.10", "lower", reverse=True))
    assert (made.direction, made.works[0].result and made.works[0].result.estimate) == ("lower", 1.6)


def test_effects_of_two_directions_are_not_pooled_together() -> None:
    died = stated("a", "0.84", "0.73", "0.97", "higher", **SURVIVAL)
    lived = stated("b", "1.20", "1.05", "1.37", "higher", outcome="survival")
    made = one(died, lived)
    assert made.pooled is None
    assert made.direction == "higher"
    effects = (stated(*ONE), stated("b", "0.82", "0.72", "0.94"))
    (made,) = conclude(Appraisal(effects=effects), {"a": TRIAL, "b": REVIEW})
    assert made.pooled is None, "a synthesis is not pooled with what it may hold"


@pytest.mark.parametrize(
    ("units", "measure"), [(("days", "Days"), "MD"), (("days", "weeks"), "SMD"), (("", ""), "SMD")]
)
def test_means_of_one_unit_are_pooled_in_it_and_others_standardised(
    units: tuple[str, str], measure: str
) -> None:
    works = []
    for name, unit, mean in zip("ab", units, (12, 9), strict=True):
        figures = {"mean": str(mean), "sd": "2", "total": "50", "control_mean": str(mean + 4)}
        figures |= {"control_sd": "3", "control_total": str(40 + mean)}
        quote = f"The stay was {mean} +/- 2 in 50 patients and {mean + 4} +/- 3 in {40 + mean} patients."
        works.append(read(name, figures=figures, quote=quote, unit=unit))
    made = one(*works)
    assert made.pooled is not None
    assert (made.pooled.measure, made.direction) == (measure, "lower")
    assert made.pooled.unit == ("days" if measure == "MD" else "")
    assert (made.pooled.result.estimate == pytest.approx(-4)) == (measure == "MD")
