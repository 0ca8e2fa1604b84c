"""The resources that a worker process opens once: store, HTTP, sources, model, thinker."""

import importlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from temporalio import activity
from temporalio.common import RawValue

from activities.contracts.evidence import ModelChoice
from activities.event_activity import EventActivities
from activities.evidence_store import EvidenceStore
from activities.heartbeat import has_timed_out, on_last_attempt
from activities.permits import Permits
from activities.prepare_activity import PrepareActivities
from activities.private_files import private_home
from activities.publish_activity import PublishActivities, PubMedStanding
from activities.role_activity import ThinkActivities
from activities.roles.runner import RoleThinker
from activities.search_activity import SearchActivities
from activities.settings import Settings
from activities.sources import ncbi
from activities.sources.base import Source
from activities.sources.http.client import Http, open_http
from activities.sources.registry import Sources
from activities.sources.standing_lookup import StandingLookup
from workflows.rules import dedup

if TYPE_CHECKING:
    from activities.models.client import OpenAIModel


@dataclass(frozen=True)
class Late:
    """A class of activities, as `module:Class`, with the names of its activities and what opens it."""

    entry: str
    names: tuple[str, ...]
    arguments: tuple[object, ...]

    @cached_property
    def _owner(self) -> object:
        module, _, name = self.entry.partition(":")
        return getattr(importlib.import_module(module), name)(*self.arguments)

    def definitions(self) -> list[Callable[..., Awaitable[object]]]:
        """Return the activities as a worker registers them."""
        return [self._definition(name) for name in self.names]

    def _definition(self, name: str) -> Callable[..., Awaitable[object]]:
        @activity.defn(name=name)
        async def step(value: RawValue) -> object:
            method = getattr(self._owner, name)
            (parameter,) = inspect.signature(method).parameters.values()
            typed = activity.payload_converter().from_payload(value.payload, parameter.annotation)
            return await method(typed)

        return step


@dataclass(frozen=True, slots=True)
class Resources:
    """Open as long as the worker runs."""

    settings: Settings
    http: Http
    sources: Mapping[str, Source]
    search: SearchActivities
    pubmed: PubMedStanding
    owners: tuple[object, ...]
    """The other classes of activities, opened."""
    late: tuple[Late, ...]
    """Those that are opened at the first call of one of their activities."""

    @property
    def activities(self) -> list[Callable[..., Any]]:
        return [
            *self.search.definitions(),
            *(method for owner in self.owners for method in methods(owner)),
            *(step for row in self.late for step in row.definitions()),
        ]

    @property
    def gated(self) -> dict[str, list[Callable[..., Any]]]:
        """Return what else runs on the queues of strictly limited APIs, beside their searches."""
        return {ncbi.QUEUE: methods(self.pubmed)}


@asynccontextmanager
async def open_resources(settings: Settings) -> AsyncIterator[Resources]:
    """Open everything, and close it in reverse order. Raises StoreError when the store cannot be opened."""
    private_home(settings.home)
    async with AsyncExitStack() as stack:
        store = EvidenceStore.at(settings.evidence_url)
        http = await stack.enter_async_context(open_http(settings))
        sources = Sources(settings, http)
        model = LateModel(settings, store)
        stack.push_async_callback(model.aclose)
        thinker = RoleThinker(model.of, store, settings, on_last_attempt)
        lookup = StandingLookup(http, settings)
        yield Resources(
            settings=settings,
            http=http,
            sources=sources,
            search=SearchActivities(sources, store, settings.sources, Permits(settings)),
            pubmed=PubMedStanding(lookup),
            owners=(
                ThinkActivities(thinker),
                PrepareActivities(settings, sources, model.context),
                PublishActivities(
                    store,
                    lookup,
                    copies=settings.reports_dir,
                    form=settings.output_format,
                ),
                EventActivities(store),
            ),
            late=(
                Late(
                    "activities.candidate_activity:CandidateActivities",
                    ("look_up_candidate",),
                    (sources, store),
                ),
                Late(
                    "activities.analysis_activity:AnalysisActivities",
                    ("analyse_effects", "run_program"),
                    (store,),
                ),
                Late("activities.own_step_activity:OwnStepActivities", ("run_code_step",), (store,)),
                Late("activities.follow_up_activity:FollowUpActivities", ("import_evidence",), (store,)),
                Late(
                    "activities.full_text_activity:FullTextActivities",
                    ("read_in_full",),
                    (settings, http, store),
                ),
                Late(
                    "activities.refresh_activity:RefreshActivities",
                    ("plan_refresh", "keep_refresh"),
                    (settings, sources, lookup),
                ),
                Late(
                    "activities.revision_activity:RevisionActivities",
                    ("plan_revision", "keep_revision"),
                    (settings, sources),
                ),
                Late(
                    "activities.review_activity:ReviewActivities",
                    (
                        *("add_review_records", "draw_review_sample", "look_up_records", "read_for_review"),
                        *("plan_screening", "keep_decisions", "find_touched_decisions", "settle_fields"),
                        *("publish_review", "tell_changes"),
                    ),
                    (settings, store, thinker, dedup.merge, lookup),
                ),
            ),
        )


class LateModel:
    """The language model client, created at the first use: without a model its library is never imported."""

    def __init__(self, settings: Settings, store: EvidenceStore) -> None:
        self._settings = settings
        self._store = store
        self._model: OpenAIModel | None = None
        self._permits = Permits(settings)

    def of(self, choice: ModelChoice) -> "OpenAIModel":
        """Return the client, for a model of this worker's servers.

        Raises NotPermitted for another server.
        """
        self._permits.check_address(choice.base_url)
        if self._model is None:
            # in the event loop: a first import in a thread beside another one is not worth the risk
            from activities.models.client import OpenAIModel

            self._model = OpenAIModel(self._settings, self._store, has_timed_out)
        return self._model

    async def context(self, choice: ModelChoice) -> int:
        """See `OpenAIModel.context`. Raises NotPermitted for another model server."""
        return await self.of(choice).context(choice)

    async def aclose(self) -> None:
        if self._model is not None:
            await self._model.aclose()


def methods(owner: object) -> list[Callable[..., Any]]:
    """Return the bound methods of an activity class that are declared with `activity.defn`, by name."""
    members = (getattr(owner, name) for name in sorted(dir(type(owner))) if not name.startswith("__"))
    return [method for method in members if hasattr(method, "__temporal_activity_definition")]
