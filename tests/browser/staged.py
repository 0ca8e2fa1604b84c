"""The page over a run that is played: as many events a second as a test wants, and a report of 200 works.

What the page itself does is real: its server, its routes, the evidence store and the report.
"""

import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import cast

import uvicorn

from activities.contracts.evidence import (
    Evidence,
    EvidenceRef,
    Identifiers,
    ReportPlan,
    ReportPlanSection,
    SearchRecord,
    Usage,
)
from activities.contracts.publish import PlannedSection
from activities.evidence_store import EvidenceStore
from activities.report.archive import Version
from activities.report.assemble import build_report
from activities.settings import Settings
from client.api import Determinator
from client.embedded.binary import free_port
from client.listing import Listing, Row
from client.messages import Verb
from client.reports.load import RunReport
from client.run import RunStatus
from client.sign_in.signing_in import SignIn
from client.web.server import build_app
from tests.activities.cases import planned, publish_input, quoting
from workflows.amounts import Limits
from workflows.event_types import AgentEvent
from workflows.messages import Message
from workflows.types import BudgetStatus, PlanView, Progress, SectionProgress

TOKEN = "t" * 64
RUN = "ask-does-metformin-lower-mortality-0a1b2c3d"
QUESTION = "Does metformin lower mortality?"
WORKS = 200
SECTIONS = 12
CLAIMS_A_SECTION = 20


def works() -> list[Evidence]:
    """Documents with one quotable sentence each."""
    return [
        Evidence(
            evidence_id=f"pmid:{number}",
            source="pubmed",
            title=f"Metformin in cohort {number}: a follow-up of older adults",
            text=f"Background. In cohort {number} metformin lowered mortality in older adults. " * 12,
            authors=("Doe JA", "Roe B"),
            year=2000 + number % 25,
            identifiers=Identifiers(pmid=str(number)),
            standing="none",
        )
        for number in range(1, WORKS + 1)
    ]


def section(number: int) -> PlannedSection:
    """A section that cites works of its own."""
    first = number * CLAIMS_A_SECTION
    names = [1 + (first + place) % WORKS for place in range(CLAIMS_A_SECTION)]
    claims = (
        quoting(
            f"Metformin lowered mortality in cohort {name}.",
            (f"pmid:{name}", f"In cohort {name} metformin lowered mortality in older adults."),
        )
        for name in names
    )
    return planned(f"s{number}", *claims, title=f"Cohorts from {first + 1} on")


@cache
def report() -> RunReport:
    """A report that cites every work."""
    documents = {item.evidence_id: item for item in works()}
    step = publish_input(*map(section, range(SECTIONS)), run_id=RUN, question=QUESTION)
    built = build_report(step, documents)
    assert len(built.references) == WORKS
    return RunReport.of(built)


class StagedRun:
    """A run that goes on until it is finished."""

    link = f"http://127.0.0.1:1/namespaces/default/workflows/{RUN}"
    id = RUN

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.began = time.monotonic()
        self.events_a_second = 0.0
        self.gate = False
        self.user = ""
        self.over = False
        self.commands = 0
        self._report = report()

    async def row(self) -> Row:
        status = "completed" if self.over else "running"
        return Row(RUN, status, QUESTION, "deep", "searching", "", datetime.now(UTC), None, self.user)

    async def progress(self) -> Progress:
        return Progress(
            run_id=RUN,
            question=QUESTION,
            mode="deep",
            profile="drug_repurposing",
            phase="searching",
            iteration=2,
            max_iterations=5,
            evidence=WORKS,
            searches=tuple(
                SearchRecord(source="pubmed", query=f"metformin cohort {n}", status="ok", hits=20, kept=9)
                for n in range(20)
            ),
            searches_total=60,
            sections=tuple(
                SectionProgress(id=f"s{n}", title=f"Cohorts {n}", status="running", evidence=self._events())
                for n in range(SECTIONS)
            ),
            budget=BudgetStatus(
                limits=Limits(max_tokens=10_000_000),
                used=Usage(input_tokens=self._events()),
                elapsed_seconds=time.monotonic() - self.began,
            ),
            waiting_for="plan" if self.gate else None,
            stop_reason="sufficient_evidence" if self.over else None,
            last_seq=self._events(),
        )

    async def status(self) -> RunStatus:
        return RunStatus(await self.row(), await self.progress(), None)

    async def events(self, after: int = 0, *, follow: bool = True) -> AsyncIterator[AgentEvent]:
        """Each second event is a paragraph that is being written."""
        assert not follow
        for seq in range(after + 1, self._events() + 1):
            name = f"s{seq % SECTIONS}"
            streams = seq % 2 == 0
            text = f"Sentence {seq} of a paragraph that a model is writing. " * 8
            yield AgentEvent(
                seq=seq,
                type="streaming" if streams else "gap",
                message=f"event {seq}",
                section=name,
                data={"text": text, "section_id": name, "paragraph": 1} if streams else {},
                timestamp="2026-01-01T10:00:00+00:00",
            )

    async def plan(self) -> PlanView:
        outline = (ReportPlanSection(id="s1", title="Cohorts", key_question="What of cohorts?"),)
        return PlanView(plan=ReportPlan(report_title=QUESTION, report_outline=outline))

    async def draft(self) -> RunReport:
        return self._report

    async def versions(self) -> tuple[Version, ...]:
        return ()

    async def evidence_refs(self) -> tuple[EvidenceRef, ...]:
        store = EvidenceStore.at(self.settings.evidence_url)
        return tuple([await store.put(item) for item in works()])

    async def deliver(self, verb: Verb, content: Message | None, by: str | None = None) -> None:
        """Count the commands; `finish` ends the run."""
        self.commands += 1
        self.over = self.over or verb.name == "finish"

    def _events(self) -> int:
        return int((time.monotonic() - self.began) * self.events_a_second)


class StagedClient:
    """The client of a page with this one run."""

    address = None

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.staged = StagedRun(settings)

    async def run(self, _name: str) -> StagedRun:
        return self.staged

    async def runs(self, _given: Listing, _user: str | None = None) -> list[Row]:
        return [await self.staged.row()]


class Stage:
    """A served page with its run."""

    def __init__(self, run: StagedRun, port: int) -> None:
        self.run = run
        self.form = f"http://127.0.0.1:{port}/?token={TOKEN}"
        self.address = f"http://127.0.0.1:{port}/run/{RUN}?token={TOKEN}"


@contextmanager
def staged(home: Path) -> Iterator[Stage]:
    """Serve the page from a thread of this process."""
    client = StagedClient(Settings(home=home))
    app = build_app(cast("Determinator", client), SignIn(token=TOKEN))
    port = free_port()
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    try:
        yield Stage(client.staged, port)
    finally:
        server.should_exit = True
        thread.join(30)
