import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest

from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.settings import Settings
from activities.sources.http import cache as cache_module
from activities.sources.http import client as http_module
from activities.sources.http.cache import no_older_than
from activities.sources.http.client import Http, open_http
from activities.sources.http.failures import retry_after
from tests.replay import ReplayServer, Reply

JSON = {"content-type": "application/json"}
GOOD = Reply(200, '{"records": [1, 2]}', JSON)
SECRET = "s3cr3t-k3y-0123456789"


def opened(folder: Path) -> Http:
    return open_http(Settings(home=folder))


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[Http]:
    """HTTP with a cache."""
    async with opened(tmp_path) as made:
        yield made


async def test_a_repeated_request_is_served_from_disk_even_by_another_process(
    server: ReplayServer, tmp_path: Path
) -> None:
    server.on("/a", GOOD)
    for _ in range(2):  # each opens the cache again
        async with opened(tmp_path) as http:
            answer = await http.get("x", f"{server.url}/a", {"q": "1"})
            assert answer.json() == {"records": [1, 2]}
            assert answer.headers["content-type"] == "application/json"
            await http.get("x", f"{server.url}/a", {"q": "2"})
    assert len(server.asked) == 2


@pytest.mark.invariant
async def test_the_same_request_made_by_several_at_once_is_sent_once(
    server: ReplayServer, http: Http
) -> None:
    server.on("/a", GOOD)
    limiter = http.pace("x", 100.0)
    limiter.require_lease()  # shut until all have asked
    asking = [asyncio.create_task(http.get("x", f"{server.url}/a", {"q": "1"})) for _ in range(3)]
    await asyncio.sleep(0)
    limiter.extend_lease(float("inf"))
    answers = await asyncio.gather(*asking)
    assert [answer.json() for answer in answers] == [{"records": [1, 2]}] * 3
    assert len(server.asked) == 1


async def test_a_request_that_fails_is_sent_again_by_the_next_who_waits_for_it(
    server: ReplayServer, http: Http
) -> None:
    server.on("/a", Reply(500, "oops"), GOOD)
    asking = [http.get("x", f"{server.url}/a") for _ in range(2)]
    first, second = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(first, Unavailable)
    assert isinstance(second, httpx.Response)
    assert second.json() == {"records": [1, 2]}


async def test_a_proxy_that_wants_a_password_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        monkeypatch.setenv("NO_PROXY", "")
        async with opened(tmp_path) as http:
            with pytest.raises(
                Unavailable, match=r"the proxy of HTTPS_PROXY .* answers 407 .*NAME:PASSWORD@"
            ):
                await http.get("x", "https://api.invalid/a")


async def test_age_decides_what_the_cache_may_serve(server: ReplayServer, http: Http) -> None:
    server.on("/a", GOOD, Reply(200, '{"records": [3]}', JSON))
    await http.get("x", f"{server.url}/a")
    with no_older_than(0):
        fresh = await http.get("x", f"{server.url}/a")
    assert fresh.json() == {"records": [3]}
    with no_older_than(3600):
        again = await http.get("x", f"{server.url}/a")
    assert again.json() == {"records": [3]}  # the newer answer replaced the older one
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(500, "oops"), Unavailable),
        (Reply(404, "none"), Refused),
        (Reply(429, "slow"), RateLimited),
        (Reply(302, "", {"location": "http://127.0.0.1:1/"}), Refused),
        (Reply(200, '{"records": [1', JSON), Malformed),
        (Reply(200, '{"error": "rate limit exceeded"}', JSON), RateLimited),
        (Reply(200, '{"error": "something else"}', JSON), Malformed),
        (Reply(200, "<a><b></a>", {"content-type": "text/xml"}), Malformed),
        (Reply(hang_up=True), Unavailable),
    ],
)
async def test_an_error_is_never_cached(
    server: ReplayServer, reply: Reply, kind: type[SourceError], http: Http
) -> None:
    server.on("/a", reply, GOOD)
    with pytest.raises(kind):
        await http.get("x", f"{server.url}/a")
    assert (await http.get("x", f"{server.url}/a")).json() == {"records": [1, 2]}


async def test_a_status_that_is_accepted_is_not_cached_and_a_post_is_asked_once(
    server: ReplayServer, http: Http
) -> None:
    server.on("/none", Reply(404, "no matches")).on("/a", GOOD)
    for question in (1, 1, 2):
        assert (await http.get("x", f"{server.url}/none", accept=(404,))).status_code == 404
        await http.read("x", httpx.Response.json, f"{server.url}/a", json_body={"q": question})
    assert server.count("/none") == 3
    assert [asked.json()["q"] for asked in server.asked if asked.path == "/a"] == [1, 2]


async def test_no_key_reaches_disk_or_log_and_another_key_finds_the_same_answer(
    server: ReplayServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    server.on("/a", GOOD)
    async with opened(tmp_path) as http:
        url = f"{server.url}/a"
        await http.get("x", url, {"q": "1", "api_key": SECRET}, {"Authorization": f"Bearer {SECRET}"})
        await http.get("x", url, {"q": "1", "api_key": "another"})
        await http.get("x", url, {"q": "1"})
    assert len(server.asked) == 1
    for path in (tmp_path / "cache").iterdir():
        assert SECRET.encode() not in path.read_bytes(), path
    with sqlite3.connect(tmp_path / "cache" / "answers.sqlite") as database:
        assert database.execute("SELECT count(*) FROM answers").fetchone() == (1,)
    assert SECRET not in caplog.text


async def test_a_cache_that_cannot_be_used_costs_no_search(server: ReplayServer, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "answers.sqlite").write_bytes(b"this is no database" * 200)
    server.on("/a", GOOD)
    async with opened(tmp_path) as http:
        for _ in range(2):
            assert (await http.get("x", f"{server.url}/a")).status_code == 200
    assert len(server.asked) == 2


async def test_a_cache_on_a_full_disk_is_used_again_when_there_is_room(
    server: ReplayServer, http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was closed for as long as its worker lived."""
    server.on("/a", GOOD)
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    with monkeypatch.context() as patch:
        patch.setattr(cache_module.HttpCache, "_open", Mock(side_effect=full))
        await http.get("x", f"{server.url}/a")
    for _ in range(2):
        await http.get("x", f"{server.url}/a")
    assert len(server.asked) == 2


async def test_the_cache_does_not_grow_beyond_its_limit(
    server: ReplayServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "MAX_CACHE_BYTES", 1 << 20)
    server.on("/a", Reply(200, "x" * 200_000, {"content-type": "text/plain"}))
    async with opened(tmp_path) as http:
        for number in range(20):
            await http.get("x", f"{server.url}/a", {"q": number})
        await http.get("x", f"{server.url}/a", {"q": 19})
    assert len(server.asked) == 20  # the newest is kept
    with sqlite3.connect(tmp_path / "cache" / "answers.sqlite") as database:
        assert database.execute("SELECT sum(length(body)) FROM answers").fetchone()[0] <= 1 << 20


async def test_an_answer_without_end_is_cut_off(
    server: ReplayServer, http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_module, "MAX_BYTES", 1 << 20)
    server.on("/a", Reply(200, b"x" * ((1 << 20) + 1)))
    with pytest.raises(Malformed, match="more than 1 MiB"):
        await http.get("x", f"{server.url}/a")


async def test_what_the_cache_answers_does_not_pass_the_gate(server: ReplayServer, http: Http) -> None:
    server.on("/a", GOOD)
    limiter = http.pace("x", 3)
    assert http.pace("y", 3, group="x") is limiter
    await http.get("x", f"{server.url}/a")
    limiter.require_lease()  # shut
    assert (await http.get("x", f"{server.url}/a")).json() == {"records": [1, 2]}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("inf", None), ("nan", None), ("soon", None)],
)
def test_retry_after_is_read_whatever_stands_in_it(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds


@pytest.mark.invariant
async def test_a_request_whose_lease_ran_out_on_the_way_is_not_sent(
    server: ReplayServer, http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is suspended between the limiter and the first byte sends nothing when it resumes."""
    server.on("/a", GOOD)
    http.pace("x", 100.0)
    limiter = http.rate_limiter("x")
    assert limiter is not None
    pool = http.client._transport
    handle = pool.handle_async_request

    async def wake_up_late(request: httpx.Request) -> httpx.Response:
        limiter.extend_lease(float("-inf"))
        return await handle(request)

    with limiter.under_lease():
        limiter.extend_lease(float("inf"))
        await http.get("x", f"{server.url}/a", {"q": "1"})
        monkeypatch.setattr(pool, "handle_async_request", wake_up_late)
        late = asyncio.create_task(http.get("x", f"{server.url}/a", {"q": "2"}))
        while limiter.has_lease():  # noqa: ASYNC110 - a lease that ends tells nobody
            await asyncio.sleep(0.01)
        assert not (await asyncio.wait([late], timeout=0.1))[0]
        assert len(server.asked) == 1
        monkeypatch.undo()
        limiter.extend_lease(float("inf"))
        await late
    assert len(server.asked) == 2
    await http.get("x", f"{server.url}/a", {"q": "3"})
    assert len(server.asked) == 3
