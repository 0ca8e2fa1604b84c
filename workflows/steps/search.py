"""Search steps: all searches of a step at once, each a row of the search ledger.

A failed search is a row with its status, never an exception and never "no results".
"""

import asyncio
from collections.abc import Collection, Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.contracts.evidence import (
    EvidenceRef,
    Query,
    SearchEnd,
    SearchRecord,
    SearchStatus,
    SourceOption,
    fields_of,
)
from activities.contracts.plan import AgentTask
from activities.contracts.publish import PubMedCheck, PubMedSaid
from activities.contracts.search import Choice, Hits, HitsOfAll, SearchTask, SearchTasks
from activities.publish_activity import CHECK_PUBMED
from activities.search_activity import activity_name
from workflows.context import RunPart
from workflows.event_types import EVENTS
from workflows.rules.dedup import merge, repeated_documents
from workflows.state import Listing
from workflows.steps import policy
from workflows.steps.policy import reason_of, retry_on_worker_loss, search_failure

Answer = tuple[SearchRecord, list[EvidenceRef]]
"""The row of a search, and what it found."""
EARLIER = "evidence"
"""The source that holds what earlier runs collected."""
RESULTS_A_STEP = 200
"""Results that the searches of one step ask for at most: the answer has a reference to each."""
MAX_TRIED = 400
"""Names of results of one source that were read, or could not be, and that a run remembers: the latest."""
MAX_REFS = 240
"""References a run keeps at most; items judged relevant come first, then the newest."""


class SearchSteps(RunPart):
    """Makes the searches of a step."""

    async def execute(self, tasks: Sequence[AgentTask], max_reads: int) -> tuple[list[SearchStatus], int]:
        """Execute all searches at once, those of one source in one step.

        Return the status of each and the number of new items. Of sources that list before they read,
        `max_reads` results are read in all; a folder of no more documents is returned whole. When the run is
        cancelled, the results that have arrived are kept.
        """
        by_source: dict[str, list[AgentTask]] = {}
        for task in tasks:
            by_source.setdefault(task.agent, []).append(task)
        limit, share = self.request.limits.results_per_search, -(-max_reads // max(len(by_source), 1))
        running = []
        for source, group in by_source.items():
            max_documents = max_reads if source == "library" and self.request.library else 0
            size = max(RESULTS_A_STEP // max(limit, max_documents), 1)
            steps = [group[at : at + size] for at in range(0, len(group), size)]
            running += [asyncio.create_task(self._search(step, share, max_documents)) for step in steps]
        try:
            await workflow.wait(running)
        except asyncio.CancelledError:
            for search in running:
                search.cancel()
            await workflow.wait(running)
            self._record_ended(running)
            raise
        statuses, new_count = self._record_ended(running)
        for search in running:
            search.result()
        return statuses, new_count

    def _record_ended(self, running: Sequence[asyncio.Task[list[Answer]]]) -> tuple[list[SearchStatus], int]:
        """Record the searches that have ended.

        Never in a `finally`: that also runs where the workflow leaves a worker's memory, outside its event
        loop.
        """
        finished = [s.result() for s in running if s.done() and not s.cancelled() and not s.exception()]
        answers = [answer for rows in finished for answer in rows]
        new_count = sum(self._record(record, refs) for record, refs in answers)
        self.state.loop.unjudged += new_count
        self._limit_evidence()
        return [record.status for record, _ in answers], new_count

    def _record(self, record: SearchRecord, refs: Sequence[EvidenceRef]) -> int:
        """Add a search and its results to the state; return the number of new items."""
        state = self.state
        repeated_count = repeated_documents(state.evidence.refs, (ref.evidence_id for ref in refs))
        record = record.replace(kept=max(record.kept - repeated_count, 0))
        state.evidence.searches.append(record)
        state.evidence.identified += record.kept
        merged = merge(state.evidence.refs, refs, record.section)
        state.evidence.refs = list(merged.refs)
        state.evidence.duplicates += merged.duplicates - repeated_count
        listed_text = f", {record.listed} listed, not read" if record.listed else ""
        message = f"{record.source}: {record.status}, {record.kept} kept of {record.hits}{listed_text}"
        row = record.model_dump(include=set(EVENTS["search_complete"]))
        self.events.emit("search_complete", message, **row, new=len(merged.new_ids))
        return len(merged.new_ids)

    async def _search(self, tasks: Sequence[AgentTask], share: int, max_documents: int) -> list[Answer]:
        """Return the searches of one source in one step.

        However each ends, it is a row of the ledger. A folder of at most `max_documents` is returned whole.
        """
        context, source, started = self.context, tasks[0].agent, self.context.now()
        option = context.source(source)
        listing = context.state.evidence.listed.get(source, Listing())
        step = SearchTasks(
            run_id=context.run_id,
            tasks=tuple(self._search_task(task, max_documents) for task in tasks),
            choice=Choice(question=context.question, most=share, listed=listing.results, tried=listing.tried),
        )
        summary = f"{source}: {'; '.join(task.query for task in tasks)}"
        queue = option.info.queue if option else None
        try:
            outcome = await retry_on_worker_loss(
                lambda: ask_source(step, self._seconds_left(source), summary, queue)
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            status, detail, attempts = search_failure(error)
            seconds = round(context.now() - started, 3)
            failure = {"status": status, "detail": detail, "attempts": attempts, "seconds": seconds}
            return [(self._row(task).model_copy(update=failure), []) for task in tasks]
        if outcome.listed or outcome.tried:
            names = tuple(dict.fromkeys((*listing.tried, *outcome.tried)))
            context.state.evidence.listed[source] = Listing(results=outcome.listed, tried=names[-MAX_TRIED:])
        return [
            (with_hits(self._row(task), hits), list(hits.kept))
            for task, hits in zip(tasks, outcome.answers, strict=True)
        ]

    def _row(self, task: AgentTask) -> SearchRecord:
        """Return the row of a search that has brought nothing yet."""
        return SearchRecord(
            source=task.agent,
            query=task.query,
            asked=task.query,
            status="empty",
            gap=task.gap,
            tests_hypothesis=task.tests_hypothesis,
            section=self.context.section_id,
            iteration=self.state.loop.iteration,
        )

    def _seconds_left(self, source: str) -> float | None:
        """Seconds that a step may still take; None without a limit. A folder may have to be read first."""
        remaining, limit = self.context.research_seconds(), self.context.traits.search_seconds
        limits = [s for s in (remaining, None if source == "library" else limit) if s is not None]
        return min(limits, default=None)

    def _search_task(self, task: AgentTask, max_documents: int) -> SearchTask:
        context = self.context
        return SearchTask(
            run_id=context.run_id,
            source=task.agent,
            query=Query(
                text=task.query,
                limit=context.request.limits.results_per_search,
                filters=context.request.filters,
            ),
            library=context.request.library if task.agent == "library" else None,
            whole=max_documents,
            library_signature=context.request.signatures.get("library", ""),
            seconds=context.request.search_seconds,
        )

    def _limit_evidence(self) -> None:
        """Drop references beyond the limit: relevant items are kept first, best first, then the newest."""
        state = self.state
        if len(state.evidence.refs) <= MAX_REFS:
            return
        ids = {ref.evidence_id for ref in state.evidence.ranked_refs[:MAX_REFS]}
        state.evidence.refs = [ref for ref in state.evidence.refs if ref.evidence_id in ids]
        self.events.add_limitation("items_kept", kept=MAX_REFS)

    def sources(self, only: Collection[str] = ()) -> tuple[SourceOption, ...]:
        """Return the sources to search: the user's choice, else the profile's preference among those enabled.

        Where `only` names some, no other.

        The bundled sample library is used only on request or when nothing else can be searched. What earlier
        runs collected is searched beside a source, never in place of one.
        """
        state, prepared = self.state, self.context.prepared
        enabled = {s.info.name: s for s in prepared.sources if s.enabled and s.info.role == "search"}
        added_names = [name for name in state.people.added_sources if name in enabled]
        requested, specialist = self.request.sources, self.context.specialist
        if requested:
            names = [name for name in (*requested, *added_names) if name in enabled]
        else:
            preference = state.question.parsed.sources if state.question.parsed else ()
            preference = preference or self.context.profile.sources
            preference = tuple(name for name in preference if name in enabled and name != "library")
            library = ["library"] if "library" in enabled else []
            choice = [*(library if prepared.own_library else []), *preference, *added_names]
            earlier = [name for name in choice if name == EARLIER]
            names = [*([name for name in choice if name != EARLIER] or library), *earlier] or list(enabled)
        if specialist and specialist.sources:
            candidates = names if requested else (*specialist.sources, *added_names)
            allowed = specialist.sources if requested else enabled
            names = [name for name in candidates if name in allowed] or names
        return tuple(enabled[name] for name in dict.fromkeys(names) if not only or name in only)


async def ask_source(step: SearchTasks, seconds: float | None, summary: str, queue: str | None) -> HitsOfAll:
    """Make the searches of one source, once. Raises ActivityError."""
    answer: HitsOfAll = await workflow.execute_activity(
        activity_name(step.tasks[0].source),
        step,
        result_type=HitsOfAll,
        **policy.source_call(seconds, policy.shorten(summary), queue),
    )
    return answer


async def ask_pubmed(check: PubMedCheck, queue: str, seconds: float) -> PubMedSaid:
    """Return what PubMed says now of works; an outage is part of the answer.

    It is asked on the queue where NCBI's rate is kept, within so many seconds, retries included.
    """
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


def with_hits(row: SearchRecord, hits: Hits) -> SearchRecord:
    """Return the row of a search with how it ended."""
    ending = fields_of(SearchEnd, hits) | {"query": hits.query or row.query}
    return row.replace(**ending, kept=len(hits.kept))
