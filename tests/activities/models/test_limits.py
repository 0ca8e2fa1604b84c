"""What a model server may do wrong without costing time, memory, money or secrets."""

import asyncio
import gzip
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from pydantic import SecretStr

from activities.contracts.errors import ModelDown, ModelRefused
from activities.contracts.evidence import Allowance, ModelChoice
from activities.models.address import parse
from activities.models.base import CURRENT, Progress
from activities.models.prices import effort_of
from activities.models.response import repeats_itself
from activities.settings import Settings
from tests.activities.models.conftest import GOOD, Asker, Workers
from tests.fake_openai import JSON, PATH, SSE, FakeOpenAI, completion, events, fails, says
from tests.replay import Asked, Reply

LM_STUDIO = {"id": "m", "type": "llm", "state": "loaded", "max_context_length": 131_072}
LARGE = Allowance(input_tokens=3000, output_tokens=2000)


def word(text: str) -> bytes:
    chunk = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def streamed(chunks: Iterator[bytes] | tuple[bytes, ...], delay: float = 0.01) -> Reply:
    return Reply(200, headers=SSE, chunks=cast(tuple[bytes, ...], chunks), delay=delay)


@pytest.fixture
def hurried(worker: Workers) -> Asker:
    """A first word may need 1.2 s here, the next ones 0.3 s."""
    return worker(model_silence=0.3)


# time


async def test_a_call_may_last_as_long_as_words_arrive(hurried: Asker, server: FakeOpenAI) -> None:
    text = json.dumps({**GOOD, "reasons": [f"reason {n}" for n in range(40)]})
    parts = tuple(word(text[at : at + 30]) for at in range(0, len(text), 30))
    done = events(completion(""))[-3:]
    server.script(streamed((*parts, *done), delay=0.12))
    verdict, _ = await hurried(allowance=LARGE)
    assert len(verdict.reasons) == 40, "a stream that took ten times the limit on silence was cut"


async def test_pings_are_no_words(hurried: Asker, server: FakeOpenAI) -> None:
    def pings() -> Iterator[bytes]:
        while True:
            yield b": ping\n\n"

    server.script(lambda _: streamed(pings()))
    with pytest.raises(ModelDown, match="said nothing"):
        async with asyncio.timeout(20):
            await hurried()


async def test_the_end_of_the_steps_time_keeps_what_was_whole(ask: Asker, server: FakeOpenAI) -> None:
    def slow() -> Iterator[bytes]:
        yield word('{"label": "yes", "score": 7, "reasons": ["one"')
        while True:
            yield word(" ")

    server.script(lambda _: streamed(slow(), delay=0.05))
    verdict, done = await ask(allowance=LARGE, seconds=1.0)
    assert verdict.score == 7
    assert any("time" in note for note in done.notes)
    assert len(server.bodies) == 1, "a repair was asked for when the time was over"


async def test_an_answer_cut_in_the_middle_is_read_as_far_as_it_is_whole(
    ask: Asker, server: FakeOpenAI
) -> None:
    server.script(streamed((word('{"label": "yes", "score": 7, "rea'),)))
    verdict, done = await ask()
    assert verdict.score == 7
    assert any("broke off" in note for note in done.notes)


async def test_a_loop_ends_the_call(ask: Asker, server: FakeOpenAI) -> None:
    sent = 0

    def loops() -> Iterator[bytes]:
        nonlocal sent
        yield word('{"label": "yes", "score": 7, "reasons": ["first"')
        while True:
            sent += 1
            yield word(', "metformin lowers the risk"')

    server.script(lambda _: streamed(loops(), delay=0.0))
    verdict, _ = await ask(allowance=LARGE)
    assert set(verdict.reasons) == {"first", "metformin lowers the risk"}
    assert sent < 5_000


@pytest.mark.parametrize(
    ("text", "loop"),
    [
        ("\n" * 300, True),
        ("so it goes, " * 20, True),
        ('{"paragraph": 1, "sentence": "S1", "text": "", "contradicts": ""}, ' * 5, True),
        ("".join(f'{{"paragraph": 1, "sentence": "S{n}", "text": ""}}, ' for n in range(40)), False),
        ("The trial had 4000 adults, 2000 in each group, and lasted for 1000 days; 000.", False),
        (json.dumps({"scores": [{"criterion": f"c{n}", "score": 8} for n in range(6)]}), False),
    ],
)
def test_a_loop_is_distinguished_from_a_list(text: str, loop: bool) -> None:
    assert repeats_itself(text) is loop


# bytes


@pytest.mark.parametrize(
    "reply",
    [
        streamed(tuple(b"x" * 65_536 for _ in range(40)), delay=0.0),
        Reply(200, b" " * (9 * 2**20), JSON),
        Reply(500, b" " * (9 * 2**20), JSON),
    ],
    ids=["a line without an end", "a whole body", "an error's body"],
)
async def test_nothing_is_read_beyond_the_largest_answer(
    ask: Asker, server: FakeOpenAI, reply: Reply
) -> None:
    server.script(reply)
    with pytest.raises(ModelRefused) as raised:
        await ask()
    assert raised.value.category == "bad_request"
    assert len(server.bodies) == 1


async def test_a_compressed_body_is_not_asked_for_and_not_opened(ask: Asker, server: FakeOpenAI) -> None:
    bomb = gzip.compress(b" " * 2**24)
    server.script(Reply(200, headers={**JSON, "content-encoding": "gzip"}, chunks=(bomb,)))
    with pytest.raises(ModelRefused, match="compressed"):
        await ask()
    assert server.asked[0].headers["accept-encoding"] == "identity"


# connections


async def test_redirects_lead_to_no_other_host_and_end(ask: Asker, server: FakeOpenAI) -> None:
    server.script(Reply(307, headers={"location": f"{server.base_url}/chat/completions"}))
    with pytest.raises(ModelRefused, match="OPENAI_BASE_URL") as raised:
        await ask()
    assert len(server.bodies) <= 3
    assert not raised.value.retryable
    made = len(server.bodies)
    other = server.base_url.replace("127.0.0.1", "localhost")
    server.script(Reply(307, headers={"location": f"{other}/chat/completions"}))
    with pytest.raises(ModelRefused, match="another server"):
        await ask()
    assert len(server.bodies) == made + 1


@pytest.mark.parametrize("target", ["https://HOST/v1", "http://127.0.0.1:9/v1", "//HOST:9/v1", "http://[::1"])
async def test_no_redirect_takes_the_prompt_to_another_port(
    ask: Asker, server: FakeOpenAI, target: str
) -> None:
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    target = target.replace("HOST:9", "127.0.0.1:9").replace("HOST", host)
    server.script(Reply(307, headers={"location": target}))
    with pytest.raises(ModelRefused, match="another server"):
        await ask()
    assert len(server.bodies) == 1


# one at a time


async def test_a_server_with_one_slot_gets_one_call_at_a_time_in_their_order(
    worker: Workers, server: FakeOpenAI
) -> None:
    busy = most = 0

    def slow(asked: Asked) -> Reply:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)

        def answer() -> Iterator[bytes]:
            nonlocal busy
            *before, last = events(completion(GOOD))
            yield from before
            busy -= 1  # the client may go on as soon as it has the last event
            yield last

        return streamed(answer(), delay=0.02)

    server.script(slow)
    server.on("/props", Reply(200, json.dumps({"total_slots": 1}), JSON))
    asker = worker(model_silence=1.0)
    began = time.monotonic()
    answers = await asyncio.gather(*(asker(scope=f"step {n}") for n in range(8)))
    assert time.monotonic() - began > 1.0
    assert most == 1
    assert len(answers) == 8, "waiting for a turn counted as the call's time"


@pytest.mark.parametrize(
    ("path", "facts", "setting", "at_once"),
    [
        ("/props", {"total_slots": 3}, {}, 3),
        ("/v1/models", {"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 8192}]}, {}, 6),
        ("/none", {}, {"model_concurrency": 2}, 2),
    ],
)
async def test_a_server_gets_as_many_calls_as_it_says_it_serves_or_as_is_set(
    worker: Workers,
    server: FakeOpenAI,
    path: str,
    facts: dict[str, object],
    setting: dict[str, int],
    at_once: int,
) -> None:
    gate = asyncio.Barrier(at_once)
    loop = asyncio.get_running_loop()

    def wait(asked: Asked) -> Reply:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(20)
        return says(GOOD)(asked)

    server.script(wait)
    server.on(path, Reply(200, json.dumps(facts), JSON))
    asker = worker(**setting)
    async with asyncio.timeout(30):
        await asyncio.gather(*(asker(scope=f"step {n}") for n in range(at_once)))


# the context


@pytest.mark.parametrize(
    ("answers", "context"),
    [
        ({"/props": {"default_generation_settings": {"n_ctx": 2048}, "total_slots": 4}}, 2048),
        ({"/v1/models": {"data": [{"id": "m", "max_model_len": 8192}]}}, 8192),
        ({"/api/ps": {"models": [{"name": "m", "context_length": 16384}]}, "/api/show": {}}, 16384),
        ({"/api/ps": {"models": []}, "/api/show": {"parameters": "stop x\nnum_ctx 8192"}}, 8192),
        ({"/api/ps": {"models": []}, "/api/show": {"model_info": {"qwen2.context_length": 32768}}}, 4096),
        ({"/api/v0/models": {"data": [{**LM_STUDIO, "loaded_context_length": 8192}]}}, 8192),
        ({"/api/v0/models": {"data": [{**LM_STUDIO, "state": "not-loaded"}]}}, 4096),
        ({"/props": ["odd"], "/v1/models": {"data": "none"}, "/api/v0/models": {"data": [7]}}, 32_000),
    ],
    ids=[
        *("llama.cpp", "vllm", "ollama, loaded", "ollama, set", "ollama, not set"),
        *("lm studio, loaded", "lm studio, not loaded", "nonsense"),
    ],
)
async def test_a_server_is_asked_how_much_it_reads(
    ask: Asker, server: FakeOpenAI, answers: dict[str, object], context: int
) -> None:
    for path, answer in answers.items():
        server.on(path, Reply(200, json.dumps(answer), JSON))
    assert await ask.model.context(ask.choice) == context


@pytest.mark.parametrize("key", [None, "sk-of-the-test"])
@pytest.mark.parametrize(("parameters", "effort"), [(1_500_000_000, "small"), (32_000_000_000, "normal")])
async def test_the_effort_follows_the_size_that_a_server_reports(
    settings: Settings, server: FakeOpenAI, key: str | None, parameters: int, effort: str
) -> None:
    """With a key and, as local servers are mostly used, without one."""
    listed = {"data": [{"id": "my-model", "meta": {"n_params": parameters}}]}
    server.on("/v1/models", Reply(200, json.dumps(listed), JSON))
    mine = settings.model_copy(update={"openai_api_key": SecretStr(key) if key else None})
    assert await effort_of(mine, ModelChoice(backend="openai", model="my-model")) == effort


# secrets


async def test_credentials_in_the_address_are_sent_and_appear_nowhere(
    worker: Workers,
    tmp_path: Path,
    server: FakeOpenAI,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = server.base_url.replace("http://", "http://user:hunter2secret@") + "?key=querysecret99"
    server.script(fails(503, "user:hunter2secret or querysecret99 is wrong"), says(GOOD))
    asker = worker(openai_base_url=url)
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelDown) as raised:
        await asker()
    verdict, done = await asker()
    assert verdict.score == 7
    assert server.asked[-1].headers["authorization"].startswith("Basic ")
    assert server.asked[-1].query["key"] == ["querysecret99"]
    stored = [str(f) + f.read_text(errors="replace") for f in tmp_path.rglob("*") if f.is_file()]  # noqa: ASYNC240
    printed = capsys.readouterr()
    everything = "\n".join(
        [str(raised.value), repr(raised.value), done.model_dump_json(), *stored, printed.out, printed.err]
    )
    for secret in ("hunter2secret", "querysecret99"):
        assert secret not in everything
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore", "openai"))]
    assert not [said for said in ours if "hunter2secret" in said]


@pytest.mark.parametrize("url", ["", "localhost:8080", "file:///etc/passwd", "http://", "http://[::1"])
def test_what_is_no_address_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(ModelRefused, match="http"):
        parse(url)


# what is shown of a call under way


async def test_a_call_under_way_says_how_far_it_is(ask: Asker, server: FakeOpenAI) -> None:
    shown = Progress("judge", attempt=2)
    CURRENT.set(shown)
    server.script(says(GOOD))
    await ask()
    details = shown.details()
    assert (details["role"], details["attempt"], details["model"]) == ("judge", 2, "m")
    assert details["characters"] == len(json.dumps(GOOD))
    assert json.loads(json.dumps(details)) == details
    assert server.count(PATH) == 1
