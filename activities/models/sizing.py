"""The effort that a model is worth, by its size and by what its server can read."""

from typing import TYPE_CHECKING

from activities.contracts.evidence import Effort, ModelChoice
from activities.models.address import parse
from activities.models.prices import OPENAI_URL, address
from activities.settings import Settings

if TYPE_CHECKING:
    from activities.models.server_facts import ServerFacts

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
