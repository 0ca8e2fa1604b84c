"""A systematic review on a real server: two screeners, people beside them, amendments, a dead model."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.contracts.evidence import Evidence
from activities.contracts.search import Hits, HitsOfAll, SearchTasks
from activities.evidence_store import EvidenceStore
from activities.full_text_activity import FullTextActivities
from activities.models.client import OpenAIModel
from activities.prepare_activity import PrepareActivities
from activities.review.archive import Archive, PublishedReview
from activities.review.protocol import Calibration, Criterion, Protocol, ReviewQuestion, Screener
from activities.review.results import ReviewReport
from activities.review.state import FileOfRecords
from activities.review_activity import ReviewActivities
from activities.roles.runner import RoleThinker
from activities.settings import Settings
from activities.sources.http.client import open_http
from activities.sources.library.source import LibrarySource
from client.cli.review import review as cli
from client.connection import Connection
from client.failures import BadInput, NoAnswer
from client.reviews.acts import commands
from client.reviews.review import Review
from client.reviews.start import start_review
from tests.fake_openai import FakeOpenAI, evidence_of, fails, labels_by_work, says
from tests.replay import Asked, Reply
from tests.workflows.histories import id_of, record
from workflows.review.types import WORKFLOW, Amend, PartCopy, ReviewGate, ReviewProgress, ReviewRequest
from workflows.review.workflow import SystematicReview
from workflows.rules import dedup

TOTAL = 40
PATIENCE = 240.0
POLL_SECONDS = 0.15
"""A query costs the worker some milliseconds."""


def a_record(number: int) -> Evidence:
    about = "metformin" if number % 4 == 0 else "aspirin"
    return Evidence(
        evidence_id=f"doi:10.1000/{number}",
        source="library",
        title=f"A trial of a drug number {number}",
        text=f"In this trial {about} was tested in {number + 20} adults with diabetes over one year.",
    )


RECORDS = [a_record(number) for number in range(TOTAL)]


def is_relevant(record: Evidence) -> bool:
    return "metformin" in record.text


def model(asked: Asked) -> Reply:
    """Includes what is on metformin; the second model is unsure of every tenth record."""
    second = json.loads(asked.body)["model"] == "second"
    rows = []
    for work, text in evidence_of(asked).items():
        adults = int(re.search(r"in (\d+) adults", text)[1]) - 20  # type: ignore[index]
        verdict = "include" if "metformin" in text else "exclude"
        verdict = "unsure" if second and adults % 10 == 5 else verdict
        labels = labels_by_work(asked)[work]
        rows.append({"work": work, "verdict": verdict, "criterion": "I1", "sentences": labels[:1]})
    return says({"decisions": rows}, usage=(1_000, 100))(asked)


PROTOCOL = Protocol(
    title="Metformin in adults",
    question=ReviewQuestion(population="adults", intervention="metformin"),
    criteria=(Criterion(id="I1", text="metformin"), Criterion(id="E1", text="animals", kind="exclude")),
    records=("a.ris",),
    screeners=(
        Screener(name="m1", kind="model", model="first"),
        Screener(name="m2", kind="model", model="second"),
    ),
    stopping="read_all",
    calibration=Calibration(records=8),
)
AMENDED = PROTOCOL.replace(
    criteria=(PROTOCOL.criteria[0], PROTOCOL.criteria[1].replace(text="animals and cells"))
)
UNLABELLED = PROTOCOL.replace(calibration=Calibration(records=0))
PEOPLE = UNLABELLED.replace(screeners=(Screener(name="Ada"), Screener(name="Bob")))
RELEVANT = list(range(0, TOTAL, 4))


@dataclass
class Desk:
    """A worker for reviews, its model, and people."""

    client: Client
    store: EvidenceStore
    server: FakeOpenAI
    settings: Settings
    queue: str
    found: list[Evidence] = field(default_factory=list)
    """Works that a search finds."""
    outage: str = ""
    """Why a search finds nothing at the moment."""
    ages: set[float | None] = field(default_factory=set)
    """How old an answer to a search may be."""
    meanwhile: Callable[[], Awaitable[object]] | None = None
    """The act of a person while a search is made."""
    reviews: list[WorkflowHandle[Any, ReviewReport]] = field(default_factory=list)

    async def start(
        self, protocol: Protocol = PROTOCOL, works: Sequence[Evidence] = RECORDS, name: str = "", **more: Any
    ) -> Review:
        """A review of these records whose protocol waits for approval. `name`: its id, by which it draws."""
        refs, archive = [await self.store.put(work) for work in works], Archive(self.store)
        files = [
            FileOfRecords(name=name, blob=await archive.put_lines(refs), records=len(refs))
            for name in protocol.records
        ]
        request = ReviewRequest(
            protocol=protocol, protocol_key=await archive.put(protocol), files=tuple(files), **more
        )
        handle: WorkflowHandle[Any, ReviewReport] = await self.client.start_workflow(
            WORKFLOW,
            request,
            id=name or id_of(len(self.reviews) + 1, f"review-{uuid4().hex[:8]}"),
            task_queue=self.queue,
            result_type=ReviewReport,
        )
        self.reviews.append(handle)
        review = Review(self.settings, Connection(self.client, embedded=False, address=""), handle.id)
        await self.until(review, lambda progress: progress.gate == "protocol")
        return review

    async def begin(self, protocol: Protocol, gate: ReviewGate = "decisions", **more: Any) -> Review:
        """A review that was approved and waits at its next gate."""
        review = await self.start(protocol, **more)
        await review.approve(by="Ada")
        await self.until(review, lambda progress: progress.gate == gate)
        return review

    @activity.defn(name="search_library")
    async def search(self, step: SearchTasks) -> HitsOfAll:
        refs = tuple([await self.store.put(one) for one in self.found])
        query = step.tasks[0].query.text
        self.ages.add(step.tasks[0].max_age)
        assert step.tasks[0].query.titles, "a record without an abstract is screened by its title"
        if self.meanwhile is not None:
            await self.meanwhile()
        if self.outage:
            down = Hits(source="library", query=query, status="unavailable", detail=self.outage)
            return HitsOfAll(answers=(down,))
        return HitsOfAll(
            answers=(Hits(source="library", query=query, status="ok", hits=len(refs), kept=refs),)
        )

    async def play(self, review: Review, person: str = "Ada") -> ReviewProgress:
        """A person who is right labels and decides until the report waits; nobody has a full text."""
        async with asyncio.timeout(PATIENCE):
            while (progress := await review.progress()).gate != "report":
                check_commands(progress)
                if progress.gate in ("protocol", "full_texts"):
                    await review.approve(by=person)
                for task in await review.tasks(person, 200):
                    if task.kind == "text":
                        continue
                    label = task.kind == "label"
                    await decide(review, task.record, is_relevant(task.work), by=person, label=label)
                await asyncio.sleep(POLL_SECONDS)
        return progress

    async def until(self, review: Review, met: Callable[[ReviewProgress], bool]) -> ReviewProgress:
        async with asyncio.timeout(PATIENCE):
            while not met(progress := await review.progress()):  # noqa: ASYNC110 - of another process
                await asyncio.sleep(POLL_SECONDS)
        check_commands(progress)
        return progress


def check_commands(progress: ReviewProgress) -> None:
    """Each command of a gate works as it is printed, once its capitals are filled in."""
    for command in commands(progress.gate, "review-x"):
        program, group, verb, *rest = command.replace("RECORD", "1").split()
        assert (program, group) == ("determinator", "review"), command
        cli.commands[verb].make_context(verb, rest)


async def decide(review: Review, record: int, relevant: bool, **more: Any) -> str:
    return await review.decide(record, "include" if relevant else "exclude", criterion="I1", **more)


async def amend(review: Review, protocol: Protocol) -> None:
    key = await review.archive.put(protocol)
    await review.send("amend", Amend, by="Ada", reason="asked", protocol=protocol, protocol_key=key)


@asynccontextmanager
async def a_desk(client: Client, folder: Path, **more: Any) -> AsyncIterator[Desk]:
    queue = f"desk-{uuid4().hex[:8]}"
    with FakeOpenAI() as server:
        server.script(model)
        (folder / "library").mkdir()
        settings = Settings(
            home=folder,
            library=str(folder / "library"),
            store_url=str(folder / "store"),
            openai_base_url=server.base_url,
            model="first",
            offline=True,
            **more,
        )
        store = EvidenceStore.at(settings.evidence_url)
        asked = OpenAIModel(settings, store)
        thinker = RoleThinker(lambda _: asked, store, settings)
        http = open_http(settings)
        steps = [
            getattr(of, name)
            for of in (
                ReviewActivities(settings, store, thinker, dedup.merge),
                FullTextActivities(settings, http, store),
                PrepareActivities(settings, {"library": LibrarySource(settings)}),
            )
            for name in dir(of)
            if hasattr(getattr(of, name), "__temporal_activity_definition")
        ]
        desk = Desk(client, store, server, settings, queue)
        async with Worker(
            client,
            task_queue=queue,
            workflows=[SystematicReview],
            activities=[*steps, desk.search],
            workflow_runner=UnsandboxedWorkflowRunner(),
            workflow_failure_exception_types=[Exception],
        ):
            yield desk
            await record(client, desk.reviews)
        await asked.aclose()
        await http.aclose()


@pytest.fixture
async def desk(temporal_client: Client, tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(temporal_client, tmp_path) as desk:
        yield desk


def included(published: PublishedReview) -> Sequence[int]:
    states = published.state.titles.states()
    return [number for number, state in enumerate(states) if state == "included"]


async def test_a_review_comes_to_a_report_whose_numbers_add_up(desk: Desk) -> None:
    review = await desk.start()
    progress = await desk.play(review)
    published = await review.published()
    assert included(published) == RELEVANT
    flow = published.report.flow
    assert flow.faults() == ()
    assert (flow.identified_count, flow.screened, flow.excluded, flow.unread) == (40, 40, 30, 0)
    assert published.report.validation is not None
    assert published.report.validation.by == ("Ada",)
    assert {decision.by for decision in published.decisions} == {"m1", "m2", "Ada"}
    models = [decision for decision in published.decisions if decision.model]
    assert all(words in RECORDS[decision.record].text for decision in models for words in decision.words)
    assert all(decision.words and decision.prompt and decision.criterion for decision in models)
    assert published.state.course is not None
    assert progress.recall == published.state.course.recall
    for message, reason in (
        (decide(review, 999, True, by="Ada"), "no record 999"),
        (review.decide(1, "include", criterion="X", by="Ada"), "no criterion"),
        (review.decide(1, "unsure", by="Ada", label=True), "sample|include or exclude"),
        (review.overrule(1, "include", reason=" ", by="Ada"), "overruled with a reason"),
        (review.part("nothing", by="Ada"), "0 merged copies"),
    ):
        with pytest.raises(BadInput, match=reason):
            await message
    await review.approve(by="Ada")
    assert (await desk.reviews[0].result()).flow == flow
    over = await desk.until(review, lambda progress: progress.phase == "completed")
    assert (over.gate, over.text) == ("", "the review is completed")
    with pytest.raises(BadInput, match=r"is over \(completed\)"):
        await review.overrule(0, "exclude", reason="too late", by="Ada")


async def test_nothing_is_searched_or_asked_before_the_protocol_is_approved(desk: Desk) -> None:
    review = await desk.start()
    progress = await review.progress()
    assert "40 records" in progress.estimate
    assert (progress.total, desk.server.bodies) == (0, [])
    await review.cancel()
    with pytest.raises(WorkflowFailureError):
        await desk.reviews[0].result()
    assert (await review.published()).report.flow.identified_count == 0
    await desk.until(review, lambda progress: progress.phase == "cancelled")


async def test_neither_screener_is_shown_the_others_decision_before_both_have_decided(desk: Desk) -> None:
    review = await desk.begin(
        PEOPLE.replace(calibration=Calibration())
    )  # which asks two people for no labels
    (first, *_) = await review.tasks("Ada")
    assert await decide(review, first.record, True, by="Ada") == "open"
    (same, *_) = await review.tasks("Bob")
    assert (same.record, same.decisions) == (first.record, ())
    assert await review.tasks("Cyd") == []
    with pytest.raises(BadInput, match="both screeners"):
        await decide(review, first.record, True, by="Cyd")
    assert await decide(review, first.record, False, by="Bob") == "conflict"
    (conflict,) = await review.tasks("Cyd")
    assert {decision.by: decision.verdict for decision in conflict.decisions} == {
        "Ada": "include",
        "Bob": "exclude",
    }
    assert await decide(review, first.record, True, by="Cyd") == "included"
    with pytest.raises(BadInput, match="overrule"):
        await decide(review, first.record, False, by="Cyd")
    assert not desk.server.bodies


async def test_a_review_of_other_records_is_another_review(temporal_client: Client) -> None:
    """A file may be exported again under its name: a new start leads not back to the records of before."""
    files = [FileOfRecords(name="a.ris", blob=blob) for blob in ("blobs/1", "blobs/1", "blobs/2")]
    title = f"Metformin {uuid4().hex}"
    requests = [
        ReviewRequest(protocol=PROTOCOL.replace(title=title), protocol_key="", files=(file,))
        for file in files
    ]
    first, again, other = [await start_review(temporal_client, one, "no-worker") for one in requests]
    for review in (first, other):
        await temporal_client.get_workflow_handle(review).terminate()
    assert first == again != other


@pytest.mark.parametrize(("failure", "minutes"), [(fails(401), 10), (fails(429, retry_after="3600"), 60)])
async def test_a_model_that_is_down_leaves_records_open_and_is_asked_again_when_it_says(
    desk: Desk, failure: Reply, minutes: int
) -> None:
    desk.server.script(failure)
    review = await desk.begin(UNLABELLED, "model")
    progress = await review.progress()
    assert (progress.settled, progress.included) == (0, 0)
    again = datetime.now(UTC) + timedelta(minutes=minutes)
    assert progress.until in {f"{again - timedelta(minutes=past):%Y-%m-%d %H:%M} UTC" for past in (0, 1)}
    assert "does not answer (" in progress.text
    assert progress.text.endswith(f"asked again at {progress.until}")
    assert len(desk.server.bodies) <= 2 * 8, "a model that asks for a pause is not asked by every step"
    asked = len(desk.server.bodies)
    await review.resume()
    await desk.until(review, lambda progress: progress.gate == "model" and len(desk.server.bodies) > asked)
    assert len(desk.server.bodies) <= asked + 2 * 8, "it is asked once more for each resume"
    if minutes == 60:  # a review that waits so long can be ended
        await review.finish()
        await desk.until(review, lambda progress: progress.gate == "report")
        flow = (await review.published()).report.flow
        assert (flow.excluded, flow.unread, flow.faults()) == (0, TOTAL, ())
        return
    desk.server.script(model)
    await review.resume()
    await desk.play(review)
    assert included(await review.published()) == RELEVANT


async def test_a_record_that_a_model_never_decides_on_goes_to_a_person(desk: Desk) -> None:
    desk.server.script(says({"decisions": []}, usage=(10, 10)))
    review = await desk.start(UNLABELLED)
    await desk.play(review)
    published = await review.published()
    assert {decision.verdict for decision in published.decisions if decision.part == "screener"} == {"unsure"}
    assert included(published) == RELEVANT


async def test_an_amendment_and_an_overruled_decision_make_again_only_what_rests_on_them(desk: Desk) -> None:
    """Every message reaches this review."""
    review = await desk.start()
    await review.pause()
    await desk.until(review, lambda progress: progress.paused)
    await review.resume()
    await desk.until(review, lambda progress: not progress.paused)
    await desk.play(review)
    await review.send("part", PartCopy, by="Ada", blob="blobs/of/nothing")
    progress = await desk.until(review, lambda progress: progress.gate == "report")
    assert progress.total == TOTAL
    before, asked = await review.published(), len(desk.server.bodies)
    await review.overrule(1, "include", reason="its arm B", by="Bob")
    await desk.until(review, lambda progress: progress.gate == "full_texts")
    await review.approve(by="Bob")
    progress = await desk.until(review, lambda progress: progress.reports == 2)
    assert len(desk.server.bodies) == asked
    assert 1 in included(await review.published())
    await amend(review, AMENDED)
    progress = await desk.until(review, lambda progress: progress.version == 2 and progress.gate != "report")
    progress = await desk.play(review)
    after = await review.published()
    # what was excluded by I1 stands; what was included or unsure is decided again by both models
    again = [
        decision for decision in after.decisions if decision.protocol == 2 and decision.part == "screener"
    ]
    kept = [n for n, state in enumerate(before.state.titles.states()) if state == "excluded"]
    unsure = {decision.record for decision in before.decisions if decision.verdict == "unsure"}
    assert {decision.record for decision in again} & set(kept) <= unsure
    assert {decision.record for decision in again} >= set(range(0, TOTAL, 4))
    assert after.state.amendments[0].keys == ("criteria.E1",)
    assert progress.again > 1
    await review.finish()
    await review.approve(by="Ada")
    await desk.reviews[0].result()


async def test_a_decision_that_no_worker_takes_is_refused_in_a_line(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_desk(temporal_client, tmp_path) as desk:
        review = await desk.start()
    monkeypatch.setattr("client.reviews.review.UPDATE_SECONDS", 1.0)
    with pytest.raises(NoAnswer, match="no worker has answered"):
        await decide(review, 1, True, by="Ada")
    monkeypatch.undo()
    waits = asyncio.ensure_future(decide(review, 1, True, by="Ada"))
    await asyncio.sleep(0.5)  # until it is sent
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):  # else who is cancelled goes on as after a refusal
        await waits
    await temporal_client.get_workflow_handle(review.id).terminate()


async def test_a_person_who_leaves_is_named_and_another_one_takes_over(desk: Desk) -> None:
    review = await desk.begin(PEOPLE)
    for name, most in (("Ada", 200), ("Bob", 1)):
        for task in await review.tasks(name, most):
            await decide(review, task.record, is_relevant(task.work), by=name)
    batch = (await review.view()).course.batch  # type: ignore[union-attr]
    assert (await review.progress()).awaited == {"Bob": len(batch) - 1}
    await amend(review, PEOPLE.replace(screeners=(Screener(name="Cyd"), Screener(name="Ada"))))
    progress = await desk.until(
        review, lambda progress: progress.version == 2 and progress.gate == "decisions"
    )
    assert set(progress.awaited) == {"Cyd"}
    await desk.play(review, "Cyd")
    published = await review.published()
    assert included(published) == RELEVANT
    by = Counter(decision.by for decision in published.decisions)
    assert by == {"Ada": TOTAL, "Bob": 1, "Cyd": TOTAL - 1}, "no decision was lost or asked for twice"


async def test_a_copy_that_was_merged_wrongly_becomes_a_record_at_once(desk: Desk) -> None:
    works = [*RECORDS[:14], RECORDS[0].replace(facts={"file": "another"})]
    review = await desk.begin(PEOPLE, works=works)
    (first, *_) = await review.tasks("Ada")
    await decide(review, first.record, is_relevant(first.work), by="Ada")
    (copy,) = (await review.records()).copies
    await review.part(copy.ref.blob, by="Ada")
    await desk.until(review, lambda progress: progress.total == len(works) and progress.gate == "decisions")
    while (await review.progress()).gate == "decisions":
        for person in PEOPLE.people:
            for task in await review.tasks(person, 20):
                await decide(review, task.record, is_relevant(task.work), by=person)
        await asyncio.sleep(POLL_SECONDS)
    await desk.play(review)
    published = await review.published()
    assert included(published) == [0, 4, 8, 12, 14]
    assert published.report.flow.duplicates == 0
    assert len(published.decisions) == 2 * len(works), "nothing is decided twice"


async def test_a_review_draws_and_orders_alike_however_often_it_continues_as_new(desk: Desk) -> None:
    name = f"review-{uuid4().hex[:8]}"
    courses = []
    for events in (60, 6_000):
        review = await desk.start(PROTOCOL.replace(stopping="recall"), name=name, history_events=events)
        await desk.play(review)
        published = await review.published()
        state = published.state
        made = sorted((decision.record, decision.part, decision.by) for decision in published.decisions)
        assert len(made) == len(set(made)), "no decision is made twice"
        courses.append((state.sample, state.orders, state.course, state.titles, made))
        described = await desk.client.get_workflow_handle(review.id).describe()
        assert (described.run_id != desk.reviews[-1].first_execution_run_id) == (events == 60)
        await review.approve(by="Ada")
        await desk.reviews[-1].result()
    assert courses[0] == courses[1]


async def test_a_review_that_is_cancelled_reports_what_there_is(desk: Desk) -> None:
    review = await desk.begin(PEOPLE)
    (first, *_) = await review.tasks("Ada")
    for by in ("Ada", "Bob"):
        await decide(review, first.record, True, by=by)
    await review.cancel()
    with pytest.raises(WorkflowFailureError):
        await desk.reviews[0].result()
    flow = (await review.published()).report.flow
    assert (flow.screened, flow.unread, flow.open, flow.faults()) == (1, 39, 0, ())
