"""Web searches of a round: ranked together by title and snippet, and only what is chosen is read, once."""

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from activities.contracts.evidence import Query
from activities.contracts.search import Choice, HitsOfAll, SearchTask, SearchTasks
from activities.evidence_store import EvidenceStore
from activities.search_activity import SearchActivities
from activities.sources import web
from activities.sources.engines import SearxngSource
from activities.sources.http.client import open_http
from activities.sources.http.pages import AT_A_HOST
from tests.activities.sources.faults import JSON, PAGE, pointed_at
from tests.activities.test_search import begun
from tests.client.harness import wait_until
from tests.replay import Asked, ReplayServer, Reply

QUESTION = "Does caffeine shorten sleep?"


@dataclass
class Site:
    """An engine that names the same ten pages, of which the odd ones are on the question, and their host."""

    server: ReplayServer
    seconds: float = 0.0
    slow: str = ""
    """A page that does not answer before the test ends."""
    over: threading.Event = field(default_factory=threading.Event)
    at_once: list[int] = field(default_factory=list)
    under_way: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def search(self, asked: Asked) -> Reply:
        places = range(8) if asked.query["q"] == ["one"] else range(2, 10)
        results = [
            {
                "url": f"{self.server.url}/page{n}",
                "title": f"Caffeine and sleep {n}" if n % 2 else f"Gardens of town {n}",
                "content": "Caffeine may shorten sleep." if n % 2 else "Roses flower in June.",
            }
            for n in places
        ]
        return Reply(200, json.dumps({"results": results}), JSON)

    def page(self, asked: Asked) -> Reply:
        with self.lock:
            self.under_way += 1
            self.at_once.append(self.under_way)
        if asked.path == self.slow:
            self.over.wait()
        time.sleep(self.seconds)
        with self.lock:
            self.under_way -= 1
        said = (f"<p>What page {asked.path} says of sleep in its sentence number {n}.</p>" for n in range(9))
        body = "".join(said)
        return Reply(200, f"<html><body><article>{body}</article></body></html>", PAGE)

    @property
    def read(self) -> Counter[str]:
        """How often each page was requested."""
        return Counter(asked.path for asked in self.server.asked if asked.path != "/search")


@pytest.fixture
def site() -> Iterator[Site]:
    with ReplayServer() as server:
        found = Site(server)
        server.on("/search", found.search).on("/page*", found.page)
        yield found
        found.over.set()


@asynccontextmanager
async def a_worker(site: Site, home: Path) -> AsyncIterator[SearchActivities]:
    """What a worker of this home searches with."""
    settings = pointed_at(site.server, "searxng", home=home, private_pages=["127.0.0.0/8"])
    async with open_http(settings) as http:
        source = SearxngSource(settings, http)
        yield SearchActivities({"searxng": source}, EvidenceStore.at(str(home / "evidence")))


async def searched(worker: SearchActivities, choice: Choice, *queries: str) -> HitsOfAll:
    tasks = [SearchTask(run_id="r", source="searxng", query=Query(text=text, limit=20)) for text in queries]
    step = SearchTasks(run_id="r", tasks=tuple(tasks), choice=choice)
    return await begun().run(worker.search_all, "searxng", step)


async def test_the_pages_nearest_to_the_question_are_read_and_the_others_listed(
    site: Site, tmp_path: Path
) -> None:
    async with a_worker(site, tmp_path) as worker:
        first = await searched(worker, Choice(question=QUESTION, most=4), "one", "two")
        assert site.read == {f"/page{n}": 1 for n in (1, 3, 5, 7)}
        assert [(row.hits, row.status) for row in first.answers] == [(8, "ok"), (8, "ok")]
        assert sum(len(row.kept) for row in first.answers) == 4
        assert [row.listed for row in first.answers] == [4, 5]
        assert len(first.listed) == 6
        assert [len(page.queries) for page in first.listed if page.address.endswith("page2")] == [2]
        again = Choice(question=QUESTION, most=3, listed=first.listed, tried=first.tried)
        second = await searched(worker, again, "two")
        assert len(site.read) == 7
        assert set(site.read.values()) == {1}
        assert site.read["/page9"] == 1
        assert len(second.listed) == 3
    assert site.server.count("/search") == 2


async def test_sections_that_choose_one_page_request_it_once(site: Site, tmp_path: Path) -> None:
    site.seconds = 0.1
    async with a_worker(site, tmp_path) as worker:
        both = (searched(worker, Choice(question=QUESTION, most=4), "one") for _ in range(2))
        one, other = await asyncio.gather(*both)
    assert [ref.blob for ref in one.answers[0].kept] == [ref.blob for ref in other.answers[0].kept]
    assert set(site.read.values()) == {1}


async def test_a_step_that_died_in_the_middle_reads_nothing_twice(site: Site, tmp_path: Path) -> None:
    """Another process of the home goes on where the first one was killed."""
    site.slow = "/page3"
    async with a_worker(site, tmp_path) as worker:
        dying = asyncio.create_task(searched(worker, Choice(question=QUESTION, most=4), "one", "two"))
        await asyncio.to_thread(wait_until, lambda: len(site.read) == 4)
        await asyncio.sleep(0.5)
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
    before, site.slow = site.read, ""
    async with a_worker(site, tmp_path) as worker:
        ended = await searched(worker, Choice(question=QUESTION, most=4), "one", "two")
    assert sum(len(row.kept) for row in ended.answers) == 4
    assert site.read - before == {"/page3": 1}
    assert site.server.count("/search") == 2


async def test_a_page_that_does_not_answer_in_time_costs_that_page(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "PAGE_SECONDS", 1.0)
    site.slow = "/page3"
    async with a_worker(site, tmp_path) as worker:
        result = await searched(worker, Choice(question=QUESTION, most=4), "one")
    [row] = result.answers
    assert len(row.kept) == 4
    assert [ref.full_text for ref in row.kept].count(False) == 1
    assert row.detail == "1 of 4 pages could not be read"


async def test_one_host_is_asked_for_few_pages_at_a_time(site: Site, tmp_path: Path) -> None:
    site.seconds = 0.1
    async with a_worker(site, tmp_path) as worker:
        await searched(worker, Choice(question=QUESTION, most=20), "one", "two")
    assert len(site.read) == 10
    assert max(site.at_once) == AT_A_HOST
