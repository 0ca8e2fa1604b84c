"""Web search by an instance of SearXNG (https://docs.searxng.org/dev/search_api.html)."""

import httpx

from activities.contracts.errors import RateLimited, Refused, Unavailable
from activities.contracts.evidence import Query
from activities.settings import Settings
from activities.sources.base import Listing
from activities.sources.http.client import Http
from activities.sources.http.failures import failure, summary
from activities.sources.http.reading import read_json
from activities.sources.names import info_of
from activities.sources.web import WebSource


class SearxngSource(WebSource):
    """The user's own metasearch engine.

    One request to the instance, then the pages (see `activities.sources.web`).

    An instance answers 200 whatever its engines do. No results while engines failed means that no engine
    searched, and is an outage; engines that failed beside results are named in the detail.
    """

    url = ""
    fields = ("url", "title", "content", "publishedDate")
    info = info_of("searxng")

    def __init__(self, settings: Settings, http: Http) -> None:
        super().__init__(settings, http)
        self.address = settings.source_url("searxng", settings.searxng_url or "").removesuffix("/search")
        self.missing = "" if self.address else "needs an instance; set SEARXNG_URL to its address"

    async def ask_engine(self, query: Query, wanted: int) -> Listing:
        params = {"q": query.text, "format": "json"}
        if categories := query.filters.options.get("categories"):
            params["categories"] = categories
        return await self.ask(self._read, "search", params, accept=(403,))

    def _read(self, answer: httpx.Response) -> Listing:
        """Return the results of an answer.

        Raises Refused when the instance sends no JSON, Unavailable or RateLimited when no engine
        answered, and for a page in place of results; Malformed for anything else that is no answer.
        """
        if answer.status_code == 403:
            if "json" in answer.headers.get("content-type", ""):
                raise failure(answer, "searxng")
            raise Refused(
                "searxng refuses to answer in JSON; add json to search.formats in the instance's settings.yml"
                " (a public instance seldom allows it: run your own)"
            )
        if "html" in answer.headers.get("content-type", "") or answer.content.lstrip()[:1] == b"<":
            raise Unavailable(
                f"searxng sent a page in place of results, likely a check for robots: {summary(answer, 60)}"
            )
        data = read_json(answer, "searxng")
        body = data if isinstance(data, dict) else {}
        results, failed = body.get("results"), _failed(body.get("unresponsive_engines"))
        if results == [] and failed:
            why = "; ".join(f"{engine}: {reason}" for engine, reason in failed)[:300]
            kind = RateLimited if all("too many" in reason for _, reason in failed) else Unavailable
            raise kind(f"every engine of the searxng instance failed ({why})")
        detail = f"engines that did not answer: {', '.join(engine for engine, _ in failed)}" if failed else ""
        return self.results(results, detail)


def _failed(value: object) -> list[tuple[str, str]]:
    """Engines that did not answer and why; the instance gives pairs."""
    if not isinstance(value, list):
        return []
    return [
        (str(item[0]), str(item[1]) if len(item) > 1 else "no reason given")
        for item in value
        if isinstance(item, list) and item
    ]
