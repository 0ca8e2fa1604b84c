"""How the client fails, against scripted servers, and how a failure is classified; no message has a key."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from temporalio.activity import ActivityCancellationDetails
from temporalio.testing import ActivityEnvironment

from activities import credentials
from activities.contracts.errors import (
    ModelBusy,
    ModelDown,
    ModelError,
    ModelRefused,
    next_delay,
    to_application_error,
)
from activities.contracts.evidence import ModelChoice
from activities.models import calls as calls_under_way
from activities.models.failures import scrub, translate, wait_of
from tests.activities.models.conftest import GOOD, KEY, Asker, Workers
from tests.fake_openai import JSON, PATH, SSE, Endless, FakeOpenAI, completion, events, fails, says
from tests.replay import RECORDED, Asked, Reply


async def test_a_server_that_is_not_there_is_down(worker: Workers) -> None:
    with pytest.raises(ModelDown, match="is the server running"):
        await worker(openai_base_url="http://127.0.0.1:1/v1")()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (
            Reply(200, "<html>Log in to the hotel's network</html>", {"content-type": "text/html"}),
            "no JSON; check",
        ),
        (Reply(200, b"data: {not json\n\n", SSE), "no JSON"),
        (Reply(200, b"data: not json\n\n", SSE), "no choice"),
        (Reply(200, b"[" * 200_000, JSON), "does"),
        (Reply(200, '{"object": "list", "data": []}', JSON), "no choice"),
        (Reply(200, b"", SSE), "no choice"),
        (Reply(hang_up=True), "closed the connection"),
        (Reply(200, headers=SSE, chunks=(b'data: {"choices": [{"del',)), "no choice"),
    ],
)
async def test_what_is_no_answer_is_an_outage_not_an_answer(
    ask: Asker, server: FakeOpenAI, reply: Reply, words: str
) -> None:
    server.script(reply)
    with pytest.raises(ModelDown, match=words):
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
@pytest.mark.parametrize(
    ("why", "calls"),
    [
        (ActivityCancellationDetails(not_found=True), 1),
        (ActivityCancellationDetails(timed_out=True), 1),
        (ActivityCancellationDetails(cancel_requested=True), 2),
    ],
    ids=["given up by the server", "timed out", "cancelled"],
)
async def test_an_attempt_waits_for_the_call_of_one_that_timed_out(
    ask: Asker,
    server: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    why: ActivityCancellationDetails,
    calls: int,
) -> None:
    """A worker stood still, and the server gave the step to another attempt before its call had ended."""
    monkeypatch.setattr(calls_under_way, "JOIN_SECONDS", 0.0)
    go_on = threading.Event()

    def slow(asked: Asked) -> Reply:
        go_on.wait(10)
        return says(GOOD)(asked)

    server.script(slow)
    first = ActivityEnvironment()
    task = asyncio.create_task(first.run(ask.__call__))
    while not server.bodies:  # noqa: ASYNC110 - counted by the threads of a server
        await asyncio.sleep(0.01)
    second = asyncio.create_task(ActivityEnvironment().run(ask.__call__))
    (call,) = ask.model._calls._under_way.values()
    async with asyncio.timeout(10):
        while call.waiting < 2:  # noqa: ASYNC110 - counted by the attempts themselves
            await asyncio.sleep(0.01)
    first.cancel(why)
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.1)
    go_on.set()
    verdict, _ = await second
    assert (verdict.label, len(server.bodies)) == (GOOD["label"], calls)


async def test_a_call_that_no_attempt_waits_for_is_ended(
    ask: Asker, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server says as little of a cancelled or terminated run as of an attempt that timed out."""
    monkeypatch.setattr(calls_under_way, "JOIN_SECONDS", 0.1)
    endless = Endless()
    server.script(endless)
    attempt = ActivityEnvironment()
    task = asyncio.create_task(attempt.run(ask.__call__))
    await asyncio.to_thread(endless.started.wait, 10)
    attempt.cancel(ActivityCancellationDetails(not_found=True))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(endless.left.wait, 10), "the server is still writing"


async def test_two_attempts_whose_repair_fails_are_charged_the_first_turn_once(
    ask: Asker, server: FakeOpenAI
) -> None:
    server.script(says("no JSON"), *[fails(400, "no")] * 4)
    both = await asyncio.gather(ask(), ask(), return_exceptions=True)
    assert [error.usage.calls for error in both if isinstance(error, ModelError)] == [1, 1]


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


def recorded_failure(name: str, status: int, **headers: str) -> ModelError:
    body = json.loads(Path(RECORDED / "openai" / name).read_text())
    return translate(status, body, headers, model="gpt-4o", address="https://api.openai.com/v1")


@pytest.mark.parametrize(
    ("name", "status", "kind", "category"),
    [
        ("error_400_context_length_exceeded.json", 400, ModelRefused, "context_length"),
        ("error_400_context_length_exceeded_messages.json", 400, ModelRefused, "context_length"),
        ("error_401_invalid_api_key.json", 401, ModelRefused, "auth"),
        ("error_404_model_not_found.json", 404, ModelRefused, "model_not_found"),
        ("error_400_unsupported_parameter.json", 400, ModelRefused, "bad_request"),
        ("error_429_gemini_resource_exhausted.json", 429, ModelBusy, "rate_limited"),
        ("error_429_rate_limit_tokens_6ms.json", 429, ModelBusy, "rate_limited"),
        ("error_429_rate_limit_tokens_long_wait.json", 429, ModelBusy, "rate_limited"),
    ],
)
def test_recorded_failures_are_what_they_are(
    name: str, status: int, kind: type[ModelError], category: str
) -> None:
    error = recorded_failure(name, status)
    assert type(error) is kind
    assert error.category == category
    assert to_application_error(error).non_retryable is (kind is ModelRefused)


def test_waits_said_in_words_are_honoured_and_capped() -> None:
    short = recorded_failure("error_429_rate_limit_tokens_6ms.json", 429)
    assert short.retry_after == pytest.approx(0.006)
    long = recorded_failure("error_429_rate_limit_tokens_long_wait.json", 429)
    assert long.retry_after == pytest.approx(114 * 3600 + 18 * 60)
    delay = next_delay(long)
    assert delay is not None
    assert delay.total_seconds() == 300


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "7"}, "try again in 90s", 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, "", 0.25),
        ({}, "Please try again in 1m6.779s.", 66.779),
        ({}, "Please retry in 34.5s.", 34.5),
        ({}, "no hint", None),
    ],
)
def test_a_header_goes_before_the_words(headers: dict[str, str], message: str, seconds: float | None) -> None:
    assert wait_of(headers, message) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("status", "error", "category"),
    [
        (
            429,
            {"message": "You exceeded your current quota", "code": "insufficient_quota"},
            "insufficient_quota",
        ),
        (402, {"message": "Payment required"}, "insufficient_quota"),
        (429, {"message": "Request too large for gpt-4o: Limit 30000, Requested 90000"}, "context_length"),
        (403, {"message": "Country not supported"}, "auth"),
        (404, {}, "model_not_found"),
        (400, {"message": "model `x` does not exist"}, "model_not_found"),
        (400, {"message": "filtered", "code": "content_filter"}, "content_filter"),
        (500, {"message": "Requested tokens (9000) exceed context window of 8192"}, "context_length"),
        (413, {"message": "Payload"}, "context_length"),
        (
            400,
            {"message": "The input token count (9000) exceeds the maximum number of tokens allowed (4096)."},
            "context_length",
        ),
        (
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000",
            "context_length",
        ),
        (
            400,
            {"message": "length of prompt_tokens (8192) must be less than max_seq_len (4096)."},
            "context_length",
        ),
        (400, {"message": "输入长度超过模型最大上下文长度限制"}, "context_length"),
        (400, {"message": "Invalid 'messages[0].content': string too long."}, "context_length"),
        (400, {"message": "no"}, "bad_request"),
    ],
)
def test_what_cannot_succeed_later_is_not_retried(status: int, error: object, category: str) -> None:
    failure = translate(status, {"error": error}, {}, model="m", address="http://x/v1")
    assert isinstance(failure, ModelRefused)
    assert failure.category == category


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504, 529])
def test_a_server_in_trouble_is_asked_again(status: int) -> None:
    failure = translate(
        status, "<html>Bad gateway</html>", {"retry-after": "3"}, model="m", address="http://x"
    )
    assert isinstance(failure, ModelDown)
    assert failure.retry_after == 3


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_message_holds_the_key(before: str, after: str) -> None:
    credentials.register([KEY])
    body = {"error": {"message": f"{before}{KEY}{after}"}}
    for status in (400, 401, 404, 429, 500):
        assert KEY not in str(translate(status, body, {}, model="m", address="http://x"))
    assert KEY not in scrub(f"Authorization: Bearer {KEY}")
