"""Asking workers outside of any run: a source, also a strictly limited API, or the plan of a question.

Of such an API each search is an activity of its own, without a workflow, on the API's task queue: the
process that holds the API's gate makes it, so the rate holds however many people search by hand. The
documents come back through the evidence store, as in a run. A question is read and outlined in the same way,
and nothing is searched for it.
"""

import uuid
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any, TypeVar

from pydantic import BaseModel
from temporalio.client import ActivityFailureError, Client
from temporalio.exceptions import ApplicationError
from temporalio.exceptions import TimeoutError as NotTaken
from temporalio.service import RPCError, RPCStatusCode

from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, StoreError, Unavailable
from activities.contracts.evidence import ANSWERED, Frozen, Query, ReportPlan, SourceInfo, Usage
from activities.contracts.plan import ParsedQuery, ParseQueryInput, PlanInput
from activities.contracts.prepare import Prepared, PrepareInput
from activities.contracts.publish import Estimate
from activities.contracts.search import HitsOfAll, SearchTask, SearchTasks
from activities.contracts.step import Role, StepAnswer
from activities.evidence_store import EvidenceStore
from activities.role_steps import PARSE, PLAN, I, O, RoleStep, equipped, served
from activities.roles.allowances import allowance_of
from activities.search_activity import activity_name, narrowed
from activities.settings import Settings
from activities.sources.base import Exchange, SearchResult
from activities.sources.base import search as search_all
from activities.sources.http.client import Http, open_http
from activities.sources.registry import Sources, why_closed
from client.connection import configured, open_client
from client.failures import BadInput, Failure
from workflows.context import number_sections
from workflows.modes import AUTO, Available, offered
from workflows.steps import policy
from workflows.steps.policy import first_detail
from workflows.types import ResearchRequest

T = TypeVar("T")

SECONDS = 120.0
"""Time for which a person waits for one exchange, retries and all."""
_FAILURES: dict[object, type[SourceError]] = {
    kind.status: kind for kind in (RateLimited, Unavailable, Malformed, Refused)
}


async def search_source(
    settings: Settings,
    address: str | None,
    source: str,
    query: Query,
    limit: int | None,
    http: Http | None = None,
) -> SearchResult:
    """Search a source; one whose rate holds for a whole fleet is asked by its workers.

    `http`: one that several searches share, so that they keep an API's rate between them. Raises BadInput
    for what cannot be searched, and Failure for an outage.
    """
    narrowed_query = narrowed(query, settings.sources.get(source))
    if limit is not None:
        narrowed_query = narrowed_query.replace(limit=limit)
    async with nullcontext(http) if http is not None else open_http(settings) as http:
        searcher = Sources(settings, http)[source]
        closed = why_closed(settings, searcher) or str(getattr(searcher, "missing", "") or "")
        if closed:
            raise BadInput(f"{source}: {closed}")
        if searcher.info.role == "lookup":
            raise BadInput(f"{source} answers by identifier only and cannot be searched")
        if searcher.info.queue is not None and (client := await fleet(settings, address)):
            searcher = FleetSource(client, searcher.info, EvidenceStore.at(settings.evidence_url))
        try:
            return await search_all(searcher, narrowed_query)
        except Refused as error:
            raise BadInput(str(error)) from error
        except SourceError as error:
            raise Failure(f"{error} ({error.status.replace('_', ' ')}; this is not `no results`)") from error


async def fleet(settings: Settings, address: str | None = None) -> Client | None:
    """Return a client of the configured server, whose workers ask the limited APIs.

    None where none is configured: the processes of one home share an API's rate by themselves
    (`activities.sources.http.rate_limiter`). Raises NoConnection and BadConnectionSettings.
    """
    config = configured(address, settings)
    return await open_client(config) if config is not None else None


class FleetSource:
    def __init__(self, client: Client, info: SourceInfo, store: EvidenceStore) -> None:
        self._client = client
        self._store = store
        self.info = info

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        """See `activities.sources.base.Source`. Raises SourceError, and RPCError when the server is away."""
        name = self.info.name
        task = SearchTask(run_id=f"search-{name}", source=name, query=query, as_given=True)
        step = SearchTasks(run_id=task.run_id, tasks=(task,))
        summary = policy.shorten(f"{name}: {query.text}")
        answer = await _ask(self._client, activity_name(name), step, HitsOfAll, self.info, summary)
        hits = answer.answers[0]
        if hits.status not in ANSWERED:
            raise _FAILURES.get(hits.status, Unavailable)(hits.detail)
        try:
            records = tuple([await self._store.get(ref) for ref in hits.kept])
        except (StoreError, FileNotFoundError) as error:
            raise Unavailable(
                f"a worker searched {self.info.title}, but its evidence store cannot be read here; "
                f"set DETERMINATOR_STORE_URL to the workers' store ({error})"
            ) from error
        yield Exchange(
            records=records,
            hits=hits.hits,
            set_aside=hits.set_aside,
            absent=hits.absent,
            documents=hits.documents,
            sent=hits.query,
            detail=hits.detail,
        )


async def _ask(
    client: Client, name: str, argument: Frozen, kind: type[T], info: SourceInfo, summary: str
) -> T:
    """One activity on the queue of an API. Raises SourceError, and RPCError when the server is away."""
    try:
        options = policy.source_call(SECONDS, summary, None)
        return await alone(client, name, argument, kind, info.queue or "", options)
    except ActivityFailureError as error:
        raise _failure(error, info) from error
    except RPCError as error:
        if error.status != RPCStatusCode.UNIMPLEMENTED:
            raise
        raise Refused(
            f"{info.title} is asked at the rate of the whole fleet, and this Temporal server cannot run an "
            "activity without a workflow; upgrade it, or search in a run (determinator ask)"
        ) from error


async def alone(
    client: Client, name: str, argument: object, kind: type[T], queue: str, options: policy.Options
) -> T:
    """Run an activity without a workflow. Raises ActivityFailureError, RPCError."""
    arguments: dict[str, Any] = {**options, "task_queue": queue, "result_type": kind}
    answer: T = await client.execute_activity(
        name, argument, id=f"{name.replace('_', '-')}-{uuid.uuid4()}", **arguments
    )
    return answer


def _failure(error: ActivityFailureError, info: SourceInfo) -> SourceError:
    cause = error.cause
    if isinstance(cause, NotTaken):
        return Unavailable(
            f"no worker searched {info.title} within {SECONDS:.0f} s; see that one runs and has the source "
            "enabled"
        )
    if not isinstance(cause, ApplicationError):
        return Unavailable(f"{info.title} was not searched: {cause}")
    return _FAILURES.get(first_detail(cause).get("status"), Unavailable)(cause.message)


Output = TypeVar("Output")
UNNAMED = "plan"
"""Stands for the id of a run in what a step is given."""


class Planned(BaseModel):
    """Plan of how a question would be researched."""

    parsed: ParsedQuery
    plan: ReportPlan
    sources: tuple[str, ...]
    estimate: Estimate | None
    """Estimate of what a run of it is expected to take; None where no language model serves it."""
    usage: Usage
    """Usage of the plan itself."""
    by_role: dict[Role, Usage]
    """The same by the role that was asked."""


async def plan_question(client: Client, request: ResearchRequest, task_queue: str) -> Planned:
    """Read and outline a question on the workers of a queue, without a library. Raises Failure, RPCError."""

    async def act(name: str, kind: type[Output], step: object, options: policy.Options) -> Output:
        try:
            return await alone(client, name, step, kind, task_queue, options)
        except ActivityFailureError as error:
            raise Failure(f"the question could not be planned: {error.cause}") from error

    auto = request.profile == AUTO
    prepared = await act(
        "prepare",
        Prepared,
        PrepareInput(
            profile="general" if auto else request.profile,
            sources=tuple(name for name in request.sources if name != "library"),
            models=request.models,
            fallbacks=request.fallbacks,
            chooses_profile=auto,
        ),
        policy.internal_step("what this worker offers"),
    )

    async def think(kind: RoleStep[I, O], step: I) -> "StepAnswer[O]":
        model = served(prepared, kind.role)
        asked = equipped(step, prepared, model, allowance_of(kind.role, model))
        options = policy.model_call(None, kind.role.replace("_", " "), streams=model.backend != "extractive")
        return await act(kind.activity, kind.answer, asked, options)

    enabled = tuple(source for source in prepared.sources if source.enabled and source.info.role == "search")
    manager = served(prepared, "manager").backend != "extractive"
    has = Available(sources=bool(enabled), model=manager, manager_model=manager)
    mode = None if request.mode == AUTO else request.mode
    common = {"run_id": UNNAMED, "question": request.question}
    reading = ParseQueryInput(
        **common,
        profile=prepared.profile,
        profiles=prepared.profiles if auto else {},
        mode=mode,
        modes={} if mode else offered(has),
        sources=() if request.sources else enabled,
        preferences=prepared.preferences,
    )
    read = await think(PARSE, reading)
    parsed = read.output
    profile = prepared.alternatives.get(parsed.profile, prepared.profile)
    wanted = request.sources or parsed.sources or profile.sources
    outlining = PlanInput(
        **common,
        profile=profile,
        parsed=parsed,
        sources=tuple(option for option in enabled if option.info.name in wanted) or enabled,
        max_sections=request.limits.max_sections,
    )
    outlined = await think(PLAN, outlining)
    return Planned(
        parsed=parsed,
        plan=number_sections(outlined.output),
        sources=tuple(source.info.name for source in outlining.sources),
        estimate=request.estimate,
        usage=read.usage + outlined.usage,
        by_role={PARSE.role: read.usage, PLAN.role: outlined.usage},
    )
