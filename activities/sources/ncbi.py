"""NCBI's E-utilities, as PubMed and PubMed Central use them.

https://www.ncbi.nlm.nih.gov/books/NBK25499/ gives the parameters, NBK25497 the usage rules: at most 3
requests a second without a key and 10 with one, `tool` and `email` on every request, POST for long lists of
ids. NCBI reports many failures with status 200: every answer is validated before it counts as success.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, TypeVar
from urllib.parse import urlencode

import httpx
from lxml import etree

from activities.contracts.bounds import digits
from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.contracts.evidence import Query
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.filters import MESH, in_words_of, mesh_phases
from activities.sources.http.client import Http
from activities.sources.http.reading import XmlReader, read_json, read_xml
from activities.sources.names import info_of
from activities.sources.records import ApiSource, Json, read_shape

QUEUE = "determinator-ncbi"
"""Task queue of everything that asks NCBI; one process polls it."""
GATE = "ncbi"
MAX_QUERY_CHARS = 1800
"""Longer requests are sent by POST: eutils answers 414 to long addresses."""
MAX_IDS = 200
_NOTES = {
    "errorlist/phrasesnotfound": "phrases not found: ",
    "errorlist/fieldsnotfound": "fields not found: ",
    "warninglist/phrasesignored": "phrases ignored: ",
    "warninglist/quotedphrasesnotfound": "quoted phrases not found: ",
    "warninglist/outputmessages": "",
}
"""Places where an answer of esearch says what was not searched for."""
T = TypeVar("T")
_OUTAGE_WORDS = ("backend", "timeout", "timed out", "temporar", "unavailable", "internal", "try again")


class Eutils(ApiSource):
    """The utilities for the database that a source has its name from."""

    url = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    identity: ClassVar = {"email": "email", "api_key": "ncbi_api_key"}
    group = GATE
    source: str

    def __init__(self, settings: Settings, http: Http) -> None:
        rate = 10.0 if settings.ncbi_api_key else 3.0
        addition = ", together with PubMed" if self.source == "pmc" else ""
        self.info = info_of(self.source).replace(
            rate=f"{rate:.0f} requests a second{addition}", rate_per_second=rate
        )
        super().__init__(settings, http)

    async def search(self, query: Query, limit: int) -> tuple[Sequence[str], Exchange]:
        """Ask esearch for the ids of the best matches: the term as typed, filters joined to it with AND."""
        if not query.text.strip():
            raise Refused(f"{self.source} was asked an empty query")
        params = {
            "term": with_types(query),
            "retmax": str(limit),
            "retmode": "json",
            "sort": "relevance",
            **_dates(query),
        }
        reader = partial(read_shape, reader=partial(_search, source=self.source), source=self.source)
        ids, matches, notes = await self._ask("esearch.fcgi", params, reader)
        hits = min(limit, len(ids)) if matches is None else matches
        return ids[:limit], Exchange(hits=hits, sent=params["term"], detail=notes)

    async def efetch(self, ids: Sequence[str], rettype: str, reader: XmlReader[T]) -> T:
        params = {"id": ",".join(ids), "retmode": "xml", "rettype": rettype}
        return await self._ask("efetch.fcgi", params, reader)

    async def titles(self, ids: Sequence[str]) -> dict[str, str]:
        """Ask esummary for the titles of records by id, as far as NCBI has them. Raises SourceError."""
        if not ids:
            return {}

        def read(body: Json) -> dict[str, str]:
            if not isinstance(body.at("/result"), dict):
                raise ValueError("at /result: no object")  # noqa: TRY004 - as for every other shape
            return {name: body.text(f"/result/{name}/title") for name in ids if body.at(f"/result/{name}")}

        params = {"id": ",".join(ids), "retmode": "json"}
        return await self._ask("esummary.fcgi", params, partial(read_shape, reader=read, source=self.source))

    async def links(self, uid: str, name: str) -> tuple[str, ...]:
        """Ask elink for the ids linked to one id under a link name, best first, itself left out."""
        params = {"dbfrom": self.source, "id": uid, "linkname": name, "cmd": "neighbor"}
        return await self._ask("elink.fcgi", params, XmlReader(tuple[str, ...], read_links, (name, uid)))

    async def _ask(self, utility: str, params: Mapping[str, str], reader: Callable[[httpx.Response], T]) -> T:
        fields = {"db": self.source, **params, "tool": "determinator"}
        if len(urlencode(fields)) > MAX_QUERY_CHARS:
            return await self.ask(reader, utility, form=fields)
        return await self.ask(reader, utility, fields)


def _search(body: Json, source: str) -> tuple[tuple[str, ...], int | None, str]:
    """Return ids, how many match, and what NCBI ignored. Raises SourceError; many come with status 200."""
    if problem := body.text("/error") or body.text("/esearchresult/ERROR"):
        raise _error(problem, source)
    if not isinstance(body.at("/esearchresult/idlist"), list):
        raise Malformed(f"{source} sent JSON without a search result")
    ids = body.texts("/esearchresult/idlist")
    if any(digits(identifier) is None for identifier in ids):
        raise Malformed(f"{source} sent ids that are no numbers")
    # NCBI searches without the words that it does not find, and says so only here
    labelled_words = ((label, body.texts(f"/esearchresult/{place}")) for place, label in _NOTES.items())
    notes = "; ".join(label + ", ".join(words) for label, words in labelled_words if words)
    return ids, body.number("/esearchresult/count"), notes


def read_links(response: httpx.Response, name: str, uid: str) -> tuple[str, ...]:
    """Return the ids that elink gives under a link name, each once, without the one that was asked for."""
    groups = read_tree(response, "elink", "eLinkResult").iter("LinkSetDb")
    links = (
        link for group in groups if group.findtext("LinkName") == name for link in group.iterfind("Link/Id")
    )
    ids = dict.fromkeys(link.text.strip() for link in links if link.text)
    return tuple(name for name in ids if name != uid)


def read_tree(response: httpx.Response, source: str, root: str) -> etree._Element:
    """Return the XML of an answer, below an element named `root`. Raises SourceError."""
    if response.content.lstrip()[:1] == b"{":
        body = read_json(response, source)
        if isinstance(body, dict) and isinstance(body.get("error"), str):
            raise _error(body["error"], source)
        raise Malformed(f"{source} sent JSON in place of XML")
    tree = read_xml(response, source)
    if problem := next((e.text for e in tree.iter("ERROR") if e.text and e.text.strip()), None):
        raise _error(problem, source)
    if tree.tag != root:
        raise Malformed(f"{source} sent <{tree.tag}> in place of <{root}>")
    return tree


def _error(problem: str, source: str) -> SourceError:
    """Return the error that a response with status 200 reports."""
    text = f"{source} said: {' '.join(problem.split())[:200]}"
    lower_text = problem.lower()
    if "rate limit" in lower_text:
        return RateLimited(text)
    if any(word in lower_text for word in _OUTAGE_WORDS):
        return Unavailable(text)
    return Refused(text)


def with_types(query: Query) -> str:
    """Return the term as typed, narrowed to publication types, phases and free full text when asked for."""
    term = query.text
    for types in (in_words_of(MESH, query.filters.publication_types), mesh_phases(query.filters)):
        if types:
            clause = " OR ".join(f'"{name}"[Publication Type]' for name in types)
            term = f"({term}) AND ({clause})"
    if query.filters.free_full_text:
        term = f"({term}) AND free full text[sb]"
    return term


def _dates(query: Query) -> dict[str, str]:
    """Return the publication dates; NCBI wants both ends or none."""
    if query.filters.year_from is None and query.filters.year_to is None:
        return {}
    return {
        "datetype": "pdat",
        "mindate": str(query.filters.year_from or 1500),
        "maxdate": str(query.filters.year_to or 3000),
    }
