"""What the page shows of a run: escaped, bounded, the latest text of a draft, quotes in their place."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from activities.contracts.candidates import Candidate
from activities.contracts.evidence import Evidence, ReportPlan, ReportPlanSection, Usage
from activities.contracts.step import Reading
from activities.report.assemble import build_report
from activities.report.formats import render
from activities.settings import Settings
from client.listing import Row
from client.reports.answer import cited_of
from client.run import RunStatus
from client.web.frame import MAX_CHARS, STATIC, Frame, drafts_of, parts_of, render_template, report_body
from client.web.home import Home, word_of
from client.web.reading import MAX_TURNS, Talking
from client.web.running import LINES, Live, phase_line, steps_of
from client.web.server import file_of
from tests.activities.report.rendered import page_of
from tests.activities.report.wide import RICH
from tests.activities.report.written import PASSAGES, STEP, WORKS
from tests.client.seen import progress
from workflows.amounts import Limits
from workflows.event_types import AgentEvent
from workflows.types import BudgetStatus, PlanView, Progress, SectionProgress

if TYPE_CHECKING:
    from client.run import Run

ATTACK = '<script>alert(1)</script><img src=x onerror="alert(2)">'


def event(seq: int, kind: str = "gap", message: str = "text", **data: object) -> AgentEvent:
    return AgentEvent.model_validate(
        {"seq": seq, "type": kind, "message": message, "data": data, "timestamp": "2026-01-01T10:00:00+00:00"}
    )


async def shown(seen: Progress, *events: AgentEvent) -> str:
    """A run that goes on, as the page shows it."""
    return await Live(cast("Run", Told(seen, events))).look()


class Told:
    """A run of which this is told, and no more."""

    id = "ask-x"
    link = None

    def __init__(self, seen: Progress, events: tuple[AgentEvent, ...]) -> None:
        self._seen = seen
        self._events = events

    async def status(self) -> RunStatus:
        row = Row("ask-x", "running", self._seen.question, "deep", "", "", datetime.now(UTC), None)
        return RunStatus(row, self._seen, None)

    async def events(self, after: int, *, follow: bool) -> AsyncIterator[AgentEvent]:
        assert not follow
        for event in self._events[after:]:
            yield event

    async def plan(self) -> PlanView:
        outline = (ReportPlanSection(id=ATTACK, title=ATTACK, key_question=ATTACK),)
        return PlanView(plan=ReportPlan(report_title=ATTACK, report_outline=outline))


async def test_no_text_of_a_run_becomes_markup() -> None:
    section = SectionProgress(id="s1", title=ATTACK, status="running")
    events = [event(1, message=ATTACK), event(2, "streaming", text=ATTACK, section_id="s1", paragraph=1)]
    failed = event(3, "error", ATTACK, category="auth")
    pages = []
    for gate in ("clarification", "plan", "candidates", None):
        seen = progress(
            question=ATTACK,
            message=ATTACK,
            sections=(section,),
            last_seq=3,
            waiting_for=gate,
            readings=(Reading(question=ATTACK, assumed=ATTACK),),
            candidates=(Candidate(name=ATTACK, mechanism=ATTACK),),
        )
        pages.append(await shown(seen, *events, failed))
    item = Evidence(evidence_id=ATTACK, source="library", title=ATTACK, text=ATTACK * 3)
    row = Row(ATTACK, "running", ATTACK, "deep", ATTACK, "", datetime.now(UTC), None)
    pages += [
        render_template("runs", days=[(ATTACK, [row])], q=ATTACK, at="", word=word_of),
        render_template("answer", text=ATTACK, lines=[(ATTACK, ["1"])], cited=[], note=ATTACK, run_id=ATTACK),
        render_template("disputed", sentence=ATTACK, lines=[ATTACK], open=True, run_id=ATTACK),
        render_template("said", text=ATTACK, wrong=True),
        render_template(
            "source",
            item=item,
            quote=ATTACK,
            parts=parts_of(item.text, ATTACK)[0],
            marked=True,
            link=None,
            run_id=ATTACK,
            sentence=ATTACK,
        ),
    ]
    for page in pages:
        assert ATTACK[:9] not in page
        assert "<img" not in page


def test_the_latest_text_of_a_paragraph_counts() -> None:
    events = [
        event(1, "streaming", text="first", section_id="s1", paragraph=1),
        event(2, "streaming", text="second", section_id="s1", paragraph=2),
        event(3, "streaming", text="better", section_id="s1", paragraph=1, replaces=True),
        event(4, "streaming", text="", section_id="s1", paragraph=2, replaces=True),
    ]
    assert drafts_of(events, {"s1": "Findings"}) == [("Findings", ["better"])]


async def test_steps_are_told_in_order_and_a_long_one_is_bounded() -> None:
    searched = {"source": "pubmed", "query": "metformin", "status": "ok", "new": 7}
    events = [
        event(1, "reading", "reading the question"),
        event(2, "search_complete", "pubmed: ok", **searched),
        event(3, "search_complete", "europepmc: ok", **{**searched, "source": "europepmc", "new": 2}),
        event(4, "judge_complete", "judged", works=9, relevant=4),
        *(event(n, "gap", f"gap {n}.") for n in range(5, 500)),
    ]
    notes = {step.name: step.note for step in steps_of(events, {})}
    assert [*notes] == ["Read the question", "Searched", "Judged", "Looked for what is missing"]
    assert notes["Searched"] == "2 searches in pubmed, europepmc: 9 new works"
    assert notes["Judged"] == "9 works, 4 of them answer"
    page = await shown(progress(last_seq=499), *events)
    assert page.count("gap: gap ") == LINES
    assert "gap 499." in page


async def test_a_gate_is_said_once() -> None:
    now = progress(phase="waiting_for_approval", message="the plan waits for approval", waiting_for="plan")
    assert phase_line(now) == "The plan waits for approval"
    assert phase_line(progress(phase="searching", message="2 searches")) == "Searching: 2 searches"


async def test_tokens_cost_and_time_are_one_quiet_line() -> None:
    used = Usage(calls=1, input_tokens=400, output_tokens=100, cost_microusd=12_300)
    budget = BudgetStatus(limits=Limits(max_tokens=1000), used=used, elapsed_seconds=65.0)
    assert "12 works · 500 of 1,000 tokens · $0.0123 · 1:05" in await shown(
        progress(evidence=12, budget=budget)
    )


def test_an_answer_cites_by_the_numbers_of_its_report() -> None:
    own = build_report(STEP, WORKS)
    cited = own.references[-1]
    other = cited.model_copy(update={"evidence_id": "doc:other", "number": 2, "title": "Another work"})
    answer = own.model_copy(update={"references": (cited.model_copy(update={"number": 1}), other)})
    assert [mark.mark for mark in cited_of(answer, own)] == [str(cited.number), "a"]


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


def test_each_citation_of_the_report_leads_to_its_quote() -> None:
    for step in (PASSAGES, STEP):
        page = page_of(str(report_body(build_report(step, WORKS), "/run/ask-1")))
        links = page.xpath("//a[@class='cite']")
        assert links
        assert all(link.get("href").startswith("/run/ask-1/source/pmid%3A1") for link in links)
        assert not page.xpath("//script | //details[@class='cite']")


def test_the_page_styles_nothing_of_a_report_but_what_it_means_to() -> None:
    """`.source` once made a fixed panel of each name of a source, over the whole page."""
    rules = re.sub(r"/\*.*?\*/", "", (STATIC.parent / "page.css").read_text(), flags=re.DOTALL)
    styled = set(re.findall(r"\.([a-z][\w-]*)", re.sub(r"\{[^{}]*\}", "{}", rules)))
    report = page_of(render(RICH, "html").decode())
    classes = {name for element in report.xpath("//*[@class]") for name in element.get("class").split()}
    assert styled & classes == {"claim", "contents", "frame", "references"}


def test_the_scripts_of_page_and_report_share_no_name() -> None:
    """They are one file on the page, where a name that is declared twice stops all of it."""
    code = file_of("script.js")[0].decode()
    names = re.findall(r"^(?:const|let|function|class) (\w+)", code, re.MULTILINE)
    assert names
    assert sorted(names) == sorted(set(names))


def talking(home: Path) -> Talking:
    """As a process of the page has it that was just started."""
    frame = SimpleNamespace(settings=Settings(home=home))
    return Talking(cast(Frame, frame), cast(Home, None))


def test_a_conversation_survives_the_process_and_is_its_users_own(home: Path) -> None:
    talking(home).keep("ada", "ask-1", "<p>first</p>")
    talking(home).keep("ada", "ask-1", "<p>\u00fcber</p>")
    assert talking(home).conversation("ada", "ask-1") == ["<p>first</p>", "<p>\u00fcber</p>"]
    assert talking(home).conversation("bob", "ask-1") == []
    for number in range(MAX_TURNS):
        talking(home).keep("ada", "ask-1", str(number))
    assert talking(home).conversation("ada", "ask-1") == [str(number) for number in range(MAX_TURNS)]
    (file,) = (home / "state" / "talks").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    file.write_text("[")
    assert talking(home).conversation("ada", "ask-1") == []
