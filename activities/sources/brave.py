"""Web search by Brave (https://api-dashboard.search.brave.com/app/documentation/web-search)."""

import httpx

from activities.errors import Malformed, Refused
from activities.settings import Settings
from activities.sources.http.client import Http
from activities.sources.http.pages import PageReader, SafePages
from activities.sources.http.reading import read_json
from activities.sources.web import Results, WebSource, candidate, checked, results
from activities.types import Query, SourceInfo

DEFAULT_URL = "https://api.search.brave.com/res/v1"
MAX_COUNT = 20
"""Results of one request, by the API's own limit."""


class BraveSource(WebSource):
    """Brave's index of the web. One request to the engine, then the pages (see `activities.sources.web`)."""

    info = SourceInfo(
        name="brave",
        title="Brave Search",
        covers="The open web, from Brave's own index; result pages are read in full.",
        needs_key=True,
        key_setting="BRAVE_API_KEY",
        how_to_enable="Set BRAVE_API_KEY; keys are given at https://api-dashboard.search.brave.com",
        rate="1 request a second on the free plan",
        domains=("web", "general"),
    )

    def __init__(self, settings: Settings, http: Http, pages: PageReader) -> None:
        super().__init__(pages)
        self._http = http
        self._url = settings.source_url("brave", DEFAULT_URL)
        self._key = settings.brave_api_key
        self.missing = "" if self._key else "needs a key; set BRAVE_API_KEY"

    async def ask(self, query: Query, wanted: int) -> Results:
        if self._key is None:
            raise Refused(f"brave {self.missing}")
        params: dict[str, str | int] = {"q": query.text, "count": min(wanted, MAX_COUNT)}
        if query.filters.year_from is not None or query.filters.year_to is not None:
            # The API accepts a range of days: https://api-dashboard.search.brave.com (parameter freshness).
            first, last = query.filters.year_from or 1990, query.filters.year_to or 2100
            params["freshness"] = f"{first}-01-01to{last}-12-31"
        answer = await self._http.get(
            "brave",
            f"{self._url}/web/search",
            params,
            {"accept": "application/json", "x-subscription-token": self._key.get_secret_value()},
            check=checked(read),
        )
        return read(answer)


def read(answer: httpx.Response) -> Results:
    """The web results of an answer; news, videos and boxes beside them are passed over. Raises Malformed."""
    body = read_json(answer, "brave")
    # Without a match the answer has no `web`; what is never missing is its kind.
    if not isinstance(body, dict) or body.get("type") != "search":
        raise Malformed("brave sent an answer that is not a search's")
    web = body.get("web")
    found = web.get("results", []) if isinstance(web, dict) else []
    if not isinstance(found, list):
        raise Malformed("brave sent results that are no list")
    return results(
        [
            candidate(item.get("url"), item.get("title"), item.get("description"), item.get("page_age"))
            if isinstance(item, dict)
            else None
            for item in found
        ]
    )


def build(settings: Settings, http: Http) -> BraveSource:
    """The registry's factory."""
    return BraveSource(settings, http, SafePages.of(settings))
