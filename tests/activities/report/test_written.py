"""A report that a model wrote: what stands, what is refused, how well it was read."""

import csv
import io

from activities.contracts.evidence import (
    AbsentWord,
    CiteMark,
    Claim,
    SearchRecord,
    Statement,
    Support,
    Vigilance,
)
from activities.contracts.judge import PART as TABLE
from activities.contracts.write import DraftClaim, DraftParagraph, Edited, Passage
from activities.report.assemble import build_report
from activities.report.formats import render
from activities.report.formats.blocks import Cite, Mark
from activities.report.formats.limitations import gaps
from activities.report.formats.prose import plain_text
from activities.report.schema import Report
from tests.activities.cases import quoting, refused
from tests.activities.report.rendered import faults, page_of, words_of
from tests.activities.report.written import (
    DRAFT,
    FEWER,
    INFECTION,
    OPENING,
    PASSAGES,
    PNEUMONIA,
    STAY,
    STEP,
    WORKS,
    draft,
    edited,
    made,
    section,
    step,
)

REPORT = build_report(STEP, WORKS)


def refusals(report: Report, kind: str) -> list[tuple[str, str]]:
    return [(d.text, d.statement.code) for d in report.verification.dropped if d.kind == kind]


def test_a_written_report_passes_an_outsiders_check_and_one_with_a_changed_cell_does_not() -> None:
    assert faults(REPORT, WORKS) == []
    (row,) = (row for row in TABLE.of_report(REPORT).rows if row.cells)
    moved = row.replace(evidence_id="pmid:12")
    forged = REPORT.replace(table=TABLE.of_report(REPORT).replace(rows=(moved,)))
    assert any("has no sentence of that work" in problem for problem in faults(forged, WORKS))


def test_a_sentence_on_several_works_has_a_quote_of_each() -> None:
    first = REPORT.answer[0]
    quotes = [("pmid:11", INFECTION), ("pmid:12", PNEUMONIA)]
    assert (first.text, [(s.evidence_id, s.quote) for s in first.support]) == (FEWER, quotes)
    assert first.strength is None, "its works differ in strength"


def test_everything_that_was_refused_is_listed_with_its_reason() -> None:
    assert ("A claim that the writer lost.", "cites_nothing") in refusals(REPORT, "claim")
    assert ("Nobody died in 9,999 operations.", "number_missing") in refusals(REPORT, "claim")
    assert ("Only 777 patients had cancer.", "not_read") in refusals(REPORT, "claim")
    assert refusals(REPORT, "summary") == [("Infection fell by 55%.", "number_missing")]
    assert refusals(REPORT, "cell") == [("4% after laparoscopic surgery", "quote_not_in_text")]


def test_a_full_report_lists_what_was_refused_and_states_it_nowhere_else() -> None:
    full = REPORT.replace(length="full")
    shown = words_of(full)
    without = words_of(full.replace(verification=REPORT.verification.replace(dropped=())))
    assert "Text left out" in shown
    for dropped in REPORT.verification.dropped:
        start = " ".join(dropped.text.split()[:3])
        assert start in shown, dropped
        # the same words as a cell's are true of the other work
        assert dropped.kind == "cell" or start not in without, dropped


def test_a_report_has_answer_counts_limits_and_one_table_of_works() -> None:
    shown = words_of(REPORT)
    order = ("Answer", FEWER.rstrip("."), "Surgeons were not blinded.", "Studies", "What is not shown")
    assert [shown.index(text) for text in order] == sorted(shown.index(text) for text in order)
    for text in ("210 adults", "open appendectomy", "Only the abstract or a summary of each cited work was"):
        assert text in shown
    # a confidence is no number that nobody measured
    assert not [text for text in ("comparison group", "Judgements of works", "62") if text in shown]
    works = shown[shown.index("Finding") : shown.index("What is not shown")]
    assert "abstract" not in works, "what all cited works share is said once"
    why = Statement.of("confidence_of_judgements", works=3, direct=2, agreement=0.7, yes=2, no=1, mixed=0)
    counted = words_of(REPORT.replace(confidence_reasons=(why,)))
    said = "3 works that answer the question, 2 of them directly; 2 answer yes and 1 answers no."
    assert f"Basis of the answer: {said}" in counted


def test_each_cell_leads_to_its_sentence_in_the_page_and_in_the_spreadsheet() -> None:
    page = page_of(render(REPORT, "html"))
    (cell,) = page.xpath("//td/details[@class='read'][summary='210 adults']")
    assert OPENING in cell.text_content()
    rows = list(csv.DictReader(io.StringIO(render(REPORT, "csv").decode("utf-8-sig"))))
    (first,) = (row for row in rows if row["evidence_id"] == "pmid:11")
    assert (first["infection"], first["infection: sentence"]) == ("4% after laparoscopic surgery", INFECTION)
    assert [row["infection"] for row in rows if row["evidence_id"] == "pmid:12"] == [""]


def test_a_draft_that_lost_more_than_a_third_is_stated() -> None:
    assert "draft_lost" not in {s.code for s in REPORT.statements}
    bad = [refused(f"Nobody of {n} died.", ("pmid:11", STAY), number=f"{n}") for n in (881, 882, 883)]
    report = made(draft(*bad, quoting("Patients left a day earlier.", ("pmid:11", STAY))))
    (lost,) = [s for s in report.statements if s.code == "draft_lost"]
    assert (lost.number("lost"), lost.number("drafted")) == (3, 4)
    assert not {s.code for s in report.statements} & {"claims_refused", "wordings_replaced"}, "said once"


def test_the_editor_removes_repetition_and_never_the_last_claim() -> None:
    same = quoting("The patients went home one day earlier.", ("pmid:11", STAY))
    once = quoting("Patients left a day earlier.", ("pmid:11", STAY))
    edited = Edited(repeated=(("s1.1", "s2.1"), ("s2.1", "s1.1")))
    report = made(draft(once), draft(same), edited=edited)
    assert [claim.id for claim in report.claims()] == ["s2.1"]
    (removed,) = [d for d in report.verification.dropped if d.statement.code == "repeats_claim"]
    assert removed.section == "s1"


def test_in_place_of_a_sentence_of_the_editor_that_falls_its_claims_are_printed() -> None:
    gone = edited("a1", "Nobody died.", "s1.9")
    fallen = edited("a2", "Infection is cured.", "s1.1", "s1.2", state="refused")
    open_still = edited("a3", "Infection is rarer.", "s1.1", state="ask")
    report = build_report(step(edited=Edited(answer=(gone, fallen, open_still))), WORKS)
    assert ("Nobody died.", "rests_on_dropped") in refusals(report, "summary")
    assert ("Infection is rarer.", "not_read") in refusals(report, "summary")
    assert [(claim.id, claim.text) for claim in report.answer] == [
        ("s1.1", "Wound infection fell from 11% to 4%."),
        ("s1.2", "Patients left a day earlier."),
    ]


def test_a_sentence_of_the_editor_that_falls_among_others_leaves_no_claim_out_of_its_place() -> None:
    rarer = edited("a1", "Infection was rarer.", "s1.1")
    fallen = edited("a2", "Infection is cured.", "s1.2", state="refused")
    report = build_report(step(edited=Edited(answer=(rarer, fallen))), WORKS)
    assert [claim.id for claim in report.answer] == ["a1"]
    assert ("Infection is cured.", "not_read") in refusals(report, "summary")


def test_each_section_has_a_sentence_in_the_answer_of_the_report() -> None:
    left = quoting("Patients left a day earlier.", ("pmid:11", STAY))
    rarer = quoting("Pneumonia was rarer.", ("pmid:12", PNEUMONIA))
    answer = (edited("a1", "Patients left a day earlier.", "s1.a1"),)
    drafts = (draft(claim, answer=(claim,)) for claim in (left, rarer))
    report = made(*drafts, edited=Edited(answer=answer))
    assert [(claim.id, claim.text, claim.rests_on) for claim in report.answer] == [
        ("a1", "Patients left a day earlier.", ("s1.a1",)),
        ("s2.a1", "Pneumonia was rarer.", ()),
    ]


def test_an_answer_whose_first_sentence_fell_says_so_before_the_rest() -> None:
    first = quoting("Nobody compared them.", kind="inference", state="ask")
    rest = quoting("It was a day shorter.", ("pmid:11", STAY))
    for answer, left in (((first, rest), ["It was a day shorter."]), ((first,), [])):
        report = made(draft(answer=answer, paragraphs=DRAFT.paragraphs))
        told, *others = report.answer
        assert [claim.text for claim in others] == left
        assert (told.kind, told.support) == ("inference", ())
        assert "could not be confirmed" in told.text
        assert told.text.rstrip(".") in words_of(report)
        assert faults(report, WORKS) == []


def test_without_a_model_the_report_says_first_that_nobody_has_read_this() -> None:
    report = build_report(PASSAGES, WORKS)
    assert (report.confidence, report.answer) == (None, ())
    (claim,) = report.claims()
    assert (claim.text, claim.support[0].quote, claim.strength) == (INFECTION, INFECTION, None)
    (passage,) = report.sections[0].passages
    assert (passage.number, passage.before) == (1, OPENING)
    assert faults(report, WORKS) == []


def test_without_a_model_passages_stand_below_the_words_that_occur_nowhere() -> None:
    shown = words_of(build_report(PASSAGES, WORKS))
    absent = "\u201ckeyhole\u201d and \u201cappendix\u201d do not occur in any document searched (3)."
    order = (absent, "No language model has read this.", "Wound infection occurred")
    assert [shown.index(text) for text in order] == sorted(shown.index(text) for text in order)
    assert "that does occur: appendectomy." in shown
    assert "randomized trial" in shown
    for judging in ("strong", "Answer", " for, ", "against it"):
        assert judging not in shown


def test_without_a_model_a_name_that_occurs_nowhere_leaves_the_question_open() -> None:
    report = build_report(PASSAGES, WORKS)
    assert report.unanswered == Statement.of("name_absent", word="keyhole", documents=3)
    assert report.executive_summary.startswith("\u201ckeyhole\u201d and \u201cappendix\u201d do not occur")
    assert INFECTION.rstrip(".") in report.executive_summary
    folder = SearchRecord(source="library", query="q", status="ok", documents=12)
    assert build_report(PASSAGES.replace(searches=(folder,)), WORKS).unanswered is None, "the folder has it"
    absent = PASSAGES.sections[0].draft.absent
    cut = folder.replace(query=PASSAGES.question, set_aside=1, absent=absent)
    step = PASSAGES.replace(searches=(cut,), question="Is keyhole surgery of the appendix safe?")
    report = build_report(step, WORKS)
    for text in (words_of(report), report.executive_summary):
        assert "in what was read of the documents searched (15)" in text
        assert "in any document" not in text


def test_without_a_model_a_section_whose_works_another_quotes_is_not_said_to_have_none() -> None:
    first = PASSAGES.sections[0].draft
    second = first.replace(title="Safety", passages=(), elsewhere=True)
    sections = (section("s1", first), section("s2", second))
    report = build_report(PASSAGES.replace(sections=sections), WORKS)
    assert report.sections[1].empty_because == Statement.of("section_stands_elsewhere")
    assert not any("Safety" in gap for gap in gaps(report))


def test_words_that_a_section_adds_to_its_search_are_not_said_to_be_absent() -> None:
    words = (AbsentWord(word="surgery"), AbsentWord(word="dispute"))
    folder = SearchRecord(source="library", query="q dispute", status="ok", documents=12, absent=words)
    drafts = (section("s1", PASSAGES.sections[0].draft.replace(absent=(), documents=0)),)
    report = build_report(PASSAGES.replace(searches=(folder,), sections=drafts), WORKS)
    (absent,) = [statement for statement in report.statements if statement.code == "words_absent"]
    assert absent.texts("words") == ("surgery",)


def test_an_ellipsis_stands_in_a_passage_where_something_is_left_out() -> None:
    def shown(*quotes: str) -> str:
        passages = (Passage(evidence_id="pmid:11", quotes=quotes),)
        draft = PASSAGES.sections[0].draft.replace(passages=passages)
        return words_of(build_report(PASSAGES.replace(sections=(section("s1", draft),)), WORKS))

    assert f"{INFECTION} {STAY}" in shown(INFECTION, STAY)
    assert f"{OPENING} \u2026 {STAY}" in shown(OPENING, STAY)


def test_without_a_near_passage_nothing_is_answered() -> None:
    far = PASSAGES.sections[0].draft.replace(passages=(), absent=())
    counts = PASSAGES.counts.replace(identified=12, duplicates=2, screened=0)
    step = PASSAGES.replace(sections=(section("s1", far),), counts=counts)
    report = build_report(step, WORKS)
    assert report.unanswered is not None
    assert report.unanswered.code == "nothing_near"
    assert report.methodology.counts.screened == 10, "code compares every work that was found"
    assert "close enough to the question (works found: 10)" in words_of(report)
    assert report.verification.verified == 0


READ = quoting("Infection was rarer.", ("pmid:11", INFECTION), stands_by="reader")
OPEN = quoting("The stay was shorter.", ("pmid:11", STAY), state="ask")


def test_sentences_of_a_script_without_blanks_have_none_between_them() -> None:
    texts = ("\u611f\u67d3\u51cf\u5c11\u3002", "\u4f4f\u9662\u65f6\u95f4\u7f29\u77ed\u3002")
    written = [
        quoting(text, ("pmid:11", quote), stands_by="reader")
        for text, quote in zip(texts, (INFECTION, STAY), strict=True)
    ]
    report = made(draft(*written))
    assert "".join(texts) in words_of(report).replace(" [1]", "")


def test_a_reader_that_does_not_answer_leaves_sentences_unread() -> None:
    report = made(draft(READ, OPEN))
    assert report.verification.unread == 1
    assert [claim.text for claim in report.claims()] == ["Infection was rarer.", STAY]
    assert Statement.of("unread", sentences=1) in report.statements
    assert not {"draft_lost", "wordings_replaced"} & {statement.code for statement in report.statements}
    for name in ("md", "html"):
        shown = words_of(report, name)
        assert ("Sentences left out: 1 not read by the second reader." in shown) is (name == "html")
        assert "Sentences that the second reader did not read, because it did not answer: 1." in shown


def test_the_report_adds_up_how_well_its_second_reader_read() -> None:
    calls = (Vigilance(planted=4, noticed=4, true=4), Vigilance(planted=8, noticed=7, true=4))
    report = made(*(draft(READ, vigilance=one) for one in calls))
    assert report.verification.vigilance == Vigilance(planted=12, noticed=11, true=8)
    text = "found 11 of 12 planted errors and wrongly refused 0 of 8 true sentences."
    assert text in words_of(report.replace(length="full"))
    assert text in words_of(report, "html")
    assert "planted" not in words_of(report), "a line that whoever passes it on would delete"


def test_what_is_not_confirmed_is_said_to_be_so() -> None:
    problem = Statement.of("not_confirmed", noticed=1, planted=4)
    doubted = OPEN.replace(state="refused", problem=problem)
    read = Vigilance(planted=4, noticed=1, true=4)
    report = made(draft(READ, doubted, vigilance=read))
    assert Statement.of("unconfirmed", sentences=1, missed=3, planted=4) in report.statements
    (dropped,) = (fallen for fallen in report.verification.dropped if fallen.statement == problem)
    assert dropped.reason == "it is not confirmed: its second reader found only 1 of 4 planted errors"


def test_a_colon_stands_before_the_table_that_it_introduces_and_stress_is_bold_print() -> None:
    rule = DraftClaim(text="We propose:", kind="inference", stands_by="reader")
    row = rule.shaped([("Point", "Target"), ("Rule", "No change")])
    alone = rule.replace(text="This is to do:")
    strong = rule.replace(text="Do not start it.", strong=True)
    blocks = tuple(DraftParagraph(claims=(claim,)) for claim in (rule, row, alone, strong))
    report = made(draft(paragraphs=blocks))
    for name, bold in (("md", b"**Do not start it.**"), ("html", b"<b>Do not start it.</b>")):
        text = words_of(report, name)
        assert "We propose:" in text
        assert "This is to do." in text
        assert bold in render(report, name)


def test_a_computed_figure_names_no_work_on_paper_that_its_writer_does_not_cite() -> None:
    works = [Support(evidence_id=f"w{n}", quote=f"It was {n} in this work alone.") for n in range(1, 5)]
    claim = Claim(id="s1.c1", text="Together it is 10.", kind="computed", support=tuple(works))
    numbers = {work.evidence_id: n for n, work in enumerate(works, 1)}
    assert plain_text(claim, numbers) == "Together it is 10."
    assert plain_text(claim.replace(support=tuple(works[:1])), numbers) == "Together it is 10."
    assert plain_text(claim.replace(kind="synthesis"), numbers) == "Together it is 10 [1, 2, 3, 4]."
    cited = claim.replace(marks=(CiteMark(at=17, works=tuple(work.evidence_id for work in works)),))
    assert plain_text(cited, numbers) == "Together it is 10 [1, 2, 3, 4]."
    assert Cite(tuple(Mark(n) for n in (1, 2)), hidden=True).text == ""
