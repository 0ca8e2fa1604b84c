"""Search steps: all searches of a step at once, each a row of the search ledger.

A failed search is a row with its status, never an exception and never "no results".
"""

import asyncio
from collections.abc import Coroutine, Sequence
from functools import partial

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.publication import PubMedCheck, PubMedSaid
    from activities.publish import CHECK_PUBMED
    from activities.search import TOGETHER, activity_name
    from activities.searches import Hits, HitsOfAll, SearchTask, SearchTasks
    from activities.steps import AgentTask
    from activities.types import EvidenceRef, Query, SearchRecord, SearchStatus, SourceOption

from workflows.context import RunContext
from workflows.events import EventLog
from workflows.rules.dedup import merge
from workflows.steps import policy
from workflows.steps.failures import reason_of, retry_on_worker_loss, search_failure

Answer = tuple[SearchRecord, list[EvidenceRef]]
"""The row of a search, and what it found."""
EARLIER = "evidence"
"""The source that holds what earlier runs collected."""
MAX_PAGES = 20
"""Requests that one search makes at most, whatever cursor its source returns."""
EVIDENCE_KEPT = 240
"""References a run keeps at most; items judged relevant come first, then the newest."""


class SearchSteps:
    """Executes searches and keeps the search ledger and the evidence."""

    def __init__(self, context: RunContext, events: EventLog) -> None:
        self.context = context
        self.events = events

    async def execute(self, tasks: Sequence[AgentTask]) -> tuple[list[SearchStatus], int]:
        """Execute all searches at once; return the status of each and the number of new items. When the run
        is cancelled, the results that have arrived are kept."""
        running = [asyncio.create_task(search) for search in self._searches(tasks)]
        try:
            await workflow.wait(running)
        except asyncio.CancelledError:
            for search in running:
                search.cancel()
            await workflow.wait(running)
            self._keep(running)
            raise
        statuses, new = self._keep(running)
        for search in running:
            search.result()
        return statuses, new

    def _keep(self, running: Sequence[asyncio.Task[list[Answer]]]) -> tuple[list[SearchStatus], int]:
        """Record the searches that have ended. Never in a `finally`: that also runs where the workflow leaves
        a worker's memory, outside its event loop."""
        ended = [s.result() for s in running if s.done() and not s.cancelled() and not s.exception()]
        answers = [answer for some in ended for answer in some]
        new = sum(self._record(record, found) for record, found in answers)
        self._limit_evidence()
        return [record.status for record, _ in answers], new

    def _record(self, record: SearchRecord, found: Sequence[EvidenceRef]) -> int:
        """Add a search and its results to the state; return the number of new items."""
        state = self.context.state
        state.searches.append(record)
        state.identified += record.kept
        merged = merge(state.evidence, found, record.section)
        state.evidence = list(merged.refs)
        state.duplicates += merged.duplicates
        self.events.emit_event(
            "search_complete",
            f"{record.source}: {record.status}, {record.kept} kept of {record.hits}",
            source=record.source,
            query=record.query,
            status=record.status,
            hits=record.hits,
            kept=record.kept,
            new=len(merged.new_ids),
            seconds=record.seconds,
            attempts=record.attempts,
        )
        return len(merged.new_ids)

    def _searches(self, tasks: Sequence[AgentTask]) -> list[Coroutine[None, None, list[Answer]]]:
        """The searches as steps: each one, apart from those of a library, which cost neither money nor a
        rate and are one step together."""
        free = [task for task in tasks if task.agent in TOGETHER]
        if len(free) < 2:
            return [self._alone(task) for task in tasks]
        return [
            self._together(free),
            *(self._alone(task) for task in tasks if task.agent not in TOGETHER),
        ]

    async def _together(self, tasks: Sequence[AgentTask]) -> list[Answer]:
        """Searches of one source in one step. When it fails each is executed by itself, so that it has a
        status of its own."""
        context, source = self.context, tasks[0].agent
        summary = policy.shorten(f"{source}: {'; '.join(task.query for task in tasks)}")

        async def attempt() -> HitsOfAll:
            found: HitsOfAll = await workflow.execute_activity(
                TOGETHER[source],
                SearchTasks(run_id=context.run_id, tasks=tuple(self._exchange(task) for task in tasks)),
                result_type=HitsOfAll,
                **policy.source_call(context.research_seconds(), summary, None, reads=True),
            )
            return found

        try:
            found = await retry_on_worker_loss(attempt)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return [await self._search(task) for task in tasks]
        return [
            (with_page(self._row(task), hits, len(hits.kept)), list(hits.kept))
            for task, hits in zip(tasks, found.answers, strict=True)
        ]

    async def _alone(self, task: AgentTask) -> list[Answer]:
        return [await self._search(task)]

    def _row(self, task: AgentTask) -> SearchRecord:
        """The row of a search that has brought nothing yet."""
        return SearchRecord(
            source=task.agent,
            query=task.query,
            asked=task.query,
            status="empty",
            gap=task.gap,
            section=self.context.section_id,
            iteration=self.context.state.loop.iteration,
        )

    async def _search(self, task: AgentTask) -> Answer:
        """One search, page by page. However it ends, it is a row of the ledger."""
        started, found = self.context.now(), list[EvidenceRef]()
        row = self._row(task)
        cursor: dict[str, str] | None = None
        waited = 0.0
        for _ in range(MAX_PAGES):
            try:
                hits = await retry_on_worker_loss(partial(self._request_page, task, cursor, started, waited))
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                status, detail, attempts = search_failure(error)
                return row.model_copy(
                    update={
                        "status": "ok" if found else status,
                        "detail": detail,
                        "seconds": round(self.context.now() - started, 3),
                        "attempts": max(row.attempts, attempts),
                    }
                ), found
            found += hits.kept
            row = with_page(row, hits, len(found))
            cursor, waited = hits.cursor, waited + hits.waited
            if cursor is None or self.context.state.control.finish or self._took_too_long(started):
                break
            if self._source_is_slow(waited):
                row = row.model_copy(update={"detail": f"stopped after {waited:.0f} s; there is more"})
                break
        return row, found

    def _took_too_long(self, started: float) -> bool:
        """Whether a search has used up the seconds that its mode gives it."""
        most = self.context.traits.search_seconds
        return most is not None and self.context.now() - started >= most

    def _source_is_slow(self, waited: float) -> bool:
        """Whether the source has used the seconds that a search may wait for it."""
        most = self.context.request.search_seconds
        return most is not None and waited >= most

    def _seconds_left(self, started: float) -> float | None:
        """Seconds that a search may still wait; None without a limit."""
        left, most = self.context.research_seconds(), self.context.traits.search_seconds
        if most is None:
            return left
        own = max(started + most - self.context.now(), 0.0)
        return own if left is None else min(own, left)

    async def _request_page(
        self, task: AgentTask, cursor: dict[str, str] | None, started: float, waited: float
    ) -> Hits:
        context = self.context
        option = next((s for s in context.prepared.sources if s.info.name == task.agent), None)
        hits: Hits = await workflow.execute_activity(
            activity_name(task.agent),
            self._exchange(task, cursor, waited),
            result_type=Hits,
            **policy.source_call(
                context.research_seconds() if task.agent == "library" else self._seconds_left(started),
                policy.shorten(f"{task.agent}: {task.query}"),
                option.info.queue if option else None,
                reads=task.agent == "library",
            ),
        )
        return hits

    def _exchange(
        self, task: AgentTask, cursor: dict[str, str] | None = None, waited: float = 0.0
    ) -> SearchTask:
        """One exchange with a source that has been waited for so many seconds already."""
        context, most = self.context, self.context.request.search_seconds
        return SearchTask(
            run_id=context.run_id,
            source=task.agent,
            query=Query(
                text=task.query,
                limit=context.request.limits.results_per_search,
                filters=context.request.filters,
            ),
            cursor=cursor,
            library=context.request.library if task.agent == "library" else None,
            library_signature=context.request.signatures.get("library", ""),
            seconds=None if most is None else max(most - waited, 1.0),
        )

    def _limit_evidence(self) -> None:
        """Drop references beyond the limit: relevant items are kept first, best first, then the newest."""
        state = self.context.state
        if len(state.evidence) <= EVIDENCE_KEPT:
            return
        rank = {name: place for place, name in enumerate(state.relevant)}
        newest = {ref.evidence_id: -place for place, ref in enumerate(state.evidence)}
        order = sorted(
            state.evidence, key=lambda r: (rank.get(r.evidence_id, len(rank)), newest[r.evidence_id])
        )
        kept = {ref.evidence_id for ref in order[:EVIDENCE_KEPT]}
        state.evidence = [ref for ref in state.evidence if ref.evidence_id in kept]
        self.events.add_limitation("items_kept", kept=EVIDENCE_KEPT)

    def sources(self) -> tuple[SourceOption, ...]:
        """The sources to search: the user's choice, else the profile's preference among the enabled ones.

        The bundled sample library is used only on request or when nothing else can be searched. What earlier
        runs collected is searched beside a source, never in place of one.
        """
        state, prepared = self.context.state, self.context.prepared
        enabled = {s.info.name: s for s in prepared.sources if s.enabled and s.info.role == "search"}
        added = [name for name in state.control.added_sources if name in enabled]
        if self.context.request.sources:
            wanted = [name for name in (*self.context.request.sources, *added) if name in enabled]
        else:
            fitting = state.parsed.sources if state.parsed else ()
            preference = fitting or self.context.profile.sources
            preferred = [name for name in preference if name in enabled and name != "library"]
            library = ["library"] if "library" in enabled else []
            own = library if prepared.own_library else []
            chosen = [*own, *preferred, *added]
            beside = [name for name in chosen if name == EARLIER]
            wanted = [*([name for name in chosen if name != EARLIER] or library), *beside] or list(enabled)
        only = self.context.tools
        return tuple(enabled[name] for name in dict.fromkeys(wanted) if not only or name in only)


async def ask_pubmed(check: PubMedCheck, queue: str, seconds: float) -> PubMedSaid:
    """What PubMed says now of works, asked on the queue where NCBI's rate is kept, within so many seconds,
    retries included. An outage is part of the answer."""
    try:
        answer: PubMedSaid = await workflow.execute_activity(
            CHECK_PUBMED,
            check,
            result_type=PubMedSaid,
            **policy.source_call(seconds, f"pubmed: standing of {len(check.pmids)} works", queue),
        )
    except ActivityError as error:
        return PubMedSaid(asked=check.pmids, failure=reason_of(error))
    return answer


def with_page(row: SearchRecord, hits: Hits, kept: int) -> SearchRecord:
    """The row after another page, with which the search has kept so many works in all."""
    return row.model_copy(
        update={
            "query": hits.query or row.query,
            "status": "ok" if kept else "empty",
            "hits": max(row.hits, hits.hits),
            "kept": kept,
            "set_aside": row.set_aside + hits.set_aside,
            "seconds": round(row.seconds + hits.seconds, 3),
            "attempts": max(row.attempts, hits.attempts),
            "detail": hits.detail or row.detail,
        }
    )
