"""Searches of the web: results of an engine are candidates, pages are evidence.

The engine is asked first; of what all searches of a round name, those pages are read that a judge can be
shown (`search_activity`), all at once with a bound a host. A quote is checked against the page's own text;
a snippet is worded by the engine and is used only where the page could not be read. Then `full_text` is False
and the facts `read` and `page_not_read` say so.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

import httpx

from activities.contracts.errors import Malformed, Refused, SourceError
from activities.contracts.evidence import Evidence, Provenance, Query
from activities.contracts.identifiers import normal_url
from activities.contracts.search import Preview
from activities.documents import markup
from activities.documents.text import Text
from activities.logs import log
from activities.settings import Settings
from activities.sources.base import Exchange, Listing, read_all_listed
from activities.sources.http.client import Http
from activities.sources.http.pages import SafePages
from activities.sources.http.reading import read_json
from activities.sources.publication import year_of
from activities.sources.records import ApiSource, facts, identifiers_of, new_record, value_at

MAX_PAGES = 20
"""Results of one search, whatever its limit."""
PAGE_SECONDS = 10.0
"""For a page with its redirects: a slow site costs its page, not the round."""
ROUND_SECONDS = 25.0
"""For all pages of a round: several of one slow host wait for each other."""
SNIPPET_CHARS = 600
TEXT_CHARS = 400_000


class WebSource(ApiSource, ABC):
    """A search engine with page reading. A subclass asks its engine and translates the answer."""

    fields: tuple[str, ...] = ("url", "title", "content", "date")
    """The engine's names for a result's address, title, snippet and, where it gives one, date."""
    place = "/results"
    """The place of the list of results in an answer."""

    def __init__(self, settings: Settings, http: Http) -> None:
        super().__init__(settings, http)
        self._pages = SafePages.of(settings, http.cache, PAGE_SECONDS)
        has_key = not self.info.needs_key or self._headers
        self.missing = "" if has_key else f"needs a key; set {self.info.key_setting}"

    @abstractmethod
    async def ask_engine(self, query: Query, max_results: int) -> Listing:
        """Ask the engine once for results that have a usable address. Raises SourceError."""

    def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        """Ask the engine, or read every page that it named. Raises SourceError for the engine only."""
        return read_all_listed(self, query)

    async def list_results(self, query: Query) -> Listing:
        """Return what the engine names, each address once. Raises SourceError."""
        if self.missing:
            raise Refused(f"{self.info.name} {self.missing}")
        max_results = min(query.limit, MAX_PAGES)
        listing = await self.ask_engine(query, max_results)
        by_name: dict[str, Preview] = {}
        for result in listing.results:
            by_name.setdefault(result.name, result.replace(queries=(query.text,)))
        results = tuple(by_name.values())[:max_results]
        return replace(listing, results=results, hits=len(by_name), sent=query.text)

    async def read_results(self, previews: Sequence[Preview]) -> Mapping[str, Evidence | None]:
        """Return the pages, all at once; one that does not answer costs that page.

        A page that had no turn within `ROUND_SECONDS` is left out.
        """
        tasks = {asyncio.create_task(self._record(preview)): preview.name for preview in previews}
        if not tasks:
            return {}
        try:
            done, _ = await asyncio.wait(tasks, timeout=ROUND_SECONDS)
        finally:
            for task in tasks:
                task.cancel()
        return {name: task.result() for task, name in tasks.items() if task in done}

    def _read(self, answer: httpx.Response) -> Listing:
        """Return the results of an answer; one that cannot be read is not stored. Raises SourceError."""
        return self.results(value_at(read_json(answer, self.info.name), self.place))

    def results(self, rows: object, detail: str = "") -> Listing:
        """Return the results of an answer, without what has no usable address.

        Raises Malformed for no list.
        """
        if not isinstance(rows, list):
            raise Malformed(f"{self.info.name} sent an answer without a list of results")
        items = [item if isinstance(item, dict) else {} for item in rows]
        candidates = tuple(c for item in items if (c := candidate(*(item.get(name) for name in self.fields))))
        return Listing(candidates, set_aside=len(items) - len(candidates), detail=detail)

    async def _record(self, preview: Preview) -> Evidence | None:
        """Return the page as evidence, else the snippet, else None."""
        try:
            page = await self._pages.read(preview.address)
        except SourceError as error:
            log.info("page_not_read", source=self.info.name, url=preview.address, reason=str(error))
            if not preview.snippet:
                return None
            page_facts = facts(read="snippet", page_not_read=str(error)[:300])
            return self._evidence(preview.address, Text(preview.snippet), preview, page_facts)
        text = page.text
        is_longer = len(text.text) > TEXT_CHARS
        page_facts = facts(
            read="page",
            date=text.meta.get("date") or preview.date,
            cut=text.cut or (f"only the first {TEXT_CHARS:,} characters were kept" if is_longer else ""),
            asked_for=preview.address if preview.address != page.url else "",
        )
        return self._evidence(page.url, text, preview, page_facts)

    def _evidence(self, url: str, text: Text, preview: Preview, page_facts: dict[str, str]) -> Evidence:
        record = new_record(
            self.info.name,
            title=text.title or preview.title or url,
            text=text.text[:TEXT_CHARS],
            authors=text.authors,
            year=year_of(text.meta.get("date") or preview.date),
            venue=text.meta.get("venue"),
            identifiers=identifiers_of(
                pmid=text.meta.get("pmid"), doi=text.meta.get("doi"), url=normal_url(url)
            ),
            url=url,
            evidence_type="web_page",
            full_text=page_facts["read"] == "page",
        )
        return record.replace(
            facts=page_facts,
            pages=tuple(start for start in text.pages if start < TEXT_CHARS),
            provenance=tuple(Provenance(source=self.info.name, query=query) for query in preview.queries),
        )


def candidate(url: object, title: object, snippet: object, date: object = "") -> Preview | None:
    """Return a result as an engine gave it; None without an http(s) address."""
    if not isinstance(url, str):
        return None
    url = url.encode("utf-8", errors="replace").decode().strip()  # JSON may hold lone surrogates
    if (name := normal_url(url)) is None:
        return None
    texts = {"title": plain(title)[:300], "snippet": plain(snippet)[:SNIPPET_CHARS], "date": plain(date)}
    return Preview(name=name, address=url, **texts)


def years_of(query: Query) -> tuple[int, int] | None:
    """Return the first and the last year a search is narrowed to; None for all."""
    first, last = query.filters.year_from, query.filters.year_to
    return None if first is None and last is None else (first or 1990, last or 2100)


def plain(value: object) -> str:
    """Return a title or snippet without the engine's mark-up; JSON may hold lone surrogates."""
    return markup.plain(value.encode(errors="replace").decode()) if isinstance(value, str) else ""
