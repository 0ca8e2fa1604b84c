"""How a report is put together: numbers, references, standings, limitations."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.contracts.evidence import MODEL_SILENT, SearchRecord, Statement, Usage
from activities.contracts.judge import WorkJudgement
from activities.contracts.publish import PrismaCounts
from activities.contracts.write import DraftParagraph, SectionDraft
from activities.report.assemble import build_report
from activities.report.audit import examine
from activities.report.evidence_lines import evidence_line
from activities.report.formats.limitations import limits, not_shown, of_run
from activities.report.formats.prose import notice
from activities.report.formats.statements import WORDING, sentence
from activities.report.limitations import unique
from activities.roles.prompt import notes_on_missing
from tests.activities.cases import (
    DOCUMENTS,
    FULL,
    INCREASED,
    REDUCED,
    TRIAL,
    planned,
    publish_input,
    quoting,
    ref_of,
)
from tests.activities.report.rendered import built, codes, faults, stated, words_of

SAFE_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def test_a_full_report_passes_an_outsiders_check() -> None:
    report = built(FULL)
    assert faults(report) == []
    assert (report.verification.claims, report.verification.verified) == (3, 2)
    (dropped,) = report.verification.dropped
    text = "Metformin cured everyone by 99%."
    assert (dropped.text, dropped.kind, dropped.section) == (text, "claim", "s1")
    assert dropped.statement == Statement(code="number_missing", values={"number": "99%"})


def test_an_outsider_finds_a_tampered_quote_and_a_missing_item() -> None:
    line = evidence_line(ref_of(TRIAL), TRIAL)
    for changed, fault in (
        ({"text": TRIAL.text.replace("reduced", "doubled")}, "claim s1.1: not in the text of pmid:1"),
        ({}, "cites pmid:2, which is not among the evidence"),
        ({"standing": "retracted"}, "rests on pmid:1, which is retracted"),
    ):
        assert any(fault in problem for problem in examine(built(FULL), [{**line, **changed}]).faults())


def test_the_works_say_what_was_read_in_full() -> None:
    whole = TRIAL.replace(full_text=True)
    report = build_report(FULL, {**DOCUMENTS, TRIAL.evidence_id: whole})
    assert [r.evidence_id for r in report.references if r.full_text] == [TRIAL.evidence_id]
    assert "Read in full: 1." in words_of(report.replace(length="full"))


def test_references_are_numbered_by_first_appearance_listed_once_and_only_when_cited() -> None:
    both = quoting("Metformin changed mortality.", ("pmid:2", INCREASED), ("pmid:1", REDUCED))
    unknown = quoting("Nothing was cited.", ("pmid:3", "Metformin abolished all mortality in every"))
    first = quoting("A registry found increased mortality.", ("pmid:2", INCREASED))
    report = built(publish_input(planned("s1", first), planned("s2", both, unknown)))
    assert report.methodology.counts.included == 2
    assert [(r.number, r.evidence_id) for r in report.references] == [(1, "pmid:2"), (2, "pmid:1")]
    assert report.sections[0].markdown == "A registry found increased mortality [1]."
    assert "mortality [1, 2]." in report.sections[1].markdown
    shown = report.executive_summary + "".join(s.markdown for s in report.sections)
    numbers = [int(n) for mark in re.findall(r"(?<!\\)\[([\d, ]+)\]", shown) for n in mark.split(",")]
    assert list(dict.fromkeys(numbers)) == [1, 2]


def test_the_same_claim_in_two_sections_is_stated_once() -> None:
    claim = quoting("Metformin reduced mortality by 30%.", ("pmid:1", REDUCED))
    report = built(publish_input(planned("s1", claim), planned("s2", claim)))
    assert report.sections[1].claims == ()
    repeats = Statement(code="repeats_claim", values={"claim": "s1.1"})
    assert report.verification.dropped[0].statement == repeats


def test_the_method_states_unknown_prices_unread_records_and_items_that_answer_nothing() -> None:
    report = built(publish_input(usage=Usage(calls=1, input_tokens=5, cost_microusd=None)))
    assert report.methodology.cost_usd is None
    assert "price_unknown" in codes(report)
    folder = SearchRecord(source="library", query="a", status="ok", hits=40, kept=10)
    report = built(publish_input(searches=(folder,), counts=PrismaCounts(identified=10, screened=10)))
    assert report.unanswered
    assert (report.unanswered.code, report.unanswered.number("items")) == ("no_item_answers", 10)
    folder, other = folder.replace(set_aside=6), folder.replace(source="pubmed", set_aside=1)
    report = built(publish_input(searches=(folder, folder, folder, other)))
    assert [s.number("records") for s in stated(report, "records_unreadable")] == [7]


@given(
    st.lists(
        st.tuples(SAFE_TEXT, st.sampled_from(["pmid:1", "pmid:2", "pmid:3", "x"]), SAFE_TEXT), max_size=6
    )
)
@settings(max_examples=40)
def test_any_output_of_models_yields_a_valid_report(claims: list[tuple[str, str, str]]) -> None:
    drafts = [quoting(text, (item, quote)) for text, item, quote in claims]
    drafts.append(quoting("Mortality fell.", ("pmid:1", REDUCED)))
    paragraphs = tuple(DraftParagraph(claims=(draft,)) for draft in drafts)
    section = planned("s1").replace(
        draft=SectionDraft(paragraphs=paragraphs, limitations=tuple(text for text, _, _ in claims))
    )
    report = built(publish_input(section, title=claims[0][0] if claims else ""))
    assert faults(report) == []
    assert report.title
    assert report.verification.claims == report.verification.verified + len(report.verification.dropped)
    assert report.verification.claims == len(drafts)


def test_no_report_is_confident_of_an_answer_that_is_not_there() -> None:
    lie = quoting("Metformin cures everything.", ("pmid:1", "these words are nowhere in the paper"))
    step = publish_input(planned("s1", lie)).replace(confidence=1.0)
    assert built(step).confidence is None
    judged = {"confidence": 0.9, "confidence_reasons": (Statement(code="confidence_of_judgements"),)}
    assert built(FULL.model_copy(update=judged)).confidence == 0.9


def test_a_report_of_sections_says_what_its_answer_rests_on() -> None:
    judged = tuple(WorkJudgement(evidence_id=f"pmid:{n}", answers=n + 1) for n in (1, 2))
    report = built(FULL.replace(confidence=0.5, confidence_reasons=(), judgements=judged))
    said = "Basis of the answer: 2 works that answer the question, 1 of them directly."
    assert said in words_of(report)
    assert faults(report.replace(confidence=None)) == []


def test_sections_that_ended_alike_are_one_limitation_and_each_is_stated_once() -> None:
    claim = planned("s4", quoting("Metformin reduced mortality by 30%.", ("pmid:1", REDUCED)))
    drafts = claim.draft.replace(limitations=("Only abstracts.", "Only abstracts"))
    report = built(
        publish_input(
            planned("s1", title="One", status="partial", note="token budget exceeded"),
            planned("s2", title="Two", status="partial", note="token budget exceeded"),
            planned("s3", title="Three", status="partial", note="no new evidence"),
            claim.replace(draft=drafts),
        )
    )
    assert [s.texts("titles") for s in stated(report, "section_incomplete")] == [("One", "Two")]
    assert sum("Only abstracts" in text for text in report.limitations) == 1


def test_an_outage_is_never_no_results() -> None:
    outages = [
        SearchRecord(source="pubmed", query="a", status="unavailable"),
        SearchRecord(source="pubmed", query="b", status="rate_limited", detail="PubMed answered 429."),
    ]
    report = built(publish_input(searches=outages, stop_reason="all_sources_failed"))
    assert [s.values for s in stated(report, "searches_failed")] == [
        {"source": "pubmed", "status": "unavailable", "failed": 1, "of": 2},
        {"source": "pubmed", "status": "rate_limited", "failed": 1, "of": 2, "detail": "PubMed answered 429"},
    ]
    assert any("(rate limit reached: PubMed answered 429)" in line for line in report.limitations)
    assert report.unanswered == Statement(code="searches_all_failed")
    report = built(publish_input(searches=(SearchRecord(source="pubmed", query="a", status="empty"),)))
    assert report.unanswered
    assert report.unanswered.code == "nothing_found"
    assert "searches_failed" not in codes(report), "an empty search is no failure"


def test_where_nothing_comes_near_the_report_says_what_was_asked_and_what_to_do_next() -> None:
    trials = SearchRecord(source="clinicaltrials", query="zorblax", status="empty")
    limited = SearchRecord(source="pubmed", query="zorblax AND fever", status="rate_limited")
    folder = SearchRecord(source="library", query="zorblax fever", status="ok", hits=7)
    report = built(publish_input(searches=(trials, trials, limited, folder)))
    assert report.unanswered
    assert report.unanswered.texts("gave") == ("0", "rate_limited", "7")
    for text in (
        "ClinicalTrials.gov \u201czorblax\u201d (no record); PubMed",
        "(no answer: rate limit reached); library \u201czorblax fever\u201d (7 records). What you can do: ",
    ):
        assert text in report.executive_summary


def test_retracted_work_is_left_out_and_named_also_when_it_was_withheld() -> None:
    withheld = [
        ref_of(TRIAL).replace(evidence_id=f"doc:{n}", title=f"Withheld work {n}", standing="retracted")
        for n in range(23)
    ]
    report = built(FULL.replace(evidence=(*FULL.evidence, *withheld)))
    named = {(s.text("evidence_id"), s.text("title")) for s in stated(report, "retracted_left_out")}
    assert {(ref.evidence_id, ref.title) for ref in withheld} <= named
    claim = quoting("All live.", ("pmid:3", "Metformin abolished all mortality in every patient"))
    report = built(publish_input(planned("s1", claim)))
    assert report.references == ()
    assert [s.text("evidence_id") for s in stated(report, "retracted_left_out")] == ["pmid:3"]


def test_every_work_that_was_found_and_is_not_cited_has_its_reason() -> None:
    lead = planned("s1", quoting("Reduced.", ("pmid:1", REDUCED)), quoting("Invented.", ("pmid:2", "x" * 40)))
    why = {4: "Another comparator.", 5: ""}
    judged = tuple(WorkJudgement(evidence_id=f"pmid:{n}", answers=n - 3, reason=why[n]) for n in why)
    found = {f"pmid:{n}": f"Work number {n}" for n in range(1, 7)}
    evidence = tuple(map(ref_of, DOCUMENTS.values()))
    step = publish_input(lead, found=found, evidence=evidence, judgements=judged)
    assert {work.evidence_id: work.reason for work in built(step).unused} == {
        "pmid:2": "refused",
        "pmid:3": "retracted",
        "pmid:4": "not_relevant",
        "pmid:5": "not_chosen",
        "pmid:6": "not_read",
    }
    full = built(step).replace(length="full")
    assert "| Work number 6 | pmid:6 | ranked too low to be read |" in words_of(full)
    shown = words_of(built(step))
    assert "Read and not used: \u201cWork number 4\u201d (Another comparator)." in shown, (
        "its text is not at hand"
    )
    assert "Work number 5" not in shown, "its judge gave no reason"
    other_order = step.replace(found=dict(reversed(found.items())))
    assert built(other_order).unused == built(step).unused, "the order depends on how fast sources are"


ROOT = Path(__file__).parents[3]
EMITTED = re.compile(r"(?:Statement(?:\.of\(|\(\s*code=)\s*|add_limitation\(\s*|_refusal\()\"([a-z_]+)\"")


def unshown(step: str, missing: int, of: int) -> Statement:
    """The note of a step, as the step gives it."""
    (note,) = notes_on_missing(of - missing, of)
    return note.replace(values={**note.values, "step": step})


def test_steps_that_could_not_hold_every_item_are_one_statement_and_one_keeps_its_words() -> None:
    notes = (
        Statement(code="candidates_rejected"),
        unshown("judge", 3, 20),
        unshown("knowledge gap", 12, 40),
        Statement(code="report_rejected"),
        unshown("writer", 1, 9),
    )
    report = built(FULL.replace(limitations=notes))
    (about,) = [s for s in report.statements if s.code == "items_not_shown"]
    assert (about.number("missing"), about.number("of")) == (12, 40)
    assert [s.code for s in unique(notes)] == ["candidates_rejected", "items_not_shown", "report_rejected"]
    assert sentence(about) in report.limitations
    alone = unshown("judge", 3, 20)
    assert unique([alone]) == (alone,)
    assert "Judging the evidence" in sentence(alone)


def test_steps_that_no_model_did_are_one_line_of_the_limits() -> None:
    reason = "bridge at http://127.0.0.1:1/v1 cannot be reached"
    notes = tuple(Statement.of(MODEL_SILENT, step=step, reason=reason) for step in ("judge", "query parser"))
    report = built(FULL.replace(limitations=notes))
    (told,) = (text for text in limits(report) if "model" in text)
    assert "sentences: Judging the evidence and Reading the question." in told
    assert not [text for text in (*of_run(report), *not_shown(report)) if "model" in text]
    assert "127.0.0.1" not in words_of(report)


@pytest.mark.parametrize(
    ("reason", "end"), [("is it running?", "is it running? "), ("it refused", "it refused. ")]
)
def test_why_no_model_has_read_a_report_ends_with_one_sign(reason: str, end: str) -> None:
    note = Statement.of(MODEL_SILENT, step="judge", reason=reason)
    report = built(FULL.replace(limitations=(note,), written_by="extractive"))
    assert end in f"{notice(report)} "


def test_every_statement_is_worded_without_values_and_by_a_later_version_too() -> None:
    text = sentence(Statement(code="moon_in_the_way", values={"moon": "Io", "works": 3}))
    assert "Io" in text
    assert "3" in text
    assert {code for code in WORDING if not sentence(Statement(code=code))} <= {"text"}


def test_every_code_that_is_emitted_has_a_wording() -> None:
    emitted = {
        code: path
        for folder in ("activities", "workflows")
        for path in (ROOT / folder).rglob("*.py")
        for code in EMITTED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(emitted) > 40
    assert {code: str(path) for code, path in emitted.items() if code not in WORDING} == {}


def test_a_report_whose_claims_were_left_out_does_not_say_that_no_work_answers() -> None:
    judgements = (WorkJudgement(evidence_id="pmid:1", answers=3, direction="yes"),)
    counts = PrismaCounts(identified=10, screened=10)
    step = publish_input(planned("s1"), judgements=judgements, counts=counts, evidence=(ref_of(TRIAL),))
    unanswered = built(step).unanswered
    assert unanswered is not None
    text = "no sentence about the works judged to answer it (1 of 10) passed the checks"
    assert (unanswered.code, sentence(unanswered)) == ("answers_without_claim", text)
