"""How the real client fails, against scripted servers: busy, refused, unreachable, cancelled; the key."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from activities.contracts.errors import ModelBusy, ModelDown, ModelError, ModelRefused
from activities.contracts.evidence import ModelChoice
from tests.activities.models.conftest import GOOD, KEY, Asker, Workers
from tests.fake_openai import JSON, PATH, SSE, Endless, FakeOpenAI, completion, events, fails, says
from tests.replay import Asked, Reply


async def test_a_server_that_is_not_there_is_down(worker: Workers) -> None:
    with pytest.raises(ModelDown, match="is the server running"):
        await worker(openai_base_url="http://127.0.0.1:1/v1")()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, "<html>Log in to the hotel's network</html>", {"content-type": "text/html"}),
        Reply(200, b"data: {not json\n\n", SSE),
        Reply(200, b"data: not json\n\n", SSE),
        Reply(200, b"[" * 200_000, JSON),
        Reply(200, '{"object": "list", "data": []}', JSON),
        Reply(200, b"", SSE),
        Reply(hang_up=True),
        Reply(200, headers=SSE, chunks=(b'data: {"choices": [{"del',)),
    ],
)
async def test_what_is_no_answer_is_an_outage_not_an_answer(
    ask: Asker, server: FakeOpenAI, reply: Reply
) -> None:
    server.script(reply)
    with pytest.raises(ModelDown):
        await ask()


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ({"error": {"message": "Provider returned error", "code": 429}}, ModelBusy, "busy (429)"),
        (
            {"error": {"message": "Provider returned error", "code": 502}},
            ModelDown,
            "Provider returned error",
        ),
        ({"error": "the queue is full"}, ModelDown, "the queue is full"),
        ({"code": 1302, "msg": "concurrency too high"}, ModelDown, "concurrency too high"),
        ({"error": {"message": "No auth", "code": 401}}, ModelRefused, "No auth"),
        (
            {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "too long"}}},
            ModelRefused,
            "too long",
        ),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_error_in_a_200_is_said_in_the_providers_words(
    ask: Asker, server: FakeOpenAI, streamed: bool, error: object, kind: type[ModelError], words: str
) -> None:
    text = json.dumps(error)
    server.script(*[Reply(200, f"data: {text}\n\n", SSE) if streamed else Reply(200, text, JSON)] * 2)
    with pytest.raises(kind) as raised:
        await ask()
    assert words in str(raised.value)


async def test_of_a_web_page_in_place_of_an_error_the_title_is_shown(ask: Asker, server: FakeOpenAI) -> None:
    page = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Cloud</body></html>"
    server.script(Reply(403, page, {"content-type": "text/html"}))
    with pytest.raises(ModelRefused, match=r"a web page: Just a moment\.\.\.") as raised:
        await ask()
    assert "<" not in str(raised.value)


async def test_cancelling_stops_the_call(ask: Asker, server: FakeOpenAI) -> None:
    endless = Endless()
    server.script(endless)
    task = asyncio.create_task(ask())
    await asyncio.to_thread(endless.started.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(endless.left.wait, 10), "the server is still writing"


@pytest.mark.invariant
async def test_an_answer_is_stored_with_its_last_byte_and_no_interruption_unmakes_that(
    ask: Asker, server: FakeOpenAI
) -> None:
    """A server that keeps the connection open after its answer: the caller is cancelled meanwhile."""
    sent = threading.Event()

    def chunks() -> Iterator[bytes]:
        yield from events(completion(GOOD))
        sent.set()
        time.sleep(3)

    def lingers(_: Asked) -> Reply:
        return Reply(200, headers=SSE, chunks=cast(tuple[bytes, ...], chunks()))

    server.script(lingers, says(GOOD))
    task = asyncio.create_task(ask())
    await asyncio.to_thread(sent.wait, 10)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ask()
    assert len(server.bodies) == 1


# secrets


async def test_the_key_goes_to_the_configured_address_only(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(GOOD))
    await ask()
    assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    with FakeOpenAI() as stranger:
        stranger.script(says(GOOD))
        ask.choice = ModelChoice(backend="openai", model="m", base_url=stranger.base_url)
        await ask()
        assert KEY not in str(stranger.asked[-1].headers)
        stranger.script(fails(401, "who are you?"))
        with pytest.raises(ModelRefused, match=r"wants a key .*OPENAI_BASE_URL alone"):
            await ask(scope="another step")


async def test_nothing_stored_holds_the_key(ask: Asker, server: FakeOpenAI, tmp_path: Path) -> None:
    server.script(says(GOOD))
    await ask()
    stored = [f.read_bytes() for f in sorted(tmp_path.rglob("*")) if f.is_file()]  # noqa: ASYNC240
    assert stored
    assert all(KEY.encode() not in content for content in stored)
    assert server.count(PATH) == 1
