"""What every search does with the records of its source."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.errors import RateLimited, SourceError, TooSlow, Unavailable
from activities.evidence_store import EvidenceStore
from activities.search import SearchActivities
from activities.searches import Hits, SearchTask
from activities.sources.base import Exchange
from activities.sources.http.client import Http
from activities.sources.http.clock import source_clock
from activities.sources.library.records import read_record
from activities.types import Evidence, Query, SourceInfo

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

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        return Exchange(records=tuple(self.records), hits=len(self.records))


async def searched(tmp_path: Path, *records: Evidence) -> Hits:
    store = EvidenceStore.at(str(tmp_path))
    activities = SearchActivities({"library": Brought(records)}, store)
    task = SearchTask(run_id="run", source="library", query=Query(text="drug pain", limit=20))

    async def exchange() -> Hits:
        assert activity.in_activity()
        return await activities.exchange(task)

    hits = await ActivityEnvironment().run(exchange)
    assert isinstance(hits, Hits)
    return hits


@pytest.mark.parametrize(
    "marked",
    [
        {"title": "RETRACTED: Effects of a drug on pain"},
        {"title": "Retracted article: Effects of a drug on pain"},
        {"title": "WITHDRAWN: Effects of a drug on pain"},
        {"publication_types": ["Journal Article", "Retracted Publication"]},
        {"abstract": f"This article has been retracted. {ABSTRACT}"},
        {"retracted": True},
        {"is_retracted": "true"},
        {"standing": "retracted"},
    ],
)
async def test_a_retracted_work_of_a_library_is_kept_as_such(
    tmp_path: Path, marked: dict[str, object]
) -> None:
    hits = await searched(tmp_path, record(1, **marked), record(2))
    assert [ref.standing for ref in hits.kept] == ["retracted", "unknown"]
    assert hits.detail == ""


@pytest.mark.parametrize(
    "notice",
    [
        {"title": "Retraction notice to: Effects of a drug on pain"},
        {"title": "Erratum to: Effects of a drug on pain"},
        {"title": "Expression of concern: Effects of a drug on pain"},
        {"publication_types": ["Published Erratum"]},
        {"abstract": "[This corrects the article DOI: 10.1000/1.]"},
    ],
)
async def test_a_notice_is_no_evidence(tmp_path: Path, notice: dict[str, object]) -> None:
    hits = await searched(tmp_path, record(1, **notice), record(2))
    assert [ref.evidence_id for ref in hits.kept] == ["pmid:2"]
    assert hits.detail.startswith("1 notice ")


async def test_a_search_that_brings_notices_only_is_empty(tmp_path: Path) -> None:
    hits = await searched(tmp_path, record(1, title="Erratum"), record(2, title="Corrigendum"))
    assert hits.status == "empty"
    assert hits.detail.startswith("2 notices ")


@dataclasses.dataclass
class Failing:
    """A source that fails in the same way each time."""

    error: SourceError
    info: SourceInfo = LIBRARY

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
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
    tmp_path: Path, error: SourceError, attempt: int, scheduled: float, again: bool
) -> None:
    """`scheduled` seconds ago; the first wait for a worker does not count."""
    activities = SearchActivities({"library": Failing(error)}, EvidenceStore.at(str(tmp_path)))
    search, *_ = activities.definitions()
    environment, now = ActivityEnvironment(), datetime.now(UTC)
    environment.info = dataclasses.replace(
        environment.info,
        attempt=attempt,
        started_time=now,
        scheduled_time=now - timedelta(seconds=scheduled),
    )
    task = SearchTask(run_id="run", source="library", query=Query(text="drug pain"), seconds=30.0)
    with pytest.raises(ApplicationError) as caught:
        await environment.run(search, task)
    assert caught.value.non_retryable is not again


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
            assert clock.left is not None
            assert 0 < clock.left < 0.15
            with pytest.raises(TooSlow):
                await http.get("alpha", "http://alpha.test/2")
        assert clock.left == 0
        await http.get("alpha", "http://alpha.test/3")
