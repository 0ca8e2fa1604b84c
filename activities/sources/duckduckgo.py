"""Web search by DuckDuckGo's page without scripts (https://html.duckduckgo.com/html/). It has no API."""

from dataclasses import dataclass
from urllib.parse import parse_qs, urljoin, urlsplit

from lxml import etree, html

from activities.documents.read import Unreadable
from activities.documents.readers import readers
from activities.errors import Malformed, RateLimited
from activities.sources.web import Results, WebSource, years_of
from activities.types import Query, SourceInfo

READ_SECONDS = 10.0
"""For reading the page of results, in a process that is killed then."""


class DuckDuckGoSource(WebSource):
    """The page a browser without scripts gets; no key. One request, then the pages (see
    `activities.sources.web`).

    The page is meant for people: after too many requests it answers 202 with a puzzle, which counts as a rate
    limit and not as an empty answer. Advertisements are passed over.
    """

    url = "https://html.duckduckgo.com"
    info = SourceInfo(
        name="duckduckgo",
        title="DuckDuckGo",
        covers="The open web without a key, a few searches at a time; result pages are read in full.",
        how_to_enable="Always on when the network is. For many searches set BRAVE_API_KEY or TAVILY_API_KEY.",
        rate="not stated; a few searches a minute",
        domains=("web", "general"),
    )

    async def ask(self, query: Query, wanted: int) -> Results:
        form = {"q": query.text, "b": "", "kl": "wt-wt"}
        if years := years_of(query):
            form["df"] = f"{years[0]}-01-01..{years[1]}-12-31"
        answer = await self._http.send("duckduckgo", "POST", f"{self._url}/html/", form=form)
        try:
            found = await readers().read(
                Shown, "activities.sources.duckduckgo:read_page", body=answer.content, seconds=READ_SECONDS
            )
        except Unreadable as error:
            raise Malformed(f"duckduckgo: {error}") from error
        if found.puzzle or answer.status_code == 202:
            raise RateLimited(
                "duckduckgo asks whether we are a robot; wait some minutes and search less often"
            )
        return self.results(list(found.results))


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows."""

    puzzle: bool = False
    """Whether it asks if we are a robot."""
    results: tuple[dict[str, str], ...] = ()


def read_page(body: bytes) -> Shown:
    """The page of results; called in a reading process. Raises Unreadable."""
    try:
        page = html.document_fromstring(body)
    except (etree.ParserError, ValueError) as error:
        raise Unreadable("it sent an empty page") from error
    if _with_class(page, "anomaly-modal__modal", "anomaly-modal__title"):
        return Shown(puzzle=True)
    found = _with_class(page, "result")
    if not found and not _with_class(page, "no-results"):
        raise Unreadable("it sent a page that is not its page of results")
    shown = [item for item in found if not _classes(item) & {"result--ad", "result--no-result"}]
    return Shown(results=tuple(map(_result, shown)))


def _classes(item: etree._Element) -> set[str]:
    return set((item.get("class") or "").split())


def _with_class(item: etree._Element, *names: str) -> list[etree._Element]:
    return [inner for inner in item.iter("*") if _classes(inner) & set(names)]


def _words(items: list[etree._Element]) -> str:
    return " ".join("".join(str(part) for part in items[0].itertext()).split()) if items else ""


def _result(item: etree._Element) -> dict[str, str]:
    """The fields of a result; empty for one without a link."""
    links = _with_class(item, "result__a")
    dates = [span for extra in _with_class(item, "result__extras__url") for span in extra.iter("span")]
    return {
        "url": _target(links[0].get("href") or "") if links else "",
        "title": _words(links),
        "content": _words(_with_class(item, "result__snippet")),
        "date": _words(dates[-1:]),
    }


def _target(href: str) -> str:
    """The page behind DuckDuckGo's redirect `/l/?uddg=...`."""
    parts = urlsplit(urljoin("https://duckduckgo.com/", href))
    if (parts.hostname or "").endswith("duckduckgo.com") and parts.path == "/l/":
        return parse_qs(parts.query).get("uddg", [""])[0]
    return "" if (parts.hostname or "").endswith("duckduckgo.com") else href
