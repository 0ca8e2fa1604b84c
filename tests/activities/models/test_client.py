"""The real client against scripted servers and recorded answers: every form in which a server may answer."""

import json
import math
from collections.abc import AsyncIterator
from itertools import pairwise

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.errors import ModelRefused, ModelUnusable
from activities.contracts.evidence import Allowance
from activities.models.base import YesOrNo
from activities.models.response import events_of, values_of
from tests.activities.models.conftest import GOOD, Asker, Verdict, Workers
from tests.fake_openai import JSON, SSE, FakeOpenAI, completion, fails, says
from tests.replay import Reply, recorded

BAD = {"label": "yes", "score": "many"}


# structured output on every server


@pytest.mark.parametrize(("of_the_step", "sent"), [(None, 0.7), (0.2, 0.2)])
async def test_the_configured_temperature_holds_where_the_step_has_none(
    server: FakeOpenAI, worker: Workers, of_the_step: float | None, sent: float
) -> None:
    server.script(says(GOOD))
    ask = worker(temperature=0.7)
    ask.choice = ask.choice.replace(temperature=of_the_step)
    await ask()
    assert [body["temperature"] for body in server.bodies] == [sent]


async def test_each_refusal_selects_the_next_form_and_is_remembered(
    ask: Asker, server: FakeOpenAI, worker: Workers
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
    await worker()(scope="after a restart")
    assert "response_format" not in server.bodies[-1], "a new worker asked again what was known"
    assert len(server.bodies) == 6


UNKNOWN = (
    fails(
        400, "API \u8c03\u7528\u53c2\u6570\u6709\u8bef\uff0c\u8bf7\u68c0\u67e5\u6587\u6863\u3002", code="1210"
    ),
    Reply(400, "Bad Request", {"content-type": "text/plain"}),
    Reply(422, "", {"content-type": "text/plain"}),
)


@pytest.mark.parametrize("refusal", UNKNOWN)
async def test_a_refusal_in_unknown_words_is_tried_once_without_a_format_and_remembered(
    ask: Asker, server: FakeOpenAI, refusal: Reply
) -> None:
    server.script(lambda asked: refusal if asked.json().get("response_format") else says(GOOD)(asked))
    verdict, _ = await ask()
    assert verdict.score == 7
    await ask(scope="another step")
    assert [bool(body.get("response_format")) for body in server.bodies] == [True, False, False]


@pytest.mark.parametrize("refusal", UNKNOWN)
async def test_a_refusal_that_was_not_about_the_format_teaches_nothing(
    ask: Asker, server: FakeOpenAI, refusal: Reply
) -> None:
    server.script(refusal, refusal, says(GOOD))
    with pytest.raises(ModelRefused) as raised:
        await ask()
    assert raised.value.category == "bad_request"
    await ask(scope="another step")
    assert server.bodies[-1]["response_format"]["type"] == "json_schema"


async def test_the_form_of_requests_is_learned_from_a_servers_refusals(
    ask: Asker, server: FakeOpenAI
) -> None:
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


async def test_a_server_that_ignores_the_schema_is_given_it_in_the_prompt(
    ask: Asker, server: FakeOpenAI
) -> None:
    server.script(says("I would say it works rather well."), says(GOOD))
    verdict, _ = await ask()
    assert verdict.score == 7
    assert "JSON schema" in server.bodies[1]["messages"][0]["content"]
    await ask(scope="next")
    assert server.bodies[2]["response_format"] == {"type": "json_object"}


# the repair turn


async def test_one_repair_turn_with_the_validators_words(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(BAD, usage=(100, 20)), says(GOOD, usage=(60, 10)))
    verdict, done = await ask(user="Question: " + "long evidence " * 200)
    assert verdict.score == 7
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


async def test_an_answer_cut_off_is_used_as_far_as_it_is_complete_or_asked_for_again(
    ask: Asker, server: FakeOpenAI
) -> None:
    server.script(says('{"label": "ye', finish="length"), says(GOOD))
    verdict, _ = await ask()
    assert verdict.score == 7
    assert server.bodies[1]["response_format"]["type"] == "json_schema", "a cut is not a server's incapacity"
    server.script(says('{"label": "yes", "score": 7, "reasons": ["one", "tw', finish="length"))
    verdict, done = await ask(scope="another step")
    assert (verdict.label, verdict.score) == ("yes", 7)
    assert any("cut off" in note for note in done.notes)


# refusals and filters


async def test_a_refusal_and_a_content_filter_are_final_and_paid(ask: Asker, server: FakeOpenAI) -> None:
    server.script(recorded("openai/chat_refusal_structured.json"))
    with pytest.raises(ModelRefused, match="can't assist") as raised:
        await ask()
    assert raised.value.category == "refusal"
    assert raised.value.usage.tokens == 78
    assert len(server.bodies) == 1
    server.script(recorded("openai/chat_content_filter_azure.json"))
    with pytest.raises(ModelRefused) as raised:
        await ask(scope="another step")
    assert raised.value.category == "content_filter"
    assert raised.value.usage.tokens == 34


# recorded answers


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


# one word


def one_word(word: str, others: dict[str, float] | None = None) -> Reply:
    """A word, with the probabilities of those that might have stood there."""
    body = completion(word)
    tops = [{"token": text, "logprob": math.log(share)} for text, share in (others or {}).items()]
    body["choices"][0]["logprobs"] = {"content": [{"token": word, "top_logprobs": tops}]}
    return Reply(200, json.dumps(body), JSON)


async def weigh(ask: Asker) -> float | None:
    allowance = Allowance(input_tokens=300, output_tokens=1)
    answer, _ = await ask.model.ask(
        ask.choice, system="You read.", user="Does it?", answer=YesOrNo, allowance=allowance, scope="a"
    )
    return answer.yes


@pytest.mark.parametrize(
    ("word", "others", "yes"),
    [
        ("no", {"no": 0.6, "yes": 0.2, " Yes": 0.1, "perhaps": 0.1}, 1 / 3),
        ("Yes", {}, 1.0),
        ("No", {}, 0.0),
        ("<think>", {"<think>": 1.0}, None),
    ],
)
async def test_one_word_tells_how_sure_the_model_was_and_is_paid_once(
    ask: Asker, server: FakeOpenAI, word: str, others: dict[str, float], yes: float | None
) -> None:
    server.script(one_word(word, others))
    for _ in range(2):
        assert await weigh(ask) == (None if yes is None else pytest.approx(yes))
    [body] = server.bodies
    assert body["logprobs"] is True
    assert 1 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert "response_format" not in body


async def test_probabilities_are_not_asked_for_again_where_they_are_refused(
    ask: Asker, server: FakeOpenAI
) -> None:
    server.script(fails(400, "logprobs is not supported with this model", param="logprobs"), says("yes"))
    assert await weigh(ask) == 1.0
    assert ["logprobs" in body for body in server.bodies] == [True, False]


STREAM = (
    b": a comment\n\n"
    b'event: message\ndata: {"n": 1}\n\n'
    b'data: {"text":\r\ndata: "a\xe2\x80\xa8b"}\r\n\r\n'
    b'data:{"n": 3}\r\r\n\n'
    b"retry: 10\n\ndata: [DONE]\n\n"
)
WHOLE = [{"n": 1}, {"text": "a\u2028b"}, {"n": 3}]
REQUEST = httpx2.Request("POST", "http://model.test/")


def answering(*pieces: bytes) -> httpx2.Response:
    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return httpx2.Response(200, content=body(), request=REQUEST)


async def said(*pieces: bytes) -> list[object]:
    return [value async for value in events_of(answering(*pieces))]


@given(st.lists(st.integers(0, len(STREAM))))
async def test_events_do_not_depend_on_how_the_bytes_are_divided(cuts: list[int]) -> None:
    places = sorted({0, *cuts, len(STREAM)})
    assert await said(*(STREAM[a:b] for a, b in pairwise(places))) == WHOLE


async def test_a_stream_is_read_to_its_end_and_an_event_that_breaks_off_is_left_out() -> None:
    assert await said(b'data: {"n": 1}\n\ndata: {"n"') == [{"n": 1}]
    response = answering(STREAM + b": the end\n\n")
    assert [value async for value in events_of(response)] == WHOLE
    assert response.is_stream_consumed


async def test_events_without_data_and_comments_in_their_place_are_no_answer_and_no_fault() -> None:
    body = b'data:\n\ndata: \n\ndata: : keepalive\n\nevent: ping\n\ndata: {"n": 1}\n\ndata: [DONE]\n\n'
    assert await said(body) == list(values_of(body, REQUEST)) == [{"n": 1}]
