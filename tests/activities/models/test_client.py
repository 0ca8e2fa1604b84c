"""The real client against scripted servers and recorded answers: every way a server may answer or fail."""

import asyncio
import json
from pathlib import Path

import pytest

from activities.errors import ModelBusy, ModelDown, ModelRefused, ModelUnusable
from activities.evidence_store import EvidenceStore
from activities.models.client import OpenAIModel
from activities.settings import Settings
from activities.types import Allowance, ModelChoice
from tests.activities.models.conftest import GOOD, KEY, Asker, Verdict
from tests.fake_openai import JSON, PATH, SSE, Endless, FakeOpenAI, completion, events, fails, says, whole
from tests.replay import Reply, recorded

BAD = {"label": "yes", "score": "many"}


# structured output on every server


async def test_a_schema_is_sent_where_it_is_taken(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(GOOD))
    verdict, done = await ask()
    assert verdict == Verdict(label="yes", score=7, reasons=["one", "two"])
    assert not done.repaired
    [body] = server.bodies
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["temperature"] == 0
    assert [m["role"] for m in body["messages"]] == ["system", "user"]


@pytest.mark.parametrize(("of_the_step", "sent"), [(None, 0.7), (0.2, 0.2)])
async def test_the_configured_temperature_holds_where_the_step_has_none(
    server: FakeOpenAI, settings: Settings, store: EvidenceStore, of_the_step: float | None, sent: float
) -> None:
    server.script(says(GOOD))
    model = OpenAIModel(settings.model_copy(update={"temperature": 0.7}), store)
    choice = ModelChoice(backend="openai", model="m", temperature=of_the_step)
    await Asker(model, choice)()
    await model.aclose()
    assert [body["temperature"] for body in server.bodies] == [sent]


async def test_each_refusal_lowers_one_rung_and_is_made_once_for_all(
    ask: Asker, server: FakeOpenAI, settings: Settings, store: EvidenceStore
) -> None:
    no = fails(400, "response_format is not supported", param="response_format")
    server.script(no, no, no, says(GOOD))
    await ask()
    forms = [b.get("response_format", {}).get("type", "none") for b in server.bodies]
    assert forms == ["json_schema", "json_object", "json_object", "none"]
    assert "JSON schema" in server.bodies[-1]["messages"][0]["content"]
    assert "JSON schema" in server.bodies[2]["messages"][0]["content"]

    await ask(scope="another step")
    assert "response_format" not in server.bodies[-1], "what was learned was forgotten"
    other = OpenAIModel(settings, store)
    await Asker(other, ask.choice)(scope="after a restart")
    await other.aclose()
    assert "response_format" not in server.bodies[-1], "a new worker asked again what was known"
    assert len(server.bodies) == 6


async def test_a_server_learns_us_its_manners(ask: Asker, server: FakeOpenAI) -> None:
    system = recorded("openai/error_400_unsupported_value.json", 400)
    server.script(
        system,
        fails(400, "Unsupported value: 'temperature' does not support 0", param="temperature"),
        fails(400, "Unsupported parameter: 'max_tokens' is not supported", param="max_tokens"),
        fails(400, "Unknown parameter: 'stream_options'", param="stream_options"),
        says(GOOD),
    )
    verdict, _ = await ask()
    assert verdict.score == 7
    last = server.bodies[-1]
    assert [m["role"] for m in last["messages"]] == ["user"]
    assert "You judge." in last["messages"][0]["content"]
    assert "temperature" not in last
    assert "stream_options" not in last
    assert "max_completion_tokens" in last
    assert "max_tokens" not in last


async def test_a_refusal_that_teaches_nothing_ends_the_call(ask: Asker, server: FakeOpenAI) -> None:
    server.script(recorded("openai/error_400_unsupported_parameter.json", 400))
    with pytest.raises(ModelRefused, match="stop") as raised:
        await ask()
    assert raised.value.category == "bad_request"
    assert len(server.bodies) == 1


async def test_a_server_that_ignores_the_schema_is_given_it_in_the_prompt(
    ask: Asker, server: FakeOpenAI
) -> None:
    server.script(says("I would say it works rather well."), says(GOOD))
    verdict, done = await ask()
    assert verdict.score == 7
    assert done.repaired
    assert "JSON schema" in server.bodies[1]["messages"][0]["content"]
    await ask(scope="next")
    assert server.bodies[2]["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    "answer",
    [
        f"```json\n{json.dumps(GOOD)}\n```",
        f"<think>I wonder {{}}</think>\n\nHere you are: {json.dumps(GOOD)}",
        f'<tool_call>\n{{"name": "Verdict", "arguments": {json.dumps(GOOD)}}}\n</tool_call>',
    ],
)
async def test_odd_forms_need_no_second_call(ask: Asker, server: FakeOpenAI, answer: str) -> None:
    server.script(says(answer))
    verdict, done = await ask()
    assert verdict.score == 7
    assert (len(server.bodies), done.repaired) == (1, False)


async def test_a_tool_call_is_an_answer_too(ask: Asker, server: FakeOpenAI) -> None:
    call = {
        "index": 0,
        "id": "c",
        "type": "function",
        "function": {"name": "f", "arguments": json.dumps(GOOD)},
    }
    server.script(says(None, tool_calls=[call], finish="tool_calls"))
    verdict, _ = await ask()
    assert verdict.score == 7


async def test_reasoning_beside_the_answer_is_not_the_answer(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(GOOD, reasoning_content='{"label": "no", "score": 1}'))
    assert (await ask())[0].label == "yes"


# the repair turn


async def test_one_repair_turn_with_the_validators_words(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(BAD, usage=(100, 20)), says(GOOD, usage=(60, 10)))
    verdict, done = await ask(user="Question: " + "long evidence " * 200)
    assert verdict.score == 7
    assert done.repaired
    assert (done.usage.calls, done.usage.input_tokens, done.usage.output_tokens) == (2, 160, 30)
    repair = server.bodies[1]["messages"][1]["content"]
    assert "score" in repair
    assert "valid integer" in repair
    assert "many" in repair
    assert "long evidence" not in repair, "the prompt was paid for twice"


async def test_a_second_bad_answer_is_a_typed_failure_with_its_price(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(BAD, usage=(100, 20)))
    with pytest.raises(ModelUnusable, match="score") as raised:
        await ask()
    assert len(server.bodies) == 2
    assert raised.value.usage.tokens == 240
    assert not raised.value.retryable


async def test_no_repair_beyond_the_allowance(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(BAD, usage=(900, 80)))
    with pytest.raises(ModelUnusable, match="allowance") as raised:
        await ask(allowance=Allowance(input_tokens=800, output_tokens=200))
    assert len(server.bodies) == 1
    assert raised.value.usage.tokens == 980


async def test_an_empty_answer_is_asked_for_once_more(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(""), says(GOOD))
    verdict, _ = await ask(user="Question: keep me")
    assert verdict.score == 7
    assert "keep me" in server.bodies[1]["messages"][1]["content"]


async def test_an_answer_cut_off_is_asked_for_again(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says('{"label": "ye', finish="length"), says(GOOD))
    verdict, done = await ask()
    assert verdict.score == 7
    assert done.repaired
    assert server.bodies[1]["response_format"]["type"] == "json_schema", "a cut is not a server's incapacity"


async def test_the_recorded_cut_answer_is_a_cut_answer(ask: Asker, server: FakeOpenAI) -> None:
    server.script(recorded("openai/chat_finish_length.json"))
    with pytest.raises(ModelUnusable, match="cut off"):
        await ask()


async def test_what_is_whole_of_a_cut_answer_is_used_and_said(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says('{"label": "yes", "score": 7, "reasons": ["one", "tw', finish="length"))
    verdict, done = await ask()
    assert (verdict.label, verdict.score) == ("yes", 7)
    assert any("cut off" in note for note in done.notes)


# refusals and filters


async def test_a_refusal_is_final_and_paid(ask: Asker, server: FakeOpenAI) -> None:
    server.script(recorded("openai/chat_refusal_structured.json"))
    with pytest.raises(ModelRefused, match="can't assist") as raised:
        await ask()
    assert raised.value.category == "refusal"
    assert raised.value.usage.tokens == 78
    assert len(server.bodies) == 1


async def test_a_content_filter_is_final(ask: Asker, server: FakeOpenAI) -> None:
    server.script(recorded("openai/chat_content_filter_azure.json"))
    with pytest.raises(ModelRefused) as raised:
        await ask()
    assert raised.value.category == "content_filter"
    assert raised.value.usage.tokens == 34


# recorded answers


async def test_recorded_answers_are_read(ask: Asker, server: FakeOpenAI) -> None:
    class Place(Verdict):
        label: str = ""
        score: int = 0
        city: str

    server.script(recorded("openai/chat_structured_json_schema.json"))
    answer, done = await ask.model.ask(
        ask.choice,
        system="s",
        user="u",
        answer=Place,
        allowance=Allowance(input_tokens=2000, output_tokens=500),
        scope="x",
    )
    assert answer.city == "Mexico City"
    assert (done.usage.input_tokens, done.usage.output_tokens) == (92, 15)


async def test_a_recorded_stream_of_tool_calls_is_read_with_its_usage(ask: Asker, server: FakeOpenAI) -> None:
    class Capital(Verdict):
        label: str = ""
        score: int = 0
        country: str

    stream = recorded("openai/stream_chat_sse.txt", content_type="text/event-stream")
    server.script(Reply(200, stream.body, SSE))
    answer, done = await ask.model.ask(
        ask.choice,
        system="s",
        user="u",
        answer=Capital,
        allowance=Allowance(input_tokens=2000, output_tokens=500),
        scope="x",
    )
    assert answer.country
    assert done.usage.input_tokens > 0
    assert not done.notes


async def test_only_the_first_of_several_choices_counts(ask: Asker, server: FakeOpenAI) -> None:
    body = completion(GOOD)
    body["choices"].append({"index": 1, "message": {"content": json.dumps({"label": "no", "score": 1})}})
    server.script(Reply(200, json.dumps(body), JSON))
    assert (await ask())[0].label == "yes"


# usage and cost


async def test_cached_and_reasoning_tokens_are_kept_apart_and_priced(ask: Asker, server: FakeOpenAI) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 300,
        "total_tokens": 1300,
        "prompt_tokens_details": {"cached_tokens": 600},
        "completion_tokens_details": {"reasoning_tokens": 200},
    }
    server.script(says(GOOD, usage=usage))
    _, done = await ask()
    assert (done.usage.cached_tokens, done.usage.reasoning_tokens) == (600, 200)
    assert done.usage.tokens == 1300
    assert done.usage.cost_microusd == 400 * 1 + 600 * 0.5 + 300 * 4


async def test_recorded_reasoning_usage_is_read(ask: Asker, server: FakeOpenAI) -> None:
    server.script(recorded("openai/chat_reasoning_tokens.json"))
    with pytest.raises(ModelUnusable) as raised:
        await ask(allowance=Allowance(input_tokens=1000, output_tokens=500))
    assert raised.value.usage.reasoning_tokens > 0


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": "many"}])
async def test_usage_that_is_not_reported_is_estimated_and_said(
    ask: Asker, server: FakeOpenAI, usage: dict[str, object] | None
) -> None:
    server.script(says(GOOD, usage=usage))
    _, done = await ask()
    assert done.usage.input_tokens > 10
    assert done.usage.output_tokens > 10
    assert any("estimated" in note for note in done.notes)


async def test_an_unknown_price_is_unknown(
    settings: Settings, store: EvidenceStore, server: FakeOpenAI
) -> None:
    server.script(says(GOOD))
    model = OpenAIModel(settings, store)
    _, done = await Asker(model, ModelChoice(backend="openai", model="home-made"))()
    await model.aclose()
    assert done.usage.cost_microusd is None
    assert done.usage.tokens == 120


async def test_prompt_and_output_cap_stay_within_the_allowance(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(GOOD))
    allowance = Allowance(input_tokens=1500, output_tokens=300)
    await ask(allowance=allowance, user="Question: " + "word " * 300)
    body = server.bodies[0]
    sent = sum(len(m["content"]) for m in body["messages"]) / 2.5
    assert sent + body["max_tokens"] <= allowance.tokens


async def test_a_prompt_that_leaves_no_room_is_not_sent(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(GOOD))
    with pytest.raises(ModelRefused) as raised:
        await ask(user="word " * 3000)
    assert raised.value.category == "context_length"
    assert not server.bodies


async def test_the_models_context_is_respected(
    settings: Settings, store: EvidenceStore, server: FakeOpenAI
) -> None:
    server.script(says(GOOD))
    model = OpenAIModel(settings.model_copy(update={"context_tokens": 700}), store)
    asker = Asker(model, ModelChoice(backend="openai", model="small"))
    await asker()
    assert server.bodies[0]["max_tokens"] < 700
    with pytest.raises(ModelRefused):
        await asker(user="word " * 400)
    await model.aclose()


# paid once


async def test_a_retry_of_the_same_step_does_not_pay_again(
    ask: Asker, server: FakeOpenAI, settings: Settings, store: EvidenceStore
) -> None:
    server.script(says(GOOD, usage=(100, 20)))
    _, first = await ask(scope="wf/run/7")
    again = OpenAIModel(settings, store)
    _, second = await Asker(again, ask.choice)(scope="wf/run/7")
    await again.aclose()
    assert len(server.bodies) == 1
    assert second.from_store
    assert not first.from_store
    assert second.usage == first.usage, "the retry is what gets charged: once, with the real price"


async def test_another_step_is_another_answer(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(GOOD))
    await ask(scope="wf/run/7")
    await ask(scope="wf/run/8")
    await ask(scope="wf/run/8", user="Question: another?")
    assert len(server.bodies) == 3


async def test_a_retry_after_a_failed_repair_buys_only_the_repair(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(BAD, usage=(100, 20)), fails(503, "overloaded"))
    with pytest.raises(ModelDown):
        await ask()
    server.script(says(GOOD, usage=(60, 10)))
    verdict, done = await ask()
    assert verdict.score == 7
    assert len(server.bodies) == 3, "the first answer was bought twice"
    assert done.usage.tokens == 190


async def test_what_a_broken_stream_cost_is_charged_by_the_next_attempt(
    ask: Asker, server: FakeOpenAI
) -> None:
    half = events(completion({"label": "yes", "score": 7, "reasons": ["r" * 400]}))[:6]
    error = b'data: {"error": {"message": "upstream died", "type": "server_error"}}\n\n'
    server.script(Reply(200, headers=SSE, chunks=(*half, error)))
    with pytest.raises(ModelDown, match="upstream died") as raised:
        await ask()
    lost = raised.value.usage
    assert lost.output_tokens > 10
    server.script(says(GOOD, usage=(100, 20)))
    _, done = await ask()
    assert done.usage.tokens == lost.tokens + 120


async def test_a_store_that_fails_does_not_lose_the_answer(
    settings: Settings, store: EvidenceStore, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    from activities.errors import StoreError

    async def broken(name: str, data: bytes) -> None:
        raise StoreError("disk full")

    monkeypatch.setattr(store, "put_named", broken)
    server.script(says(GOOD))
    model = OpenAIModel(settings, store)
    verdict, _ = await Asker(model, ModelChoice(backend="openai", model="m"))()
    await model.aclose()
    assert verdict.score == 7


# failures as Temporal wants them


async def test_the_client_itself_never_retries(ask: Asker, server: FakeOpenAI) -> None:
    server.script(fails(500, "oops"))
    with pytest.raises(ModelDown):
        await ask()
    assert len(server.bodies) == 1


async def test_a_busy_server_says_when(ask: Asker, server: FakeOpenAI) -> None:
    server.script(fails(429, "slow down", retry_after="12"))
    with pytest.raises(ModelBusy) as raised:
        await ask()
    assert raised.value.retry_after == 12


@pytest.mark.parametrize(
    ("name", "status", "category"),
    [
        ("error_401_invalid_api_key.json", 401, "auth"),
        ("error_404_model_not_found.json", 404, "model_not_found"),
        ("error_400_context_length_exceeded.json", 400, "context_length"),
    ],
)
async def test_permanent_failures_over_the_wire(
    ask: Asker, server: FakeOpenAI, name: str, status: int, category: str
) -> None:
    server.script(recorded(f"openai/{name}", status))
    with pytest.raises(ModelRefused) as raised:
        await ask()
    assert raised.value.category == category
    assert len(server.bodies) == 1


async def test_a_server_that_is_not_there_is_down(store: EvidenceStore, settings: Settings) -> None:
    model = OpenAIModel(settings.model_copy(update={"openai_base_url": "http://127.0.0.1:1/v1"}), store)
    with pytest.raises(ModelDown, match="is the server running"):
        await Asker(model, ModelChoice(backend="openai", model="m"))()
    await model.aclose()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, "<html>Log in to the hotel's network</html>", {"content-type": "text/html"}),
        Reply(200, b"data: not json\n\n", SSE),
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


async def test_a_server_that_does_not_stream_answers_whole(ask: Asker, server: FakeOpenAI) -> None:
    server.script(whole(GOOD, usage=(100, 20)))
    verdict, done = await ask()
    assert (verdict.score, done.usage.tokens) == (7, 120)


async def test_cancelling_stops_the_call(ask: Asker, server: FakeOpenAI) -> None:
    endless = Endless()
    server.script(endless)
    task = asyncio.create_task(ask())
    await asyncio.to_thread(endless.started.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(endless.left.wait, 10), "the server is still writing"


# secrets


async def test_the_key_goes_to_the_configured_address_only(
    settings: Settings, store: EvidenceStore, server: FakeOpenAI
) -> None:
    server.script(says(GOOD))
    model = OpenAIModel(settings, store)
    await Asker(model, ModelChoice(backend="openai", model="m"))()
    assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    with FakeOpenAI() as stranger:
        stranger.script(says(GOOD))
        await Asker(model, ModelChoice(backend="openai", model="m", base_url=stranger.base_url))()
        assert KEY not in str(stranger.asked[-1].headers)
    await model.aclose()


async def test_no_key_and_no_server_of_ones_own_is_said_before_asking(
    store: EvidenceStore,
) -> None:
    model = OpenAIModel(Settings(openai_api_key=None, openai_base_url=None), store)
    with pytest.raises(ModelRefused, match="OPENAI_API_KEY") as raised:
        await Asker(model, ModelChoice(backend="openai", model="gpt-4o"))()
    assert raised.value.category == "auth"
    await model.aclose()


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
async def test_an_error_that_repeats_the_key_does_not_reach_the_user(
    ask: Asker, server: FakeOpenAI, status: int
) -> None:
    server.script(fails(status, f"the key {KEY} is wrong; Bearer {KEY}"))
    with pytest.raises((ModelBusy, ModelDown, ModelRefused)) as raised:
        await ask()
    assert KEY not in str(raised.value)


async def test_nothing_stored_holds_the_key(ask: Asker, server: FakeOpenAI, tmp_path: Path) -> None:
    server.script(says(GOOD))
    await ask()
    stored = [f.read_bytes() for f in sorted(tmp_path.rglob("*")) if f.is_file()]  # noqa: ASYNC240
    assert stored
    assert all(KEY.encode() not in content for content in stored)
    assert server.count(PATH) == 1
