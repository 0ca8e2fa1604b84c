"""Conclusions in a report: quoted, in every format, and made again by a check."""

import sys

import pytest

from activities.contracts.appraisal import Appraisal, Conclusion, Proposed, StudyEffect
from activities.contracts.effects import Arms, Effect
from activities.contracts.evidence import Evidence, Support
from activities.contracts.publish import PublishInput
from activities.contracts.write import DraftClaim
from activities.report.assemble import build_report
from activities.report.schema import Report
from client.reports.answer import answer_of
from tests.activities.cases import planned, publish_input, pubmed, quoting, ref_of
from tests.activities.report.rendered import faults, words_of

COUNTS = ((60, 400, 120, 400), (55, 380, 90, 390))
SAYS = "Death occurred in {} of {} adults given the drug and {} of {} given placebo."
QUOTES = [SAYS.format(*counts) for counts in COUNTS]
WORKS = {
    f"pmid:{n}": pubmed(n, f"A randomized trial of the drug, number {n}", quote, "randomized_trial")
    for n, quote in enumerate(QUOTES, start=1)
}


def effect(n: int, counts: tuple[int, int, int, int], quote: str) -> StudyEffect:
    arms = Arms(events=counts[0], total=counts[1], control_events=counts[2], control_total=counts[3])
    name = f"pmid:{n}"
    return StudyEffect(
        evidence_id=name,
        outcome="mortality",
        group="the drug",
        comparator="placebo",
        direction="lower",
        support=(Support(evidence_id=name, quote=quote),),
        effect=Effect(study=name, outcome="mortality", measure="RR", arms=arms, evidence_id=name),
    )


def a_step(works: dict[str, Evidence] = WORKS) -> PublishInput:
    effects = tuple(effect(n, c, q) for n, (c, q) in enumerate(zip(COUNTS, QUOTES, strict=True), start=1))
    proposed = Proposed(outcome="mortality", direction="lower", certainty="high", group="the drug")
    return publish_input(
        planned("s1", quoting(QUOTES[0], ("pmid:1", QUOTES[0]))),
        question="Does the drug lower mortality?",
        evidence=tuple(ref_of(work) for work in works.values()),
        appraisal=Appraisal(effects=effects, proposed=(proposed,)),
    )


def report_of(works: dict[str, Evidence] = WORKS) -> Report:
    return build_report(a_step(works), works)


def test_a_report_concludes_by_outcome_from_works_that_stand() -> None:
    (one,) = report_of().conclusions
    assert (one.direction, one.certainty, one.reasons) == ("lower", "moderate", ("abstracts_only",))
    assert one.pooled is not None
    assert [work.evidence_id for work in one.works] == ["pmid:1", "pmid:2"]
    assert {reference.evidence_id for reference in report_of().references} == set(WORKS)
    retracted = WORKS["pmid:2"].replace(standing="retracted")
    (one,) = report_of({**WORKS, "pmid:2": retracted}).conclusions
    assert [work.evidence_id for work in one.works] == ["pmid:1"]
    assert one.pooled is None


def test_a_report_with_a_conclusion_does_not_say_that_the_works_settle_nothing() -> None:
    lost = DraftClaim(id="s1.a1", text="It lowers nothing.", state="refused")
    step = a_step()
    (section,) = step.sections
    draft = section.draft.replace(answer=(lost,))
    sections = (section.replace(draft=draft),)
    report = build_report(step.replace(sections=sections), WORKS)
    assert report.conclusions
    assert not report.answer


def test_beside_a_conclusion_stand_no_other_strength_and_no_count_and_its_works_in_order() -> None:
    report = report_of()
    (one,) = report.conclusions
    words = words_of(report.replace(conclusions=(one.replace(works=one.works[::-1]),)), "md")
    assert "strong evidence" not in words
    assert "strong evidence" in words_of(report.replace(conclusions=()), "md")
    assert "studies answer" not in words
    table = words[words.index("Effect (95 % interval)") :]
    assert table.index("number 1") < table.index("number 2")


def test_a_brief_report_says_its_conclusions_in_a_line_each() -> None:
    words = words_of(report_of().replace(length="brief"), "md")
    assert "Mortality is probably lower with the drug" in words
    assert "of 2 studies" in words
    assert "Events by group" not in words


def test_a_direction_of_very_low_certainty_says_that_it_is_very_uncertain() -> None:
    words = words_of(changed(report_of(), certainty="very_low"), "md")
    assert "Mortality may be lower with the drug, but the evidence is very uncertain." in words
    assert "Mortality: lower, very low certainty" in words, "a heading is read alone"
    assert "Of 1,000 people" not in words
    assert "Of 1,000 people, 265 have it without, 147" in words_of(report_of(), "md")


def test_no_difference_is_not_said_to_be_none_where_one_that_matters_is_not_excluded() -> None:
    made = {"direction": "no_difference", "certainty": "low"}
    words = words_of(changed(report_of(), **made, reasons=("wide_interval",)), "md")
    assert "No difference in mortality was shown with the drug; one that matters is not excluded." in words
    assert "little or no difference" not in words
    words = words_of(changed(report_of(), **made, reasons=("few_events",)), "md")
    assert "There may be little or no difference in mortality with the drug." in words


def test_the_events_behind_an_effect_are_printed() -> None:
    words = words_of(report_of(), "md")
    assert "60 of 400 (15.0%)" in words
    assert "120 of 400 (30.0%)" in words
    assert "Pooled (random effects" in words


def test_the_answer_on_a_terminal_has_the_conclusion() -> None:
    (line,) = answer_of(report_of()).conclusions
    assert "Mortality is probably lower with the drug" in line
    assert "Certainty moderate (proposed)." in line


def test_what_is_not_pooled_for_want_of_the_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report_of()
    monkeypatch.setitem(sys.modules, "statsmodels.stats.meta_analysis", None)
    report = report_of()
    assert report.conclusions[0].pooled is None
    assert any("pip install 'determinator[analysis]'" in text for text in report.limitations)
    (problem,) = faults(whole, WORKS)
    assert "to make its pooled figure again" in problem


@pytest.mark.parametrize("form", ["md", "html", "docx", "pdf"])
def test_every_format_begins_its_answer_with_the_conclusion_and_says_it_once(form: str) -> None:
    words = words_of(report_of(), form)
    assert words.lower().count("mortality is probably lower with the drug") == 1
    assert words.lower().index("mortality is probably lower") < words.index("Conclusions", 200)
    assert "Certainty moderate (proposed)" in words
    assert "of 2 studies" in words


def changed(report: Report, **fields: object) -> Report:
    (one,) = report.conclusions
    return report.replace(conclusions=(one.model_copy(update=fields),))


def test_verify_makes_each_conclusion_again() -> None:
    report = report_of()
    assert faults(report, WORKS) == []
    (one,) = report.conclusions
    for forged in (
        changed(report, direction="higher"),
        changed(report, certainty="high"),
        changed(report, reasons=()),
        changed(report, pooled=None),
        changed(report, works=_with_events(one)),
    ):
        assert any("conclusion mortality" in problem for problem in faults(forged, WORKS))


def _with_events(one: Conclusion) -> tuple[object, ...]:
    first = one.works[0]
    assert first.effect is not None
    arms = Arms(events=10, total=400, control_events=80, control_total=400)
    effect = first.effect.replace(arms=arms)
    return (first.replace(effect=effect), *one.works[1:])
