"""A research run: the parts that every mode holds, the way every run ends, and the loop that modes share.

A mode is a workflow class that creates `RunParts`, executes its steps with them, and passes its body to
`run_to_completion`. See `docs/workflows.md`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.exceptions import ApplicationError, is_cancelled_exception

from activities.contracts.evidence import UNPLANNED, ReportPlan, ReportPlanSection
from activities.contracts.publish import PlannedSection
from activities.contracts.step import Role
from activities.contracts.stop_reasons import STOPS, StopReason
from workflows.context import ModeTraits, RunContext, RunPart
from workflows.events import EventLog
from workflows.gates import Gates
from workflows.parts.rows import OptionalParts
from workflows.rules.stopping import LastStep, NextStep, decide_next
from workflows.sections.child import ParentLink
from workflows.state import RunState
from workflows.steps.judging import JudgeSteps
from workflows.steps.model import ModelSteps
from workflows.steps.ordering import OrderSteps
from workflows.steps.policy import OutOfBudget, run_all
from workflows.steps.prepare import Preparation
from workflows.steps.publish import Publisher
from workflows.steps.research import ResearchSteps
from workflows.steps.search import SearchSteps
from workflows.steps.writing import WritingSteps
from workflows.types import Outcome, ResearchRequest

if TYPE_CHECKING:
    from workflows.sections.coordinator import SectionCoordinator


MAX_ID_CHARS = 400
"""The length of the id of a run: Temporal allows 1,000, and the ids of its sections and of what is asked
later begin with it."""


class RunParts:
    """The parts of one research run. Holds no logic of a mode."""

    def __init__(self, request: ResearchRequest, state: RunState | None, traits: ModeTraits) -> None:
        self.context = RunContext(request, state, traits)
        self.events = EventLog(self)
        self.gates = Gates(self)
        self.parent = ParentLink(self)
        self.models = ModelSteps(self)
        self.parts = OptionalParts(self)
        self.preparation = Preparation(self)
        self.searches = SearchSteps(self)
        self.judging = JudgeSteps(self)
        self.steps = ResearchSteps(self)
        self.loop = ResearchLoop(self)
        self.ordering = OrderSteps(self)
        self.writing = WritingSteps(self)
        self.publisher = Publisher(self)
        self.sections: SectionCoordinator | None = None
        """Set, like `calls_to_write`, by a mode that runs sections as children."""
        self.calls_to_write: Callable[[], tuple[Role, ...]] = lambda: ("writer", "verifier", "editor")
        """Returns the model calls that the report still needs; what they may cost is kept back."""
        self._main: asyncio.Task[object] | None = None
        self._outcome: Outcome | None = None
        """Set once the report is released: a later cancel cannot change it."""

    @property
    def request(self) -> ResearchRequest:
        return self.context.request

    @property
    def state(self) -> RunState:
        """All that is carried over when the run continues as new."""
        return self.context.state

    async def run_to_completion(
        self,
        research: Callable[[], Awaitable[StopReason]],
        conclude: Callable[[StopReason], Awaitable[Outcome]],
    ) -> Outcome:
        """Research, then conclude; a run that is cancelled concludes with what it has found so far.

        Raises ApplicationError for an id that leaves no room for those of sections and files.
        """
        if self.state.sections.job is None and len(self.context.run_id) > MAX_ID_CHARS:
            reason = (
                f"the id of a run has at most {MAX_ID_CHARS} characters, this one {len(self.context.run_id)}"
            )
            raise ApplicationError(reason, type="IdTooLong", non_retryable=True)
        self._main = asyncio.current_task()
        if self._main is not None and self.state.people.fault:
            self._main.cancel()
        try:
            outcome = await self._conclude(self.state.stop_reason or await research(), conclude)
        except (asyncio.CancelledError, Exception) as error:
            if not is_cancelled_exception(error):
                raise
            outcome = self._outcome or await self._conclude_cancelled(conclude)
        if (
            outcome.stop_reason == "cancelled"
            and self.state.people.cancelled
            and self.state.sections.job is None
        ):
            raise asyncio.CancelledError
        return outcome

    def give_up(self, fault: str) -> None:
        """End the research wherever it is, and conclude with what was found."""
        if self._outcome is None and not self.state.people.fault:
            self.state.people.fault = fault
            if self._main is not None:
                self._main.cancel()

    async def conclude_single_section(self, stop: StopReason) -> Outcome:
        """Return the end of a run whose report has one section: candidates, the section, the report.

        A run that is itself a section returns its findings instead.
        """
        if self.state.sections.job is not None:
            return await self.parent.return_findings(stop, self.writing.citable())
        use_model = STOPS[stop].pays
        await self.parts.act("before_writing", use_model)
        section = ReportPlanSection(id="s1", title=UNPLANNED, key_question=self.context.question)
        section = self.context.section or section
        if use_model and section.id not in self.state.draft.sections:
            await self.parts.act("before_draft", use_model)
            await self.parts.act("before_answer", use_model)
        await run_all((self._draft(section, stop, use_model), *self.parts.beside_writing(use_model)))
        await self.writing.finish([section.id], use_model)
        await self.parts.act("before_publishing", use_model)
        sections, judged = (self.state.draft.sections[section.id],), self.state.loop.judged
        return await self.publisher.release(sections, stop, judged.confidence if judged else None)

    async def _draft(self, section: ReportPlanSection, stop: StopReason, use_model: bool) -> None:
        if section.id not in self.state.draft.sections:
            self.state.draft.sections[section.id] = PlannedSection(
                section=section,
                draft=await self.writing.write_single(section, use_model),
                status="complete" if STOPS[stop].complete else "partial",
            )

    async def research_question(
        self,
        execute: Callable[[NextStep], Awaitable[LastStep]],
        decide: Callable[[LastStep], NextStep] | None = None,
    ) -> StopReason:
        """Parse the question, wait for approval if requested, and repeat the steps of a mode."""
        await self.preparation.initialize()
        if not await self.approve_single_section_plan():
            return "rejected_by_reviewer"
        return await self.loop.repeat(execute, decide)

    async def approve_single_section_plan(self) -> bool:
        """Make the question the plan of a run with one section, and wait for approval if requested."""
        if self.state.question.plan is None:
            question = self.context.question
            self.context.adopt_plan(
                ReportPlan(
                    report_title=question,
                    background_context=self.state.sections.job.background if self.state.sections.job else "",
                    report_outline=(ReportPlanSection(title=UNPLANNED, key_question=question),),
                )
            )
        return await self.gates.approval_gate("plan", "the question waits for approval")

    async def _conclude(
        self, stop: StopReason, conclude: Callable[[StopReason], Awaitable[Outcome]]
    ) -> Outcome:
        self.events.set_stop_reason(stop)
        self._outcome = await conclude(stop)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return self._outcome

    async def _conclude_cancelled(self, conclude: Callable[[StopReason], Awaitable[Outcome]]) -> Outcome:
        """Conclude with what was found and written before the cancel; no model is called."""
        self.state.people.cancelled = True
        self.gates.end_pause()
        self.gates.close()
        if fault := self.state.people.fault:
            self.events.emit("error", f"the run cannot go on: {fault}", kind="cannot_continue")
            return await self._conclude("cannot_continue", conclude)
        self.events.emit("cancelled", "the run was cancelled: the report is made of what was found so far")
        return await self._conclude("cancelled", conclude)


class ResearchLoop(RunPart):
    """Decides what is next, and begins iterations; the mode executes the steps."""

    async def repeat(
        self,
        execute: Callable[[NextStep], Awaitable[LastStep]],
        decide: Callable[[LastStep], NextStep] | None = None,
    ) -> StopReason:
        """Decide and execute steps until the decision is to write.

        `observe` is the first step of an iteration. A budget that is used up is a reason to stop, not an
        error.
        """
        last_step: LastStep = "start"
        while True:
            await self.gates.checkpoint()
            self.run.parent.adopt_offered_evidence()
            self.update()
            decision = (decide or self._decide)(last_step)
            if decision.stop is not None:
                self.state.loop.memory.closed = self.context.budget.used
                self.events.emit("stopping", decision.reason, stop_reason=decision.stop)
                return decision.stop
            if decision.step == "observe":
                await self.begin_iteration()
            try:
                last_step = await execute(decision)
            except OutOfBudget as error:
                self.state.loop.refused = error.reason

    def _decide(self, last_step: LastStep) -> NextStep:
        """Decide by the rules; what was imported or offered is judged before a loop ends."""
        loop = self.state.loop
        decision = decide_next(last_step, loop, self.context.profile)
        if decision.stop in ("no_new_evidence", "searched_out") and loop.unjudged > 0 and loop.evidence > 0:
            return NextStep(step="judge", reason="nothing is left to search for; the rest is judged")
        return decision

    def update(self) -> None:
        """Copy into the state of the loop what its decision depends on."""
        state = self.state
        loop, control = state.loop, state.people
        loop.finish, loop.cancelled = control.finish, control.cancelled
        loop.out_of_time = self.context.is_out_of_time
        # a section's limit is its lease, which grows on request
        may_grow = state.sections.job is not None and not state.sections.exhausted
        loop.nearly_spent = None if may_grow else self.context.budget.nearly_spent()
        loop.evidence = len(state.evidence.refs)
        loop.unread_steering = control.steered - state.loop.steering_read

    async def begin_iteration(self) -> None:
        """Begin an iteration, and continue as new here when the history has grown long."""
        context, loop = self.context, self.state.loop
        if context.history_is_long() and loop.iteration > 0:
            await context.continue_as_new()
        await self.events.store_older_events()
        timestamp = context.timestamp()
        loop.memory.begin(self.state.current_iteration(timestamp), timestamp, context.budget.used)
        loop.iteration += 1
        loop.tasks, loop.statuses, loop.new_evidence = 0, (), 0
        context.budget.iterations = loop.iteration
        self.events.emit(
            "looping",
            f"iteration {loop.iteration} of {loop.max_iterations}",
            iteration=loop.iteration,
            max_iterations=loop.max_iterations,
        )
