"""What the page shows of a run: escaped, bounded, the latest text of a draft, quotes in their place."""

from datetime import UTC, datetime

from activities.contracts.evidence import Evidence, Usage
from activities.report.assemble import build_report
from client.listing import Row
from client.web.rendering import (
    EVENTS_SHOWN,
    MAX_CHARS,
    drafts_of,
    events_html,
    evidence_html,
    parts_of,
    progress_html,
    reading_html,
    rendered,
)
from tests.activities.report.rendered import page_of
from tests.activities.report.written import PASSAGES, STEP, WORKS
from tests.client.seen import progress
from workflows.event_types import AgentEvent
from workflows.types import BudgetStatus, Limits, SectionProgress

ATTACK = '<script>alert(1)</script><img src=x onerror="alert(2)">'


def event(seq: int, kind: str = "gap", message: str = "text", **data: object) -> AgentEvent:
    return AgentEvent.model_validate(
        {"seq": seq, "type": kind, "message": message, "data": data, "timestamp": "2026-01-01T10:00:00+00:00"}
    )


def test_no_text_of_a_run_becomes_markup() -> None:
    section = SectionProgress(id="s1", title=ATTACK, status="running")
    seen = progress(question=ATTACK, message=ATTACK, sections=(section,))
    events = [event(1, message=ATTACK), event(2, "streaming", text=ATTACK, section_id="s1", paragraph=1)]
    page = progress_html(seen, events) + events_html(seen, events)
    assert "<script" not in page
    assert "<img" not in page
    item = Evidence(evidence_id="x", source="library", title=ATTACK, text=ATTACK * 3)
    row = Row("ask-x", "running", ATTACK, "deep", ATTACK, "", datetime.now(UTC), None)
    for shown in (
        evidence_html(item, ATTACK, None),
        rendered("runs", rows=[row]),
        rendered("report", run_id=ATTACK, at=ATTACK, charts=[ATTACK], aloud=True, formats=[]),
    ):
        assert "<script" not in shown
        assert "<img" not in shown


def test_the_latest_text_of_a_paragraph_counts() -> None:
    events = [
        event(1, "streaming", text="first", section_id="s1", paragraph=1),
        event(2, "streaming", text="second", section_id="s1", paragraph=2),
        event(3, "streaming", text="better", section_id="s1", paragraph=1, replaces=True),
        event(4, "streaming", text="", section_id="s1", paragraph=2, replaces=True),
    ]
    assert drafts_of(events, {"s1": "Findings"}) == [("Findings", ["better"])]


def test_a_long_log_is_bounded_and_budgets_are_bars() -> None:
    used = Usage(calls=1, input_tokens=400, output_tokens=100)
    seen = progress(last_seq=5000, budget=BudgetStatus(limits=Limits(max_tokens=1000), used=used))
    events = [event(n, message=f"event {n}.") for n in range(1, 5001)]
    page = events_html(seen, events)
    assert page.count("<li>") == EVENTS_SHOWN
    assert "event 5000." in page
    assert '<progress aria-label="tokens" max="1000" value="500">' in progress_html(seen, events)


def test_a_quote_is_marked_in_its_place() -> None:
    text = "Before it.  The quoted \n sentence stands here. After it."
    parts, found = parts_of(text, "The quoted sentence stands here.")
    assert found
    assert [piece for piece, is_quote in parts if is_quote] == ["The quoted sentence stands here."]
    assert parts_of(text, "It is not there at all, this one.") == ([(text, False)], False)
    long = "x" * (2 * MAX_CHARS) + " The quoted sentence stands here."
    parts, found = parts_of(long, "The quoted sentence stands here.")
    assert found
    assert sum(len(piece) for piece, _ in parts) <= MAX_CHARS + 100


def test_each_citation_of_the_report_for_reading_opens_its_quote_beside_it() -> None:
    for step in (PASSAGES, STEP):
        report = build_report(step, WORKS)
        page = page_of(reading_html(report, "ask-1"))
        links = page.xpath("//a[@class='cite']")
        assert links
        assert all(link.get("href").startswith("/runs/ask-1/evidence/pmid%3A1") for link in links)
        assert not page.xpath("//script | //details[@class='cite']")
