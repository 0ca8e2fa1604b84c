"""How sure a report is of its answer."""

from typing import Any

import pytest

from activities.report.assemble import build_report
from activities.report.confidence import UNNAMED
from activities.report.formats.render import render
from activities.report.formats.statements import sentence
from activities.report.formats.words import percent, sureness
from activities.report.schema import Report
from activities.text.answer_confidence import ONE_STUDY, WEAK_CLAIMS, within
from activities.types import Evidence, Statement
from client.reports.answer import answer_of
from tests.activities.cases import DOCUMENTS, INCREASED, planned, publish_input, quoting
from tests.activities.report.building import built

ADMISSIONS = "There was no difference in hospital admissions between the groups."


@pytest.mark.parametrize(
    ("question", "quote", "named"),
    [
        ("Which drugs reduce hospital admissions?", ("pmid:1", ADMISSIONS), False),
        ("Which drugs reduce mortality?", ("pmid:2", INCREASED), True),
        ("Which treatments reduce hospital admissions?", ("pmid:1", ADMISSIONS), True),
        ("Does metformin reduce hospital admissions?", ("pmid:1", ADMISSIONS), True),
    ],
)
def test_an_answer_that_names_no_drug_where_drugs_are_asked_for_says_so(
    question: str, quote: tuple[str, str], named: bool
) -> None:
    step = publish_input(
        planned("s1", quoting(quote[1], quote)), question=question, models=("extractive",), confidence=0.9
    )
    report = built(step)
    said = [reason.code for reason in report.confidence_reasons]
    assert ("confidence_unnamed" not in said) is named
    assert (report.confidence > UNNAMED) is named


def overview(*quotes: tuple[str, tuple[str, str]] | None, **more: Any) -> Report:
    """A report of several sections, each with one quote or none."""
    sections = tuple(
        planned(f"s{number}", *([quoting(quote[0], quote[1])] if quote else []))
        for number, quote in enumerate(quotes, start=1)
    )
    question = "What is known about metformin and mortality?"
    return built(publish_input(*sections, question=question, **{"models": ("extractive",), **more}))


def test_the_confidence_of_an_overview_comes_from_all_its_works() -> None:
    one = overview((ADMISSIONS, ("pmid:1", ADMISSIONS)), None)
    two = overview((ADMISSIONS, ("pmid:1", ADMISSIONS)), (INCREASED, ("pmid:2", INCREASED)))
    codes = [reason.code for reason in two.confidence_reasons]
    assert codes[:2] == ["confidence_direct", "confidence_works"]
    works = next(reason.values for reason in two.confidence_reasons if reason.code == "confidence_works")
    assert works["works"] == 2
    assert two.confidence > one.confidence > 0


def test_a_report_whose_sections_answer_all_but_the_question_says_so() -> None:
    itself = planned("s1")
    itself = itself.model_copy(
        update={
            "section": itself.section.model_copy(update={"key_question": "Does metformin reduce  mortality?"})
        }
    )
    beside = planned("s2", quoting(ADMISSIONS, ("pmid:1", ADMISSIONS)))
    report = built(publish_input(itself, beside, models=("extractive",)))
    assert report.confidence <= UNNAMED
    assert report.confidence_reasons[0].code == "confidence_indirect"
    assert answer_of(report).bottom_line.startswith("No quote answers the question itself")
    assert "help with this question" not in report.executive_summary
    assert "brief_works" not in {part.statement.code for part in report.brief}
    answered = itself.model_copy(update={"draft": beside.draft})
    other = planned("s2", quoting(INCREASED, ("pmid:2", INCREASED)))
    report = built(publish_input(answered, other, models=("extractive",)))
    assert "confidence_indirect" not in {reason.code for reason in report.confidence_reasons}
    alone = built(publish_input(answered, planned("s2"), models=("extractive",)))
    assert "confidence_sections" not in {reason.code for reason in alone.confidence_reasons}


def test_an_overview_says_how_many_of_its_sections_stay_empty() -> None:
    report = overview((ADMISSIONS, ("pmid:1", ADMISSIONS)), None)
    said = {reason.code: reason.values for reason in report.confidence_reasons}
    assert said["confidence_sections"] == {"filled": 1, "sections": 2}


def test_the_confidence_of_an_overview_does_not_depend_on_what_its_sections_were_given() -> None:
    quotes = (ADMISSIONS, ("pmid:1", ADMISSIONS)), (INCREASED, ("pmid:2", INCREASED))
    assert overview(*quotes, confidence=0.1).confidence == overview(*quotes, confidence=0.9).confidence
    # a model's verdict is not exceeded
    assert overview(*quotes, confidence=0.1, models=("model-1",)).confidence <= 0.1


def test_where_a_new_use_is_asked_for_a_drug_that_is_no_candidate_is_no_answer() -> None:
    step = publish_input(
        planned("s1", quoting(INCREASED, ("pmid:2", INCREASED))),
        question="Which drugs could be repurposed to lower mortality?",
        profile="drug_repurposing",
        models=("extractive",),
        confidence=0.9,
    )
    report = built(step)
    assert report.confidence <= UNNAMED
    assert "Named in answer" not in report.executive_summary


def test_nothing_is_printed_as_certain() -> None:
    assert (percent(1.0), percent(0.5)) == ("99%", "50%")


def reasons_of(report: Report) -> dict[str, str]:
    return {reason.code: sentence(reason) for reason in report.confidence_reasons}


def weak(number: int) -> Evidence:
    text = f"Surgeons of town {number} liked metformin, and mortality was reduced by it in their view."
    return Evidence(evidence_id=f"pmid:9{number}", source="library", title="Opinion", text=text)


@pytest.mark.parametrize("mode", ["simple", "iterative", "deep", "graph", "team", "hierarchical"])
def test_weak_works_allow_no_mode_to_be_certain(mode: str) -> None:
    works = [weak(number) for number in range(1, 5)]
    claims = [quoting(work.text, (work.evidence_id, work.text)) for work in works]
    step = publish_input(planned("s1", *claims), mode=mode, models=("extractive",), confidence=1.0)
    report = build_report(step, {**DOCUMENTS, **{work.evidence_id: work for work in works}})
    assert {claim.strength for section in report.sections for claim in section.claims} == {"weak"}
    assert report.confidence <= WEAK_CLAIMS
    assert "graded above weak" in reasons_of(report)["confidence_limited"]


def test_claims_of_one_study_limit_the_confidence_of_a_judge_who_saw_more() -> None:
    claim = quoting(ADMISSIONS, ("pmid:1", ADMISSIONS))
    report = built(publish_input(planned("s1", claim), models=("model-1",), confidence=1.0))
    assert report.confidence <= ONE_STUDY
    said = reasons_of(report)
    assert "one study" in said["confidence_limited"]


def test_a_limit_keeps_the_order_of_what_it_limits() -> None:
    assert 0.6 < within(0.7, 0.92, 0.75) < within(0.9, 0.92, 0.75) <= 0.75
    assert within(0.5, 1.0, 0.75) == 0.5
    assert within(0.9, 0.92, 0.95) == 0.9


@pytest.mark.parametrize("sections", [1, 2])
def test_where_nobody_judged_the_evidence_no_number_is_printed(sections: int) -> None:
    claims = [quoting(ADMISSIONS, ("pmid:1", ADMISSIONS)), quoting(INCREASED, ("pmid:2", INCREASED))]
    parts = [planned(f"s{n}", claim) for n, claim in enumerate(claims[:sections])]
    step = publish_input(*parts, models=("model-1",), confidence=0.0, stop_reason="judge_unavailable")
    report = built(step)
    assert report.confidence == 0.0
    assert sureness(report) == "not computed"
    assert "confidence_stopped" not in reasons_of(report)
    assert reasons_of(report)["confidence_not_computed"].startswith("No step judged the evidence: ")
    for kind in ("md", "html"):
        text = render(report, kind).decode()
        assert "not computed" in text
        assert "0%" not in text.partition("onfidence")[2][:80]


def test_a_confidence_of_nought_that_was_judged_is_printed() -> None:
    claim = quoting(ADMISSIONS, ("pmid:1", ADMISSIONS))
    given = (Statement(code="confidence_judged", values={"percent": 0}),)
    step = publish_input(planned("s1", claim), models=("model-1",), confidence=0.0, confidence_reasons=given)
    assert sureness(built(step)) == "0%"


def test_what_claims_rest_on_is_said_once() -> None:
    claim = quoting(ADMISSIONS, ("pmid:1", ADMISSIONS))
    report = built(publish_input(planned("s1", claim), models=("extractive",), confidence=0.9))
    said = reasons_of(report)
    assert "rests on one study, graded" in said["confidence_strength"]
    assert "confidence_one_study" not in said
