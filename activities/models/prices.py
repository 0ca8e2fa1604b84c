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
    input_price, output_price = _dearest(prices.input_mtok), _dearest(prices.output_mtok)
    if input_price is None or output_price is None:
        return None
    cached_price = _dearest(prices.cache_read_mtok)
    return Price(
        input_per_million=input_price, output_per_million=output_price, cached_input_per_million=cached_price
    )


def cost_microusd(settings: Settings, choice: ModelChoice, usage: Usage) -> int | None:
    """Return what the usage costs in millionths of a US dollar, rounded up; None when no price is known."""
    if choice.backend == "extractive":
        return 0
    prices = _prices(settings, choice)
    if prices is None or price_of(settings, choice) is None:
        return None
    from genai_prices import Usage as PricedUsage

    priced_usage = PricedUsage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
    )
    dollars = prices.calc_price(priced_usage)["total_price"]
    return int((dollars * 1_000_000).to_integral_value(ROUND_UP))


def context_window(settings: Settings, choice: ModelChoice) -> int:
    """Tokens the model reads and writes in one exchange: as listed, else what the settings assume."""
    model = _model_info(settings, choice)
    return model.context_window if model and model.context_window else settings.context_tokens


def _prices(settings: Settings, choice: ModelChoice) -> "ModelPrice | None":
    """Return the prices of the user's own table, else those that are listed."""
    if (row := settings.prices.get(choice.model)) is not None:
        rates = {
            "input_mtok": row.input,
            "output_mtok": row.output,
            "cache_read_mtok": row.cached_input,
        }
        from genai_prices.types import ModelPrice

        return ModelPrice(**{name: Decimal(str(price)) for name, price in rates.items() if price is not None})
    model = _model_info(settings, choice)
    return model.get_prices(datetime.now(UTC)) if model else None


def _model_info(settings: Settings, choice: ModelChoice) -> "ModelInfo | None":
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
    is_small = facts.parameters is not None and facts.parameters <= SMALL_MODEL
    reads_little = facts.context_tokens is not None and facts.context_tokens < SMALL_CONTEXT
    return "small" if is_small or reads_little else "normal"


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

    server = parse(address(settings, choice))
    return await ask_server(server, choice.model, key_for(settings, server.public_url))


def key_for(settings: Settings, public_url: str) -> str:
    """Return the key for an address: only the configured one is given it; empty for others."""
    configured_url = parse(settings.openai_base_url or OPENAI_URL).public_url
    key = settings.openai_api_key
    return key.get_secret_value() if key is not None and public_url == configured_url else ""
