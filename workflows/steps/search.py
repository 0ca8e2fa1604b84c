"""How a run searches: all searches at once, each a row of the ledger.

A failed search is a row with its status, never an exception and never "no results".
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.search import activity_name
    from activities.steps import AgentTask, Hits, SearchTask
    from activities.types import EvidenceRef, Filters, Query, SearchRecord, SearchStatus, SourceOption

from workflows.rules.dedup import merge
from workflows.steps import policy
from workflows.steps.failures import search_failure
from workflows.steps.model import Thinking
from workflows.steps.retry import surviving

EVIDENCE_KEPT = 240
"""Items a run keeps references to; judged helpful ones and newer ones are kept first."""
EXCHANGES = 20
"""Exchanges one search may take, whatever cursor its source returns."""


class Searching(Thinking):
    """Base of the research workflows: asks sources."""

    async def search(self, tasks: Sequence[AgentTask]) -> tuple[list[SearchStatus], int]:
        """Make all searches at once; return how each ended and how many items are new. When the run is
        cancelled, what was answered until then is kept."""
        running = [asyncio.create_task(self._search(task)) for task in tasks]
        try:
            await workflow.wait(running)
        except asyncio.CancelledError:
            for search in running:
                search.cancel()
            await workflow.wait(running)
            raise
        finally:
            answers = [s.result() for s in running if s.done() and not s.cancelled() and not s.exception()]
            new = sum(self._enter_in_ledger(record, found) for record, found in answers)
            self._forget()
        for search in running:
            search.result()
        return [record.status for record, _ in answers], new

    def _enter_in_ledger(self, record: SearchRecord, found: Sequence[EvidenceRef]) -> int:
        """A search and what it found; how much of it is new."""
        self.state.searches.append(record)
        self.state.identified += record.kept
        merged = merge(self.state.evidence, found, record.section)
        self.state.evidence = list(merged.refs)
        self.state.duplicates += merged.duplicates
        self.tell(
            "search",
            f"{record.source}: {record.status}, {record.kept} kept of {record.hits}",
            source=record.source,
            query=record.query,
            status=record.status,
        )
        return len(merged.new_ids)

    async def _search(self, task: AgentTask) -> tuple[SearchRecord, list[EvidenceRef]]:
        """One search, exchange by exchange. Whatever becomes of it, it is a row of the ledger."""
        began, found = self.now(), list[EvidenceRef]()
        row = SearchRecord(
            source=task.agent,
            query=task.query,
            asked=task.query,
            status="empty",
            gap=task.gap,
            section=self.state.job.section.id if self.state.job else "",
            iteration=self.state.loop.iteration,
        )
        cursor: dict[str, str] | None = None
        for _ in range(EXCHANGES):
            try:
                hits = await surviving(partial(self._exchange, task, cursor))
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                status, detail, attempts = search_failure(error)
                return row.model_copy(
                    update={
                        "status": "ok" if found else status,
                        "detail": detail,
                        "seconds": round(self.now() - began, 3),
                        "attempts": max(row.attempts, attempts),
                    }
                ), found
            found += hits.kept
            row = row.model_copy(
                update={
                    "query": hits.query or row.query,
                    "status": "ok" if found else "empty",
                    "hits": max(row.hits, hits.hits),
                    "kept": len(found),
                    "set_aside": row.set_aside + hits.set_aside,
                    "seconds": round(row.seconds + hits.seconds, 3),
                    "attempts": max(row.attempts, hits.attempts),
                    "detail": hits.detail or row.detail,
                }
            )
            cursor = hits.cursor
            if cursor is None or self.state.control.finish:
                break
        return row, found

    async def _exchange(self, task: AgentTask, cursor: dict[str, str] | None) -> Hits:
        option = next((s for s in self.prepared.sources if s.info.name == task.agent), None)
        hits: Hits = await workflow.execute_activity(
            activity_name(task.agent),
            SearchTask(
                run_id=workflow.info().workflow_id,
                source=task.agent,
                query=Query(text=task.query, limit=self.request.limits.results_per_search, filters=Filters()),
                cursor=cursor,
                library=self.request.library if task.agent == "library" else None,
            ),
            result_type=Hits,
            **policy.searching(
                self.budget_ledger.research_seconds(self.now()),
                policy.shorten(f"{task.agent}: {task.query}"),
                option.info.queue if option else None,
            ),
        )
        return hits

    def _forget(self) -> None:
        """Keep the references within bounds: helpful items first, best first, then the newest."""
        refs = self.state.evidence
        if len(refs) <= EVIDENCE_KEPT:
            return
        rank = {name: place for place, name in enumerate(self.state.relevant)}
        newest = {ref.evidence_id: -place for place, ref in enumerate(refs)}
        order = sorted(refs, key=lambda r: (rank.get(r.evidence_id, len(rank)), newest[r.evidence_id]))
        kept = {ref.evidence_id for ref in order[:EVIDENCE_KEPT]}
        self.state.evidence = [ref for ref in refs if ref.evidence_id in kept]
        self.note(f"Only the {EVIDENCE_KEPT} most promising items were kept for judging.")

    def sources(self) -> tuple[SourceOption, ...]:
        """What is searched: the user's choice, else the profile's preference among what is enabled.

        The bundled sample library serves only when it was asked for or nothing else can be searched.
        """
        enabled = {s.info.name: s for s in self.prepared.sources if s.enabled and s.info.role == "search"}
        added = [name for name in self.state.control.added_sources if name in enabled]
        if self.request.sources:
            wanted = [name for name in (*self.request.sources, *added) if name in enabled]
        else:
            fitting = self.state.parsed.sources if self.state.parsed else ()
            preferred = [n for n in (fitting or self.profile.sources) if n in enabled and n != "library"]
            library = ["library"] if "library" in enabled else []
            own = library if self.prepared.own_library else []
            wanted = [*own, *preferred, *added] or library or list(enabled)
        return tuple(enabled[name] for name in dict.fromkeys(wanted))
