"""The request as the embedded worker can run it: its models, its store and its sources are there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from activities.credentials import without_credentials
from activities.proxies import is_here
from activities.settings import Settings
from client.configuration import is_local
from client.failures import BadInput, unknown_name
from client.runs.checks import check_hooks
from workflows.modes import Available, refusal
from workflows.types import ResearchRequest

if TYPE_CHECKING:
    from client.connection import Say


async def check_request(
    settings: Settings, request: ResearchRequest, *, has_named_sources: bool, say: "Say"
) -> ResearchRequest:
    """Return the request as the embedded worker can run it; `has_named_sources`: flags give them.

    Raises BadInput when it cannot.
    """
    choices = (request.models or settings.model_choices()).values()
    models = [model_choice for model_choice in choices if model_choice.backend == "openai"]
    if reason := refusal(request.mode, Available(sources=True, model=bool(models))):  # the run checks sources
        raise BadInput(reason)
    check_hooks(settings)
    check_model(settings, request, say)
    check_store(settings)
    if names := [model_choice.model for model_choice in models if model_choice.base_url is None]:
        from client.model_servers import check_models

        await check_models(settings, list(dict.fromkeys(names)))
    return await with_enabled_sources(settings, request, has_named_sources=has_named_sources, say=say)


def check_model(settings: Settings, request: ResearchRequest, say: "Say") -> None:
    """Raise BadInput when the embedded worker has no access to a model of the run, or may not use it.

    It is said where a limit of cost cannot hold, since the price of a model is not known.
    """
    from activities.models.prices import OPENAI_URL
    from client.runs.destinations import models_of

    names = models_of(settings, request)
    if not names:
        return
    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise BadInput(
            f"the model {names[0]} needs OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own; "
            f"use `model` extractive to do without a model"
        )
    if request.limits.max_cost_microusd is not None:
        from activities.models.prices import price_of

        choices = (*(request.models or settings.model_choices()).values(),)
        unpriced = next((entry.model for entry in choices if price_of(settings, entry) is None), "")
        is_own = is_local(settings.openai_base_url or OPENAI_URL)
        if unpriced and request.limits.max_cost_microusd == 0 and not is_own:
            raise BadInput(
                f"`max_cost` 0 buys nothing, and the price of {unpriced} is not known: state it "
                f"under [model] prices, or use `model` extractive"
            )
        if unpriced:
            say(
                f"`max_cost` counts no call of {unpriced}, whose price is not known: state it under "
                f"[model] prices, or limit the run by `max_tokens`"
            )
    if settings.offline and not is_local(settings.openai_base_url or OPENAI_URL):
        raise BadInput(
            f"offline mode is on and the model {names[0]} is not on this machine: use `model` "
            "extractive, or set OPENAI_BASE_URL to a server on this machine"
        )


def check_store(settings: Settings) -> None:
    """Raise BadInput where evidence and reports would leave the machine in offline mode."""
    if settings.offline and not is_here(settings.evidence_url):
        raise BadInput(
            f"offline mode is on and the evidence store {without_credentials(settings.evidence_url)} is not "
            "on this machine: unset DETERMINATOR_STORE_URL, or offline"
        )


async def with_enabled_sources(
    settings: Settings, request: ResearchRequest, *, has_named_sources: bool, say: "Say"
) -> ResearchRequest:
    """Return the request with the sources that the embedded worker can use.

    A source that a flag names must be enabled: raises BadInput with how to enable it. One that the
    configuration lists may be left out as long as another is enabled.
    """
    reasons = await closed_sources(settings, request.sources)
    if reasons and (has_named_sources or len(reasons) == len(request.sources)):
        raise BadInput(next(iter(reasons.values())))
    for reason in reasons.values():
        say(f"{reason}; continuing without it")
    return request.replace(sources=tuple(n for n in request.sources if n not in reasons))


async def closed_sources(settings: Settings, names: Sequence[str]) -> dict[str, str]:
    """Return why each source that cannot be used is not enabled. Raises BadInput for one that is unknown."""
    if not names or (tuple(names) == ("library",) and not settings.disabled_sources):
        return {}
    from client.runs.destinations import available

    options = {option.info.name: option for option in await available(settings)}
    if stranger := next((name for name in names if name not in options), None):
        raise BadInput(f"source {unknown_name(stranger, list(options))}")
    return {
        name: f"the source {name} is not enabled: {options[name].reason}"
        for name in names
        if not options[name].enabled
    }
