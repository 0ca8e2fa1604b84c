"""An effect stands on a sentence of its own work, and its numbers in that sentence."""

from typing import Any

import pytest

from activities.analysis.conclusions import conclude, numbers_stand
from activities.contracts.appraisal import Appraisal, AppraiseInput, WorkFacts
from activities.contracts.evidence import Evidence, ModelChoice
from activities.profiles.loader import load_profile
from activities.roles.appraiser import SPEC, AppraiseAnswer

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
    return SPEC.accept(step, SPEC.render(step, WORKS, 20_000), answer).output


def test_numbers_of_an_effect_stand_in_its_sentences() -> None:
    counts = {"events": 8, "total": "200", "control_events": 21, "control_total": 200}
    numbers = {"measure": "HR", "estimate": "0.38", "low": "0.17", "high": "0.86"}
    (effect,) = appraised({**FIRST, **counts, **numbers}).effects
    assert (effect.effect.measure, effect.effect.arms.events, effect.effect.low) == ("HR", 8, 0.17)
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
    found = appraised({**FIRST, **wrong})
    assert found.effects == ()
    assert [(one.kind, one.reason.code) for one in found.refused] == [("effect", reason)]


def test_a_number_that_no_sentence_has_is_left_out_and_a_null_result_is_an_effect() -> None:
    found = appraised({**FIRST, "measure": "HR", "estimate": "0.38", "low": "0.17", "high": "0.96"})
    (effect,) = found.effects
    assert effect.effect is None
    assert [one.text for one in found.refused] == ["mortality, high: 0.96"]
    second = {**FIRST, "work": "E2", "direction": "no difference", "sentences": ["S3"], "n": 90}
    (effect,) = appraised(second).effects
    assert (effect.evidence_id, effect.direction, effect.n) == ("pmid:2", "no_difference", 90)


def test_only_words_of_grade_are_proposed() -> None:
    good: dict[str, object] = {"outcome": "mortality", "direction": "not enough data"}
    good |= {"certainty": "Very low", "reasons": ["One."]}
    (proposed,) = appraised(conclusions=(good, {**good, "certainty": "sure"})).proposed
    assert (proposed.direction, proposed.certainty) == ("not_enough_data", "very_low")


def test_a_group_without_an_event_is_one_whose_sentence_says_none() -> None:
    arms = {"events": 0, "total": 46, "control_events": 10, "control_total": 47}
    (effect,) = appraised({**FIRST, "work": "E3", "sentences": ["S4"], **arms}).effects
    assert effect.effect.arms.events == 0
    (without,) = appraised({**FIRST, **arms, "total": 200, "control_total": 200}).effects
    assert without.effect is None


SHARES: dict[str, object] = {"percent": 5, "control_percent": 12.5, "n": 120}
FOURTH = {**FIRST, "work": "E4", "sentences": ["S5", "S6"], "comparator": "placebo"}


def test_percentages_give_events_and_one_total_gives_halves() -> None:
    (effect,) = appraised({**FOURTH, **SHARES}).effects
    assert (effect.shares.total, effect.shares.control_total, effect.total_of_both) == (60, 60, True)
    (made,) = conclude(Appraisal(effects=(effect,)), {"pmid:4": WorkFacts()})
    arms = made.works[0].effect.arms if made.works[0].effect else None
    assert arms is not None
    assert (arms.events, arms.control_events) == (3, 8)
    assert numbers_stand(made.works[0])
    (without,) = appraised({**FOURTH, **SHARES, "n": 130}).effects
    assert without.shares is None


def test_standard_errors_give_deviations() -> None:
    means = {"mean": 9, "se": 0.5, "control_mean": 10, "control_se": 0.6, "n": 120}
    (effect,) = appraised({**FOURTH, **means, "outcome": "stay", "sentences": ["S5", "S7"]}).effects
    assert effect.means.sd == pytest.approx(0.5 * 60**0.5)


def test_numbers_of_the_other_group_are_refused() -> None:
    found = appraised({**FOURTH, **SHARES, "percent": 12.5, "control_percent": 5, "direction": "higher"})
    assert found.effects == ()
    assert [one.reason.code for one in found.refused] == ["groups_exchanged"]


def test_a_stated_interval_counts_before_groups_that_are_taken_as_halves() -> None:
    numbers = {"measure": "HR", "estimate": "0.38", "low": "0.17", "high": "0.86"}
    (effect,) = appraised({**FIRST, **numbers, "events": 8, "control_events": 21, "n": 400}).effects
    assert (effect.effect.arms, effect.effect.low, effect.total_of_both) == (None, 0.17, False)
