"""What a call costs, against scripted servers: usage, prices, allowances, nothing paid for twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from activities.contracts.errors import ModelDown, ModelRefused, StoreError
from activities.contracts.evidence import Allowance, ModelChoice, Usage
from activities.evidence_store import EvidenceStore
from activities.models.base import room
from activities.models.prices import context_window, cost_microusd, price_of
from activities.settings import Settings
from tests.activities.models.conftest import GOOD, Asker, Workers
from tests.fake_openai import SSE, FakeOpenAI, completion, events, fails, says
from tests.replay import Reply

BAD = {"label": "yes", "score": "many"}


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


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": "many"}])
async def test_usage_that_is_not_reported_is_estimated_and_stated(
    ask: Asker, server: FakeOpenAI, usage: dict[str, object] | None
) -> None:
    server.script(says(GOOD, usage=usage))
    _, done = await ask()
    assert done.usage.input_tokens > 10
    assert done.usage.output_tokens > 10
    assert any("estimated" in note for note in done.notes)


async def test_a_prompt_that_leaves_no_room_is_not_sent(ask: Asker, server: FakeOpenAI) -> None:
    server.script(says(GOOD))
    with pytest.raises(ModelRefused) as raised:
        await ask(user="word " * 3000)
    assert raised.value.category == "context_length"
    assert not server.bodies


# paid once


async def test_a_retry_of_the_same_step_does_not_pay_again(
    ask: Asker, server: FakeOpenAI, worker: Workers
) -> None:
    server.script(says(GOOD, usage=(100, 20)))
    _, first = await ask(scope="wf/run/7")
    _, second = await worker()(scope="wf/run/7")
    assert len(server.bodies) == 1
    assert second.usage == first.usage, "the retry is what gets charged: once, with the real price"


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
    ask: Asker, store: EvidenceStore, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(name: str, data: bytes) -> None:
        raise StoreError("disk full")

    monkeypatch.setattr(store, "put_named", broken)
    server.script(says(GOOD))
    verdict, _ = await ask()
    assert verdict.score == 7


LISTED = ModelChoice(backend="openai", model="gpt-4o-mini")
USAGE = Usage(calls=1, input_tokens=1_000_000, cached_tokens=400_000, output_tokens=100_000)


def test_a_listed_model_has_its_price_and_its_window() -> None:
    price = price_of(Settings(), LISTED)
    assert price is not None
    assert 0 < price.input_per_million < price.output_per_million
    cost = cost_microusd(Settings(), LISTED, USAGE)
    cached = price.cached_input_per_million
    assert cached is not None
    dollars = 0.6 * price.input_per_million + 0.4 * cached + 0.1 * price.output_per_million
    assert cost == pytest.approx(dollars * 1e6, abs=1)
    assert context_window(Settings(context_tokens=4000), LISTED) > 100_000


def test_the_users_table_goes_before_the_list_and_reading_passages_costs_nothing() -> None:
    settings = Settings(prices={"gpt-4o-mini": {"input": 10.0, "output": 20.0}})
    assert cost_microusd(settings, LISTED, USAGE) == 10_000_000 + 2_000_000
    assert cost_microusd(Settings(), ModelChoice(), USAGE) == 0


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/v1", "https://models.example.org/v1"])
def test_the_same_name_at_another_address_has_no_known_price(address: str) -> None:
    elsewhere = LISTED.model_copy(update={"base_url": address})
    assert price_of(Settings(), elsewhere) is None
    assert cost_microusd(Settings(), elsewhere, USAGE) is None
    assert context_window(Settings(context_tokens=4000), elsewhere) == 4000


@pytest.mark.parametrize(
    "table", [{"input": 1.0}, {"input": 1.0, "output": -1.0}, {"in": 1.0, "output": 1.0}]
)
def test_a_wrong_table_is_refused_with_its_model(table: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="gpt-4o-mini"):
        Settings(prices={"gpt-4o-mini": table})


@given(st.integers(0, 20_000), st.integers(0, 5_000), st.integers(0, 200_000))
def test_a_prompt_leaves_room_for_its_answer(into: int, out: int, window: int) -> None:
    taken = room(Allowance(input_tokens=into, output_tokens=out), window)
    assert 0 <= taken <= into
    assert taken + min(out, window // 2) <= max(window, 0)
