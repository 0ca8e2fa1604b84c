"""Searching as activities: one a source (`search_pubmed`, `search_library` ...), one exchange each.

A document's body goes to the evidence store before the activity returns, so a retry finds it there.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from temporalio import activity

from activities.errors import DeterminatorError, Refused, to_application_error
from activities.evidence_store import EvidenceStore
from activities.heartbeat import heartbeating
from activities.sources.base import Source
from activities.steps import Hits, SearchTask

log = structlog.get_logger()


class SearchActivities:
    """The exchange of every source in the registry, with the store injected."""

    def __init__(self, sources: Mapping[str, Source], store: EvidenceStore) -> None:
        self._sources = sources
        self._store = store

    def definitions(self, queue: str | None = None) -> list[Callable[..., Any]]:
        """The activities of the sources on a queue (None: the general one)."""
        return [
            self._definition(name)
            for name, source in self._sources.items()
            if source.info.role == "search" and source.info.queue == queue
        ]

    def _definition(self, name: str) -> Callable[..., Any]:
        @activity.defn(name=activity_name(name))
        async def search(task: SearchTask) -> Hits:
            async with heartbeating():
                try:
                    return await self.exchange(task)
                except DeterminatorError as error:
                    log.warning("search_failed", run_id=task.run_id, source=name, error=str(error))
                    raise to_application_error(error) from error

        return search

    async def exchange(self, task: SearchTask) -> Hits:
        """One exchange: ask the source, store what it brought, return references. Raises SourceError."""
        source = self._sources.get(task.source)
        if source is None:
            raise Refused(f"there is no source named {task.source}")
        query = task.query
        if task.library:
            options = {**query.filters.options, "library": task.library}
            query = query.model_copy(
                update={"filters": query.filters.model_copy(update={"options": options})}
            )
        started = time.monotonic()
        answer = await source.exchange(query, task.cursor)
        kept = [await self._store.put(record) for record in answer.records[: query.limit]]
        return Hits(
            source=task.source,
            query=answer.sent or query.text,
            status="ok" if kept else "empty",
            hits=answer.hits,
            kept=tuple(kept),
            set_aside=answer.set_aside,
            detail=answer.detail,
            attempts=activity.info().attempt,
            seconds=round(time.monotonic() - started, 3),
            cursor=dict(answer.cursor) if answer.cursor is not None else None,
        )


def activity_name(source: str) -> str:
    """The activity type that searches a source."""
    return f"search_{source}"
