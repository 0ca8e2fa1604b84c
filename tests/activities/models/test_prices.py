"""Prices: the user's over the listed ones; what is not known is said to be unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from activities.contracts.evidence import Allowance, ModelChoice, Usage
from activities.models.base import room
from activities.models.prices import context_window, cost_microusd, price_of
from activities.settings import Settings

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
