"""Prices, context windows and the effort of models: the user's own table over `genai-prices`.

A model is only looked up at the provider its address belongs to. A server at any other address may carry the
same model name for nothing or for more, so its price is unknown unless the user's table names it.

The table is loaded when a model is looked up: a command that asks none starts without it and without the HTTP
library that it imports.
"""

from datetime import UTC, datetime
from decimal import ROUND_UP, Decimal
from typing import TYPE_CHECKING

from activities.contracts.evidence import Effort, ModelChoice, Price, Usage
from activities.models.address import parse
from activities.settings import Settings

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

    from activities.models.server_facts import ServerFacts

OPENAI_URL = "https://api.openai.com/v1"


def address(settings: Settings, choice: ModelChoice) -> str:
    return (choice.base_url or settings.openai_base_url or OPENAI_URL).rstrip("/")


def price_of(settings: Settings, choice: ModelChoice) -> Price | None:
    """Return the price of a model at its dearest tier; None when it is not known."""
    if choice.backend == "extractive":
        return Price(input_per_million=0, output_per_million=0)
    prices = _prices(settings, choice)
    if prices is None:
        return None
    into, out = _dearest(prices.input_mtok), _dearest(prices.output_mtok)
    if into is None or out is None:
        return None
    cached = _dearest(prices.cache_read_mtok)
    return Price(input_per_million=into, output_per_million=out, cached_input_per_million=cached)


def cost_microusd(settings: Settings, choice: ModelChoice, usage: Usage) -> int | None:
    """Return what the usage costs in millionths of a US dollar, rounded up; None when no price is known."""
    if choice.backend == "extractive":
        return 0
    prices = _prices(settings, choice)
    if prices is None or price_of(settings, choice) is None:
        return None
    from genai_prices import Usage as PricedUsage

    counted = PricedUsage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
    )
    dollars = prices.calc_price(counted)["total_price"]
    return int((dollars * 1_000_000).to_integral_value(ROUND_UP))


def context_window(settings: Settings, choice: ModelChoice) -> int:
    """Tokens the model reads and writes in one exchange: as listed, else what the settings assume."""
    model = _listed(settings, choice)
    return model.context_window if model and model.context_window else settings.context_tokens


def _prices(settings: Settings, choice: ModelChoice) -> "ModelPrice | None":
    """Return the prices of the user's own table, else those that are listed."""
    if (listed := settings.prices.get(choice.model)) is not None:
        named = {
            "input_mtok": listed.input,
            "output_mtok": listed.output,
            "cache_read_mtok": listed.cached_input,
        }
        from genai_prices.types import ModelPrice

        return ModelPrice(**{name: Decimal(str(price)) for name, price in named.items() if price is not None})
    model = _listed(settings, choice)
    return model.get_prices(datetime.now(UTC)) if model else None


def _listed(settings: Settings, choice: ModelChoice) -> "ModelInfo | None":
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(choice.model, None, None, address(settings, choice))[1]
    except LookupError:
        return None


def _dearest(price: "Decimal | TieredPrices | None") -> float | None:
    if price is None:
        return None
    if isinstance(price, Decimal):
        return float(price)
    return float(max([price.base, *(tier.price for tier in price.tiers)]))


SMALL_MODEL = 4.5
"""Billions of parameters up to which a model is small."""
SMALL_CONTEXT = 6_000
"""Tokens; a model that reads fewer gets a small model's prompts whatever its size."""


def effort_for(facts: "ServerFacts") -> Effort:
    """`small` for a model that is known to be small or to read little, else `normal`.

    `large` is for the user to choose: it costs three times as much.
    """
    few = facts.parameters is not None and facts.parameters <= SMALL_MODEL
    little = facts.context_tokens is not None and facts.context_tokens < SMALL_CONTEXT
    return "small" if few or little else "normal"


async def effort_of(settings: Settings, choice: ModelChoice) -> Effort | None:
    """Return the effort of a choice: its own, that of the settings, else by what its server says.

    None without a model.

    Raises ModelRefused when the address is not one.
    """
    if choice.backend == "extractive":
        return None
    if effort := choice.effort or settings.effort:
        return effort
    return effort_for(await facts_of(settings, choice))


async def facts_of(settings: Settings, choice: ModelChoice) -> "ServerFacts":
    """Return what the server of a choice says of itself. Raises ModelRefused when the address is not one."""
    from activities.models.server_facts import ask_server  # imports the HTTP library

    where = parse(address(settings, choice))
    return await ask_server(where, choice.model, key_for(settings, where.shown))


def key_for(settings: Settings, shown: str) -> str:
    """Return the key for an address: only the configured one is given it; empty for others."""
    configured = parse(settings.openai_base_url or OPENAI_URL).shown
    key = settings.openai_api_key
    return key.get_secret_value() if key is not None and shown == configured else ""
