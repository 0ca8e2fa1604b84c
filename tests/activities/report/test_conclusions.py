"""Conclusions in a report: quoted, in every format, and made again by a check."""

import sys

import pytest

from activities.contracts.appraisal import PART as CONCLUSIONS
from activities.contracts.appraisal import Appraisal, Concern, Proposed, StudyEffect
from activities.contracts.evidence import Evidence, Statement, Support
from activities.contracts.publish import PublishInput
from activities.contracts.revise import Revised
from activities.contracts.write import DraftClaim, SectionDraft, SentenceVerdict, Verdicts
from activities.report import instructions
from activities.report.assemble import build_report
from activities.report.formats.conclusion_words import differs, statement
from activities.report.parts import part_of
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
    fields = ("events", "total", "control_events", "control_total")
    name = f"pmid:{n}"
    return StudyEffect(
        evidence_id=name,
        outcome="mortality",
        group="the drug",
        comparator="placebo",
        direction="lower",
        support=(Support(evidence_id=name, quote=quote),),
        figures={field: str(count) for field, count in zip(fields, counts, strict=True)},
    )


def a_step(works: dict[str, Evidence] = WORKS) -> PublishInput:
    effects = tuple(effect(n, c, q) for n, (c, q) in enumerate(zip(COUNTS, QUOTES, strict=True), start=1))
    proposed = Proposed(outcome="mortality", direction="lower", certainty="high", group="the drug")
    return publish_input(
        planned("s1", quoting(QUOTES[0], ("pmid:1", QUOTES[0]))),
        question="Does the drug lower mortality?",
        evidence=tuple(ref_of(work) for work in works.values()),
        conclusions=Appraisal(effects=effects, proposed=(proposed,)),
    )


def report_of(works: dict[str, Evidence] = WORKS) -> Report:
    return build_report(a_step(works), works)


(THE_ONE,) = CONCLUSIONS.of_report(report_of())


def changed(report: Report, **fields: object) -> Report:
    (one,) = CONCLUSIONS.of_report(report)
    return report.replace(conclusions=(one.replace(**fields),))


def proposing(**fields: object) -> Proposed:
    assert THE_ONE.proposed is not None
    return THE_ONE.proposed.replace(**fields)


def test_a_report_concludes_by_outcome_from_works_that_stand() -> None:
    one = THE_ONE
    concerns = (Concern(code="abstracts_only", levels=1),)
    assert (one.direction, one.certainty, one.concerns) == ("lower", "moderate", concerns)
    assert one.pooled is not None
    assert [work.evidence_id for work in one.works] == ["pmid:1", "pmid:2"]
    assert {reference.evidence_id for reference in report_of().references} == set(WORKS)
    retracted = WORKS["pmid:2"].replace(standing="retracted")
    (one,) = CONCLUSIONS.of_report(report_of({**WORKS, "pmid:2": retracted}))
    assert [work.evidence_id for work in one.works] == ["pmid:1"]
    assert one.pooled is None


def test_a_report_with_a_conclusion_does_not_say_that_the_works_settle_nothing() -> None:
    (section,) = a_step().sections
    draft = section.draft.replace(
        answer=(DraftClaim(id="s1.a1", text="It lowers nothing.", state="refused"),)
    )
    report = build_report(a_step().replace(sections=(section.replace(draft=draft),)), WORKS)
    assert CONCLUSIONS.of_report(report)
    assert not report.answer


def test_beside_a_conclusion_stand_no_other_strength_and_no_count_and_its_works_in_order() -> None:
    words = words_of(changed(report_of(), works=THE_ONE.works[::-1]))
    assert "strong evidence" not in words
    assert "studies answer" not in words
    table = words[words.index("Effect (95% CI)") :]
    assert table.index("number 1") < table.index("number 2")


def test_a_report_begins_its_answer_with_the_conclusion_in_a_line_and_says_it_once() -> None:
    words, line = words_of(report_of()), "The drug probably lowers mortality"
    assert words.count(line) == 1
    assert words.index(line) < words.index("Summary of findings")
    for text in ("60 of 400 (15.0%)", "120 of 400 (30.0%)", "Pooled (random effects"):
        assert text in words
    brief = words_of(report_of().replace(length="brief"))
    for text in (line, "2 studies", "Certainty: moderate (proposed)."):
        assert text in words
        assert text in brief
    assert "Events by group" not in brief
    (told,) = answer_of(report_of()).conclusions
    assert line in told
    assert "Certainty: moderate (proposed)." in told


def test_a_direction_of_very_low_certainty_says_that_it_is_very_uncertain() -> None:
    words = words_of(changed(report_of(), certainty="very_low"))
    assert "The drug may lower mortality, but the evidence is very uncertain." in words
    assert "Mortality | 2 [1, 2] | 1,570 | Lower." in words, "a row is read alone"
    assert "| Very low:" in words
    assert "Per 1,000 people" not in words


def test_a_certainty_has_its_reasons_in_a_few_words() -> None:
    words = words_of(report_of())
    assert "Certainty starts at high for randomised trials and at low for other studies." in words
    assert "Moderate: not every study read in full." in words
    proposed = proposing(doubts=("how_done", "indirect"))
    words = words_of(changed(report_of(), certainty="low", proposed=proposed))
    assert "Low: not every study read in full, how the studies were done." in words, "at most twelve words"


def test_a_direction_that_the_effects_refute_is_shown_beside_them() -> None:
    appraisal = CONCLUSIONS.of_input(a_step()).replace(proposed=(proposing(direction="higher"),))
    words = words_of(build_report(a_step().replace(conclusions=appraisal), WORKS))
    assert "The drug probably lowers mortality" in words
    assert "The model read the works as showing “higher”" in words


@pytest.mark.parametrize(
    ("works", "by_effects", "said"),
    [
        (2, "no_difference", "The pooled figure alone shows: no difference shown."),
        (5, "no_difference", ""),
        (2, "higher", "The pooled figure alone shows: higher."),
        (2, "uncertain", ""),
    ],
)
def test_what_the_numbers_alone_show_is_said_only_where_it_contradicts(
    works: int, by_effects: str, said: str
) -> None:
    """A pool of less than half of the works contradicts nothing."""
    more = THE_ONE.works[:1] * (works - 2)
    assert differs(THE_ONE.replace(by_effects=by_effects, works=(*THE_ONE.works, *more))) == said


def test_the_works_of_an_outcome_follow_where_they_were_pooled_else_in_a_full_report() -> None:
    small = {"effect": None, "result": None, "p": "<.001"}
    report = changed(report_of(), pooled=None, works=tuple(w.model_copy(update=small) for w in THE_ONE.works))
    assert "## Summary of findings" in words_of(report)
    assert "Lower in 2 of 2." in words_of(report)
    assert "the works" not in words_of(report).partition("## Summary of findings")[2].partition("##")[0]
    assert "p < .001" in words_of(report.replace(length="full"))
    table = words_of(report_of()).partition("Mortality: the works")[2]
    assert "60 of 400" in table


def test_a_pool_names_the_works_without_which_it_shows_something_else() -> None:
    assert THE_ONE.pooled is not None
    assert THE_ONE.pooled.without is None, "of two works none is left out"
    result = THE_ONE.pooled.result
    otherwise = "the pooled result would be RR 0.90 (0.70 to 1.20): no difference shown."
    for name, without, said in (
        (("pmid:2",), (0.9, 0.7, 1.2), f"Without [2] {otherwise}"),
        (("pmid:2",), (0.6, 0.4, 0.8), "Leaving out any one study does not change"),
        (("pmid:1", "pmid:2"), (0.9, 0.7, 1.2), f"Without [1] and [2] {otherwise}"),
    ):
        rest = dict(zip(("estimate", "low", "high"), without, strict=True))
        update = {"left_out": name, "without": result.model_copy(update=rest)}
        report = changed(report_of(), pooled=THE_ONE.pooled.model_copy(update=update))
        assert words_of(report).replace("\\", "").count(said) == 1


def test_a_risk_ratio_is_said_for_a_thousand_people_and_as_a_number_needed_to_treat() -> None:
    words = words_of(report_of())
    people = "Per 1,000 people: 265 (median) with placebo, 147 (118 to 184) with the drug."
    assert people.replace("with placebo", "without") in words
    assert "Number needed to treat: 9 (7 to 13)." in words
    assert people in words_of(changed(report_of(), comparator="placebo"))
    assert THE_ONE.pooled is not None
    wide = THE_ONE.pooled.result.model_copy(update={"high": 1.1})
    words = words_of(changed(report_of(), pooled=THE_ONE.pooled.model_copy(update={"result": wide})))
    assert "needed to treat" not in words


def test_beside_a_written_answer_a_conclusion_stands_in_the_table_of_a_full_report_alone() -> None:
    report = report_of()
    answer = (next(report.claims()).replace(id="a1", text="Fewer died with the drug."),)
    without = report.replace(answer=answer)
    words = words_of(without.replace(length="full"))
    assert "probably lowers mortality" not in words
    assert words.index("Fewer died with the drug") < words.index("Lower. Pooled risk ratio")
    assert "Lower. Pooled risk ratio" not in words_of(without.replace(length="standard"))
    said = answer_of(report.replace(answer=answer))
    assert said.conclusions
    assert said.first == (said.bottom_line,)


def test_a_conclusion_on_another_thing_does_not_lead_the_answer() -> None:
    report = report_of().replace(conclusions=(THE_ONE.replace(asked=False),))
    words = words_of(report)
    answer, _, chapter = words.partition("## Summary of findings")
    assert "The drug probably lowers mortality" not in answer
    assert "The drug probably lowers mortality. [1, 2] | 2 [1, 2] | 1,570 | Lower. Pooled" in chapter
    assert "probably" not in words_of(report_of()).partition("## Summary of findings")[2], (
        "the answer says it"
    )
    assert answer_of(report).conclusions == ()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"direction": "higher", "group": "statins", "plural": True}, "Statins probably increase mortality"),
        ({"direction": "higher"}, "The drug probably increases mortality"),
        ({"direction": "uncertain"}, "The effect of the drug on mortality is uncertain."),
        ({"direction": "not_enough_data"}, "There are not enough data on the effect of the drug on"),
        ({"direction": "lower", "group": "mRNA vaccines", "plural": True}, "mRNA vaccines probably lower"),
    ],
)
def test_a_conclusion_is_a_sentence_that_a_clinician_signs(fields: dict[str, object], said: str) -> None:
    proposed = proposing(plural="plural" in fields)
    fields = {name: value for name, value in fields.items() if name != "plural"}
    assert statement(THE_ONE.replace(**fields, proposed=proposed)).startswith(said)


def test_no_difference_is_not_said_to_be_none_where_one_that_matters_is_not_excluded() -> None:
    made = {"direction": "no_difference", "certainty": "low"}
    wide = (Concern(code="wide_interval", levels=2),)
    words = words_of(changed(report_of(), **made, concerns=wide))
    rest = "an important difference is not ruled out."
    assert f"No difference in mortality was shown with the drug; {rest}" in words
    assert "little or no difference" not in words
    few = (Concern(code="few_events", levels=2),)
    words = words_of(changed(report_of(), **made, concerns=few))
    assert "The drug may make little or no difference to mortality." in words
    for excludes, concerns, text in ((True, wide, "little or no difference"), (False, few, rest)):
        proposed = proposing(excludes=excludes)
        words = words_of(changed(report_of(), **made, concerns=concerns, proposed=proposed))
        assert text in words, "the model says it"


def test_what_is_not_pooled_for_want_of_the_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report_of()
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    report = report_of()
    assert CONCLUSIONS.of_report(report)[0].pooled is None
    assert any("pip install 'determinator[analysis]'" in text for text in report.limitations)
    (problem,) = faults(whole, WORKS)
    assert "to make its pooled figure again" in problem


def test_verify_makes_each_conclusion_again() -> None:
    report = report_of()
    assert faults(report, WORKS) == []
    first = THE_ONE.works[0]
    assert first.effect is not None
    assert first.effect.arms is not None
    effect = first.effect.replace(arms=first.effect.arms.replace(events=10))
    works = (first.replace(effect=effect), *THE_ONE.works[1:])
    forgeries = {"direction": "higher", "certainty": "high", "concerns": (), "pooled": None, "works": works}
    for field, value in forgeries.items():
        forged = changed(report, **{field: value})
        assert any("conclusion mortality" in problem for problem in faults(forged, WORKS))


@pytest.mark.parametrize("problem", [None, "not_supported"])
def test_a_line_is_put_in_plain_words_only_where_a_second_reader_confirms_it(problem: str | None) -> None:
    """And then without its figures; another direction has code's words again."""
    plain = "Fewer people died with the drug than with placebo."
    (line,) = part_of("conclusions").sentences(report_of())
    assert {support.evidence_id for support in line.support} == set(WORKS)
    verdict = SentenceVerdict(id=line.id, problem=Statement(code=problem) if problem else None)
    revised = Revised(lines=(line.replace(text=plain, state="ask", reworded=True),))
    step = instructions.apply_change(a_step(), revised, SectionDraft(), Verdicts(verdicts=(verdict,)), ())
    report = build_report(step, WORKS)
    answer = words_of(report).split("## ")[1]
    assert (plain in answer) is (problem is None)
    assert ("95% CI" in answer or "risk ratio" in answer.casefold()) is (problem is not None)
    assert not faults(report, WORKS)
    (one,) = CONCLUSIONS.of_report(report)
    assert one.replace(direction="higher").key != one.key
