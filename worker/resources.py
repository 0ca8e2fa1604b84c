"""What a worker process opens once and injects into its activities: store, HTTP, sources, model, thinker."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from activities.publish import PublishActivities

from activities.evidence import EvidenceStore
from activities.prepare import PrepareActivities
from activities.search import SearchActivities
from activities.settings import Settings
from activities.sources.base import Source
from activities.sources.http import Http, open_http
from activities.sources.registry import build_sources
from activities.think import ThinkActivities
from activities.thinker import RoleThinker


@dataclass(frozen=True, slots=True)
class Resources:
    """Open as long as the worker runs."""

    settings: Settings
    store: EvidenceStore
    http: Http
    sources: Mapping[str, Source]
    think: ThinkActivities
    prepare: PrepareActivities
    publish: PublishActivities
    search: SearchActivities

    @property
    def activities(self) -> list[Callable[..., Any]]:
        """The activities of the general queue."""
        return [
            *self.search.definitions(),
            *methods(self.think),
            *methods(self.prepare),
            *methods(self.publish),
        ]


@asynccontextmanager
async def open_resources(settings: Settings) -> AsyncIterator[Resources]:
    """Open everything, and close it in reverse order. Raises StoreError when the store cannot be opened."""
    async with AsyncExitStack() as stack:
        store = EvidenceStore.at(settings.evidence_url)
        http = await stack.enter_async_context(open_http(settings))
        sources = build_sources(settings, http)
        yield Resources(
            settings=settings,
            store=store,
            http=http,
            sources=sources,
            think=ThinkActivities(RoleThinker(None, store, settings)),
            prepare=PrepareActivities(settings, sources),
            publish=PublishActivities(store, None),
            search=SearchActivities(sources, store),
        )


def methods(owner: object) -> list[Callable[..., Any]]:
    """The bound methods of an activity class that are declared with `activity.defn`, by name."""
    found = (getattr(owner, name) for name in sorted(dir(type(owner))) if not name.startswith("__"))
    return [method for method in found if hasattr(method, "__temporal_activity_definition")]
