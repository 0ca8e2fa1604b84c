"""Synthesis: the decided figures of an outcome give its pool, its direction and its certainty."""

import math

import pytest
from pydantic import ValidationError

from activities.contracts.appraisal import WorkFacts
from activities.contracts.effects import Measure
from activities.review.extraction import AGREED, DecidedStudy, DecidedValue
from activities.review.findings import effect_of, synthesise
from activities.review.protocol import PooledOutcome, Protocol
from tests.activities.review.studies import PROTOCOL

DEATH = PROTOCOL.outcomes[0]
TRIAL_FACTS = WorkFacts(design="randomized_trial", randomized=True, full_text=True)
COUNTS = {"events": "8", "total": "200", "control_events": "21", "control_total": "200"}


def study(number: int, outcome: str = "death", **figures: str) -> DecidedStudy:
    values = tuple(
        DecidedValue(field=f"{outcome}.{name}", text=text, by=AGREED) for name, text in figures.items()
    )
    return DecidedStudy(evidence_id=f"pmid:{number}", values=values)


@pytest.mark.parametrize(
    ("measure", "expected"), [("RR", 8 / 21), ("OR", (8 / 192) / (21 / 179)), ("RD", 8 / 200 - 21 / 200)]
)
def test_events_give_the_measure_of_the_protocol(measure: Measure, expected: float) -> None:
    effect = effect_of(study(1, **COUNTS), DEATH.replace(measure=measure), "Doe 2020")
    assert effect is not None
    assert (effect.measure, effect.study, effect.n) == (measure, "Doe 2020", 400)
    synthesis = synthesise(
        DEATH.replace(measure=measure), PROTOCOL.question, [study(1, **COUNTS)], {}, {}
    ).conclusion
    result = synthesis.works[0].result
    assert result is not None
    assert result.estimate == pytest.approx(expected)


def test_a_stated_effect_counts_where_there_are_no_events() -> None:
    stated = {"estimate": "0.5", "low": "0.25", "high": "1", "measure": "HR"}
    hazard = DEATH.replace(measure="HR")
    effect = effect_of(study(1, **stated), hazard, "")
    assert effect is not None
    assert (effect.measure, effect.low) == ("HR", 0.25)
    assert effect_of(study(1, **stated), DEATH, "") is None  # the protocol pools risk ratios
    clustered = effect_of(study(1, **COUNTS, **{**stated, "measure": "RR", "clustered": "yes"}), DEATH, "")
    assert clustered is not None
    assert clustered.arms is None


def test_means_give_their_difference_or_the_standardised_one() -> None:
    figures = {"mean": "10", "sd": "4", "total": "50", "control_mean": "12", "control_sd": "4"}
    row = study(1, "pain", **figures, control_total="50")
    pain = PooledOutcome(id="pain", label="pain", measure="MD")
    effect = effect_of(row, pain, "")
    assert effect is not None
    assert effect.estimate == -2
    assert effect.high == pytest.approx(-2 + 1.959964 * math.sqrt(16 / 50 + 16 / 50))
    standardised = effect_of(row, pain.replace(measure="SMD"), "")
    assert standardised is not None
    assert standardised.estimate == pytest.approx(-0.5, abs=0.01)


def test_an_outcome_is_pooled_and_graded() -> None:
    rows = [
        study(1, **COUNTS),
        study(
            2, **{**COUNTS, "events": "30", "control_events": "61", "total": "400", "control_total": "400"}
        ),
        study(3, direction="no_difference"),
        study(4, "other", **COUNTS),
    ]
    facts = {f"pmid:{number}": TRIAL_FACTS for number in (1, 2, 3)}
    synthesis = synthesise(
        DEATH, PROTOCOL.question, rows, {"pmid:1": "Doe 2020", "pmid:2": "Roe 2021"}, facts
    )
    assert synthesis.pool is not None
    assert [row.effect.study for row in synthesis.pool.rows] == ["Doe 2020", "Roe 2021"]
    assert synthesis.conclusion.pooled is not None
    assert (synthesis.conclusion.direction, synthesis.conclusion.starts) == ("lower", "high")
    assert synthesis.conclusion.certainty != "high"  # 120 events are few
    assert synthesis.without_numbers == ("pmid:3",)
    assert len(synthesis.conclusion.works) == 3
    assert (synthesis.conclusion.group, synthesis.conclusion.comparator) == ("the drug", "placebo")


def test_of_several_reports_of_one_trial_the_first_with_an_effect_counts() -> None:
    rows = [
        study(1, direction="lower"),
        study(2, **COUNTS),
        study(3, **{**COUNTS, "events": "12"}),
        study(4, **{**COUNTS, "events": "9"}),
    ]
    names = {f"pmid:{number}": f"Doe {number}" for number in range(1, 5)}
    numbers = {"pmid:1": 1, "pmid:2": 1, "pmid:3": 1, "pmid:4": 2}
    synthesis = synthesise(DEATH, PROTOCOL.question, rows, names, {}, numbers)
    assert synthesis.pool is not None
    assert [row.effect.study for row in synthesis.pool.rows] == ["Doe 2", "Doe 4"]
    assert [work.evidence_id for work in synthesis.conclusion.works] == ["pmid:2", "pmid:4"]
    (twin,) = synthesis.not_pooled
    assert (twin.effect.study, twin.reason, twin.same_as) == ("Doe 3", "same_trial", "Doe 2")


def test_a_retracted_study_is_in_no_result() -> None:
    rows = [study(number, **{**COUNTS, "events": str(number)}) for number in (7, 8, 9)]
    synthesis = synthesise(DEATH, PROTOCOL.question, rows, {}, {}, retracted={"pmid:8"})
    assert synthesis.pool is not None
    assert [row.effect.evidence_id for row in synthesis.pool.rows] == ["pmid:7", "pmid:9"]
    assert [work.evidence_id for work in synthesis.conclusion.works] == ["pmid:7", "pmid:9"]
    assert [(row.effect.evidence_id, row.reason) for row in synthesis.not_pooled] == [("pmid:8", "retracted")]


def test_two_times_of_one_outcome_are_pooled_apart() -> None:
    early, late = (
        PooledOutcome(id=name, label=f"pain at {time}", measure="MD")
        for name, time in (("pain6w", "6 weeks"), ("pain12m", "12 months"))
    )
    arm = {"sd": "4", "total": "50", "control_mean": "12", "control_sd": "4", "control_total": "50"}
    means = {1: ("10", "12.5"), 2: ("9", "11.5"), 3: ("", "12.2")}
    rows = [
        DecidedStudy(
            evidence_id=f"pmid:{n}",
            values=tuple(
                value
                for name, mean in zip(("pain6w", "pain12m"), both, strict=True)
                for value in (study(n, name, mean=mean, **arm).values if mean else ())
            ),
        )
        for n, both in means.items()
    ]
    for outcome, difference, count in ((early, -2.5, 2), (late, 0.2 / 3, 3)):
        pool = synthesise(outcome, PROTOCOL.question, rows, {}, {}).pool
        assert pool is not None
        assert pool.random.estimate == pytest.approx(difference, abs=1e-6)
        assert len(pool.rows) == count
    alike = {**dict(PROTOCOL), "outcomes": (early, late.replace(label=early.label))}
    with pytest.raises(ValidationError, match="at what time"):
        Protocol.model_validate(alike)


def test_an_outcome_that_is_not_to_be_pooled_is_not() -> None:
    rows = [study(1, **COUNTS), study(2, **{**COUNTS, "events": "9"})]
    synthesis = synthesise(DEATH.replace(pool=False), PROTOCOL.question, rows, {}, {})
    assert synthesis.pool is None
    assert synthesis.conclusion.pooled is None
    assert len(synthesis.conclusion.works) == 2


def test_studies_of_another_measure_than_most_are_listed() -> None:
    free = DEATH.replace(measure=None)
    hazard = {"estimate": "0.5", "low": "0.25", "high": "1", "measure": "HR"}
    rows = [study(n, **{**COUNTS, "events": str(n)}) for n in (5, 6, 7)]
    rows += [study(8, **hazard), study(9, **{**hazard, "low": "0.26", "high": "0.96"})]
    synthesis = synthesise(free, PROTOCOL.question, rows, {}, {})
    assert synthesis.pool is not None
    assert (synthesis.pool.measure, len(synthesis.pool.rows)) == ("RR", 3)
    assert {effect.reason for effect in synthesis.not_pooled} == {"another_measure"}


def test_nothing_is_concluded_of_an_outcome_that_nobody_reports() -> None:
    synthesis = synthesise(DEATH, PROTOCOL.question, [study(1, "other", events="3")], {}, {})
    assert synthesis.conclusion.direction == "not_enough_data"
    assert synthesis.conclusion.works == ()
