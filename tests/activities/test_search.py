"""What every search does with the records of its source."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count

import httpx
import pytest
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.contracts.errors import RateLimited, Refused, SourceError, TooSlow, Unavailable
from activities.contracts.evidence import Evidence, Query, SourceInfo
from activities.contracts.search import Hits, SearchTask, SearchTasks
from activities.evidence_store import EvidenceStore
from activities.search_activity import SearchActivities
from activities.sources.base import MAX_EXCHANGES, Exchange, Source
from activities.sources.http.client import Http, source_clock, time_for_one_request
from activities.sources.library.records import read_record

ABSTRACT = "Forty patients took the drug for a year. Their pain was lower than that of the controls."


LIBRARY = SourceInfo(name="library", title="Library", covers="", how_to_enable="", domains=("biomedical",))


def record(number: int, **fields: object) -> Evidence:
    value = {"title": f"Effects of a drug on pain, part {number}", "abstract": ABSTRACT, "pmid": number}
    return read_record({**value, **fields}, "records.jsonl")  # type: ignore[dict-item]


@dataclasses.dataclass
class Brought:
    """A source that returns these records."""

    records: Sequence[Evidence]
    info: SourceInfo = LIBRARY

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        yield Exchange(records=tuple(self.records), hits=len(self.records))


def begun(attempt: int = 1, ago: float = 0.0, attempts: int = 4) -> ActivityEnvironment:
    """An attempt of `attempts` that begins now, of a step that was scheduled some seconds ago."""
    environment, now = ActivityEnvironment(), datetime.now(UTC)
    environment.info = dataclasses.replace(
        environment.info,
        attempt=attempt,
        started_time=now,
        scheduled_time=now - timedelta(seconds=ago),
        start_to_close_timeout=timedelta(seconds=60),
        schedule_to_close_timeout=timedelta(hours=1),
        retry_policy=RetryPolicy(maximum_attempts=attempts),
    )
    return environment


async def one(activities: SearchActivities, task: SearchTask) -> Hits:
    """How the step of one search ends. Raises the error that has it tried again."""
    step = SearchTasks(run_id="run", tasks=(task,))
    [hits] = (await begun().run(activities.search_all, task.source, step)).answers
    return hits


def task_of(seconds: float | None = None) -> SearchTask:
    query = Query(text="drug pain", limit=20)
    return SearchTask(run_id="run", source="library", query=query, seconds=seconds)


async def searched(store: EvidenceStore, source: Source, seconds: float | None = None) -> Hits:
    return await one(SearchActivities({"library": source}, store), task_of(seconds))


@pytest.mark.parametrize(
    "marked",
    [
        {"title": "RETRACTED: Effects of a drug on pain"},
        {"publication_types": ["Journal Article", "Retracted Publication"]},
        {"abstract": f"This article has been retracted. {ABSTRACT}"},
        *({name: value} for name, value in (
            ("retracted", True), ("is_retracted", "true"), ("standing", "retracted")
        )),
    ],
)  # fmt: skip
async def test_a_retracted_work_of_a_library_is_kept_as_such(
    store: EvidenceStore, marked: dict[str, object]
) -> None:
    hits = await searched(store, Brought([record(1, **marked), record(2)]))
    assert [ref.standing for ref in hits.kept] == ["retracted", "unknown"]
    assert hits.detail == ""


async def test_a_notice_is_no_evidence(store: EvidenceStore) -> None:
    notices = (record(1, title="Erratum to: Effects of a drug on pain"), record(3, title="Corrigendum"))
    hits = await searched(store, Brought([*notices, record(2)]))
    assert [ref.evidence_id for ref in hits.kept] == ["pmid:2"]
    assert hits.detail.startswith("2 notices ")
    assert (await searched(store, Brought(notices))).status == "empty"


@dataclasses.dataclass
class Failing:
    """A source that fails in the same way each time."""

    error: SourceError
    info: SourceInfo = LIBRARY

    def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        raise self.error


@pytest.mark.parametrize(
    ("error", "attempt", "scheduled", "again"),
    [
        (Unavailable("down"), 1, 0.0, True),
        (Unavailable("down"), 1, 500.0, True),
        (Unavailable("down"), 2, 10.0, True),
        (Unavailable("down"), 2, 31.0, False),
        (RateLimited("busy", retry_after=5.0), 1, 0.0, True),
        (RateLimited("busy", retry_after=60.0), 1, 0.0, False),
        (TooSlow("slow"), 2, 0.0, False),
    ],
)
async def test_a_search_is_not_tried_again_beyond_its_seconds(
    store: EvidenceStore, error: SourceError, attempt: int, scheduled: float, again: bool
) -> None:
    """`scheduled` seconds ago; the first wait for a worker does not count."""
    search, *_ = SearchActivities({"library": Failing(error)}, store).definitions()
    environment = begun(attempt, scheduled)
    step = SearchTasks(run_id="run", tasks=(task_of(seconds=30.0),))
    if again:
        with pytest.raises(ApplicationError) as caught:
            await environment.run(search, step)
        assert not caught.value.non_retryable
    else:
        [row] = (await environment.run(search, step)).answers
        assert (row.status, row.detail) == (error.status, str(error))


@pytest.mark.parametrize(("attempt", "step", "again"), [(1, 60.0, True), (1, 0.05, False), (2, 60.0, False)])
async def test_a_search_whose_attempt_ends_is_tried_again_while_its_step_has_time(
    store: EvidenceStore, attempt: int, step: float, again: bool
) -> None:
    """What it has read of a folder stays read, so the next attempt goes on there."""
    search, *_ = SearchActivities({"library": Paged(1, seconds=60)}, store).definitions()
    environment = begun(attempt)
    environment.info = dataclasses.replace(
        environment.info,
        start_to_close_timeout=timedelta(seconds=0.2),
        schedule_to_close_timeout=timedelta(seconds=step),
    )
    run = environment.run(search, SearchTasks(run_id="run", tasks=(task_of(),)))
    if again:
        with pytest.raises(ApplicationError, match="not answered in the time"):
            await run
    else:
        assert (await run).answers[0].status == "unavailable"


@dataclasses.dataclass
class Paged:
    """A source with pages of one work each, the last of which fails."""

    pages: int
    error: SourceError | None = None
    seconds: float = 0.0
    """Until a page comes, from page `slow_from` on."""
    slow_from: int = 1
    info: SourceInfo = LIBRARY
    asked: int = 0

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        for number in count(1):
            self.asked += 1
            if number > self.pages and self.error:
                raise self.error
            try:
                async with time_for_one_request(None):
                    await asyncio.sleep(self.seconds if number >= self.slow_from else 0)
            except TimeoutError as error:
                raise TooSlow("it did not answer") from error
            item = Evidence(evidence_id=f"w{number}", source="library", title="T", text=f"text {number}")
            yield Exchange(records=(item,), hits=900)


async def test_a_source_that_fails_or_never_ends_keeps_what_it_gave(store: EvidenceStore) -> None:
    hits = await searched(store, Paged(1, Refused("closed")))
    assert (hits.status, len(hits.kept), hits.detail) == ("ok", 1, "closed")
    source = Paged(900)
    hits = await searched(store, source)
    assert source.asked == len(hits.kept) == MAX_EXCHANGES


async def test_a_search_stops_when_its_source_has_used_its_seconds(store: EvidenceStore) -> None:
    """Whatever it has found by then is kept, and the ledger says that there is more."""
    hits = await searched(store, Paged(9, seconds=60, slow_from=2), seconds=0.5)
    assert hits.status == "ok"
    assert "there is more" in hits.detail
    assert len(hits.kept) == 1


async def test_a_search_waits_for_its_source_as_long_as_it_was_given_in_all() -> None:
    """Two requests of one search: the second has what the first has left."""

    async def body() -> AsyncIterator[bytes]:
        await asyncio.sleep(0.2)
        yield b"{}"

    async def slowly(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=body())

    async with Http(httpx.AsyncClient(transport=httpx.MockTransport(slowly)), seconds=30.0) as http:
        with source_clock(0.3) as clock:
            await http.get("alpha", "http://alpha.test/1")
            assert clock.seconds_left is not None
            assert 0 < clock.seconds_left < 0.15
            with pytest.raises(TooSlow):
                await http.get("alpha", "http://alpha.test/2")
        assert clock.seconds_left == 0
        await http.get("alpha", "http://alpha.test/3")
