"""Numbers and shapes of strangers: what is out of bounds is none, and no run or worker ends of it."""

import json
import math
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from activities.contracts import bounds
from activities.contracts.evidence import Evidence, Usage
from activities.contracts.judge import WorkJudgement
from activities.contracts.search import Hits
from activities.models.address import parse
from activities.models.failures import wait_of
from activities.models.response import Pieces, probability_of_yes, usage_of
from activities.models.server_facts import ServerFacts, ask_server
from activities.models.structured import Unreadable, read
from activities.report.strength import participants
from tests.client.harness import determinator, inside
from tests.fake_openai import PATH, FakeOpenAI, sensible
from tests.papers import QUESTION, papers
from tests.replay import Asked, Reply
from workflows.amounts import Limits
from workflows.types import ResearchRequest

HUGE = 10**400
WILD: tuple[Any, ...] = (
    *(2**63, 2**64, HUGE, -1, -HUGE, 1.5, math.inf, -math.inf, math.nan),
    *("12", "", None, True, [], {"a": 1}, [[]] * 50),
)
JSON = {"content-type": "application/json"}
Count = bounds.MAX_CALL_TOKENS


class Answer(BaseModel):
    text: str
    parts: list[str] = []


# where they enter


@pytest.mark.parametrize("value", WILD)
def test_usage_out_of_bounds_is_not_reported(value: object) -> None:
    assert usage_of({"prompt_tokens": value, "completion_tokens": value, "total_tokens": value}) is None
    details = {"cached_tokens": value, "reasoning_tokens": value}
    sound = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    counted = usage_of(sound | {"prompt_tokens_details": details, "completion_tokens_details": details})
    assert counted == Usage(calls=1, input_tokens=100, output_tokens=20)


@pytest.mark.parametrize("value", WILD)
def test_a_probability_out_of_bounds_is_none(value: object) -> None:
    parts = [{"token": "yes", "top_logprobs": [{"token": "yes", "logprob": value}]}]
    pieces = Pieces()
    pieces.add_whole({"choices": [{"message": {"content": "yes"}, "logprobs": {"content": parts}}]})
    yes = probability_of_yes("yes", pieces.words)
    assert yes is None or 0 <= yes <= 1


@pytest.mark.parametrize("value", WILD)
def test_a_wait_out_of_bounds_is_none(value: object) -> None:
    wait = wait_of({"retry-after-ms": str(value), "retry-after": str(value)}, "")
    assert wait is None or 0 <= wait < math.inf


@pytest.mark.parametrize("value", [value for value in WILD if not isinstance(value, str)])
async def test_what_a_model_server_says_of_itself_is_bounded(value: object) -> None:
    with FakeOpenAI() as server:
        entry = {"id": "m", "max_model_len": value, "meta": {"n_params": value}, "max_context_length": value}
        about = {"total_slots": value, "default_generation_settings": {"n_ctx": value}}
        server.on("/props", Reply(200, json.dumps(about), JSON))
        server.on("/v1/models", Reply(200, json.dumps({"data": [entry]}), JSON))
        server.on("/api/v0/models", Reply(200, json.dumps({"data": [entry]}), JSON))
        assert await ask_server(parse(server.base_url), "m", "") == ServerFacts()
    parameters = {"parameters": "num_ctx " + "9" * 5000}
    with FakeOpenAI() as server:
        server.on("/api/ps", Reply(200, json.dumps({"models": []}), JSON))
        server.on("/api/show", Reply(200, json.dumps(parameters), JSON))
        await ask_server(parse(server.base_url), "m", "")


@given(st.one_of(st.integers(), st.floats(), st.text(), st.none(), st.booleans(), st.lists(st.integers())))
def test_a_number_is_within_its_bounds_or_none(value: object) -> None:
    for least, most in ((0, Count), (1, bounds.MAX_SLOTS)):
        number = bounds.integer(value, most, least)
        assert number is None or (type(number) is int and least <= number <= most)
        real = bounds.real_number(value, most, least)
        assert real is None or (type(real) is float and least <= real <= most)


@given(st.text())
def test_digits_are_a_number_or_none(text: str) -> None:
    number = bounds.digits(text)
    assert number is None or (text.isascii() and text.lstrip("0") in (str(number), ""))


@pytest.mark.parametrize("text", ["²", "١٢", "9" * 5000, "", "-1", "1.0", " 7"])
def test_what_only_looks_like_digits_is_no_number(text: str) -> None:
    assert bounds.digits(text) is None
    item = Evidence(evidence_id="e", source="s", title="t", text="x", facts={"enrollment": text})
    assert participants(item, None) is None


# contracts, where the next door is


def test_contracts_hold_no_number_that_a_workflow_cannot() -> None:
    assert Hits(source="s", query="q", status="ok", hits=HUGE).hits == bounds.MAX_COUNT
    assert Evidence(evidence_id="e", source="s", title="t", text="x", year=HUGE).year is None
    assert Evidence(evidence_id="e", source="s", title="t", text="x", year=2020).year == 2020
    judged = {"evidence_id": "e", "answers": 3, "direction": "yes", "role": "clinical"}
    assert WorkJudgement.model_validate({**judged, "participants": HUGE}).participants is None
    with pytest.raises(ValidationError):
        Usage(input_tokens=HUGE)
    whole_run = sum([Usage(calls=1, input_tokens=Count, output_tokens=Count)] * 10_000, start=Usage())
    assert whole_run.tokens < bounds.INT64
    for wrong in ({"approval_timeout_seconds": 1e300}, {"search_seconds": math.inf}):
        with pytest.raises(ValidationError):
            ResearchRequest.model_validate({"question": QUESTION, **wrong})
    with pytest.raises(ValidationError):
        Limits(max_seconds=math.inf)


# shapes


@pytest.mark.parametrize("opening", ["[", '{"text":', '[{"parts":', "{", '{"a":[', "[[],"])
@pytest.mark.parametrize("reader", [read])
def test_brackets_without_end_are_an_unreadable_answer(
    opening: str, reader: Callable[[str, type[Answer]], object]
) -> None:
    for text in (opening * 20_000, "x " + opening * 900 + "1", f"<think>{opening * 20_000}"):
        try:
            assert reader(text, Answer) is None
        except Unreadable:
            continue


# whole runs


def lying(asked: Asked) -> Reply:
    """Answers as it should, and reports what nobody can have used."""
    reply = sensible(asked)
    number = next(_NUMBERS)
    spelled = json.dumps({"prompt_tokens": number, "completion_tokens": number, "total_tokens": number})
    body = b"".join(reply.chunks) or (reply.body if isinstance(reply.body, bytes) else reply.body.encode())
    head, usage, rest = body.partition(b'"usage": {')
    body = head + b'"usage": ' + spelled.encode() + rest.partition(b"}")[2] if usage else body
    return Reply(reply.status, body, reply.headers)


_NUMBERS = cycle([2**63, HUGE, math.inf, -(2**70)])


@pytest.fixture
def liar() -> Iterator[FakeOpenAI]:
    """A server of wild numbers."""
    with FakeOpenAI() as server:
        about = {"total_slots": 10**9, "default_generation_settings": {"n_ctx": 2**63}}
        server.on("/props", Reply(200, json.dumps(about), JSON))
        listed = {"data": [{"id": "stub", "max_model_len": HUGE, "meta": {"n_params": HUGE}}]}
        server.on("/v1/models", Reply(200, json.dumps(listed), JSON))
        yield server.on(PATH, lying)


def test_a_run_ends_whatever_numbers_its_model_server_sends(
    liar: FakeOpenAI, file_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar.serve(monkeypatch)
    library = str(papers(tmp_path))
    ran = determinator("ask", QUESTION, "--mode", "deep", "--library", library, "--max-iterations", "2")
    assert ran.code == 0, ran
    assert len(liar.bodies) > 3
    assert liar.bodies[0]["messages"]
    status = inside("status", "last", "--json").json()
    assert status["status"] == "completed", status
    assert 0 < status["progress"]["budget"]["used"]["input_tokens"] < 10**6
