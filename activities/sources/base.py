"""The protocol of a source. One file a source; no Temporal here.

A search is one or more exchanges. `exchange(query, None)` makes the first HTTP request; when it returns a
cursor, `exchange(query, cursor)` makes the next. One exchange is at most one HTTP request to the API (the
cache may answer in its place), so a queue that is polled by one process can hold the API's rate.
Failures are raised as `activities.errors.SourceError`; an answer with nothing in it is not a failure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from activities.types import Evidence, Query, SearchStatus, SourceInfo


@dataclass(frozen=True, slots=True)
class Exchange:
    """The result of one exchange."""

    records: tuple[Evidence, ...] = ()
    hits: int = 0
    """How many records the source says match, as far as this exchange knows."""
    set_aside: int = 0
    """Records in the answer that could not be read; each is logged, and the others are kept."""
    sent: str = ""
    """The query as it was sent."""
    cursor: Mapping[str, str] | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A whole search: every exchange together."""

    records: tuple[Evidence, ...] = ()
    status: SearchStatus = "empty"
    hits: int = 0
    set_aside: int = 0
    sent: str = ""
    details: tuple[str, ...] = field(default=())


@runtime_checkable
class Source(Protocol):
    """A place to search."""

    @property
    def info(self) -> SourceInfo: ...

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """Make one exchange. Raises SourceError."""
        ...


async def search(source: Source, query: Query) -> SearchResult:
    """Make every exchange of a search, one after the other. Raises SourceError."""
    records: list[Evidence] = []
    hits = set_aside = 0
    sent = query.text
    details: list[str] = []
    cursor: Mapping[str, str] | None = None
    while True:
        step = await source.exchange(query, cursor)
        records += step.records
        hits, set_aside = max(hits, step.hits), set_aside + step.set_aside
        sent = step.sent or sent
        details += [step.detail] if step.detail else []
        cursor = step.cursor
        if cursor is None:
            break
    kept = tuple(records[: query.limit])
    return SearchResult(kept, "ok" if kept else "empty", hits, set_aside, sent, tuple(details))
