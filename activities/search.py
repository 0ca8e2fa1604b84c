"""Searching as activities: one a source (`search_pubmed`, `search_library` ...), one exchange each.

A document's body goes to the evidence store before the activity returns, so a retry finds it there.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from temporalio import activity

from activities.configuration.question import SourceSettings
from activities.credentials import redacted
from activities.errors import DeterminatorError, Refused, TooSlow, to_application_error
from activities.evidence_store import EvidenceStore
from activities.heartbeat import heartbeating
from activities.permits import NotPermitted, Permits
from activities.retractions.marks import read_marks
from activities.searches import Hits, HitsOfAll, SearchTask, SearchTasks
from activities.sources.base import Source
from activities.sources.http.clock import source_clock
from activities.sources.http.freshness import forgotten_when_malformed, no_older_than
from activities.sources.progress import Reading, reporting
from activities.types import Evidence, Filters, Query

log = structlog.get_logger()

TOGETHER = {"library": "search_library_together"}
"""Source that costs neither money nor a rate -> activity for several of its searches. What they found is not
lost by much when the step is repeated, and one step has a third of the events of three."""
SLOW_ATTEMPTS = 2
"""Attempts at a source that does not answer in time: a slow source must not hold an iteration for minutes."""


class SearchActivities:
    """The exchange of every source in the registry, with the store injected."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        store: EvidenceStore,
        configured: Mapping[str, SourceSettings] | None = None,
        permits: Permits | None = None,
    ) -> None:
        """`configured`: what the configuration sets for single sources. `permits`: what a request may name;
        nothing without it."""
        self._sources = sources
        self._store = store
        self._configured = configured or {}
        self._permits = permits

    def definitions(self, queue: str | None = None) -> list[Callable[..., Any]]:
        """The activities of the sources on a queue (None: the general one)."""
        here = [
            name
            for name, source in self._sources.items()
            if source.info.role == "search" and source.info.queue == queue
        ]
        together = [self._together(name) for name in here if name in TOGETHER]
        return [*map(self._definition, here), *together]

    def _definition(self, name: str) -> Callable[..., Any]:
        @activity.defn(name=activity_name(name))
        async def search(task: SearchTask) -> Hits:
            return (await self._searched(name, (task,)))[0]

        return search

    def _together(self, name: str) -> Callable[..., Any]:
        @activity.defn(name=TOGETHER[name])
        async def search_together(step: SearchTasks) -> HitsOfAll:
            return HitsOfAll(answers=tuple(await self._searched(name, step.tasks)))

        return search_together

    async def _searched(self, name: str, tasks: Sequence[SearchTask]) -> list[Hits]:
        reading = Reading()
        async with heartbeating(reading.details):
            try:
                with reporting(reading.report):
                    ended = await asyncio.gather(*map(self.exchange, tasks), return_exceptions=True)
                    return [answered(hits) for hits in ended]
            except DeterminatorError as error:
                task = tasks[0]
                log.warning("search_failed", run_id=task.run_id, source=name, error=str(error))
                if _out_of_time(task, error):
                    error.retryable = False
                raise to_application_error(error) from error

    async def exchange(self, task: SearchTask) -> Hits:
        """One exchange: ask the source, store its records, return references. Raises SourceError."""
        source = self._sources.get(task.source)
        if source is None:
            raise Refused(f"there is no source named {task.source}")
        configured = None if task.as_given else self._configured.get(task.source)
        query = narrowed(task.query, configured)
        options = {name: value for name, value in query.filters.options.items() if name != "library"}
        if task.library:
            self._permit(task)
            options["library"] = task.library
        query = query.model_copy(update={"filters": query.filters.model_copy(update={"options": options})})
        started = time.monotonic()
        with source_clock(task.seconds) as clock:
            async with forgotten_when_malformed(), no_older_than(task.max_age):
                answer = await source.exchange(query, task.cursor)
        works = [work for record in answer.records if (work := read_marks(record)) is not None]
        fitting = [record for record in works if in_years(record, query.filters)]
        kept = [await self._store.put(_public(record)) for record in fitting[: query.limit]]
        return Hits(
            source=task.source,
            query=answer.sent or query.text,
            status="ok" if kept else "empty",
            hits=answer.hits,
            kept=tuple(kept),
            set_aside=answer.set_aside,
            detail="; ".join(filter(None, (answer.detail, _left_out(len(answer.records) - len(works))))),
            attempts=activity.info().attempt,
            seconds=round(time.monotonic() - started, 3),
            waited=round(clock.waited, 3),
            cursor=dict(answer.cursor) if answer.cursor is not None else None,
        )

    def _permit(self, task: SearchTask) -> None:
        """Raises Refused for a library that the run may not read."""
        if self._permits is None:
            raise Refused(f"the library {task.library} is not read here")
        run_id = activity.info().workflow_id or ""
        try:
            self._permits.check("library", task.library or "", run_id, task.library_signature)
        except NotPermitted as error:
            raise Refused(str(error)) from error


def answered(ended: Hits | BaseException) -> Hits:
    """What an exchange has found. Raises its error."""
    if isinstance(ended, BaseException):
        raise ended
    return ended


def _out_of_time(task: SearchTask, error: DeterminatorError) -> bool:
    """Whether a failed search must not be tried again: its time is used up, or would be before the source
    allows another attempt. The first wait for a worker does not count."""
    info = activity.info()
    if isinstance(error, TooSlow) and info.attempt >= SLOW_ATTEMPTS:
        return True
    if task.seconds is None:
        return False
    begun = info.started_time if info.attempt == 1 else info.scheduled_time
    spent = (datetime.now(UTC) - begun).total_seconds()
    return spent + (error.retry_after or 0.0) >= task.seconds


def _public(record: Evidence) -> Evidence:
    """The record without credentials in its address: a source may name itself by the address it was
    configured with."""
    ids = record.identifiers
    if redacted(f"{record.url} {ids.url}") == f"{record.url} {ids.url}":
        return record
    shown = ids.model_copy(update={"url": redacted(ids.url) if ids.url else None})
    url = redacted(record.url) if record.url else None
    return record.model_copy(update={"url": url, "identifiers": shown})


def _left_out(notices: int) -> str:
    if not notices:
        return ""
    what = "notice" if notices == 1 else "notices"
    return f"{notices} {what} of a retraction or correction left out: a notice is no evidence"


def in_years(record: Evidence, filters: Filters) -> bool:
    """Whether a record is from the years that were asked for; one without a year is."""
    if record.year is None:
        return True
    return (filters.year_from or record.year) <= record.year <= (filters.year_to or record.year)


def narrowed(query: Query, configured: SourceSettings | None) -> Query:
    """The query with what the configuration sets for its source. The search's own filters override the
    configured ones."""
    if configured is None:
        return query
    asked = query.filters.model_dump(exclude_defaults=True)
    options = {**configured.filters.options, **query.filters.options}
    filters = Filters.model_validate({**configured.filters.model_dump(), **asked, "options": options})
    return query.model_copy(update={"limit": configured.max_results or query.limit, "filters": filters})


def activity_name(source: str) -> str:
    """The activity type that searches a source."""
    return f"search_{source}"
