"""What a report without an answer gives instead: what nothing mentions, and the nearest passages."""

from io import StringIO

import pytest
from rich.console import Console

from activities.drafts import NearWork
from activities.evidence_store import make_ref
from activities.extractive.nearest import names_not_mentioned, nearest
from activities.report.assemble import build_report
from activities.report.audit import examine
from activities.report.formats.model import NEAR_NOTE
from activities.report.formats.names import STANDINGS
from activities.report.near import READ, near_passages, near_refs
from activities.report.schema import NearPassage, Report
from activities.types import Evidence
from activities.verification.quote_check import QuoteChecker
from client.reports.answer import answer_of
from client.runs.answer_panel import answer_parts
from tests.activities.cases import planned, publish_input
from tests.activities.report.rendered import EVERY_FORMAT, words_of

LOST = "Did an iceberg wreck the sailing vessels beneath the rocks?"
DIARY = Evidence(
    evidence_id="x:1",
    source="library",
    title="Diary of a keeper",
    text="The lamp was lit at six. Fog hid the rocks, and two schooners ran aground. Supplies came by boat.",
)
STRANGER = Evidence(
    evidence_id="x:2",
    source="library",
    title="Lectures on video",
    text="Attendance of lectures did not change after they were put on video.",
)


def refusal(question: str, *works: Evidence) -> Report:
    """The report of a run that found these works, none of which answers."""
    section = planned("s1")
    draft = section.draft.model_copy(
        update={"nearest": nearest(question, works), "not_mentioned": names_not_mentioned(question, works)}
    )
    refs = tuple(make_ref(one, "b") for one in works)
    step = publish_input(section.model_copy(update={"draft": draft}), question=question, evidence=refs)
    return build_report(step, {work.evidence_id: work for work in works})


def lines(*works: Evidence) -> list[dict[str, object]]:
    return [{"evidence_id": work.evidence_id, "text": work.text} for work in works]


def test_a_report_without_an_answer_names_what_no_work_mentions() -> None:
    report = refusal(LOST, DIARY, STRANGER)
    assert report.not_mentioned == ("iceberg",)
    assert "none mentions \u201ciceberg\u201d" in report.executive_summary
    assert "none mentions \u201ciceberg\u201d" in answer_of(report).bottom_line


def test_the_only_item_found_is_no_plural() -> None:
    assert "the only item found does not answer it, and it does not mention" in (
        refusal(LOST, DIARY).executive_summary
    )


def test_a_report_without_an_answer_quotes_the_nearest_passages() -> None:
    """The reader may find the answer there that the words of the question do not prove."""
    report = refusal(LOST, DIARY, STRANGER)
    (passage,) = report.near
    assert passage.quote == "Fog hid the rocks, and two schooners ran aground."
    assert (passage.work.evidence_id, passage.work.number) == (DIARY.evidence_id, 0)
    assert report.references == ()
    assert report.confidence == 0
    (context,) = report.contexts
    assert (context.before, context.quote) == ("The lamp was lit at six. ", passage.quote)


@pytest.mark.parametrize("form", EVERY_FORMAT)
def test_each_format_marks_the_nearest_passages_as_no_answer(form: str) -> None:
    """Each has the note, the work and the sentence."""
    text = words_of(refusal(LOST, DIARY, STRANGER), form)
    for said in (NEAR_NOTE, DIARY.title, "two schooners ran aground"):
        assert said in text


def test_a_near_passage_under_an_expression_of_concern_says_so() -> None:
    doubted = DIARY.model_copy(update={"standing": "concern"})
    assert STANDINGS["concern"] in words_of(refusal(LOST, doubted, STRANGER), "md")
    assert STANDINGS["concern"] not in words_of(refusal(LOST, DIARY, STRANGER), "md")


def test_the_terminal_says_a_refusal_in_two_lines() -> None:
    console = Console(width=400, record=True, file=StringIO())
    for part in answer_parts(refusal(LOST, DIARY, STRANGER), "no_new_evidence", None, bulleted=False):
        console.print(part)
    first, second, *rest = console.export_text().splitlines()
    assert first.startswith("Answer: No claim could be supported: none of the 2 items found answers it")
    assert second == (
        "Near, not judged to answer: \u201cFog hid the rocks, and two schooners ran aground.\u201d "
        "(Diary of a keeper)"
    )
    assert not any("Confidence" in line or "rocks" in line for line in rest)


def test_verification_holds_for_the_nearest_passages() -> None:
    report = refusal(LOST, DIARY, STRANGER)
    found = examine(report, lines(DIARY, STRANGER))
    assert found.holds
    assert [bearer.kind for bearer in found.bearers] == ["near"]


def test_a_near_passage_that_is_not_in_its_work_is_found_out() -> None:
    report = refusal(LOST, DIARY, STRANGER)
    (passage,) = report.near
    forged = passage.model_copy(update={"quote": "Fog hid the rocks, and three schooners ran aground."})
    assert not examine(report.model_copy(update={"near": (forged,)}), lines(DIARY)).holds
    assert not examine(report, lines(STRANGER)).holds


def test_what_is_retracted_or_not_word_for_word_is_no_near_passage() -> None:
    (near,) = nearest(LOST, [DIARY])
    checker = QuoteChecker({DIARY.evidence_id: DIARY})
    section = planned("s1")

    def passages(work: NearWork) -> tuple[NearPassage, ...]:
        draft = section.draft.model_copy(update={"nearest": (work,)})
        given = section.model_copy(update={"draft": draft})
        return near_passages([given], {DIARY.evidence_id: DIARY}, checker)

    assert [passage.quote for passage in passages(near)] == [near.said]
    assert passages(near.model_copy(update={"said": "Fog hid the rocks, and no schooner ran aground."})) == ()


def test_of_many_works_that_come_near_the_first_are_read() -> None:
    works = [DIARY.model_copy(update={"evidence_id": f"x:{number}"}) for number in range(9)]
    near = tuple(NearWork(evidence_id=work.evidence_id, title=work.title) for work in works)
    sections = [
        planned(f"s{number}").model_copy(
            update={"draft": planned("s").draft.model_copy(update={"nearest": near[number : number + 3]})}
        )
        for number in range(7)
    ]
    step = publish_input(*sections, evidence=tuple(make_ref(work, "b") for work in works))
    assert [ref.evidence_id for ref in near_refs(step)] == [f"x:{number}" for number in range(READ)]
