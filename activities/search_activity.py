"""Searching as activities: one a source (`search_pubmed`, `search_library` ...) for all searches of a round.

A document's body goes to the evidence store before the activity returns. Answers and pages are kept under
their addresses as they arrive (`activities.sources.http.cache`), so that a repetition of the step, after a
failure of one search or the death of a worker, requests none of them again.

Of a source that lists what matches before it reads (`activities.sources.base.Lister`), the results of all
searches are ranked together and the best of them are read, once each.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from temporalio import activity

from activities.configuration.question import SourceSettings
from activities.contracts.errors import Refused, SourceError, TooSlow
from activities.contracts.evidence import Evidence, EvidenceRef, Filters, Query
from activities.contracts.search import Choice, Hits, HitsOfAll, Preview, SearchTask, SearchTasks
from activities.credentials import redacted
from activities.evidence_store import EvidenceStore
from activities.heartbeat import on_last_attempt, reporting_errors, seconds_left
from activities.messages import plural
from activities.permits import NotPermitted, Permits
from activities.plugins import no_exit
from activities.roles.selection import without_duplicates
from activities.sources.base import Lister, Listing, Reading, Source, exchanges_of, reporting, unread_note
from activities.sources.choice import best_first
from activities.sources.filters import in_years
from activities.sources.http.cache import forget_when_malformed, no_older_than
from activities.sources.http.client import source_clock
from activities.sources.library.source import WHOLE
from activities.sources.publication import read_marks
from activities.sources.registry import declared_info

MAX_LISTED = 40
"""Results that were not read and that a run remembers, the best first."""

MIN_ATTEMPT_SECONDS = 1.0
"""Time of a step below which no further attempt is made of it."""
SLOW_ATTEMPTS = 2
"""Attempts at a source that does not answer in time: a slow source must not hold an iteration for minutes."""


class SearchActivities:
    """The exchange of every source in the registry, with the store injected."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        store: EvidenceStore,
        source_settings: Mapping[str, SourceSettings] | None = None,
        permits: Permits | None = None,
    ) -> None:
        """Search the sources, and store what they return.

        `source_settings`: what the configuration sets for single sources. `permits`: what a request may name;
        nothing without it.
        """
        self._sources = sources
        self._store = store
        self._source_settings = source_settings or {}
        self._permits = permits

    def definitions(self, queue: str | None = None) -> list[Callable[..., Any]]:
        """Return the activities of the sources on a queue (None: the general one)."""
        return [
            self._definition(name)
            for name in self._sources
            if (info := declared_info(self._sources, name)).role == "search" and info.queue == queue
        ]

    def _definition(self, name: str) -> Callable[..., Any]:
        @activity.defn(name=activity_name(name))
        async def search(step: SearchTasks) -> HitsOfAll:
            reading = Reading()
            async with reporting_errors(details=reading.details):
                with reporting(reading.report):
                    return await self.search_all(name, step)

        return search

    async def search_all(self, name: str, step: SearchTasks) -> HitsOfAll:
        """Make all searches of a step at once.

        One that failed is a row of the answer, unless the step is to be tried again. Raises SourceError,
        where it is, and StoreError.
        """
        source = self._sources.get(name)
        if source is None:
            raise Refused(f"there is no source named {name}")
        if step.choice is not None and isinstance(source, Lister):
            return await self._list_and_read(source, step.tasks, step.choice)
        outcomes = await in_time(partial(self._search, source, task) for task in step.tasks)
        self._raise_retryable(step.tasks, outcomes)
        rows = [
            hits if isinstance(hits, Hits) else hits_of_failure(task, hits)
            for task, hits in zip(step.tasks, outcomes, strict=True)
        ]
        return HitsOfAll(answers=tuple(rows))

    async def _search(self, source: Source, task: SearchTask) -> Hits:
        """Make one whole search: every exchange, stored as it comes.

        What was found before an exchange failed is kept where the search is not tried again. Raises
        SourceError.
        """
        query, start = self._permitted_query(task), time.monotonic()
        max_items = max(query.limit, task.whole)
        hits = Hits(source=task.source, query=query.text, status="empty", attempts=activity.info().attempt)
        exchanges = exchanges_of(source, query)
        with source_clock(task.seconds) as clock, no_older_than(task.max_age):
            while True:
                try:
                    async with forget_when_malformed():
                        answer = await anext(exchanges, None)
                except SourceError as error:
                    if not hits.kept or (clock.seconds_left != 0.0 and _can_retry(task, error)):
                        raise
                    reason = f"stopped after {clock.waited:.0f} s; there is more"
                    hits = hits.replace(detail=str(error) if clock.seconds_left != 0.0 else reason)
                    break
                if answer is None:
                    break
                refs, notices = await self._store_records(answer.records, query, max_items)
                note = f"{plural(notices, 'notice')} of a retraction or correction left out"
                details = (answer.detail, f"{note}: a notice is no evidence" if notices else "")
                hits = hits.replace(
                    query=answer.sent or hits.query,
                    hits=max(hits.hits, answer.hits),
                    kept=(*hits.kept, *refs),
                    set_aside=hits.set_aside + answer.set_aside,
                    absent=answer.absent or hits.absent,
                    documents=max(hits.documents, answer.documents),
                    detail="; ".join(filter(None, details)) or hits.detail,
                )
        status, seconds = "ok" if hits.kept else "empty", round(time.monotonic() - start, 3)
        return hits.replace(status=status, seconds=seconds, waited=round(clock.waited, 3))

    async def _list_and_read(self, source: Lister, tasks: Sequence[SearchTask], choice: Choice) -> HitsOfAll:
        """List what all searches find, rank it together, and read the best.

        A page that says nearly the same words as a better one is set aside.
        """
        start = time.monotonic()
        outcomes = await in_time(partial(self._list, source, task) for task in tasks)
        self._raise_retryable(tasks, outcomes)
        listings = [listing for listing in outcomes if isinstance(listing, Listing)]
        ranking = await asyncio.to_thread(best_first, choice, listings)
        with source_clock(tasks[0].seconds), no_exit():
            texts = await source.read_results(ranking[: choice.most])
        works = {name: record for name, record in texts.items() if record is not None}
        pages = _Pages(texts, unread={row.name: row for row in ranking if row.name not in texts})
        for name in await asyncio.to_thread(without_duplicates, list(works), works):
            page_refs, _ = await self._store_records((works[name],), tasks[0].query, 1)
            pages.stored[name] = page_refs  # none of a page of other years
        seconds = round(time.monotonic() - start, 3)
        rows = [
            pages.hits(task, outcome, seconds)
            if isinstance(outcome, Listing)
            else hits_of_failure(task, outcome)
            for task, outcome in zip(tasks, outcomes, strict=True)
        ]
        listed = tuple(pages.unread.values())[:MAX_LISTED]
        return HitsOfAll(answers=tuple(rows), listed=listed, tried=tuple(texts))

    async def _list(self, source: Lister, task: SearchTask) -> Listing:
        with source_clock(task.seconds), no_older_than(task.max_age):
            async with forget_when_malformed():
                with no_exit():
                    return await source.list_results(self._permitted_query(task))

    async def _store_records(
        self, records: Sequence[Evidence], query: Query, max_items: int
    ) -> tuple[list[EvidenceRef], int]:
        """Store what an answer brought, at most so many, and count the notices of retractions among it."""
        works = [work for record in records if (work := read_marks(record)) is not None]
        records_in_years = [record for record in works if in_years(record, query.filters)]
        refs = [await self._store.put(_public(record)) for record in records_in_years[:max_items]]
        return refs, len(records) - len(works)

    def _permitted_query(self, task: SearchTask) -> Query:
        """Return the query as the source is asked it.

        Raises Refused for a library that the run may not read.
        """
        query = narrow_query(task.query, self._source_settings.get(task.source))
        options = {name: value for name, value in query.filters.options.items() if name != "library"}
        if task.library:
            if self._permits is None:
                raise Refused(f"the library {task.library} is not read here")
            run_id = activity.info().workflow_id or ""
            try:
                self._permits.check("library", task.library, run_id, task.library_signature)
            except NotPermitted as error:
                raise Refused(str(error)) from error
            options |= {"library": task.library, WHOLE: str(task.whole)}
        return query.replace(filters=query.filters.replace(options=options))

    def _raise_retryable(self, tasks: Sequence[SearchTask], outcomes: Sequence[object]) -> None:
        """Raise the failure that is worth another attempt of the step, if any has one.

        It is the one that asks for the longest pause; the answers to the other searches then come from the
        cache.
        """
        errors = [
            error
            for task, error in zip(tasks, outcomes, strict=True)
            if isinstance(error, SourceError) and _can_retry(task, error)
        ]
        if errors:
            raise max(errors, key=lambda error: error.retry_after or 0.0)


@dataclass
class _Pages:
    """The results that the searches of a step listed together, once they were read."""

    texts: Mapping[str, Evidence | None]
    """The pages that were read, by name; None for one that cannot be read."""
    unread: Mapping[str, Preview]
    stored: dict[str, list[EvidenceRef]] = field(default_factory=dict)
    """The reference to the stored text of each page that is no duplicate."""
    counted: set[str] = field(default_factory=set)

    def hits(self, task: SearchTask, listing: Listing, seconds: float) -> Hits:
        """Return how a search ended; a page counts for the first search that listed it."""
        names = [result.name for result in listing.results if result.name in self.texts]
        uncounted = [name for name in dict.fromkeys(names) if name not in self.counted]
        refs = [ref for name in uncounted for ref in self.stored.get(name, ())]
        self.counted.update(names)
        works = [work for name in names if (work := self.texts[name]) is not None]
        count = sum(result.name in self.unread for result in listing.results)
        return Hits(
            source=task.source,
            query=listing.sent or task.query.text,
            status="ok" if refs or count else "empty",
            hits=listing.hits,
            kept=tuple(refs),
            listed=count,
            set_aside=listing.set_aside + sum(name not in self.stored for name in names),
            detail="; ".join(filter(None, (listing.detail, unread_note(works, len(names))))),
            attempts=activity.info().attempt,
            seconds=seconds,
        )


Answer = TypeVar("Answer")


async def in_time(searches: Iterable[Callable[[], Awaitable[Answer]]]) -> list[Answer | SourceError]:
    """Return what each search came to, all at once.

    One that has no answer when the step must end has been too slow, and costs the others nothing. Raises what
    is no failure of a source.
    """
    tasks = [asyncio.ensure_future(search()) for search in searches]
    try:
        await asyncio.wait(tasks, timeout=seconds_left(activity.info()))
    finally:
        for task in tasks:
            task.cancel()
    outcomes: list[Answer | SourceError] = []
    for task in tasks:
        if not task.done() or task.cancelled():
            outcomes.append(TooSlow("it was not answered in the time that was left"))
        elif isinstance(error := task.exception(), SourceError):
            outcomes.append(error)
        else:
            outcomes.append(task.result())
    return outcomes


def hits_of_failure(task: SearchTask, error: SourceError) -> Hits:
    return Hits(
        source=task.source,
        query=task.query.text,
        status=error.status,
        detail=" ".join(str(error).split())[:300],
        attempts=activity.info().attempt,
    )


def _can_retry(task: SearchTask, error: SourceError) -> bool:
    """Whether a failed search is worth another attempt of its step.

    Not where its time is used up, or would be before the source allows another attempt. The first wait for a
    worker does not count.
    """
    info = activity.info()
    if not error.retryable or on_last_attempt():
        return False
    if isinstance(error, TooSlow) and info.attempt >= SLOW_ATTEMPTS:
        return False
    seconds_of_step = seconds_left(info, of_step=True)
    if seconds_of_step is not None and (error.retry_after or 0.0) + MIN_ATTEMPT_SECONDS > seconds_of_step:
        return False
    if task.seconds is None:
        return True
    start = info.started_time if info.attempt == 1 else info.scheduled_time
    elapsed = (datetime.now(UTC) - start).total_seconds()
    return elapsed + (error.retry_after or 0.0) < task.seconds


def _public(record: Evidence) -> Evidence:
    """Return the record without credentials in its address.

    A source may name itself by the address it was configured with.
    """
    ids = record.identifiers
    if redacted(f"{record.url} {ids.url}") == f"{record.url} {ids.url}":
        return record
    identifiers = ids.replace(url=redacted(ids.url) if ids.url else None)
    url = redacted(record.url) if record.url else None
    return record.replace(url=url, identifiers=identifiers)


def narrow_query(query: Query, defaults: SourceSettings | None) -> Query:
    """Return the query with what the configuration sets for its source.

    The search's own filters override the configured ones.
    """
    if defaults is None:
        return query
    query_filters = query.filters.model_dump(exclude_defaults=True)
    options = {**defaults.filters.options, **query.filters.options}
    filters = Filters.model_validate({**defaults.filters.model_dump(), **query_filters, "options": options})
    return query.replace(limit=defaults.max_results or query.limit, filters=filters)


def activity_name(source: str) -> str:
    return f"search_{source}"
