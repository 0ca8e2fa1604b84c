"""The short answer of a report that no model wrote."""

import pytest

from activities.candidates.types import Candidate, CandidateField, FieldEntry
from activities.report.assemble import build_report
from activities.report.audit import evidence_line, verify
from activities.report.brief import brief
from activities.report.formats import render
from activities.report.formats.model import BriefView, lines
from activities.report.formats.view import view_of
from activities.report.schema import Answer, Report
from activities.types import Claim, EvidenceType, Support, WorkDirection, WorkRow
from tests.activities.cases import DOCUMENTS, FULL, ref_of

QUESTION = "Does it help?"


@pytest.fixture(scope="module")
def report() -> Report:
    return build_report(FULL.model_copy(update={"models": ("extractive",)}), DOCUMENTS)


def test_every_sentence_names_claims_of_the_report(report: Report) -> None:
    known = {claim.id for section in report.sections for claim in section.claims}
    assert report.brief
    for said in report.brief:
        assert said.claims
        assert set(said.claims) <= known


def test_a_finding_is_quoted_word_for_word(report: Report) -> None:
    claims = {claim.id: claim for section in report.sections for claim in section.claims}
    quoted = [said for said in report.brief if "quote" in said.statement.values]
    assert quoted
    for said in quoted:
        claim = claims[said.claims[0]]
        quote = said.statement.text("quote")
        assert quote == claim.text or quote in {support.quote for support in claim.support}


def test_a_report_that_a_model_wrote_has_the_models_words_alone() -> None:
    assert build_report(FULL.model_copy(update={"models": ("gpt",)}), DOCUMENTS).brief == ()


def test_an_outsider_finds_a_sentence_that_code_did_not_make(report: Report) -> None:
    lines = [evidence_line(ref_of(item), item) for item in DOCUMENTS.values()]
    assert verify(report, lines) == []
    said = report.brief[0].model_copy(update={"text": "Everyone was cured."})
    assert verify(report.model_copy(update={"brief": (said, *report.brief[1:])}), lines)


def test_each_claim_is_printed_once_whether_the_answer_quotes_it_or_not(report: Report) -> None:
    view = view_of(report)
    quoted = {said.claim.anchor for said in view.answer if said.claim is not None}
    assert quoted
    assert quoted.isdisjoint(claim.anchor for claim in view.summary)
    page = render(report, "html").decode()
    assert all(page.count(f'class="claim" id="{anchor}"') == 1 for anchor in quoted)


def test_a_claim_that_the_answer_quotes_and_the_summary_does_not_list_is_printed_once(report: Report) -> None:
    unlisted = report.model_copy(update={"summary_claims": ()})
    quoted = [said.claims[0] for said in unlisted.brief if said.statement.text("quote")]
    assert quoted
    page = render(unlisted, "html").decode()
    assert all(page.count(f'class="claim" id="{name}"') == 1 for name in quoted)


def row(name: str, direction: WorkDirection | None) -> WorkRow:
    return WorkRow(evidence_id=name, direction=direction, population="40 patients with gout", n=40)


def test_what_speaks_against_the_others_is_named_as_such(report: Report) -> None:
    kind: EvidenceType = "randomized_trial"
    names = ("pmid:1", "pmid:2", "pmid:3")
    references = [
        report.references[0].model_copy(update={"evidence_id": n, "number": i, "evidence_type": kind})
        for i, n in enumerate(names, start=1)
    ]
    claims = [
        Claim(id=f"c{i}", text=f"Finding {i}.", support=(Support(evidence_id=n, quote=f"Finding {i}."),))
        for i, n in enumerate(names)
    ]
    rows = [row("pmid:1", "affirms"), row("pmid:2", "affirms"), row("pmid:3", "denies")]
    said = {s.statement.code: s for s in brief(QUESTION, claims, claims, rows, references, ())}
    assert said["brief_against"].claims == ("c2",)
    assert said["brief_direction"].statement.values["affirms"] == "[1, 2]"
    assert said["brief_direction"].statement.values["denies"] == "[3]"
    unsure = [work.model_copy(update={"direction": None}) for work in rows]
    codes = {s.statement.code for s in brief(QUESTION, claims, claims, unsure, references, ())}
    assert codes.isdisjoint({"brief_against", "brief_direction"})


def test_the_sentence_that_a_direction_rests_on_is_the_one_that_is_quoted(report: Report) -> None:
    texts = ("Ulcers of people who took zinc were small.", "Zinc healed ulcers.")
    claims = [
        Claim(id=f"c{i}", text=text, support=(Support(evidence_id="pmid:1", quote=text),))
        for i, text in enumerate(texts)
    ]
    reference = report.references[0].model_copy(update={"evidence_id": "pmid:1", "number": 1})
    work = row("pmid:1", "affirms").model_copy(update={"finding": texts[1]})
    said = brief("Does zinc heal ulcers?", claims, claims[:1], [work], [reference], ())
    assert [s.claims for s in said if s.statement.code == "brief_finding"] == [("c1",)]


def test_both_sides_of_a_work_that_affirms_and_denies_are_quoted(report: Report) -> None:
    texts = ("Zinc did not heal ulcers.", "However, it healed those of children.", "Ulcers are common.")
    claims = [
        Claim(id=f"c{i}", text=text, support=(Support(evidence_id="pmid:1", quote=text),))
        for i, text in enumerate(texts)
    ]
    reference = report.references[0].model_copy(update={"evidence_id": "pmid:1", "number": 1})
    work = row("pmid:1", "mixed").model_copy(update={"finding": " ".join(texts[:2])})
    said = brief("Does zinc heal ulcers?", claims, claims, [work], [reference], ())
    texts_of = {s.statement.code: s.text for s in said}
    assert texts_of["brief_direction"] == "What is asked is both affirmed and denied by [1]."
    assert texts_of["brief_against"].startswith(
        "Against this, the same work reports: \u201cHowever, it healed"
    )
    assert [s.claims for s in said][1:] == [("c0",), ("c1",)]


def test_what_says_little_of_the_question_is_left_to_the_points(report: Report) -> None:
    references = [
        report.references[0].model_copy(update={"evidence_id": f"pmid:{i}", "number": i}) for i in (1, 2)
    ]
    texts = ("Metformin lowered mortality in diabetes.", "Scans were more frequent.")
    claims = [
        Claim(id=f"c{i}", text=text, support=(Support(evidence_id=f"pmid:{i}", quote=text),))
        for i, text in enumerate(texts, start=1)
    ]
    said = brief("Does metformin lower mortality in diabetes?", claims, claims, (), references, ())
    assert [s.claims for s in said if s.statement.code == "brief_finding"] == [("c1",)]


def test_figures_of_the_work_just_named_are_said_of_the_same_work(report: Report) -> None:
    reference = report.references[0].model_copy(update={"evidence_id": "pmid:1", "number": 1})
    quotes = ("Deaths were fewer.", "The hazard ratio was 0.68 (95% CI 0.48-0.97).")
    claims = [
        Claim(id=f"c{i}", text=text, support=(Support(evidence_id="pmid:1", quote=text),))
        for i, text in enumerate(quotes)
    ]
    rows = [row("pmid:1", None).model_copy(update={"numbers": ("0.68 (95% CI 0.48-0.97)",)})]
    said = brief(QUESTION, claims, claims, rows, [reference], ())
    assert [s.statement.code for s in said] == ["brief_finding", "brief_figures"]
    assert said[1].statement.number("again") == 1


def test_without_a_claim_there_is_no_sentence(report: Report) -> None:
    assert brief(QUESTION, (), (), report.works, report.references, report.answers) == ()


def test_candidates_are_named_with_their_grade_and_beside_them_what_failed(report: Report) -> None:
    references = [
        report.references[0].model_copy(update={"evidence_id": f"pmid:{i}", "number": i}) for i in (1, 2)
    ]
    texts = ("Exenatide improved motor scores.", "Nilotinib did not improve motor scores.")
    claims = [
        Claim(id=f"c{i}", text=text, support=(Support(evidence_id=f"pmid:{i}", quote=text),))
        for i, text in enumerate(texts, start=1)
    ]
    candidate = Candidate(name="exenatide", evidence_quality="strong", support=claims[0].support)
    answers = [
        Answer(text="Exenatide", claims=("c1",), works=1, finding="for"),
        Answer(text="Nilotinib", claims=("c2",), works=1, finding="against"),
    ]
    said = {
        s.statement.code: s for s in brief(QUESTION, claims, claims, (), references, answers, [candidate])
    }
    assert said["brief_candidates"].text == "Candidates: exenatide (strong evidence) [1]."
    assert said["brief_candidates"].claims == ("c1",)
    assert said["brief_named_against"].text == "Findings against: nilotinib [2]."
    assert "brief_named" not in said


def test_a_drug_in_use_for_what_is_asked_about_is_named_apart_from_candidates(report: Report) -> None:
    text = "Riluzole prolonged survival."
    claim = Claim(id="c1", text=text, support=(Support(evidence_id="pmid:1", quote=text),))
    use = FieldEntry(text="sclerosis", code="names_disease_asked", source="library", evidence_id="pmid:1")
    indications = CandidateField(name="indications", status="found", entries=(use,))
    candidate = Candidate(name="riluzole", support=claim.support, fields=(indications,))
    reference = report.references[0].model_copy(update={"evidence_id": "pmid:1", "number": 1})
    said = brief(QUESTION, [claim], [claim], (), [reference], (), [candidate])
    assert said[0].text == "In use already for a disease asked about: riluzole (weak evidence) [1]."
    assert "brief_candidates" not in {s.statement.code for s in said}


def test_names_given_in_answer_are_lines_of_their_own() -> None:
    def said(text: str, *, alone: bool = False) -> BriefView:
        return BriefView(text=text, lead="", said="", claim=None, alone=alone)

    names, against = said("Candidates: a.", alone=True), said("Findings against: b.", alone=True)
    works, found = said("Two works help."), said("One reports c.")
    assert lines((names, against, works, found)) == [(names,), (against,), (works, found)]
    assert lines(()) == []
