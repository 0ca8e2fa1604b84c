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
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.contracts.evidence import ModelChoice
from activities.contracts.prepare import Prepared, PrepareInput
from activities.prepare_activity import PrepareActivities
from activities.review.decisions import Stage
from activities.review.results import ReviewReport
from activities.review.steps import TellStep
from activities.review_activity import ReviewActivities
from workflows.review.messages import ReviewMessages
from workflows.review.pace import Pace, Restart, format_time
from workflows.review.reading import Reading, Screening
from workflows.review.searching import Searching
from workflows.review.texts import FullTexts
from workflows.review.types import WORKFLOW, ReviewRequest
from workflows.steps import policy

AFTER_TITLES: tuple[Stage, ...] = ("full_texts", "extraction", "bias")
TELL_SECONDS = 900.0


@workflow.defn(name=WORKFLOW, sandboxed=False)
class SystematicReview(ReviewMessages):
    @workflow.init
    def __init__(self, request: ReviewRequest) -> None:
        self.pace = Pace(request)
        self.searching = Searching(self.pace)
        self.reading = Reading(self.pace)
        self.screening = Screening(self.pace, self.reading)
        self.texts = FullTexts(self.pace)

    @workflow.run
    async def run(self, request: ReviewRequest) -> ReviewReport | None:
        try:
            await self._story()
        except BaseException as error:
            if not is_cancelled_exception(error):
                raise
            # what there is is reported; nothing more is asked of a model or a person
            self.state.closed = True
            await self._publish()
            self.pace.show("cancelled", "the review is cancelled; its report has what there was")
            raise
        self.pace.show("completed", "the review is completed")
        return self.state.report

    async def _story(self) -> None:
        while True:
            self.pace.is_stale = False
            try:
                await self._prepare()
                await self._approve_protocol()
                await self.searching.search()
                await self.screening.calibrate()
                await self.screening.screen()
                await self.texts.get()
                for stage in AFTER_TITLES:
                    await self.reading.settle(stage)
                await self.pace.boundary()
                if self.state.published != self.state.changes:
                    await self._publish()
                if await self._end():
                    return
            except Restart:
                await self._apply_amendment()

    async def _prepare(self) -> None:
        """Ask the worker what it has: the models of the screeners, the sources and their queues."""
        state, protocol = self.state, self.state.protocol
        sources = tuple(dict.fromkeys(source.source for source in protocol.sources))
        if {model.name for model in protocol.models} <= set(state.models) and set(sources) <= set(
            state.queues
        ):
            return
        self.pace.show("preparing", "asks which models and sources there are")
        models = {
            model.name: ModelChoice(backend="openai", model=model.model)
            for model in protocol.models
            if model.model
        }
        offer: Prepared = await workflow.execute_activity_method(
            PrepareActivities.prepare,
            PrepareInput(profile="general", sources=sources, models=models),
            **policy.internal_step("what this worker offers"),
        )
        default = offer.models["default"]
        state.models = {model.name: offer.models.get(model.name, default) for model in protocol.models}
        state.prices = {**offer.prices}
        state.unpaywall = offer.unpaywall
        state.queues = {source.info.name: source.info.queue for source in offer.sources}
        state.kinds = {source.info.name: source.info.kind for source in offer.sources}

    async def _approve_protocol(self) -> None:
        """Say what the searches would find and what it would cost, and wait for a person."""
        if self.state.approved_by:
            return
        await self.searching.estimate()
        await self.pace.wait_at(
            "protocol", "the protocol waits for approval", lambda: bool(self.state.approved_by)
        )

    async def _apply_amendment(self) -> None:
        """Open again what rests on changed keys; all else stands."""
        state = self.state
        if not (keys := [*state.touched]):
            return
        await self.pace.keep()
        state.models, state.queues = {}, {}
        if "stopping" in keys:
            state.course = None
        if any(key == "question" or key.startswith("criteria") for key in keys) and state.total:
            self.pace.show("amending", "looks for the decisions that rest on what was amended")
            result = await workflow.execute_activity_method(
                ReviewActivities.find_touched_decisions,
                self.pace.state_step(),
                **policy.internal_step("what rests on the amendment"),
            )
            state.titles, state.full_texts = result.titles, result.full_texts
            state.again += result.again
            state.course = None
        if "screeners" in keys:
            state.course = None
        del state.touched[: len(keys)]

    async def _publish(self) -> None:
        state = self.state
        await self.pace.keep()
        self.pace.show("reporting", "counts and publishes")
        changes = state.changes
        state.report = await workflow.execute_activity_method(
            ReviewActivities.publish_review,
            self.pace.state_step(),
            **policy.internal_step("the report"),
        )
        state.published, state.reports = changes, state.reports + 1
        if state.report.notice and state.released:
            await self._tell(state.report.notice)

    async def _tell(self, notice: str) -> None:
        """Tell that conclusions changed; what cannot be told is shown."""
        self.state.untold = ""
        try:
            await workflow.execute_activity_method(
                ReviewActivities.tell_changes,
                TellStep(run_id=self.pace.id, notice=notice),
                **policy.look_up(TELL_SECONDS, "what changed"),
            )
        except ActivityError as error:
            self.state.untold = policy.reason_of(error)

    async def _end(self) -> bool:
        """Wait until a person approves the report, or something changes what it rests on.

        With a schedule, wait for the next search instead; return whether the review is over.
        """
        state, living = self.state, self.state.protocol.living

        def has_changed() -> bool:
            return state.changes != state.published or bool(state.to_part) or state.restate

        if not state.report_by:
            await self.pace.wait_at(
                "report",
                "the report waits for approval; decisions can be overruled"
                + (f"; what changed could not be told: {state.untold}" if state.untold else ""),
                lambda: bool(state.report_by) or has_changed(),
            )
        if has_changed():
            state.report_by = ""
            return False
        state.released = True
        if living is None:
            return True
        until = workflow.now() + timedelta(days=living.every_days)
        self.pace.is_woken = False
        state.next_search = until.isoformat(timespec="minutes")
        await self.pace.wait_at(
            "", f"searches again at {format_time(until)}", lambda: has_changed() or self.pace.is_woken, until
        )
        if not has_changed():
            await self.searching.search_again()
        state.report_by = state.report_by if state.changes == state.published else ""
        return False
