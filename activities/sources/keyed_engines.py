"""Web search engines that are asked with a key: Brave and Tavily.

One request to the engine, then the pages (see `activities.sources.web`).
"""

from typing import ClassVar

import httpx

from activities.contracts.errors import Malformed, RateLimited, Refused
from activities.contracts.evidence import Query
from activities.sources.base import Listing
from activities.sources.names import info_of
from activities.sources.web import WebSource, years_of

MAX_RESULTS = 20
"""Results of one request: the limit of Brave's API and of Tavily's."""
MAX_TAVILY_CHARS = 400
"""Characters of a query, by the API's own limit."""
_OVER_PLAN = (432, 433)
"""Tavily's own statuses: the plan's or the pay-as-you-go limit is used up."""


class BraveSource(WebSource):
    """Brave's index of the web (https://api-dashboard.search.brave.com/app/documentation/web-search)."""

    url = "https://api.search.brave.com/res/v1"
    headers: ClassVar = {"x-subscription-token": "brave_api_key"}
    fields = ("url", "title", "description", "page_age")
    info = info_of("brave")

    async def ask_engine(self, query: Query, wanted: int) -> Listing:
        params: dict[str, str | int] = {"q": query.text, "count": min(wanted, MAX_RESULTS)}
        if years := years_of(query):
            params["freshness"] = f"{years[0]}-01-01to{years[1]}-12-31"
        return await self.ask(self._read, "web/search", params)

    def found_in(self, body: dict[str, object]) -> object:
        """Return the results of the web; news, videos and boxes beside them are passed over."""
        # Without a match the answer has no `web`; what is never missing is its kind.
        if body.get("type") != "search":
            raise Malformed("brave sent an answer that is not a search's")
        web = body.get("web")
        return web.get("results", []) if isinstance(web, dict) else []


class TavilySource(WebSource):
    """Tavily's search for agents (https://docs.tavily.com/documentation/api-reference/endpoint/search).

    Its extracts are put together from pieces of a page, so they are used as snippets, never as its text.
    """

    url = "https://api.tavily.com"
    headers: ClassVar = {"authorization": "Bearer tavily_api_key"}
    fields = ("url", "title", "content", "published_date")
    info = info_of("tavily")

    async def ask_engine(self, query: Query, wanted: int) -> Listing:
        if len(query.text) > MAX_TAVILY_CHARS:
            raise Refused(f"tavily accepts {MAX_TAVILY_CHARS} characters and the query has {len(query.text)}")
        wish: dict[str, str | int] = {
            "query": query.text,
            "search_depth": "basic",
            "max_results": min(wanted, MAX_RESULTS),
        }
        if query.filters.year_from is not None:
            wish["start_date"] = f"{query.filters.year_from}-01-01"
        if query.filters.year_to is not None:
            wish["end_date"] = f"{query.filters.year_to}-12-31"
        return await self.ask(self._read, "search", json_body=wish, accept=_OVER_PLAN)

    def _read(self, answer: httpx.Response) -> Listing:
        if answer.status_code in _OVER_PLAN:
            raise RateLimited("tavily says the plan's limit is used up; raise it at https://app.tavily.com")
        return super()._read(answer)
