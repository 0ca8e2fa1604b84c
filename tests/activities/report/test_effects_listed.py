"""Effects that were not pooled: listed with their numbers, drawn, and the same in words."""

from activities.analysis.meta_analysis import analyse_effects
from activities.contracts.effects import Arms, Effect
from activities.report.assemble import build_report
from activities.report.formats import render
from tests.activities.report.rendered import page_of, words_of
from tests.activities.report.written import INFECTION, INJURY, STEP, WORKS

EFFECTS = [
    Effect(
        study="Doe 2012",
        outcome="wound infection",
        measure="RR",
        arms=Arms(events=4, total=100, control_events=11, control_total=100),
        evidence_id="pmid:11",
        quote=INFECTION,
    ),
    Effect(
        study="Hysterectomy",
        outcome="injury",
        measure="OR",
        estimate=2.02,
        low=1.2,
        high=3.4,
        evidence_id="pmid:13",
        quote=INJURY,
    ),
    Effect(
        study="Other", outcome="pain", measure="MD", estimate=1.1, low=0.8, high=1.4, evidence_id="pmid:99"
    ),
]
REPORT = build_report(STEP, WORKS).replace(analysis=analyse_effects(EFFECTS))


def test_effects_that_are_not_pooled_are_listed_with_their_numbers() -> None:
    shown = words_of(REPORT)
    assert "4 of 100 and 11 of 100" in shown
    assert "OR 2.02 (1.20 to 3.40)" in shown
    assert "Doe 2012" in shown


def test_effects_of_one_measure_are_drawn_and_told_in_words() -> None:
    second = {"evidence_id": "pmid:12", "estimate": 0.9, "low": 0.6, "high": 1.35}
    analysis = analyse_effects([EFFECTS[1]])
    (effect,) = analysis.not_pooled
    both = (effect, effect.replace(effect=effect.effect.model_copy(update=second)))
    report = REPORT.replace(analysis=analysis.replace(not_pooled=both))
    page = page_of(render(report, "html"))
    (figure,) = page.xpath("//figure[figcaption='Effects by outcome, with 95% confidence intervals']")
    assert "2.02 (1.20 to 3.40)" in figure.xpath("string(.//*[local-name()='desc'])")
    assert "OR 0.90 (0.60 to 1.35)" in words_of(report)
