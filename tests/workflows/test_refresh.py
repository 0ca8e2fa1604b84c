"""Refreshing finished reports: searches repeated as a workflow, on a schedule, and at the same moment.

The month of the weekly schedule is skipped on the real server: a schedule is a workflow of the server with a
clock of its own, which is put forward a week at a time.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleDescription,
    ScheduleIntervalSpec,
    ScheduleSpec,
)
from temporalio.testing import TimeSkipper

from activities.contracts.errors import Refused
from activities.contracts.evidence import (
    Evidence,
    Identifiers,
    Query,
    SearchRecord,
    SourceInfo,
    StandingNotice,
)
from activities.contracts.revise import Instruction, Revised
from activities.evidence_store import EvidenceStore
from activities.publish_activity import PublishActivities
from activities.refresh_activity import RefreshActivities, RefreshOutcome, RefreshRequest
from activities.report.archive import Archive, NewWork, load_latest
from activities.report.schema import Report
from activities.report.versions import refresh
from activities.revision_activity import RevisionActivities, RevisionFindings
from activities.search_activity import SearchActivities
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.http.client import open_http
from activities.sources.standing_lookup import StandingLookup, StandingVerdict
from client.runs.refreshing import WORKFLOW, known_items, start_refresh
from tests.activities.cases import DOCUMENTS, FULL, REGISTRY, TRIAL
from tests.client.shelf import crossref, nobody_knows
from tests.replay import ReplayServer
from tests.workflows.conftest import a_worker, until
from tests.workflows.fakes import Fakes
from tests.workflows.histories import record
from tests.workflows.script import MODEL
from workflows.refresh import why_missing

WEEK = timedelta(days=7)
SCHEDULER = "temporal-sys-scheduler:"
"""What the id of a schedule's own workflow begins with."""
RETRACTED = crossref(TRIAL.identifiers.doi or "", "retraction", "10.1016/notice.1", "2026-03-01")
SEARCHES = (
    SearchRecord(source="alpha", query="as sent", asked="metformin mortality", status="ok"),
    SearchRecord(source="alpha", query="metformin mortality", status="ok"),
    SearchRecord(source="gone", query="metformin", status="ok"),
)


def a_work(name: str) -> Evidence:
    return Evidence(
        evidence_id=f"doi:10.1/{name}",
        source="alpha",
        title=f"A later trial of metformin, number {name}",
        text="Metformin was studied once more in a later trial of many people.",
        year=2026,
        identifiers=Identifiers(doi=f"10.1/{name}"),
    )


class Papers:
    """A source with a shelf of works, on which more may be put."""

    def __init__(self, *works: Evidence) -> None:
        self.info = SourceInfo(name="alpha", title="Alpha", covers="papers")
        self.works = list(works)
        self.asked: list[str] = []
        self.closed = False

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        self.asked.append(query.text)
        if self.closed:
            raise Refused("alpha is closed")
        yield Exchange(records=tuple(self.works), hits=len(self.works), sent=query.text)


@dataclass
class RefreshCase:
    """A finished report, a worker that can refresh it, and what it searches and asks."""

    client: Client
    archive: Archive
    first: Report
    papers: Papers
    queue: str
    authorities: ReplayServer
    fakes: Fakes
    settings: Settings

    async def request(self, **more: object) -> RefreshRequest:
        known = [await self.archive.store.put(item) for item in DOCUMENTS.values()]
        blob = await known_items(self.archive.store, known)
        return RefreshRequest.model_validate({"run_id": self.first.run_id, "known_blob": blob, **more})

    async def refresh(self, request: RefreshRequest) -> RefreshOutcome:
        handle = await start_refresh(self.client, request, self.queue)
        outcome = await handle.result()
        await record(self.client, [handle])
        return outcome

    def retract(self) -> None:
        self.authorities.on("/works/*", RETRACTED)


@asynccontextmanager
async def a_refresh_case(client: Client, folder: Path) -> AsyncIterator[RefreshCase]:
    run_id, queue = f"ask-{uuid4().hex[:8]}", f"refresh-{uuid4().hex[:8]}"
    settings = Settings(home=folder, email="a@b.example")
    store = EvidenceStore.at(settings.evidence_url)
    refs = [await store.put(item) for item in DOCUMENTS.values()]
    step = FULL.model_copy(update={"run_id": run_id, "evidence": tuple(refs), "searches": SEARCHES})
    published = await PublishActivities(store).publish(step)
    first = Report.model_validate_json(await store.get_bytes(published.blob))
    papers = Papers(TRIAL.model_copy(update={"source": "alpha"}), REGISTRY)
    with ReplayServer() as server:
        nobody_knows(server)
        addresses = {name: {"url": server.url} for name in ("pubmed", "crossref", "europepmc")}
        settings = Settings(home=folder, sources=addresses)
        async with open_http(settings) as http:
            standing = StandingLookup(http, settings)
            refreshing = RefreshActivities(settings, {"alpha": papers}, standing)
            revising = RevisionActivities(settings, {"alpha": papers})
            searching = SearchActivities({"alpha": papers}, store)
            fakes = Fakes(store)
            activities = [
                *(a for a in fakes.activities if "search" not in a.__name__),
                *searching.definitions(),
                refreshing.plan_refresh,
                refreshing.keep_refresh,
                revising.plan_revision,
                revising.keep_revision,
            ]
            async with a_worker(client, fakes, queue, activities=activities):
                archive = Archive(settings.evidence_url)
                yield RefreshCase(client, archive, first, papers, queue, server, fakes, settings)


@pytest.fixture
async def case(temporal_client: Client, tmp_path: Path) -> AsyncIterator[RefreshCase]:
    async with a_refresh_case(temporal_client, tmp_path / "home") as found:
        yield found


async def test_a_refresh_repeats_the_searches_and_names_what_is_new(case: RefreshCase) -> None:
    case.papers.works.append(a_work("new"))
    found = await case.refresh(await case.request())
    assert case.papers.asked == ["metformin mortality"], "each search once, as it was asked for"
    assert [work.evidence_id for work in found.new] == ["doi:10.1/new"]
    assert [(row.source, row.status) for row in found.searches] == [("alpha", "ok"), ("gone", "refused")]
    assert (found.version, found.made) == (2, True)
    later, (version,) = await load_latest(case.archive, case.first)
    assert version.new == found.new
    assert [claim.id for s in later.sections for claim in s.claims] == ["s1.1", "s2.1"]
    assert "A later trial of metformin, number new" in later.limitations[0]
    again = await case.refresh(await case.request())
    assert (again.new, again.made, again.version) == ((), False, 2)


async def test_a_report_is_changed_as_it_was_asked(case: RefreshCase) -> None:
    case.fakes.script.answers["reviser"] = lambda _: Revised(title="A shorter report")
    asked = Instruction(kind="change", text="shorter", by="ada", models={"default": MODEL})
    assert (await case.refresh(await case.request(instruction=asked))).version == 2
    assert (await load_latest(case.archive, case.first))[0].title == "A shorter report"


async def test_a_retraction_names_the_claims_it_touches(case: RefreshCase) -> None:
    case.retract()
    found = await case.refresh(await case.request(search=False))
    assert case.papers.asked == []
    (change,) = found.changes
    assert (change.evidence_id, change.before, change.after) == ("pmid:1", "none", "retracted")
    assert [(claim.id, claim.stands) for claim in change.claims] == [("s1.1", False)]
    assert found.claims_lost == ("s1.1",)


async def test_a_search_that_fails_is_no_news_and_hides_none(case: RefreshCase) -> None:
    case.papers.closed = True
    case.retract()
    found = await case.refresh(await case.request())
    assert [row.status for row in found.searches] == ["refused", "refused"]
    assert found.new == ()
    assert found.claims_lost == ("s1.1",)


async def test_a_weekly_schedule_finds_the_one_retraction_of_a_month(case: RefreshCase) -> None:
    """On a busy machine the server passes two times at once, or leaves one out while a refresh runs."""
    name = f"refresh-{case.first.run_id}"
    starts = ScheduleActionStartWorkflow(WORKFLOW, await case.request(), id=name, task_queue=case.queue)
    spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=WEEK)])
    handle = await case.client.create_schedule(name, Schedule(action=starts, spec=spec))
    first_time = (await handle.describe()).info.next_action_times[0]
    clock = case.client.get_workflow_handle(f"{SCHEDULER}{name}")
    skipper, outcomes, times = TimeSkipper(case.client), list[RefreshOutcome](), list[datetime]()
    for week in range(4):
        if week == 1:
            case.papers.works.append(a_work("week-2"))
        if week == 2:
            case.retract()
        assert await skipper.fast_forward(clock, WEEK)
        seen: ScheduleDescription = await until(
            handle.describe, lambda found: found.info.num_actions > len(times)
        )
        for started in seen.info.recent_actions[len(times) :]:
            assert isinstance(started.action, ScheduleActionExecutionStartWorkflow)
            run = case.client.get_workflow_handle(started.action.workflow_id, result_type=RefreshOutcome)
            outcomes.append(await run.result())
            times.append(started.scheduled_at)
    assert times == sorted(set(times))
    assert all((time - first_time) % WEEK == timedelta() for time in times)
    assert [len(outcome.new) for outcome in outcomes if outcome.new] == [1]
    assert [[c.after for c in outcome.changes] for outcome in outcomes if outcome.changes] == [["retracted"]]
    assert [outcome.claims_lost for outcome in outcomes if outcome.claims_lost] == [("s1.1",)]
    later, versions = await load_latest(case.archive, case.first)
    assert [version.number for version in versions] == [2, 3]
    assert [r.evidence_id for r in later.references] == ["pmid:2"]
    first = await case.archive.report(case.first.run_id)
    assert first is not None
    assert [r.standing for r in first.references] == ["none", "concern"]


async def test_refreshes_at_the_same_moment_lose_nothing(case: RefreshCase) -> None:
    request = await case.request()
    notice = StandingNotice(kind="retraction", date="2026-03-01", reported_by="crossref")
    verdict = StandingVerdict(standing="retracted", notices=(notice,), asked=("crossref",))

    async def one(number: int) -> bool:
        work = NewWork(evidence_id=f"doi:10.1/{number}", title=f"Work {number}", source="alpha")
        verdicts = {"pmid:1": verdict} if number % 2 else {}
        at = f"2026-03-02T00:00:{number:02d}+00:00"
        kept = await refresh(case.archive, case.first, verdicts, at=at, new_works=(work,))
        return kept.version is not None

    assert all(await asyncio.gather(*(one(number) for number in range(8))))
    case.papers.works.append(a_work("new"))
    outcomes = await asyncio.gather(*(case.refresh(request) for _ in range(2)))
    assert sorted(outcome.made for outcome in outcomes) == [False, True]
    later, versions = await load_latest(case.archive, case.first)
    assert [version.number for version in versions] == list(range(2, 11))
    found = sorted(work.evidence_id for version in versions for work in version.new)
    assert found == sorted(["doi:10.1/new", *(f"doi:10.1/{number}" for number in range(8))])
    assert sum(len(version.changes) for version in versions) == 1
    assert [r.evidence_id for r in later.references] == ["pmid:2"]


async def test_a_change_that_is_kept_again_after_a_death_makes_one_version(case: RefreshCase) -> None:
    request = await case.request(instruction=Instruction(kind="change", text="another title", by="ada"))
    found = RevisionFindings(request=request, at="2026-02-01T00:00:00+00:00", revised=Revised(title="Other"))
    activities = RevisionActivities(case.settings, {})
    assert [(await activities.keep(found)).version for _ in "ab"] == [2, 2]
    assert len(await case.archive.versions(case.first)) == 1


@pytest.mark.parametrize(
    ("row", "note"),
    [
        (SearchRecord(source="pubmed", query="1[pmid]", status="empty"), "pubmed has nothing for 1[pmid]"),
        (
            SearchRecord(
                source="pubmed", query="1[pmid]", status="unavailable", detail="it cannot be reached"
            ),
            "pubmed gave no answer for 1[pmid]: it cannot be reached",
        ),
        (
            SearchRecord(source="pubmed", query="1[pmid]", status="rate_limited"),
            "pubmed gave no answer for 1[pmid]: rate limited",
        ),
    ],
)
def test_an_outage_is_not_told_as_a_work_that_nobody_has(row: SearchRecord, note: str) -> None:
    assert why_missing(row) == note
