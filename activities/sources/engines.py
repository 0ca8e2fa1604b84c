"""Web search engines: Brave and Tavily with a key, an instance of SearXNG, DuckDuckGo with neither.

One request to the engine, then the pages (see `activities.sources.web`).
"""

from typing import ClassVar
from urllib.parse import urljoin, urlsplit

import httpx
from lxml import etree

from activities.contracts.errors import Malformed, RateLimited, Refused, Unavailable
from activities.contracts.evidence import Query
from activities.documents.readers import readers
from activities.documents.text import Unreadable
from activities.settings import Settings
from activities.sources.base import Listing
from activities.sources.http.client import Http
from activities.sources.http.failures import failure, summary
from activities.sources.http.reading import read_json
from activities.sources.names import info_of
from activities.sources.records import value_at
from activities.sources.web import WebSource, years_of

MAX_RESULTS = 20
"""Results of one request: the limit of Brave's API and of Tavily's."""
MAX_TAVILY_CHARS = 400
"""Characters of a query, by the API's own limit."""
_OVER_PLAN = (432, 433)
"""Tavily's own statuses: the plan's or the pay-as-you-go limit is used up."""
READ_SECONDS = 10.0
"""For reading the page of results, in a process that is killed then."""
_PUZZLE = b"anomaly-modal__"
_RESULTS = (b"result__a", b"no-results", b"result--no-result")
"""Classes of the puzzle, and of a page of results, with matches or without."""


class BraveSource(WebSource):
    """Brave's index of the web (https://api-dashboard.search.brave.com/app/documentation/web-search)."""

    url = "https://api.search.brave.com/res/v1"
    headers: ClassVar = {"x-subscription-token": "brave_api_key"}
    fields = ("url", "title", "description", "page_age")
    info = info_of("brave")

    async def ask_engine(self, query: Query, max_results: int) -> Listing:
        params: dict[str, str | int] = {"q": query.text, "count": min(max_results, MAX_RESULTS)}
        if years := years_of(query):
            params["freshness"] = f"{years[0]}-01-01to{years[1]}-12-31"
        return await self.ask(self._read, "web/search", params)

    def _read(self, answer: httpx.Response) -> Listing:
        body = read_json(answer, "brave")
        # Without a match the answer has no `web`; what is never missing is its kind.
        if value_at(body, "/type") != "search":
            raise Malformed("brave sent an answer that is not a search's")
        return self.results(value_at(body, "/web/results") or [])


class TavilySource(WebSource):
    """Tavily's search for agents (https://docs.tavily.com/documentation/api-reference/endpoint/search).

    Its extracts are put together from pieces of a page, so they are used as snippets, never as its text.
    """

    url = "https://api.tavily.com"
    headers: ClassVar = {"authorization": "Bearer tavily_api_key"}
    fields = ("url", "title", "content", "published_date")
    info = info_of("tavily")

    async def ask_engine(self, query: Query, max_results: int) -> Listing:
        if len(query.text) > MAX_TAVILY_CHARS:
            raise Refused(f"tavily accepts {MAX_TAVILY_CHARS} characters and the query has {len(query.text)}")
        body: dict[str, str | int] = {
            "query": query.text,
            "search_depth": "basic",
            "max_results": min(max_results, MAX_RESULTS),
        }
        if query.filters.year_from is not None:
            body["start_date"] = f"{query.filters.year_from}-01-01"
        if query.filters.year_to is not None:
            body["end_date"] = f"{query.filters.year_to}-12-31"
        return await self.ask(self._read, "search", json_body=body, accept=_OVER_PLAN)

    def _read(self, answer: httpx.Response) -> Listing:
        if answer.status_code in _OVER_PLAN:
            raise RateLimited("tavily says the plan's limit is used up; raise it at https://app.tavily.com")
        return super()._read(answer)


class SearxngSource(WebSource):
    """The user's own metasearch engine.

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

    async def ask_engine(self, query: Query, max_results: int) -> Listing:
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
        body = read_json(answer, "searxng")
        results, errors = value_at(body, self.place), _failures(value_at(body, "/unresponsive_engines"))
        if results == [] and errors:
            reasons = "; ".join(f"{engine}: {reason}" for engine, reason in errors)[:300]
            kind = RateLimited if all("too many" in reason for _, reason in errors) else Unavailable
            raise kind(f"every engine of the searxng instance failed ({reasons})")
        detail = f"engines that did not answer: {', '.join(engine for engine, _ in errors)}" if errors else ""
        return self.results(results, detail)


def _failures(value: object) -> list[tuple[str, str]]:
    """Return the engines that did not answer and why; the instance gives pairs."""
    pairs = [item for item in value if isinstance(item, list) and item] if isinstance(value, list) else []
    return [(str(pair[0]), str(pair[1]) if len(pair) > 1 else "no reason given") for pair in pairs]


class DuckDuckGoSource(WebSource):
    """The page a browser without scripts gets; no key.

    The page is meant for people: after too many requests it answers 202 with a puzzle, which counts as a rate
    limit and not as an empty answer. The package `ddgs` knows how its results are laid out.
    """

    url = "https://html.duckduckgo.com"
    fields = ("href", "title", "body")
    info = info_of("duckduckgo")

    async def ask_engine(self, query: Query, max_results: int) -> Listing:
        form = {"q": query.text, "b": "", "kl": "wt-wt"}
        if years := years_of(query):
            form["df"] = f"{years[0]}-01-01..{years[1]}-12-31"
        answer = await self.ask(check_page, "html/", form=form)
        try:
            rows = await readers().read(
                list[dict[str, str]],
                "activities.sources.engines:read_page",
                body=answer.content,
                seconds=READ_SECONDS,
            )
        except Unreadable as error:
            raise Malformed(f"duckduckgo: {error}") from error
        return self.results(rows)


def check_page(answer: httpx.Response) -> httpx.Response:
    """Return a page of results, to be read in a process of its own.

    Raises RateLimited for a puzzle, Malformed for another page.
    """
    if answer.status_code == 202 or _PUZZLE in answer.content:
        raise RateLimited("duckduckgo asks whether we are a robot; wait some minutes and search less often")
    if not any(mark in answer.content for mark in _RESULTS):
        raise Malformed("duckduckgo: it sent a page that is not its page of results")
    return answer


def read_page(body: bytes) -> list[dict[str, str]]:
    """Read the results of a page, without advertisements; called in a reading process. Raises Unreadable."""
    from ddgs.engines.duckduckgo import Duckduckgo  # only the reading process holds it

    engine = Duckduckgo()
    try:
        results = engine.extract_results(body.decode(errors="replace"))
    except (etree.ParserError, ValueError) as error:
        raise Unreadable("it sent an empty page") from error
    return [{"href": _target(row.href), "title": row.title, "body": row.body} for row in results]


def _target(href: str) -> str:
    """Return the page behind DuckDuckGo's redirect `/l/?uddg=...&rut=...`.

    Empty for an advertisement and for what is no address.
    """
    try:
        address = urljoin("https://duckduckgo.com/", href)
        parts = urlsplit(address)
    except ValueError:  # `http://[::1`
        return ""
    if not (parts.hostname or "").endswith("duckduckgo.com"):
        return address
    return address.partition("uddg=")[2].partition("&rut=")[0] if parts.path == "/l/" else ""
