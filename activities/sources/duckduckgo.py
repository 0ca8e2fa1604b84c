"""Web search by DuckDuckGo's page without scripts (https://html.duckduckgo.com/html/). It has no API."""

from urllib.parse import urljoin, urlsplit

import httpx
from lxml import etree

from activities.contracts.errors import Malformed, RateLimited
from activities.contracts.evidence import Query
from activities.documents.readers import readers
from activities.documents.text import Unreadable
from activities.sources.base import Listing
from activities.sources.names import info_of
from activities.sources.web import WebSource, years_of

READ_SECONDS = 10.0
"""For reading the page of results, in a process that is killed then."""


_PUZZLE = b"anomaly-modal__"
_RESULTS = (b"result__a", b"no-results", b"result--no-result")
"""Classes of the puzzle, and of a page of results, with matches or without."""


class DuckDuckGoSource(WebSource):
    """The page a browser without scripts gets; no key.

    One request, then the pages (see `activities.sources.web`).

    The page is meant for people: after too many requests it answers 202 with a puzzle, which counts as a rate
    limit and not as an empty answer. The package `ddgs` knows how its results are laid out.
    """

    url = "https://html.duckduckgo.com"
    fields = ("href", "title", "body")
    info = info_of("duckduckgo")

    async def ask_engine(self, query: Query, wanted: int) -> Listing:
        form = {"q": query.text, "b": "", "kl": "wt-wt"}
        if years := years_of(query):
            form["df"] = f"{years[0]}-01-01..{years[1]}-12-31"
        answer = await self.ask(checked, "html/", form=form)
        try:
            rows = await readers().read(
                list[dict[str, str]],
                "activities.sources.duckduckgo:read_page",
                body=answer.content,
                seconds=READ_SECONDS,
            )
        except Unreadable as error:
            raise Malformed(f"duckduckgo: {error}") from error
        return self.results(rows)


def checked(answer: httpx.Response) -> httpx.Response:
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
