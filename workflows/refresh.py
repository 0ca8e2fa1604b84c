"""RefreshReport: repeat the searches of a finished report, look up its references again, keep what is new.

Started by `determinator refresh --search`, and by each action of a schedule. It runs through the sources' own
activities, so the rates of strictly limited APIs hold, and a worker that dies costs nothing that was done.
"""

import asyncio
from datetime import UTC
from functools import partial

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.contracts.evidence import EvidenceRef, SearchRecord, fields_of
from activities.contracts.search import HitsOfAll, SearchTasks
from activities.refresh_activity import (
    RefreshActivities,
    RefreshFindings,
    RefreshOutcome,
    RefreshRequest,
    RepeatedSearch,
)
from activities.report.archive import NewWork
from activities.search_activity import activity_name
from workflows.rules.dedup import merge
from workflows.rules.payload_limits import REFS_ROOM, rows, within
from workflows.steps import policy
from workflows.steps.failures import retry_on_worker_loss, search_failure
from workflows.steps.revision import Revision
from workflows.steps.search import ask_pubmed, with_hits

PUBMED_SECONDS = 600.0
"""Seconds that a refresh waits for PubMed at most, retries included."""


@workflow.defn(sandboxed=False)
class RefreshReport:
    @workflow.run
    async def run(self, request: RefreshRequest) -> RefreshOutcome:
        if request.instruction is not None:
            return await Revision(request, request.instruction, self._search).run()
        plan = await workflow.execute_activity_method(
            RefreshActivities.plan_refresh, request, **policy.internal_step("what to ask again")
        )
        answers = await asyncio.gather(*(self._search(search) for search in plan.searches))
        pubmed = None
        if plan.check is not None and plan.pubmed_queue is not None:
            pubmed = await ask_pubmed(plan.check, plan.pubmed_queue, PUBMED_SECONDS)
        works = [ref for _, refs in answers for ref in refs]
        merged = merge(plan.known, works, "")
        new = {ref.evidence_id: ref for ref in merged.refs if ref.evidence_id in set(merged.new_ids)}
        return await workflow.execute_activity_method(
            RefreshActivities.keep_refresh,
            RefreshFindings(
                request=request,
                at=workflow.now().astimezone(UTC).isoformat(timespec="seconds"),
                searches=rows(row for row, _ in answers),
                new=within((NewWork(**fields_of(NewWork, new[name])) for name in merged.new_ids), REFS_ROOM),
                pubmed=pubmed,
            ),
            **policy.internal_step("keep what is new"),
        )

    async def _search(self, search: RepeatedSearch) -> tuple[SearchRecord, list[EvidenceRef]]:
        """One search. However it ends, it is a row of the ledger."""
        task = search.task
        row = SearchRecord(source=task.source, query=task.query.text, asked=task.query.text, status="empty")
        if search.closed:
            return row.replace(status="refused", detail=search.closed), []
        try:
            answer = await retry_on_worker_loss(partial(self._ask, search))
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            status, detail, attempts = search_failure(error)
            return row.replace(status=status, detail=detail, attempts=attempts), []
        hits = answer.answers[0]
        return with_hits(row, hits), list(hits.kept)

    async def _ask(self, search: RepeatedSearch) -> HitsOfAll:
        task = search.task
        answer: HitsOfAll = await workflow.execute_activity(
            activity_name(task.source),
            SearchTasks(run_id=task.run_id, tasks=(task,)),
            result_type=HitsOfAll,
            **policy.source_call(None, policy.shorten(f"{task.source}: {task.query.text}"), search.queue),
        )
        return answer
