"""Destinations of what a run sends, stated before it begins.

The sources that are enabled follow from the settings, but finding them means loading every source: the answer
is kept in home under the fingerprint of the settings.
"""

import json
from collections.abc import Callable
from urllib.parse import urlsplit

from activities.contracts.evidence import SourceOption
from activities.credentials import without_credentials
from activities.models.prices import OPENAI_URL
from activities.private_files import write_whole
from activities.proxies import is_here
from activities.settings import Settings
from client.configuration import is_local
from client.embedded.home import Places, fingerprint
from workflows.types import ResearchRequest

NAME_FULL_TEXTS = frozenset({"europepmc", "openalex", "semanticscholar"})
"""Sources whose records name an open full text."""


def models_of(settings: Settings, request: ResearchRequest) -> list[str]:
    """Return the language models a run may call, in the order of trying; empty when there is none."""
    choices = (*(request.models or settings.model_choices()).values(),)
    fallbacks = request.fallbacks or settings.fallback_choices()
    return list(
        dict.fromkeys(fallback.model for fallback in (*choices, *fallbacks) if fallback.backend == "openai")
    )


async def available(settings: Settings) -> tuple[SourceOption, ...]:
    """Return the sources as a worker with these settings sees them."""
    from activities.sources.http.client import open_http
    from activities.sources.registry import Sources, options

    async with open_http(settings) as http:
        return options(settings, Sources(settings, http))


async def network_sources(settings: Settings) -> tuple[str, ...]:
    """Return the enabled sources that need the network, with those that need none left out.

    From the file in home when the settings are those it was made with.
    """
    places = Places(settings.home)
    path = places.state / "sources.json"
    key = fingerprint(settings, places)
    try:
        cache = json.loads(path.read_bytes())
        if cache["fingerprint"] == key:
            return tuple(str(name) for name in cache["names"])
    except (OSError, ValueError, LookupError, TypeError):
        pass
    infos = [option.info for option in await available(settings) if option.enabled]
    names = [info.name for info in infos if info.role == "search" and "local" not in info.domains]
    write_whole(path, json.dumps({"fingerprint": key, "names": names}).encode())
    return tuple(names)


async def destinations(
    settings: Settings, request: ResearchRequest, title: Callable[[str], str] = str
) -> str:
    """One line: what a run on the embedded worker sends where. `title`: names a source."""
    online: list[str] = []
    if not settings.offline and request.sources != ("library",):
        names = await network_sources(settings)
        online = [name for name in names if not request.sources or name in request.sources]
    models = models_of(settings, request)
    address = settings.openai_base_url or OPENAI_URL
    parts = []
    if online:
        parts.append(f"search queries to {', '.join(map(title, online))}")
        if models and request.limits.full_texts and NAME_FULL_TEXTS & set(online):
            parts.append("requests for open full texts to the addresses that these name")
    if models and not is_local(address):
        parts.append(
            f"the question and found text to {', '.join(models)} at {urlsplit(address).hostname or address}"
        )
    if not is_here(settings.evidence_url):
        parts.append(f"evidence and reports to {without_credentials(settings.evidence_url)}")
    if not parts:
        return "Nothing leaves this machine."
    return f"Leaves this machine: {'; '.join(parts)}."
