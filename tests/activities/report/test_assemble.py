import re

from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.evidence import SearchRecord, Statement, Usage
from activities.contracts.judge import WorkJudgement
from activities.contracts.publish import PrismaCounts
from activities.contracts.write import DraftParagraph, SectionDraft
from activities.report.assemble import build_report
from activities.report.audit import examine
from activities.report.evidence_lines import evidence_line
from activities.report.formats import render
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
    assert (dropped.text, dropped.kind, dropped.section) == (
        "Metformin cured everyone by 99%.",
        "claim",
        "s1",
    )
    assert dropped.statement == Statement(code="number_missing", values={"number": "99%"})


def test_an_outsider_finds_a_tampered_quote_and_a_missing_item() -> None:
    report = built(FULL)
    line = evidence_line(ref_of(TRIAL), TRIAL)
    problems = examine(report, [{**line, "text": TRIAL.text.replace("reduced", "doubled")}]).faults()
    assert any("claim s1.1: not in the text of pmid:1" in p for p in problems)
    assert any("cites pmid:2, which is not among the evidence" in p for p in problems)
    assert any(
        "rests on pmid:1, which is retracted" in p
        for p in examine(report, [{**line, "standing": "retracted"}]).faults()
    )


def test_the_works_say_what_was_read_in_full() -> None:
    whole = TRIAL.replace(full_text=True)
    report = build_report(FULL, {**DOCUMENTS, TRIAL.evidence_id: whole})
    assert [reference.evidence_id for reference in report.references if reference.full_text] == [
        TRIAL.evidence_id
    ]
    assert "Read in full: 1." in render(report.replace(length="full"), "md").decode()


def test_references_are_numbered_by_first_appearance_listed_once_and_only_when_cited() -> None:
    report = built(
        publish_input(
            planned("s1", quoting("A registry found increased mortality.", ("pmid:2", INCREASED))),
            planned(
                "s2",
                quoting("Metformin changed mortality.", ("pmid:2", INCREASED), ("pmid:1", REDUCED)),
                quoting("Nothing was cited.", ("pmid:3", "Metformin abolished all mortality in every")),
            ),
        )
    )
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
    search = SearchRecord(source="library", query="a", status="ok", hits=40, kept=10)
    report = built(publish_input(searches=(search,), counts=PrismaCounts(identified=10, screened=10)))
    assert report.unanswered
    assert (report.unanswered.code, report.unanswered.number("items")) == ("no_item_answers", 10)
    search = SearchRecord(source="library", query="a", status="ok", hits=4, kept=4, set_aside=6)
    other = SearchRecord(source="pubmed", query="a", status="ok", hits=4, kept=4, set_aside=1)
    report = built(publish_input(searches=(search, search, search, other)))
    assert [s.number("records") for s in stated(report, "records_unreadable")] == [7]


@given(
    st.lists(
        st.tuples(SAFE_TEXT, st.sampled_from(["pmid:1", "pmid:2", "pmid:3", "x"]), SAFE_TEXT), max_size=6
    )
)
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
    said = "Basis of the answer: 2 independent works that answer the question, 1 of them directly."
    assert said in words_of(report, "md")
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
