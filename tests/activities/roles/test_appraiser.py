"""An effect stands on a sentence of its own work, and its numbers in that sentence."""

from typing import Any

import pytest

from activities.contracts.appraisal import AppraiseInput
from activities.contracts.evidence import Evidence, ModelChoice
from activities.profiles.loader import load_profile
from activities.roles.appraiser import APPRAISER, AppraiseAnswer

WORKS = [
    Evidence(
        evidence_id="pmid:1",
        source="pubmed",
        title="A trial of the drug",
        text="We randomised 400 adults. Of 200 given the drug eight died, of 200 given placebo 21 died "
        "(hazard ratio 0\u00b738, 95% CI 0\u00b717-0\u00b786).",
    ),
    Evidence(
        evidence_id="pmid:2",
        source="pubmed",
        title="Another trial of the drug",
        text="The drug did not reduce mortality in 90 adults who were followed for a year (p = 0.4).",
    ),
    Evidence(
        evidence_id="pmid:3",
        source="pubmed",
        title="A third trial of the drug",
        text="Of 47 patients given placebo 10 died, while none of the 46 patients given the drug died.",
    ),
    Evidence(
        evidence_id="pmid:4",
        source="pubmed",
        title="A fourth trial of the drug",
        text="We randomised 120 adults to the drug or to placebo. Mortality was 12.5% with placebo and 5% "
        "with the drug. The mean stay was 9 (standard error 0.5) days with the drug and 10 (0.6) with "
        "placebo.",
    ),
]
FIRST = {
    "work": "E1",
    "outcome": "mortality",
    "group": "drug",
    "comparator": "placebo",
    "direction": "lower",
    "sentences": ["S2"],
}


def appraised(*effects: dict[str, object], conclusions: tuple[dict[str, object], ...] = ()) -> Any:
    step = AppraiseInput(
        run_id="r",
        question="Does the drug lower mortality?",
        profile=load_profile("general"),
        model=ModelChoice(backend="openai", model="m"),
    )
    answer = AppraiseAnswer.model_validate({"effects": effects, "conclusions": conclusions})
    return APPRAISER.accept(step, APPRAISER.render(step, WORKS, 20_000), answer).output


def test_numbers_of_an_effect_stand_in_its_sentences() -> None:
    counts = {"events": 8, "total": "200", "control_events": 21, "control_total": 200}
    numbers = {"measure": "HR", "estimate": "0.38", "low": "0.17", "high": "0.86"}
    (effect,) = appraised({**FIRST, **counts, **numbers}).effects
    assert effect.figures == {name: str(value) for name, value in (numbers | counts).items()}
    assert effect.support[0].quote in WORKS[0].text


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"sentences": ["S3"]}, "cites_nothing"),
        ({"sentences": []}, "cites_nothing"),
        ({"work": "E9"}, "label_unknown"),
        (
            {"direction": "higher", "measure": "HR", "estimate": "0.38", "low": "0.17", "high": "0.86"},
            "direction_of_numbers",
        ),
    ],
)
def test_an_effect_without_a_sentence_or_against_its_numbers_is_refused(
    wrong: dict[str, object], reason: str
) -> None:
    appraisal = appraised({**FIRST, **wrong})
    assert appraisal.effects == ()
    assert [(refusal.kind, refusal.reason.code) for refusal in appraisal.refused] == [("effect", reason)]


def test_a_number_that_no_sentence_has_is_left_out_and_a_null_result_is_an_effect() -> None:
    appraisal = appraised({**FIRST, "measure": "HR", "estimate": "0.38", "low": "0.17", "high": "0.96"})
    (effect,) = appraisal.effects
    assert effect.figures == {"measure": "HR", "estimate": "0.38", "low": "0.17"}
    assert [refusal.text for refusal in appraisal.refused] == ["mortality, high: 0.96"]
    second = {**FIRST, "work": "E2", "direction": "no difference", "sentences": ["S3"], "n": 90}
    (effect,) = appraised(second).effects
    assert (effect.evidence_id, effect.direction, effect.figures) == ("pmid:2", "no_difference", {"n": "90"})


def test_only_words_of_grade_are_proposed() -> None:
    good: dict[str, object] = {"outcome": "mortality", "direction": "not enough data"}
    good |= {"certainty": "Very low", "doubts": ["Imprecise", "Nobody was blinded.", "how done"]}
    (proposed,) = appraised(conclusions=(good, {**good, "certainty": "sure"})).proposed
    assert (proposed.direction, proposed.certainty) == ("not_enough_data", "very_low")
    assert proposed.doubts == ("imprecise", "how_done")


def test_numbers_turned_round_in_words_do_not_contradict_a_direction() -> None:
    numbers: dict[str, object] = {"measure": "HR", "estimate": "0.38", "low": "0.17", "high": "0.86"}
    survival = {**FIRST, **numbers, "outcome": "survival", "direction": "higher"}
    assert appraised(survival).effects == ()
    (effect,) = appraised({**survival, "counts": "died", "opposite": True}).effects
    assert (effect.opposite, effect.counts, effect.figures["estimate"]) == (True, "died", "0.38")
    (effect,) = appraised({**FIRST, **numbers, "direction": "higher", "reverse": "true"}).effects
    assert effect.reverse


def test_a_trial_is_one_whose_own_sentence_says_so() -> None:
    (effect,) = appraised({**FIRST, "randomised": "S1"}).effects
    assert effect.randomised
    assert effect.support[-1].quote == "We randomised 400 adults."
    (effect,) = appraised({**FIRST, "randomised": "S5"}).effects
    assert not effect.randomised, "it is a sentence of another work"


def test_no_sentence_need_say_that_chance_allocated_people() -> None:
    fields = AppraiseAnswer.model_json_schema()["$defs"]["EffectAnswer"]["properties"]
    assert {"type": "null"} in fields["randomised"]["anyOf"]
    assert not appraised({**FIRST, "randomised": None}).effects[0].randomised


def test_what_a_model_says_of_its_conclusion_is_taken() -> None:
    said: dict[str, object] = {"outcome": "mortality", "direction": "no_difference", "certainty": "low"}
    (proposed,) = appraised(conclusions=({**said, "excludes": "false", "asked": False},)).proposed
    assert (proposed.excludes, proposed.asked) == (False, False)
    (proposed,) = appraised(conclusions=(said,)).proposed
    assert (proposed.excludes, proposed.asked) == (None, True)


def test_a_conclusion_and_its_effects_are_one_outcome_though_they_are_named_otherwise() -> None:
    """`mortality` of the effects and `the risk of death` of the only conclusion are not two lines."""
    first: dict[str, object] = {**FIRST}
    concluded: dict[str, object] = {"outcome": "the risk of death", "direction": "lower", "certainty": "low"}
    made = appraised(first, conclusions=(concluded,))
    assert [effect.outcome for effect in made.effects] == ["the risk of death"]
    other = {**concluded, "outcome": "the length of stay", "direction": "not_enough_data"}
    named = appraised(first, conclusions=(concluded, other)).effects
    assert [effect.outcome for effect in named] == [FIRST["outcome"]], "which is meant, none says"
