"""The search of a review: each source and file once, with the row that PRISMA-S asks for."""

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.contracts.evidence import Query
from activities.contracts.search import HitsOfAll, SearchTask, SearchTasks
from activities.review.protocol import SourceQuery
from activities.review.steps import Added, AddRecords, SearchRow
from activities.review_activity import ReviewActivities
from activities.search_activity import activity_name
from workflows.review.pace import Pace
from workflows.steps import policy
from workflows.steps.failures import reason_of, retry_on_worker_loss, search_failure


class Searching:
    def __init__(self, pace: Pace) -> None:
        self.pace = pace

    async def search(self) -> None:
        """Make each search that was not made, and take in each file that was not."""
        state = self.pace.state
        known = {row.origin for row in state.searches if row.at and row.detail != "again"}
        for one in state.protocol.sources:
            if origin_of(one) not in known:
                await self.pace.boundary()
                self.pace.show("searching", f"searches {one.source}")
                await self.add_search(one)
        for file in state.files:
            if file.name not in known:
                await self.pace.boundary()
                self.pace.show("searching", f"takes in {file.name}")
                added = await self._add(AddRecords(run_id=self.pace.id, origin=file.name, blob=file.blob))
                state.searches.append(
                    SearchRow(
                        origin=file.name,
                        source="file",
                        at=self.pace.at(),
                        hits=file.records + file.set_aside,
                        records=added.given,
                        new=added.new,
                        set_aside=file.set_aside,
                    )
                )
        while self.pace.to_part:
            try:
                await self._add(AddRecords(run_id=self.pace.id, origin="", part=self.pace.to_part.pop(0)))
            except ActivityError as error:  # it is no copy any more
                self.pace.show("searching", reason_of(error))

    async def add_search(self, one: SourceQuery) -> None:
        row, step = await self.ask(one, one.limit)
        while step is None and row.status in ("rate_limited", "unavailable"):
            await self.pace.wait_at(
                "model",
                f"{one.source} does not answer ({row.detail}); it is asked again",
                lambda: self.pace.woken,
                self.pace.request.retry_seconds,
            )
            row, step = await self.ask(one, one.limit)
        if step is not None:
            added = await self._add(step)
            row = row.replace(records=added.given, new=added.new)
        self.pace.state.searches.append(row)

    async def ask(self, one: SourceQuery, limit: int) -> tuple[SearchRow, AddRecords | None]:
        """Return a search as a row, however it ends, and what it gave."""
        row = SearchRow(origin=origin_of(one), source=one.source, query=one.query, at=self.pace.at())
        task = SearchTask(run_id=self.pace.id, source=one.source, query=Query(text=one.query, limit=limit))

        async def attempt() -> HitsOfAll:
            answer: HitsOfAll = await workflow.execute_activity(
                activity_name(one.source),
                SearchTasks(run_id=self.pace.id, tasks=(task,)),
                result_type=HitsOfAll,
                **policy.source_call(
                    None,
                    policy.shorten(f"{one.source}: {one.query}"),
                    self.pace.state.queues.get(one.source),
                ),
            )
            return answer

        try:
            hits = (await retry_on_worker_loss(attempt)).answers[0]
        except ActivityError as error:
            status, detail, _ = search_failure(error)
            return row.replace(status=status, detail=detail), None
        row = row.replace(
            query=hits.query,
            status=hits.status,
            hits=max(hits.hits, len(hits.kept)),
            set_aside=hits.set_aside,
            detail=hits.detail,
        )
        return row, AddRecords(run_id=self.pace.id, origin=row.origin, refs=hits.kept)

    async def _add(self, step: AddRecords) -> Added:
        state = self.pace.state
        added = await workflow.execute_activity_method(
            ReviewActivities.add_review_records,
            step.replace(records=state.records),
            **policy.internal_step(f"records of {policy.shorten(step.origin, 40)}"),
        )
        state.records, state.total = added.records, added.total
        state.titles = state.titles.extended(added.total)
        state.full_texts = state.full_texts.extended(added.total)
        state.changes += 1
        return added


def origin_of(one: SourceQuery) -> str:
    return f"{one.source}: {one.query}"
