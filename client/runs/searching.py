"""One search of one source, outside of any run."""

from contextlib import nullcontext

from activities.errors import Refused, SourceError
from activities.evidence_store import EvidenceStore
from activities.search import narrowed
from activities.settings import Settings
from activities.sources.base import SearchResult
from activities.sources.base import search as search_all
from activities.sources.http.client import Http, open_http
from activities.sources.registry import build_sources, why_closed
from activities.types import Filters, Query
from client.connection import Say
from client.failures import BadInput, Failure
from client.runs.fleet import FleetSource, fleet


async def search_source(
    settings: Settings,
    address: str | None,
    source: str,
    text: str,
    *,
    limit: int | None,
    filters: Filters,
    library: str | None,
    say: Say,
    http: Http | None = None,
) -> SearchResult:
    """Search a source; one whose rate holds for a whole fleet is asked by the workers where some run. `http`:
    one that several searches share, so that they keep an API's rate between them. Raises BadInput for what
    cannot be searched, and Failure for an outage."""
    options = {"library": library} if library else {}
    asked = narrowed(
        Query(text=text, filters=filters.model_copy(update={"options": options})),
        settings.sources.get(source),
    )
    if limit is not None:
        asked = asked.model_copy(update={"limit": limit})
    async with nullcontext(http) if http is not None else open_http(settings) as http:
        found = build_sources(settings, http)[source]
        closed = why_closed(settings, found) or str(getattr(found, "missing", "") or "")
        if closed:
            raise BadInput(f"{source}: {closed}")
        if found.info.role == "lookup":
            raise BadInput(f"{source} answers by identifier only and cannot be searched")
        if found.info.queue is not None and (client := await fleet(settings, address, found.info, say)):
            found = FleetSource(client, found.info, EvidenceStore.at(settings.evidence_url))
        try:
            return await search_all(found, asked)
        except Refused as error:
            raise BadInput(str(error)) from error
        except SourceError as error:
            raise Failure(f"{error} ({error.status.replace('_', ' ')}; this is not `no results`)") from error
