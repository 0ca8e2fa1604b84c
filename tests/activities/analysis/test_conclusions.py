"""Conclusions follow from checked effects, and a model may say less than they do and never more."""

import pytest

from activities.analysis.conclusions import conclude, numbers_stand, of_means
from activities.contracts.appraisal import (
    Appraisal,
    Certainty,
    Conclusion,
    ConclusionDirection,
    Means,
    Proposed,
    StudyEffect,
    WorkFacts,
)
from activities.contracts.effects import Arms, Effect
from activities.contracts.evidence import Support

TRIAL = WorkFacts(design="randomized_trial", randomized=True, full_text=True)


def read(name: str, direction: str = "lower", **fields: object) -> StudyEffect:
    support = (Support(evidence_id=name, quote=str(fields.pop("quote", f"What {name} says."))),)
    given = {"outcome": "mortality", "group": "drug", "comparator": "placebo", "support": support}
    return StudyEffect.model_validate({**given, "evidence_id": name, "direction": direction, **fields})


def counted(name: str, events: int, total: int, control: int, control_total: int) -> StudyEffect:
    arms = Arms(events=events, total=total, control_events=control, control_total=control_total)
    effect = Effect(study=name, outcome="mortality", measure="OR", arms=arms)
    return read(name, effect=effect, quote=f"{events} of {total} against {control} of {control_total} died.")


def one(*effects: StudyEffect, facts: WorkFacts = TRIAL, proposed: tuple[Proposed, ...] = ()) -> Conclusion:
    works = {effect.evidence_id: facts for effect in effects}
    (made,) = conclude(Appraisal(effects=effects, proposed=proposed), works)
    return made


def proposes(direction: ConclusionDirection, certainty: Certainty) -> tuple[Proposed, ...]:
    return (Proposed(outcome="Mortality", direction=direction, certainty=certainty),)


LOWER = (counted("a", 40, 400, 80, 400), counted("b", 35, 380, 70, 390), counted("c", 50, 500, 95, 500))
"""370 events."""
SAME = (counted("a", 40, 400, 41, 400), counted("b", 80, 800, 78, 790))


def test_the_direction_is_that_of_the_pool() -> None:
    made = one(*LOWER)
    assert (made.direction, made.certainty, made.reasons) == ("lower", "high", ())
    assert made.pooled is not None
    assert made.pooled.works == ("a", "b", "c")
    assert made.pooled.result.high < 1
    assert one(*SAME).direction == "no_difference"


def test_a_model_may_say_less_than_the_numbers_and_never_more() -> None:
    assert one(*SAME, proposed=proposes("lower", "high")).direction == "no_difference"
    assert one(*LOWER, proposed=proposes("higher", "high")).direction == "lower"
    assert one(*LOWER, proposed=proposes("uncertain", "very_low")).direction == "uncertain"
    assert one(*LOWER, proposed=proposes("not_enough_data", "low")).direction == "not_enough_data"
    assert one(*LOWER, proposed=proposes("lower", "low")).certainty == "low"
    doubted = one(*LOWER, proposed=proposes("lower", "very_low"))
    assert (doubted.direction, doubted.certainty) == ("lower", "very_low")
    small = one(counted("a", 4, 40, 9, 40), proposed=proposes("lower", "high"))
    assert small.certainty in ("low", "very_low")


@pytest.mark.parametrize(
    ("facts", "certainty", "reason"),
    [
        ({"randomized": False}, "low", "observational"),
        ({"full_text": False}, "moderate", "abstracts_only"),
        ({"in_people": False}, "very_low", "not_in_people"),
        ({"direct": False}, "moderate", "indirect"),
        ({"under_concern": True}, "moderate", "under_concern"),
    ],
)
def test_checked_fields_cap_the_certainty(facts: dict[str, bool], certainty: str, reason: str) -> None:
    made = one(*LOWER, facts=TRIAL.model_copy(update=facts))
    assert made.certainty == certainty
    assert reason in made.reasons
    assert made.direction == ("uncertain" if certainty == "very_low" else "lower")


def test_few_events_and_intervals_with_harm_and_benefit_rate_down() -> None:
    made = one(counted("a", 12, 2_000, 30, 2_000))
    assert (made.direction, made.certainty, made.reasons) == ("lower", "low", ("few_events",))
    made = one(counted("a", 60, 2_000, 80, 2_000))
    assert (made.certainty, made.reasons) == ("low", ("few_events", "wide_interval"))
    made = one(counted("a", 2, 42, 1, 63))
    assert (made.direction, made.certainty) == ("uncertain", "very_low")
    assert made.works[0].direction == "no_difference"


def test_imprecision_is_one_domain_and_unknown_participants_are_not_none() -> None:
    small = one(read("a", "higher", n=40), read("b", "higher"))
    assert (small.certainty, small.reasons) == ("low", ("few_participants", "no_numbers"))
    unknown = one(read("a", "higher"), read("b", "higher"))
    assert (unknown.direction, unknown.certainty, unknown.reasons) == ("higher", "moderate", ("no_numbers",))
    large = one(read("a", "higher", n=4_000), read("b", "higher"))
    assert large.reasons == ("no_numbers",)


def test_without_a_pool_most_participants_count_and_a_model_weighs_near_sides() -> None:
    assert one(read("a", "lower", n=40), read("b", "no_difference", n=900)).direction == "no_difference"
    near = (read("a", "lower", n=150), read("b", "no_difference", n=200))
    assert one(*near, proposed=proposes("lower", "low")).direction == "lower"
    assert one(*near, proposed=proposes("higher", "low")).direction == "no_difference"


def test_works_on_both_sides_or_none_leave_it_open() -> None:
    made = one(read("a", "lower", n=100), read("b", "higher", n=100))
    assert made.direction == "uncertain"
    assert "opposite" in made.reasons
    (made,) = conclude(Appraisal(proposed=proposes("lower", "high")), {})
    assert (made.direction, made.certainty) == ("not_enough_data", "very_low")


def test_numbers_of_the_opposite_of_an_outcome_are_turned_round() -> None:
    ratio = Effect(study="a", outcome="survival", measure="HR", estimate=0.63, low=0.44, high=0.9)
    quote = "OS was improved (hazard ratio, 0.63; 95% CI, 0.44 to 0.90)."
    made = one(read("a", "higher", effect=ratio, opposite=True, quote=quote))
    assert made.direction == "higher"
    assert made.works[0].result is not None
    assert made.works[0].result.low == pytest.approx(1 / 0.9)
    assert numbers_stand(made.works[0])


def test_means_are_pooled_as_standardised_differences() -> None:
    # one standard deviation, less Hedges' correction for 100 people: 1 - 3/391
    means = Means(mean=10, sd=2, total=50, control_mean=12, control_sd=2, control_total=50)
    effect = of_means(means, "pain")
    assert effect.estimate == pytest.approx(-0.9923, abs=1e-3)
    made = one(read("a", means=means), read("b", means=means.model_copy(update={"total": 60})))
    assert made.pooled is not None
    assert (made.pooled.measure, made.direction) == ("SMD", "lower")
