"""NCBI's E-utilities, as PubMed and PubMed Central use them.

https://www.ncbi.nlm.nih.gov/books/NBK25499/ gives the parameters, NBK25497 the usage rules: at most 3
requests a second without a key and 10 with one, `tool` and `email` on every request, POST for long lists of
ids. NCBI reports many failures with status 200: every answer is validated before it counts as success.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, ClassVar, TypeVar
from urllib.parse import urlencode

import httpx
from lxml import etree
from pydantic import Field

from activities.contracts.errors import Malformed, RateLimited, Refused, SourceError, Unavailable
from activities.contracts.evidence import Query
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.filters import MESH, in_words_of, mesh_phases
from activities.sources.http.answers import XmlReader
from activities.sources.http.client import Http
from activities.sources.http.reading import read_json, read_xml
from activities.sources.names import info_of
from activities.sources.records import ApiSource, Wire, at, read_page

QUEUE = "determinator-ncbi"
"""Task queue of everything that asks NCBI; one process polls it."""
GATE = "ncbi"
MAX_QUERY_CHARS = 1800
"""Longer requests are sent by POST: eutils answers 414 to long addresses."""
MAX_IDS = 200
T = TypeVar("T")
_OUTAGE_WORDS = ("backend", "timeout", "timed out", "temporar", "unavailable", "internal", "try again")


def requests_per_second(settings: Settings) -> float:
    """What NCBI allows: 3 a second, 10 with a key."""
    return 10.0 if settings.ncbi_api_key else 3.0


Number = Annotated[str, Field(pattern=r"^[0-9]{1,12}$")]


class SearchAnswer(Wire):
    error: str = ""
    problem: str = at("/esearchresult/ERROR")
    ids: tuple[Number, ...] | None = at("/esearchresult/idlist", None)
    matches: Annotated[int, Field(ge=0, lt=10**12)] | None = at("/esearchresult/count", None)
    no_phrase: tuple[str, ...] = at("/esearchresult/errorlist/phrasesnotfound", ())
    no_field: tuple[str, ...] = at("/esearchresult/errorlist/fieldsnotfound", ())
    ignored: tuple[str, ...] = at("/esearchresult/warninglist/phrasesignored", ())
    no_quoted: tuple[str, ...] = at("/esearchresult/warninglist/quotedphrasesnotfound", ())
    messages: tuple[str, ...] = at("/esearchresult/warninglist/outputmessages", ())

    @property
    def notes(self) -> str:
        """What NCBI could not find or ignored: it searches without those words and says so only here."""
        labelled = (
            ("phrases not found: ", self.no_phrase),
            ("fields not found: ", self.no_field),
            ("phrases ignored: ", self.ignored),
            ("quoted phrases not found: ", self.no_quoted),
            ("", self.messages),
        )
        return "; ".join(label + ", ".join(words) for label, words in labelled if words)


class Summary(Wire):
    title: str = ""


class Summaries(Wire):
    result: dict[str, Summary | tuple[str, ...]]
    """By id; and the list of ids under `uids`."""


class Eutils(ApiSource):
    """The utilities for the database that a source has its name from."""

    url = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    who: ClassVar = {"email": "email", "api_key": "ncbi_api_key"}
    group = GATE
    source: str

    def __init__(self, settings: Settings, http: Http) -> None:
        rate = requests_per_second(settings)
        also = ", together with PubMed" if self.source == "pmc" else ""
        self.info = info_of(self.source).replace(
            rate=f"{rate:.0f} requests a second{also}", rate_per_second=rate
        )
        super().__init__(settings, http)

    async def search(self, query: Query, limit: int) -> tuple[Sequence[str], Exchange]:
        """esearch: the ids of the best matches. The term is sent as typed; filters are joined to it with
        AND."""
        if not query.text.strip():
            raise Refused(f"{self.source} was asked an empty query")
        params = {
            "term": with_types(query),
            "retmax": str(limit),
            "retmode": "json",
            "sort": "relevance",
            **_dates(query),
        }
        answer = await self._ask("esearch.fcgi", params, partial(read_search, source=self.source))
        ids = (answer.ids or ())[:limit]
        hits = len(ids) if answer.matches is None else answer.matches
        return ids, Exchange(hits=hits, sent=params["term"], detail=answer.notes)

    async def efetch(self, ids: Sequence[str], rettype: str, read: XmlReader[T]) -> T:
        params = {"id": ",".join(ids), "retmode": "xml", "rettype": rettype}
        return await self._ask("efetch.fcgi", params, read)

    async def titles(self, ids: Sequence[str]) -> dict[str, str]:
        """esummary: the titles of records by id, as far as NCBI has them. Raises SourceError."""
        if not ids:
            return {}
        params = {"id": ",".join(ids), "retmode": "json"}
        page = await self._ask("esummary.fcgi", params, partial(read_page, Summaries, source=self.source))
        records = page.result
        return {name: record.title for name in ids if isinstance(record := records.get(name), Summary)}

    async def links(self, uid: str, name: str) -> tuple[str, ...]:
        """elink within the database: ids linked to one id under a link name, best first, itself left out."""
        params = {"dbfrom": self.source, "id": uid, "linkname": name, "cmd": "neighbor"}
        tree = await self._ask(
            "elink.fcgi", params, partial(read_tree, source=self.source, root="eLinkResult")
        )
        ids: dict[str, None] = {}
        for group in tree.iter("LinkSetDb"):
            if group.findtext("LinkName") == name:
                ids |= {link.text.strip(): None for link in group.iterfind("Link/Id") if link.text}
        ids.pop(uid, None)
        return tuple(ids)

    async def _ask(self, utility: str, params: Mapping[str, str], read: Callable[[httpx.Response], T]) -> T:
        asked = {"db": self.source, **params, "tool": "determinator"}
        if len(urlencode(asked)) > MAX_QUERY_CHARS:
            return await self.ask(read, utility, form=asked)
        return await self.ask(read, utility, asked)


def read_search(response: httpx.Response, source: str) -> SearchAnswer:
    """The answer of esearch. Raises SourceError; many failures come with status 200."""
    answer = read_page(SearchAnswer, response, source)
    if problem := answer.error or answer.problem:
        raise _error(problem, source)
    if answer.ids is None:
        raise Malformed(f"{source} sent JSON without a search result")
    return answer


def read_tree(response: httpx.Response, source: str, root: str) -> etree._Element:
    """The XML of an answer, below an element named `root`. Raises SourceError."""
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
    """The error that a response with status 200 reports."""
    text = f"{source} said: {' '.join(problem.split())[:200]}"
    lowered = problem.lower()
    if "rate limit" in lowered:
        return RateLimited(text)
    if any(word in lowered for word in _OUTAGE_WORDS):
        return Unavailable(text)
    return Refused(text)


def with_types(query: Query) -> str:
    """The term as typed, narrowed to publication types, phases and free full text when asked for."""
    term = query.text
    for types in (in_words_of(MESH, query.filters.publication_types), mesh_phases(query.filters)):
        if types:
            wanted = " OR ".join(f'"{name}"[Publication Type]' for name in types)
            term = f"({term}) AND ({wanted})"
    if query.filters.free_full_text:
        term = f"({term}) AND free full text[sb]"
    return term


def _dates(query: Query) -> dict[str, str]:
    """Publication dates; NCBI wants both ends or none."""
    if query.filters.year_from is None and query.filters.year_to is None:
        return {}
    return {
        "datetype": "pdat",
        "mindate": str(query.filters.year_from or 1500),
        "maxdate": str(query.filters.year_to or 3000),
    }
