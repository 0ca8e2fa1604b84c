"""The verdict and its reservations."""

import sys

import pytest

from activities.analysis.meta_analysis import analyse_effects, verdict_of, with_generated
from activities.contracts.effects import Effect, Expected, GeneratedAnalysis, Interval
from activities.contracts.errors import NotInstalled
from tests.activities.analysis.studies import bcg, stroke


def effect(study: str, estimate: float, low: float, high: float, **fields: object) -> Effect:
    named = {"study": study, "outcome": "death", "measure": "RR", **fields}
    return Effect.model_validate({**named, "estimate": estimate, "low": low, "high": high})


@pytest.mark.parametrize(
    ("low", "high", "expected", "verdict"),
    [
        (0.5, 0.9, "lower", "SUPPORTED"),
        (0.5, 0.9, "higher", "REFUTED"),
        (1.1, 1.9, "lower", "REFUTED"),
        (1.1, 1.9, "higher", "SUPPORTED"),
        (0.5, 1.9, "lower", "INCONCLUSIVE"),
        (0.5, 1.0, "lower", "INCONCLUSIVE"),
        (0.5, 0.9, "different", "SUPPORTED"),
        (0.9, 1.1, "different", "INCONCLUSIVE"),
        (float("nan"), 0.9, "lower", "INCONCLUSIVE"),
        (float("-inf"), 0.9, "lower", "INCONCLUSIVE"),
    ],
)
def test_the_verdict_follows_from_the_interval(
    low: float, high: float, expected: Expected, verdict: str
) -> None:
    assert verdict_of(Interval(estimate=0.7, low=low, high=high), 1.0, expected) == verdict


def test_pools_that_contradict_each_other_and_programs_overrule_nothing() -> None:
    lower = [effect(name, 0.5, 0.4, 0.625) for name in "abc"]
    higher = [effect(name, 2.0, 1.6, 2.5, outcome="stroke") for name in "abc"]
    assert analyse_effects(lower, expected="lower").verdict == "SUPPORTED"
    assert analyse_effects([*lower, *higher], expected="lower").verdict == "INCONCLUSIVE"
    program = GeneratedAnalysis(code="", output="", estimate=0.5, low=0.4, high=0.6, null=1.0)
    nothing, pooled = analyse_effects([], expected="lower"), analyse_effects(stroke(), expected="lower")
    assert with_generated(nothing, program).verdict == "SUPPORTED"
    assert with_generated(pooled, program).verdict == "INCONCLUSIVE"
    failed = program.model_copy(update={"failed": "it needs more than 120 seconds"})
    assert with_generated(nothing, failed).verdict == "INCONCLUSIVE"


def test_without_statsmodels_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    with pytest.raises(NotInstalled, match=r"determinator\[analysis\]"):
        analyse_effects(bcg("RR"))
