"""Pooled results of published worked examples, to their printed digits; null results count like others."""

import math
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.analysis.pooling import leave_out_most, pool_all
from activities.analysis.scale import point_of, side_of, study_interval
from activities.analysis_activity import AnalysisActivities
from activities.contracts.effects import AnalyseInput, Analysis, Arms, Effect, Interval, Pool
from activities.contracts.evidence import Evidence, ModelChoice
from activities.contracts.judge import Table
from activities.contracts.write import ExtractInput
from activities.evidence_store import EvidenceStore
from activities.profiles.loader import load_profile
from activities.roles.extractor import EXTRACTOR, ExtractAnswer
from tests.activities.analysis.studies import aspirin, bcg, stroke


def one(effects: list[Effect]) -> Pool:
    (pool,), listed = pool_all(effects, "DL")
    assert listed == ()
    return pool


def logs(interval: Interval) -> tuple[float, float, float]:
    return math.log(interval.estimate), math.log(interval.low), math.log(interval.high)


def rounded(values: tuple[float, ...], digits: int = 4) -> tuple[float, ...]:
    return tuple(round(value, digits) for value in values)


def test_the_risk_ratios_of_bcg_vaccination_pool_as_published() -> None:
    # metafor: rma(measure="RR", data=dat.bcg, method="DL") and method="FE"
    pool = one(bcg("RR"))
    assert rounded(logs(pool.random)) == (-0.7141, -1.0644, -0.3638)
    assert rounded(logs(pool.fixed)) == (-0.4303, -0.5097, -0.3509)
    assert rounded((pool.tau2, pool.q)) == (0.3088, 152.2330)
    assert round(100 * pool.i2, 2) == 92.12
    # t(0.975, 11) * sqrt(0.3088 + 0.1787^2) around -0.7141
    assert pool.prediction is not None
    assert rounded(logs(pool.prediction), 2) == (-0.71, -2.0, 0.57)
    assert pool.prediction.low < pool.hartung_knapp.low <= pool.random.low
    # regtest(res, model="lm"): t = -1.4013, df = 11, p = 0.1887
    assert pool.small_studies is not None
    assert round(pool.small_studies.p, 4) == 0.1887


def test_the_odds_ratios_of_aspirin_pool_as_published() -> None:
    # meta: metabin(sm="OR", method="inverse", data=Fleiss93)
    pool = one(aspirin())
    assert rounded(tuple(pool.fixed.model_dump().values())) == (0.8969, 0.8405, 0.9571)
    assert rounded(tuple(pool.random.model_dump().values())) == (0.8763, 0.7743, 0.9917)
    assert round(pool.tau2, 4) == 0.0096
    assert round(pool.q, 2) == 9.95
    assert round(pool.q_p, 4) == 0.1269
    assert round(100 * pool.i2, 1) == 39.7
    assert [round(100 * row.weight, 2) for row in pool.rows] == [8.21, 7.85, 13.23, 5.36, 8.89, 20.70, 35.77]
    assert rounded(tuple(pool.rows[0].result.model_dump().values())) == (0.7197, 0.4890, 1.0593)


def test_the_mean_differences_of_stroke_care_pool_as_published() -> None:
    # metafor: rma(measure="MD", data=dat.normand1999, method="DL") and method="FE"
    pool = one(stroke())
    assert round(pool.fixed.estimate, 4) == -3.4636
    assert round(pool.random.estimate, 4) == -13.9817
    assert rounded((pool.tau2, pool.q)) == (205.4094, 238.9158)


def test_the_default_estimator_is_that_of_paule_and_mandel() -> None:
    # metafor: rma(measure="RR", data=dat.bcg, method="PM"): Q(tau2) equals k - 1 at tau2
    (pool,), _ = pool_all(bcg("RR"))
    points = [point_of(effect) for effect in bcg("RR")]
    weights = [1 / (point.variance + pool.tau2) for point in points]
    mean = sum(w * point.value for w, point in zip(weights, points, strict=True)) / sum(weights)
    q = sum(w * (point.value - mean) ** 2 for w, point in zip(weights, points, strict=True))
    assert q == pytest.approx(12, abs=1e-3)
    assert math.log(pool.random.estimate) == pytest.approx(mean, abs=1e-6)


def effect(study: str, **fields: object) -> Effect:
    return Effect.model_validate({"study": study, "outcome": "death", "measure": "RR", **fields})


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (effect("x", estimate=0.8), "no_uncertainty"),
        (effect("x", estimate=0.8, low=0.9, high=1.4), "interval_contradicts_estimate"),
        (effect("x", estimate=-0.8, low=-0.9, high=-0.7), "not_a_ratio"),
        (effect("x", arms=Arms(events=9, total=5, control_events=1, control_total=5)), "impossible_counts"),
        (
            effect("x", arms=Arms(events=0, total=5, control_events=0, control_total=5)),
            "no_event_in_either_group",
        ),
        (
            effect("x", estimate=3.0, arms=Arms(events=50, total=500, control_events=100, control_total=500)),
            "estimate_contradicts_counts",
        ),
        (effect("a", estimate=0.8, low=0.6, high=1.07), "same_study"),
        (effect("x", measure="OR", estimate=0.8, low=0.6, high=1.07), "only_one_study"),
    ],
)
def test_an_effect_that_cannot_be_pooled_is_listed_with_its_reason(broken: Effect, reason: str) -> None:
    sound = [effect("a", estimate=0.8, low=0.6, high=1.07), effect("B", estimate=0.9, low=0.7, high=1.16)]
    pools, listed = pool_all([*sound, broken])
    assert [(item.effect, item.reason) for item in listed] == [(broken, reason)]
    assert [row.effect for row in pools[0].rows] == sound


def test_a_group_without_events_is_pooled_with_half_an_event() -> None:
    pools, listed = pool_all(
        [
            effect("a", arms=Arms(events=0, total=50, control_events=5, control_total=50)),
            effect("b", arms=Arms(events=3, total=50, control_events=6, control_total=50)),
        ]
    )
    assert listed == ()
    assert pools[0].rows[0].result.estimate == pytest.approx((0.5 / 51) / (5.5 / 51))


def test_a_study_keeps_the_digits_of_its_work() -> None:
    """0.42 to 0.79 is not quite symmetrical around 0.58: computed from its width it ends at 0.80."""
    stated = {"estimate": 0.58, "low": 0.42, "high": 0.79}
    other = effect("of another level", level=0.9, **stated).replace(outcome=" DEATH")
    (pool,), _ = pool_all([effect("as stated", **stated), other])
    found = {row.effect.study: row.result for row in pool.rows}
    assert found["as stated"] == Interval(estimate=0.58, low=0.42, high=0.79)
    assert found["of another level"].low < 0.40


def test_a_cohort_that_was_published_twice_is_pooled_once_and_named() -> None:
    same = {"estimate": 0.8, "low": 0.6, "high": 1.07, "n": 1204}
    first = effect("Smith 2019", evidence_id="pmid:1", **same)
    duplicate = effect("Smith 2020", evidence_id="pmid:2", **same)
    other = effect("Jones 2020", evidence_id="pmid:3", **{**same, "n": 800})
    (pool,), (listed,) = pool_all([first, duplicate, other])
    own, nothing = pool_all([effect("a", **same), effect("b", **same)])  # of a file: no work is named
    assert (len(own[0].rows), nothing) == (2, ())
    assert [row.effect.study for row in pool.rows] == ["Smith 2019", "Jones 2020"]
    assert (listed.effect.study, listed.reason, listed.same_as) == ("Smith 2020", "same_cohort", "Smith 2019")


def test_the_studies_are_named_without_which_a_pool_shows_something_else() -> None:
    effects = [one.replace(evidence_id=one.study) for one in bcg("RR")]
    (pool,), _ = pool_all(effects)
    names, result = leave_out_most(pool)
    assert len(names) == 2
    assert result is not None
    assert side_of(result, 1) == side_of(pool.random, 1) == "lower"
    rest = [one for one in effects if one.study not in names]
    assert rounded(logs(pool_all(rest)[0][0].random)) == rounded(logs(result))
    # two studies with a small effect show none without the third
    small = [
        effect(
            str(n), evidence_id=str(n), arms=Arms(events=a, total=100, control_events=c, control_total=100)
        )
        for n, (a, c) in enumerate(((10, 25), (20, 27), (18, 24)))
    ]
    (pool,), _ = pool_all(small[1:])
    assert leave_out_most(pool) == ((), None), "of two studies none is left out"
    (pool,), _ = pool_all(small)
    names, result = leave_out_most(pool)
    assert names == ("0",)
    assert result is not None
    assert result.high > 1 > pool.random.high


SENTENCES = {
    "The drug reduced mortality (RR 0.60, 95% CI 0.45 to 0.80).": ("0.60", "0.45", "0.80"),
    "Mortality was lower with the drug (relative risk 0.72; 95% CI 0.56-0.93).": ("0.72", "0.56", "0.93"),
    "The drug did not reduce mortality (RR 0.98, 95% CI 0.85 to 1.13).": ("0.98", "0.85", "1.13"),
    "The drug was not associated with mortality (RR 1.02, 95% CI 0.90 to 1.16).": ("1.02", "0.90", "1.16"),
}
COLUMNS = ("outcome", "measure", "estimate", "low", "high")
WORKS = [
    Evidence(evidence_id=f"pmid:{n}", source="pubmed", title=f"Trial {n}", text=sentence)
    for n, sentence in enumerate(SENTENCES)
]


def extracted(columns: tuple[str, ...] = COLUMNS) -> Table:
    """The table that the extractor accepts of a model that reads every work."""
    step = ExtractInput(
        run_id="r",
        question="Does the drug reduce mortality?",
        profile=load_profile("general"),
        model=ModelChoice(backend="openai", model="m"),
        columns=columns,
    )
    prompt = EXTRACTOR.render(step, WORKS, 20_000)
    rows = []
    for number, values in enumerate(SENTENCES.values(), start=1):
        pairs = zip(COLUMNS, ("mortality", "RR", *values), strict=True)
        cells = [{"column": column, "text": text, "sentence": f"S{number}"} for column, text in pairs]
        rows.append({"work": f"E{number}", "cells": cells})
    accepted = EXTRACTOR.accept(step, prompt, ExtractAnswer.model_validate({"rows": rows})).output
    assert accepted.refused == ()
    return accepted.table


async def analysed(folder: Path, **fields: object) -> Analysis:
    store = EvidenceStore.at(str(folder))
    refs = [await store.put(work) for work in WORKS]
    step = AnalyseInput.model_validate({"run_id": "r", "evidence": refs, "expected": "lower", **fields})
    done = await ActivityEnvironment().run(AnalysisActivities(store).analyse_effects, step)
    return Analysis.model_validate_json(await store.get_bytes(done.blob))


async def test_null_results_of_works_and_of_a_file_give_one_verdict_and_one_figure(tmp_path: Path) -> None:
    of_works = await analysed(tmp_path / "works", table=extracted())
    effects = tuple(
        Effect(study=f"{n}", outcome="mortality", measure="RR", estimate=e, low=low, high=high)
        for n, (e, low, high) in enumerate(tuple(map(float, row)) for row in SENTENCES.values())
    )
    of_file = await analysed(tmp_path / "file", effects=effects)
    assert len(of_works.pools[0].rows) == 4
    assert of_works.pools[0].hartung_knapp == of_file.pools[0].hartung_knapp
    assert of_works.verdict == of_file.verdict == "INCONCLUSIVE"


@pytest.mark.parametrize("left_out", [0, 3])
async def test_no_verdict_is_given_where_an_effect_of_a_work_is_missing(
    tmp_path: Path, left_out: int
) -> None:
    rows = [*extracted().rows]
    rows[left_out] = rows[left_out].replace(cells={})
    analysis = await analysed(tmp_path, table=extracted().replace(rows=tuple(rows)))
    assert (analysis.verdict, analysis.confidence) == ("INCONCLUSIVE", None)
    assert [(one.evidence_id, one.reason) for one in analysis.unread] == [(f"pmid:{left_out}", "not_read")]
    assert analysis.limitations[0].startswith("No verdict is given: effects of 1 work")


@pytest.mark.parametrize(
    ("counts", "bounds"),
    # confint_proportions_2indep of statsmodels, compare="diff", method="newcomb"
    [((4, 20, 0, 20), (-0.0005, 0.4160)), ((20, 20, 15, 20), (0.0378, 0.4687))],
)
def test_a_group_without_events_gives_a_risk_difference_with_a_score_interval(
    counts: tuple[int, int, int, int], bounds: tuple[float, float]
) -> None:
    arms = Arms.model_validate(dict(zip(Arms.model_fields, counts, strict=True)))
    one = effect("x", measure="RD", arms=arms)
    result = study_interval(one, point_of(one), 0.95)
    assert (result.low, result.high) == pytest.approx(bounds, abs=1e-4)


def test_a_risk_difference_keeps_its_value_where_a_group_has_no_event() -> None:
    arms = Arms(events=7, total=13, control_events=0, control_total=14)
    some = effect("x", measure="RD", arms=arms)
    assert point_of(some).value == pytest.approx(7 / 13)
    nobody = some.replace(arms=arms.replace(events=0))
    assert point_of(nobody).value == 0 < point_of(nobody).variance
