"""SystematicReview: from a protocol to a report, for months if it takes them.

`run` is the story. Each stage does what is missing and no more, so that after an amendment, an overruled
decision or a later search the same story makes again only what rests on it.

Invariants:

* nothing is searched before a person approved the protocol;
* a model that is down leaves records open; it excludes nothing;
* decisions are in the store before a round ends, and before the history is continued as new.
"""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import is_cancelled_exception

from activities.contracts.evidence import ModelChoice
from activities.contracts.prepare import Prepared, PrepareInput
from activities.prepare_activity import PrepareActivities
from activities.review.course import Course, Round
from activities.review.decisions import OPEN
from activities.review.steps import AmendStep, PublishStep, ReviewReport
from activities.review.study_steps import StudyKeys
from activities.review_activity import ReviewActivities
from workflows.review.estimate import estimated
from workflows.review.messages import ReviewMessages
from workflows.review.pace import Again, Pace
from workflows.review.screening import Screening
from workflows.review.searching import Searching, origin_of
from workflows.review.studies import Studies
from workflows.review.types import WORKFLOW, ReviewRequest
from workflows.steps import policy


@workflow.defn(name=WORKFLOW, sandboxed=False)
class SystematicReview(ReviewMessages):
    @workflow.init
    def __init__(self, request: ReviewRequest) -> None:
        self.pace = Pace(request)
        self.searching = Searching(self.pace)
        self.screening = Screening(self.pace)
        self.studies = Studies(self.pace)

    @workflow.run
    async def run(self, request: ReviewRequest) -> ReviewReport | None:
        self.pace.state.started = self.pace.state.started or self.pace.at()
        try:
            return await self._story()
        except BaseException as error:
            if not is_cancelled_exception(error):
                raise
            # what there is is reported; nothing more is asked of a model or a person
            self.pace.state.closed = True
            await self._publish()
            self.pace.show(
                "cancelled", f"the review is cancelled: {self.pace.command('report')} prints what there was"
            )
            raise

    async def _story(self) -> ReviewReport | None:
        while True:
            try:
                await self._prepare()
                await self._approve_protocol()
                await self.searching.search()
                await self.screening.calibrate()
                await self.screening.screen()
                await self.studies.read()
                await self._report()
                if await self._end():
                    self.pace.show(
                        "completed",
                        f"the review is completed: {self.pace.command('report')} prints its report",
                    )
                    return self.pace.state.report
            except Again:
                await self._apply_amendment()

    # the protocol

    async def _prepare(self) -> None:
        """Ask the worker what it has: the models of the screeners, the sources and their queues."""
        state, protocol = self.pace.state, self.pace.state.protocol
        if all(one.name in state.models for one in protocol.models) and not self._unknown_sources():
            return
        self.pace.show("preparing", "asks which models and sources there are")
        named = {
            one.name: ModelChoice(backend="openai", model=one.model) for one in protocol.models if one.model
        }
        prepared: Prepared = await workflow.execute_activity_method(
            PrepareActivities.prepare,
            PrepareInput(
                profile="general",
                sources=tuple(dict.fromkeys(one.source for one in protocol.sources)),
                models=named,
            ),
            **policy.internal_step("what this worker offers"),
        )
        default = prepared.models["default"]
        state.models = {one.name: prepared.models.get(one.name, default) for one in protocol.models}
        state.fallbacks = [*prepared.fallbacks]
        state.prices = {**prepared.prices}
        state.unpaywall = prepared.unpaywall
        state.queues = {one.info.name: one.info.queue for one in prepared.sources}

    def _unknown_sources(self) -> bool:
        return any(one.source not in self.pace.state.queues for one in self.pace.state.protocol.sources)

    async def _approve_protocol(self) -> None:
        """Count what the searches would find, say what it would cost, and wait for a person."""
        state = self.pace.state
        if state.approved_by:
            return
        for one in state.protocol.sources:
            if (origin := origin_of(one)) not in state.counted:
                row, _ = await self.searching.ask(one, limit=1)
                state.counted[origin] = row.hits if row.status in ("ok", "empty") else -1
        expected = sum(min(max(hits, 0), 200) for hits in state.counted.values())
        expected += sum(one.records for one in state.files)
        state.estimate = estimated(state, expected, self.pace.request.records_a_call)
        await self.pace.wait_at(
            "protocol",
            f"the protocol waits for approval: {self.pace.command('approve')}",
            lambda: bool(state.approved_by),
        )

    async def _apply_amendment(self) -> None:
        """Open again what rests on changed keys; all else stands."""
        state = self.pace.state
        await self.pace.keep()
        keys, state.touched = tuple(dict.fromkeys(state.touched)), []
        state.models, state.queues = {}, {}
        if any(key == "question" or key.startswith("criteria") for key in keys) and state.total:
            self.pace.show("amending", "looks for the decisions that rest on what was amended")
            names = state.protocol.screeners
            done = await workflow.execute_activity_method(
                ReviewActivities.find_touched_decisions,
                AmendStep(
                    run_id=self.pace.id,
                    keys=keys,
                    log=tuple(state.log),
                    screeners=(names[0].name, names[1].name),
                    titles=state.titles,
                    full_texts=state.full_texts,
                ),
                **policy.internal_step("what rests on the amendment"),
            )
            state.titles, state.full_texts = done.titles, done.full_texts
            state.again += done.again
            state.round = None
        if "screeners" in keys and state.total:
            nobody = dict.fromkeys(range(state.total), OPEN)
            for place in (0, 1):
                state.titles = state.titles.with_screener(place, nobody)
                state.full_texts = state.full_texts.with_screener(place, nobody)
            state.round = None
        if "stopping" in keys:
            state.round = None
        self.studies.amended(keys)

    # the report

    async def _report(self) -> None:
        """Publish, where anything that the report rests on has changed."""
        state = self.pace.state
        await self.pace.boundary()
        if state.published != state.changes:
            await self._publish()

    async def _publish(self) -> None:
        state = self.pace.state
        await self.pace.keep()
        self.pace.show("reporting", "counts and publishes")
        changes = state.changes
        state.report = await workflow.execute_activity_method(
            ReviewActivities.publish_review,
            PublishStep(
                run_id=self.pace.id,
                protocol=state.protocol_key,
                version=state.version,
                amendments=tuple(state.amendments),
                searches=tuple(state.searches),
                records=state.records,
                titles=state.titles,
                full_texts=state.full_texts,
                got=state.got,
                log=tuple(state.log),
                orders=tuple(state.orders),
                screening=state.round or Round(course=Course(total=state.total)),
                sampled=len(state.sample),
                tools=tuple(state.tools.values()),
                approved_by=state.approved_by,
                started=state.started,
                at=self.pace.at(),
                studies=StudyKeys(
                    texts=state.provided,
                    extracted=state.studies.extracted,
                    decisions=state.studies.decisions,
                    assessed=state.studies.assessed,
                ),
                reports=state.reports,
                closed=state.closed,
            ),
            **policy.internal_step("the report"),
        )
        state.published, state.reports = changes, state.reports + 1
        if state.report.notice and state.released:
            await self.studies.tell(state.report.notice)

    async def _end(self) -> bool:
        """Wait until a person approves the report, or something changes what it rests on.

        With a schedule, wait for the next search instead; return whether the review is over.
        """
        state, living = self.pace.state, self.pace.state.protocol.living

        def changed() -> bool:
            return state.changes != state.published or bool(self.pace.to_part) or state.restate

        if not state.report_by:
            await self.pace.wait_at(
                "report",
                f"the report waits for approval: {self.pace.command('approve')}; decisions can be overruled"
                + (f"; what changed could not be told: {state.untold}" if state.untold else ""),
                lambda: bool(state.report_by) or changed(),
            )
        if changed():
            state.report_by = ""
            return False
        state.released = True
        if living is None:
            return True
        pause = timedelta(days=living.every_days)
        state.next_search = (workflow.now() + pause).isoformat(timespec="minutes")
        await self.pace.wait_at("", f"searches again at {state.next_search}", changed, pause.total_seconds())
        if not changed():
            await self._search_again()
        state.report_by = state.report_by if state.changes == state.published else ""
        return False

    async def _search_again(self) -> None:
        """Make every search of the protocol again; only new works are screened."""
        before = self.pace.state.changes
        for one in self.pace.state.protocol.sources:
            await self.searching.add_search(one)
        if all(row.new == 0 for row in self.pace.state.searches[-len(self.pace.state.protocol.sources) :]):
            self.pace.state.changes = self.pace.state.published = before
