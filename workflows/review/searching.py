"""The search of a review: counted and priced beforehand, and each source and file searched once.

Each search becomes the row that PRISMA-S asks for.
"""

import math

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.contracts.evidence import Allowance, Query
from activities.contracts.search import HitsOfAll, SearchTask, SearchTasks
from activities.messages import count_of
from activities.review.protocol import SourceQuery
from activities.review.state import ReviewState, SearchRow
from activities.review.steps import AddedRecords, AddRecords
from activities.review_activity import ReviewActivities
from activities.search_activity import activity_name
from workflows.amounts import worst_cost
from workflows.review.pace import Pace
from workflows.steps import policy
from workflows.steps.policy import reason_of, retry_on_worker_loss, search_failure

RECORDS_A_CALL = 10
"""Titles that a model decides on in one call."""
CALL_TOKENS = 1_500
"""Tokens of a call without records."""
RECORD_TOKENS = 450
"""Tokens of a title and an abstract with the labels of its sentences."""
DECISION_TOKENS = 45
MAX_SEARCH_SECONDS = 120.0
"""Time in which a search is tried again unseen; then the review waits, and shows it."""
DOWN_STATUSES = ("rate_limited", "unavailable")
"""Ends of a search that are no answer."""


class Searching:
    def __init__(self, pace: Pace) -> None:
        self.pace = pace

    async def estimate(self) -> None:
        """Count what the searches would find, and say what screening it would cost."""
        state = self.pace.state
        for source in state.protocol.sources:
            if (origin := origin_of(source)) not in state.counted:
                row, _ = await self._ask(source, limit=1)
                state.counted[origin] = row.hits if row.status in ("ok", "empty") else -1
        expected = sum(min(max(hits, 0), 200) for hits in state.counted.values())
        expected += sum(file.records for file in state.files)
        state.estimate = estimate_text(state, expected)

    async def search(self) -> None:
        """Make each search that was not made, and take in each file that was not."""
        state = self.pace.state
        origins = {row.origin for row in state.searches}
        for source in state.protocol.sources:
            if origin_of(source) not in origins:
                await self.pace.boundary()
                await self.add_search(source)
        for file in state.files:
            if file.name not in origins:
                await self.pace.boundary()
                self.pace.show("searching", f"takes in {file.name}")
                hits = file.records + file.set_aside
                row = SearchRow(origin=file.name, source="file", at=self.pace.timestamp(), hits=hits)
                step = AddRecords(run_id=self.pace.id, origin=file.name, blob=file.blob)
                await self._take_in(row.replace(set_aside=file.set_aside), step)
        while state.to_part:
            try:
                await self._add(AddRecords(run_id=self.pace.id, part=state.to_part.pop(0)))
                state.changes += 1
            except ActivityError as error:  # it is no copy any more
                self.pace.show("searching", reason_of(error))

    async def search_again(self) -> None:
        """Make every search again; what brings nothing new is no change of what a report rests on."""
        for source in self.pace.state.protocol.sources:
            await self.add_search(source, is_repeat=True)

    async def add_search(self, query: SourceQuery, *, is_repeat: bool = False) -> None:
        """Make a search; a source that is down is asked again."""
        while True:
            self.pace.show("searching", f"searches {query.source}")
            self.pace.is_woken = False
            row, step = await self._ask(query, query.limit)
            if row.status not in DOWN_STATUSES or self.pace.state.closed:
                break
            text = f"{query.source} does not answer ({row.detail})"
            await self.pace.wait_for_model(text, on=query.source)
        await self._take_in(row, step, is_repeat=is_repeat)

    async def _take_in(self, row: SearchRow, step: AddRecords | None, *, is_repeat: bool = False) -> None:
        """Add what a search or a file gave, and note it."""
        if step is not None:
            result = await self._add(step)
            row = row.replace(records=len(step.refs) or result.given, new=result.new)
            self.pace.state.changes += bool(result.new) or not is_repeat
        self.pace.state.searches.append(row)

    async def _ask(self, query: SourceQuery, limit: int) -> tuple[SearchRow, AddRecords | None]:
        """Return a search as a row, however it ends, and what it gave."""
        at = self.pace.timestamp()
        kind = self.pace.state.kinds.get(query.source, "database")
        row = SearchRow(origin=origin_of(query), source=query.source, query=query.query, at=at, kind=kind)
        task = SearchTask(
            run_id=self.pace.id,
            source=query.source,
            query=Query(text=query.query, limit=limit, titles=True),
            seconds=MAX_SEARCH_SECONDS,
            max_age=0,  # the report states when it was searched
        )

        async def attempt() -> HitsOfAll:
            queue = self.pace.state.queues.get(query.source)
            answer: HitsOfAll = await workflow.execute_activity(
                activity_name(query.source),
                SearchTasks(run_id=self.pace.id, tasks=(task,)),
                result_type=HitsOfAll,
                **policy.source_call(None, policy.shorten(row.origin), queue),
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

    async def _add(self, step: AddRecords) -> AddedRecords:
        state = self.pace.state
        result = await workflow.execute_activity_method(
            ReviewActivities.add_review_records,
            step.replace(records=state.records),
            **policy.internal_step(f"records of {policy.shorten(step.origin, 40)}"),
        )
        state.records = result.records
        state.titles = state.titles.with_total(result.total)
        state.full_texts = state.full_texts.with_total(result.total)
        return result


def origin_of(query: SourceQuery) -> str:
    return f"{query.source}: {query.query}"


def estimate_text(state: ReviewState, records: int) -> str:
    """Word records, calls and their price by the models' prices.

    Records of a search are counted before copies are merged, so that it is rather too much.
    """
    models = [state.models[model.name] for model in state.protocol.models]
    if not models:
        return f"{count_of(records, 'record')} for two people; no model is asked"
    calls = math.ceil(records / RECORDS_A_CALL)
    tokens_in, tokens_out = calls * CALL_TOKENS + records * RECORD_TOKENS, records * DECISION_TOKENS
    prices = [state.prices.get(model.model) for model in models]
    allowance = Allowance(input_tokens=tokens_in, output_tokens=tokens_out)
    dollars = sum(worst_cost(allowance, price) for price in prices) / 1e6
    cost = f"about ${dollars:,.2f}" if all(prices) else "of unknown price"
    tokens = round((tokens_in + tokens_out) * len(models) / 1000)
    text = f"{count_of(records, 'record')}, {count_of(calls * len(models), 'call')} of models, "
    return text + f"{tokens:,} thousand tokens, {cost}, where all are read"
