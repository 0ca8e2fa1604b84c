"""Web search by Brave (https://api-dashboard.search.brave.com/app/documentation/web-search)."""

from activities.contracts.errors import Malformed
from activities.contracts.evidence import Query
from activities.sources.base import Listing
from activities.sources.names import info_of
from activities.sources.web import WebSource, years_of

MAX_COUNT = 20
"""Results of one request, by the API's own limit."""


class BraveSource(WebSource):
    """Brave's index of the web. One request to the engine, then the pages (see `activities.sources.web`)."""

    url = "https://api.search.brave.com/res/v1"
    fields = ("url", "title", "description", "page_age")
    info = info_of("brave")

    async def ask(self, query: Query, wanted: int) -> Listing:
        params: dict[str, str | int] = {"q": query.text, "count": min(wanted, MAX_COUNT)}
        if years := years_of(query):
            # The API accepts a range of days: https://api-dashboard.search.brave.com (parameter freshness).
            params["freshness"] = f"{years[0]}-01-01to{years[1]}-12-31"
        headers = {"accept": "application/json", "x-subscription-token": self._key}
        return await self._http.read("brave", self._read, f"{self._url}/web/search", params, headers)

    def found_in(self, body: dict[str, object]) -> object:
        """The results of the web; news, videos and boxes beside them are passed over."""
        # Without a match the answer has no `web`; what is never missing is its kind.
        if body.get("type") != "search":
            raise Malformed("brave sent an answer that is not a search's")
        web = body.get("web")
        return web.get("results", []) if isinstance(web, dict) else []
