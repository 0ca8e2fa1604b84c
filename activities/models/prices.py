"""What a model costs and how much it can read: the user's own table over `genai-prices`.

A model is only looked up at the provider its address belongs to. A server at any other address may carry the
same model name for nothing or for more, so its price is unknown unless the user's table names it.
"""

from datetime import UTC, datetime
from decimal import ROUND_UP, Decimal

from genai_prices import Usage as PricedUsage
from genai_prices import calc_price
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, TieredPrices

from activities.contracts.evidence import ModelChoice, Price, Usage
from activities.settings import Settings

OPENAI_URL = "https://api.openai.com/v1"


def address(settings: Settings, choice: ModelChoice) -> str:
    """Where the model is asked."""
    return (choice.base_url or settings.openai_base_url or OPENAI_URL).rstrip("/")


def price_of(settings: Settings, choice: ModelChoice) -> Price | None:
    """The price of a model at its dearest tier; None when it is not known."""
    if choice.backend == "extractive":
        return Price(input_per_million=0, output_per_million=0)
    if (own := _own(settings, choice.model)) is not None:
        return own
    model = _listed(settings, choice)
    if model is None:
        return None
    prices = model.get_prices(datetime.now(UTC))
    into = _dearest(getattr(prices, "input_mtok", None))
    out = _dearest(getattr(prices, "output_mtok", None))
    if into is None or out is None:
        return None
    cached = _dearest(getattr(prices, "cache_read_mtok", None))
    return Price(input_per_million=into, output_per_million=out, cached_input_per_million=cached)


def cost_microusd(settings: Settings, choice: ModelChoice, usage: Usage) -> int | None:
    """What the usage costs in millionths of a US dollar, rounded up; None when no price is known."""
    if choice.backend == "extractive":
        return 0
    if (own := _own(settings, choice.model)) is not None:
        fresh = usage.input_tokens - usage.cached_tokens
        cached = (
            own.input_per_million if own.cached_input_per_million is None else own.cached_input_per_million
        )
        # dollars a million tokens are millionths of a dollar a token
        dollars = (
            Decimal(str(own.input_per_million)) * fresh
            + Decimal(str(cached)) * usage.cached_tokens
            + Decimal(str(own.output_per_million)) * usage.output_tokens
        )
        return int(dollars.to_integral_value(ROUND_UP))
    if _listed(settings, choice) is None or price_of(settings, choice) is None:
        return None
    priced = calc_price(
        PricedUsage(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cached_tokens,
            output_tokens=usage.output_tokens,
        ),
        choice.model,
        provider_api_url=address(settings, choice),
    )
    return int((priced.total_price * 1_000_000).to_integral_value(ROUND_UP))


def context_window(settings: Settings, choice: ModelChoice) -> int:
    """Tokens the model reads and writes in one exchange: as listed, else what the settings assume."""
    model = _listed(settings, choice)
    return model.context_window if model and model.context_window else settings.context_tokens


def _own(settings: Settings, model: str) -> Price | None:
    if (own := settings.prices.get(model)) is None:
        return None
    return Price(
        input_per_million=own.input,
        output_per_million=own.output,
        cached_input_per_million=own.cached_input,
    )


def _listed(settings: Settings, choice: ModelChoice) -> ModelInfo | None:
    try:
        return get_snapshot().find_provider_model(choice.model, None, None, address(settings, choice))[1]
    except LookupError:
        return None


def _dearest(price: Decimal | TieredPrices | None) -> float | None:
    if price is None:
        return None
    if isinstance(price, TieredPrices):
        return float(max([price.base, *(tier.price for tier in price.tiers)]))
    return float(price)
