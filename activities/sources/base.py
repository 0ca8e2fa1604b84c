"""The protocol of a source. One file a source; no Temporal here.

A search is one or more exchanges, each at most one HTTP request. Every request passes the API's rate limiter
(`activities.sources.http.client`), which holds its rate however many searches are one step.
Failures are raised as `SourceError`; an answer with nothing in it is not a failure.

A source whose texts cost a request each (`Lister`) lists what matches first, and reads what is chosen of it.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from activities.contracts.evidence import AbsentWord, Evidence, Query, SearchStatus, SourceInfo
from activities.contracts.search import Preview
from activities.plugins import no_exit

PAGE_NOT_READ = "page_not_read"
"""The fact that says why only what an engine says of a page was seen."""
MAX_EXCHANGES = 20
"""Exchanges of one search at most, however many pages its source goes on with."""


@dataclass(frozen=True, slots=True)
class Exchange:
    records: tuple[Evidence, ...] = ()
    hits: int = 0
    """The number of records that match by the words of the source, as far as this exchange knows."""
    set_aside: int = 0
    """Records in the answer that could not be read; each is logged, and the others are kept."""
    absent: tuple[AbsentWord, ...] = ()
    """Words of the query that no document of a folder has, and how many documents that are."""
    documents: int = 0
    sent: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    records: tuple[Evidence, ...] = ()
    status: SearchStatus = "empty"
    hits: int = 0
    set_aside: int = 0
    sent: str = ""
    details: tuple[str, ...] = field(default=())


@runtime_checkable
class Source(Protocol):
    @property
    def info(self) -> SourceInfo: ...

    def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        """Search: one exchange after the other, until there is no more to ask for. Raises SourceError."""
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    results: tuple[Preview, ...] = ()
    hits: int = 0
    set_aside: int = 0
    sent: str = ""
    detail: str = ""


@runtime_checkable
class Lister(Protocol):
    """A source that lists what matches before it reads any of it."""

    async def list_results(self, query: Query) -> Listing:
        """Return what matches, best first. Raises SourceError."""
        ...

    async def read_results(self, previews: Sequence[Preview]) -> Mapping[str, Evidence | None]:
        """Return the texts of results by name; None for one that cannot be read.

        What could not be read in time is left out. Raises SourceError.
        """
        ...


async def read_all_listed(source: Lister, query: Query) -> AsyncIterator[Exchange]:
    """Return the exchanges of a search that reads all it lists: the list, then the texts.

    Raises SourceError.
    """
    listing = await source.list_results(query)
    yield Exchange(hits=listing.hits, set_aside=listing.set_aside, sent=listing.sent, detail=listing.detail)
    if listing.results:
        texts = await source.read_results(listing.results)
        records = tuple(record for record in texts.values() if record is not None)
        yield Exchange(
            records=records,
            hits=listing.hits,
            set_aside=len(listing.results) - len(records),
            detail=unread_note(records, len(listing.results)),
        )


def unread_note(records: Sequence[Evidence], results: int) -> str:
    """Say how many of the chosen results could not be read; empty when all were."""
    count = results - sum(PAGE_NOT_READ not in record.facts for record in records)
    return f"{count} of {results} pages could not be read" if count else ""


async def exchanges_of(source: Source, query: Query) -> AsyncIterator[Exchange]:
    """Return the exchanges of a search, up to `MAX_EXCHANGES`. Raises SourceError."""
    number = 0
    with no_exit():
        async for answer in source.exchanges(query):
            yield answer
            number += 1
            if number == MAX_EXCHANGES:
                return


async def search(source: Source, query: Query) -> SearchResult:
    """Make every exchange of a search, one after the other. Raises SourceError."""
    records: list[Evidence] = []
    hits = set_aside = 0
    sent = query.text
    details: list[str] = []
    async for exchange in exchanges_of(source, query):
        records += exchange.records
        hits, set_aside = max(hits, exchange.hits), set_aside + exchange.set_aside
        sent = exchange.sent or sent
        details += [exchange.detail] if exchange.detail else []
    del records[query.limit :]
    return SearchResult(tuple(records), "ok" if records else "empty", hits, set_aside, sent, tuple(details))


Report = Callable[[int, int], None]
"""Receives the number of files that are read, and that of all."""


@dataclass(slots=True)
class Reading:
    """The files of a library that are read, for heartbeats."""

    files_read: int = 0
    files: int = 0

    def report(self, files_read: int, files: int) -> None:
        self.files_read, self.files = files_read, files

    def details(self) -> dict[str, int] | None:
        """Return a heartbeat's details: plain JSON; None while there is nothing to read."""
        return {"files_read": self.files_read, "files": self.files} if self.files else None


_REPORT: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def reporting(report: Report) -> Iterator[None]:
    """While the body runs, sources report there."""
    token = _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.reset(token)


def current_report() -> Report | None:
    """Return where to report, None when nobody listens. To be called in the task of the search."""
    return _REPORT.get()
