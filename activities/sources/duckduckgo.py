"""Web search by DuckDuckGo's page without scripts (https://html.duckduckgo.com/html/). It has no API."""

from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
from lxml import etree, html

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
"""Classes of the puzzle, and of a page of results, found or not."""


class DuckDuckGoSource(WebSource):
    """The page a browser without scripts gets; no key. One request, then the pages (see
    `activities.sources.web`).

    The page is meant for people: after too many requests it answers 202 with a puzzle, which counts as a rate
    limit and not as an empty answer. Advertisements are passed over.
    """

    url = "https://html.duckduckgo.com"
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
    """A page of results, to be read in a process of its own. Raises RateLimited for a puzzle, Malformed for
    another page."""
    if answer.status_code == 202 or _PUZZLE in answer.content:
        raise RateLimited("duckduckgo asks whether we are a robot; wait some minutes and search less often")
    if not any(mark in answer.content for mark in _RESULTS):
        raise Malformed("duckduckgo: it sent a page that is not its page of results")
    return answer


def read_page(body: bytes) -> list[dict[str, str]]:
    """The results of a page; called in a reading process. Raises Unreadable."""
    try:
        page: html.HtmlElement = html.document_fromstring(body)
    except (etree.ParserError, ValueError) as error:
        raise Unreadable("it sent an empty page") from error
    passed_over = {"result--ad", "result--no-result"}
    return [_result(item) for item in page.find_class("result") if not passed_over & set(item.classes)]


def _words(items: list[html.HtmlElement]) -> str:
    return " ".join(str(items[0].text_content()).split()) if items else ""


def _result(item: html.HtmlElement) -> dict[str, str]:
    """The fields of a result; empty for one without a link."""
    links = item.find_class("result__a")
    dates = [span for extra in item.find_class("result__extras__url") for span in extra.iter("span")]
    return {
        "url": _target(links[0].get("href") or "") if links else "",
        "title": _words(links),
        "content": _words(item.find_class("result__snippet")),
        "date": _words(dates[-1:]),
    }


def _target(href: str) -> str:
    """The page behind DuckDuckGo's redirect `/l/?uddg=...`."""
    parts = urlsplit(urljoin("https://duckduckgo.com/", href))
    if (parts.hostname or "").endswith("duckduckgo.com") and parts.path == "/l/":
        return parse_qs(parts.query).get("uddg", [""])[0]
    return "" if (parts.hostname or "").endswith("duckduckgo.com") else href
