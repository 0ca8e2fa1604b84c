"""Searching a source outside of any run, also a strictly limited API.

Of such an API each search is an activity of its own, without a workflow, on the API's task queue: the
process that holds the API's gate makes it, so the rate holds however many people search by hand. The
documents come back through the evidence store, as in a run.
"""

import uuid
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

from temporalio.client import ActivityFailureError, Client
from temporalio.exceptions import ApplicationError
from temporalio.exceptions import TimeoutError as NotTaken
from temporalio.service import RPCError, RPCStatusCode

from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, StoreError, Unavailable
from activities.contracts.evidence import ANSWERED, Query, SourceInfo
from activities.contracts.search import HitsOfAll, SearchTask, SearchTasks
from activities.evidence_store import EvidenceStore
from activities.search_activity import activity_name, narrowed
from activities.settings import Settings
from activities.sources.base import Exchange, SearchResult
from activities.sources.base import search as search_all
from activities.sources.http.client import Http, open_http
from activities.sources.registry import Sources, why_closed
from client.connection import configured, open_client
from client.failures import BadInput, Failure
from workflows.steps import policy
from workflows.steps.policy import first_detail

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
        hits = (await self._ask(activity_name(name), step, summary)).answers[0]
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

    async def _ask(self, name: str, step: SearchTasks, summary: str) -> HitsOfAll:
        """One activity on the queue of the API, without a workflow. Raises SourceError, RPCError."""
        arguments: dict[str, Any] = {**policy.source_call(SECONDS, summary, self.info.queue)}
        try:
            answer: HitsOfAll = await self._client.execute_activity(
                name, step, id=f"{name.replace('_', '-')}-{uuid.uuid4()}", result_type=HitsOfAll, **arguments
            )
        except ActivityFailureError as error:
            raise _failure(error, self.info) from error
        except RPCError as error:
            if error.status != RPCStatusCode.UNIMPLEMENTED:
                raise
            raise Refused(
                f"{self.info.title} is asked at the rate of the whole fleet, and this Temporal server cannot "
                "run an activity without a workflow; upgrade it, or search in a run (determinator ask)"
            ) from error
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
