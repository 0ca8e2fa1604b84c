"""Web search by Tavily (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

import httpx

from activities.contracts.errors import RateLimited, Refused
from activities.contracts.evidence import Query
from activities.sources.base import Listing
from activities.sources.names import info_of
from activities.sources.web import WebSource

MAX_RESULTS = 20
MAX_QUERY_CHARS = 400
"""Both are the API's own limits."""
_OVER_PLAN = (432, 433)
"""Tavily's own statuses: the plan's or the pay-as-you-go limit is used up."""


class TavilySource(WebSource):
    """Tavily's search for agents. One request to the engine, then the pages (see `activities.sources.web`).

    Its extracts are put together from pieces of a page, so they are used as snippets, never as its text.
    """

    url = "https://api.tavily.com"
    fields = ("url", "title", "content", "published_date")
    info = info_of("tavily")

    async def ask(self, query: Query, wanted: int) -> Listing:
        if len(query.text) > MAX_QUERY_CHARS:
            raise Refused(f"tavily accepts {MAX_QUERY_CHARS} characters and the query has {len(query.text)}")
        wish: dict[str, str | int] = {
            "query": query.text,
            "search_depth": "basic",
            "max_results": min(wanted, MAX_RESULTS),
        }
        if query.filters.year_from is not None:
            wish["start_date"] = f"{query.filters.year_from}-01-01"
        if query.filters.year_to is not None:
            wish["end_date"] = f"{query.filters.year_to}-12-31"
        address, headers = f"{self._url}/search", {"authorization": f"Bearer {self._key}"}
        return await self._http.read(
            "tavily", self._read, address, headers=headers, json_body=wish, accept=_OVER_PLAN
        )

    def _read(self, answer: httpx.Response) -> Listing:
        if answer.status_code in _OVER_PLAN:
            raise RateLimited("tavily says the plan's limit is used up; raise it at https://app.tavily.com")
        return super()._read(answer)
