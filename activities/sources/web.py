"""What the web search engines have in common: results are candidates, pages are evidence.

The first exchange asks the engine and returns no records, only a cursor with the candidates. Each next
exchange reads `PAGES_AT_ONCE` of them, one request a page to as many different sites. A quote is checked
against the page's own text; a snippet is worded by the engine and is used only where the page could not be
read. Then `full_text` is False and the facts `read` and `page_not_read` say so.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import structlog
from lxml import etree, html

from activities.documents.read import Text
from activities.errors import Malformed, Refused, SourceError
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.http.client import Http
from activities.sources.http.pages import PageReader, SafePages
from activities.sources.library.records import year_in
from activities.sources.records import facts
from activities.types import Evidence, Identifiers, Provenance, Query, SourceInfo
from activities.verification import identifiers

log = structlog.get_logger()

PAGES_AT_ONCE = 4
MAX_PAGES = 20
"""Pages read for one search, whatever the limit: each costs up to twenty seconds."""
SNIPPET_CHARS = 600
TEXT_CHARS = 400_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """One result of an engine."""

    url: str
    title: str = ""
    snippet: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Results:
    """What an engine answered."""

    candidates: tuple[Candidate, ...]
    set_aside: int = 0
    """Results without a usable address."""
    detail: str = ""


class WebSource(ABC):
    """A search engine with page reading. A subclass asks its engine and translates the answer."""

    info: SourceInfo
    url = ""
    """Where the engine is asked."""
    fields = ("url", "title", "content", "date")
    """What the engine calls a result's address, title, snippet and date."""

    def __init__(self, settings: Settings, http: Http) -> None:
        name = self.info.name
        self._pages: PageReader = SafePages.of(settings)
        self._http = http
        self._url = settings.source_url(name, self.url)
        key = getattr(settings, f"{name}_api_key") if self.info.needs_key else None
        self._key = key.get_secret_value() if key else ""
        self.missing = f"needs a key; set {self.info.key_setting}" if self.info.needs_key and not key else ""

    @abstractmethod
    async def ask(self, query: Query, wanted: int) -> Results:
        """One request to the engine. Raises SourceError."""

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """Ask the engine, or read the next pages. Raises SourceError for the engine only: a page that cannot
        be read is no failure of the search."""
        if self.missing:
            raise Refused(f"{self.info.name} {self.missing}")
        if cursor is None:
            wanted = min(query.limit, MAX_PAGES)
            results = await self.ask(query, wanted)
            by_page = {identifiers.normal_url(c.url): c for c in reversed(results.candidates)}
            unique = list(by_page.values())[::-1]
            return Exchange(
                hits=len(unique),
                set_aside=results.set_aside,
                sent=query.text,
                cursor=_cursor(unique[:wanted], len(unique)),
                detail=results.detail,
            )
        waiting = [Candidate(**item) for item in json.loads(cursor["pages"])]
        now, later = waiting[:PAGES_AT_ONCE], waiting[PAGES_AT_ONCE:]
        read = await asyncio.gather(*(self._record(candidate, query) for candidate in now))
        records = tuple(record for record in read if record is not None)
        unread = int(cursor["unread"]) + len(now) - sum(record.full_text for record in records)
        return Exchange(
            records=records,
            hits=int(cursor["hits"]),
            set_aside=len(now) - len(records),
            sent=query.text,
            cursor=_cursor(later, int(cursor["hits"]), unread),
            detail=f"{unread} pages could not be read" if unread else "",
        )

    def results(self, found: object, detail: str = "") -> Results:
        """The results of an answer, without what has no usable address. Raises Malformed for no list."""
        if not isinstance(found, list):
            raise Malformed(f"{self.info.name} sent an answer without a list of results")
        items = [item if isinstance(item, dict) else {} for item in found]
        kept = tuple(c for item in items if (c := candidate(*(item.get(name) for name in self.fields))))
        return Results(kept, len(items) - len(kept), detail)

    async def _record(self, candidate: Candidate, query: Query) -> Evidence | None:
        """The page as evidence, else the snippet, else None."""
        try:
            page = await self._pages.read(candidate.url)
        except SourceError as error:
            log.info("page_not_read", source=self.info.name, url=candidate.url, reason=str(error))
            if not candidate.snippet:
                return None
            unread = Text(candidate.snippet)
            known = facts(read="snippet", page_not_read=str(error)[:300])
            return self._evidence(candidate.url, unread, candidate, query, known, read=False)
        text = page.text
        longer = len(text.text) > TEXT_CHARS
        known = facts(
            read="page",
            date=text.meta.get("date") or candidate.date,
            cut=text.cut or (f"only the first {TEXT_CHARS:,} characters were kept" if longer else ""),
            asked_for=candidate.url if candidate.url != page.url else "",
        )
        return self._evidence(page.url, text, candidate, query, known, read=True)

    def _evidence(
        self, url: str, text: Text, candidate: Candidate, query: Query, known: dict[str, str], *, read: bool
    ) -> Evidence:
        ids = Identifiers(
            pmid=identifiers.normal_pmid(text.meta.get("pmid")),
            doi=identifiers.normal_doi(text.meta.get("doi")),
            url=identifiers.normal_url(url),
        )
        return Evidence(
            evidence_id=identifiers.evidence_id(ids, text.text),
            source=self.info.name,
            title=text.title or candidate.title or url,
            text=text.text[:TEXT_CHARS],
            authors=text.authors,
            year=year_in(text.meta.get("date") or candidate.date),
            venue=text.meta.get("venue"),
            identifiers=ids,
            url=url,
            evidence_type="web_page",
            full_text=read,
            facts=known,
            provenance=(Provenance(source=self.info.name, query=query.text),),
        )


def candidate(url: object, title: object, snippet: object, date: object = "") -> Candidate | None:
    """One result as an engine gave it; None without an http(s) address."""
    if not isinstance(url, str) or identifiers.normal_url(url) is None:
        return None
    url = url.encode("utf-8", errors="replace").decode()  # JSON may hold lone surrogates, texts may not
    return Candidate(url.strip(), plain(title)[:300], plain(snippet)[:SNIPPET_CHARS], plain(date))


def years_of(query: Query) -> tuple[int, int] | None:
    """The first and the last year a search is narrowed to; None for all."""
    first, last = query.filters.year_from, query.filters.year_to
    return None if first is None and last is None else (first or 1990, last or 2100)


def plain(value: object) -> str:
    """A title or snippet without the engine's mark-up (`<strong>`, entities)."""
    if not isinstance(value, str) or not value.strip():
        return ""
    if "<" in value or "&" in value:
        try:
            value = str(html.fragment_fromstring(value, create_parent="div").xpath("string()"))
        except etree.ParserError:
            return ""
    return " ".join(value.encode("utf-8", errors="replace").decode().split())


def _cursor(waiting: Sequence[Candidate], hits: int, unread: int = 0) -> dict[str, str] | None:
    if not waiting:
        return None
    pages = json.dumps([asdict(c) for c in waiting], ensure_ascii=False)
    return {"pages": pages, "hits": str(hits), "unread": str(unread)}
