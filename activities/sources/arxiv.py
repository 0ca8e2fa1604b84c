"""arXiv's query API (https://info.arxiv.org/help/api/user-manual.html): Atom feeds of preprints.

arXiv asks for no more than one request in three seconds, from all users of one address together. An error is
an entry of the feed, whatever the status; a feed that counts matches but shows none is a known temporary
error.
"""

import re
from collections.abc import AsyncIterator

import httpx
from lxml import etree

from activities.contracts.errors import Malformed, Refused
from activities.contracts.evidence import Evidence, Identifiers, Query, StandingNotice
from activities.contracts.identifiers import normal_arxiv, normal_doi
from activities.retractions.wording import says_preprint_withdrawn
from activities.sources.base import Exchange
from activities.sources.http.reading import XmlReader, read_xml
from activities.sources.names import info_of
from activities.sources.publication import year_of
from activities.sources.records import ApiSource, new_record, read_records

NAME = "arxiv"
TITLE = "arXiv"
NUMBER = re.compile(r"\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7}")
"""https://info.arxiv.org/help/arxiv_identifier.html: `1707.08567`, before 2007 `hep-th/9901001`."""
SPACES = {
    "atom": "http://www.w3.org/2005/Atom",
    "arxiv": "http://arxiv.org/schemas/atom",
    "opensearch": "http://a9.com/-/spec/opensearch/1.1/",
}


class ArXiv(ApiSource):
    """Searches preprints of physics, mathematics, computing, quantitative biology and their neighbours."""

    url = "https://export.arxiv.org/api"
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        params = parameters(query)
        arguments = (query.model_dump(mode="json"), params["search_query"])
        yield await self.ask(XmlReader(Exchange, read_exchange, arguments), "query", params, accept=(400,))


def parameters(query: Query) -> dict[str, str]:
    """Return the query as typed (`ti:`, `AND`, `ANDNOT` and quotes are arXiv's own), with years."""
    text = query.text.strip()
    if not text:
        raise Refused(f"{TITLE} was asked an empty query")
    if query.filters.year_from or query.filters.year_to:
        low, high = query.filters.year_from or 1991, query.filters.year_to or 2999
        text = f"({text}) AND submittedDate:[{low}01010000 TO {high}12312359]"
    return {
        "search_query": text,
        "start": "0",
        "max_results": str(query.limit),
        "sortBy": "relevance",
        "sortOrder": "descending",
    }


def read_exchange(response: httpx.Response, values: dict[str, object], sent: str) -> Exchange:
    """Read the answer to a query (as JSON), which was sent in the words of `sent`."""
    query = Query.model_validate(values)
    entries, total = read_feed(response)
    return read_records(NAME, query, entries[: query.limit], read_entry, hits=total, sent=sent)


def read_feed(response: httpx.Response) -> tuple[list[etree._Element], int]:
    """Return the entries and how many match. Raises Refused for an error entry, Malformed."""
    feed = read_xml(response, TITLE)
    if feed.tag != f"{{{SPACES['atom']}}}feed":
        raise Malformed(f"{TITLE} sent XML that is no Atom feed: <{etree.QName(feed).localname}>")
    entries = feed.findall("atom:entry", SPACES)
    for entry in entries:
        if "/api/errors" in (entry.findtext("atom:id", "", SPACES)):
            raise Refused(f"{TITLE} said: {inline(entry, 'atom:summary')[:200]}")
    if response.status_code != 200:
        raise Refused(f"{TITLE} answered {response.status_code} without saying why")
    total = feed.findtext("opensearch:totalResults", "", SPACES).strip()
    if not re.fullmatch(r"[0-9]{1,12}", total):
        raise Malformed(f"{TITLE} sent a feed that does not say how many match")
    if int(total) and not entries:
        raise Malformed(f"{TITLE} counted {total} matches and sent none of them")
    return entries, int(total)


def read_entry(entry: etree._Element) -> Evidence:
    """Read a preprint, whatever its version. Raises ValueError without an arXiv number or a title."""
    address = inline(entry, "atom:id")
    number, title = normal_arxiv(address), inline(entry, "atom:title")
    if number is None or not NUMBER.fullmatch(number) or not title:
        raise ValueError(f"an entry has no arXiv number or no title: {address[:80]!r}")
    comment, text = inline(entry, "arxiv:comment"), inline(entry, "atom:summary")
    is_withdrawn = says_preprint_withdrawn(comment, text)
    notices = (StandingNotice(kind="withdrawal", reported_by=NAME),) if is_withdrawn else ()
    version = re.search(r"v(\d+)$", address)
    return new_record(
        NAME,
        title=title,
        text=text,
        authors=(inline(author, "atom:name") for author in entry.findall("atom:author", SPACES)),
        year=year_of(inline(entry, "atom:published")),
        venue=TITLE,
        identifiers=Identifiers(arxiv=number),
        url=f"https://arxiv.org/abs/{number}",
        evidence_type="preprint",
        notices=notices,
        version=version.group(1) if version else "",
        published=inline(entry, "atom:published")[:10],
        updated=inline(entry, "atom:updated")[:10],
        journal_reference=inline(entry, "arxiv:journal_ref"),
        published_as=normal_doi(inline(entry, "arxiv:doi")),  # of the article, whose text is another
        comment=comment,
        categories=[c.get("term") for c in entry.findall("atom:category", SPACES)],
        pdf=f"https://arxiv.org/pdf/{number}",
    )


def inline(entry: etree._Element, path: str) -> str:
    """Return the text of a child on one line: feeds wrap titles and abstracts."""
    return " ".join((entry.findtext(path, "", SPACES) or "").split())
