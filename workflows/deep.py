"""DeepResearch: a plan, a person's approval, one child workflow a section, one report.

Invariants:

* results are keyed by section id, never by position;
* a section that fails or is cancelled leaves the others alone and is named in the report;
* sections spend only what the run's budget has leased to them, and what they leave is given to the others;
* every phase leaves its result in the state, so that continuing as new repeats none of them; it happens only
  while no section runs.
"""

import asyncio

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.role_activities import ThinkActivities
    from activities.steps import PlanInput, Role
    from activities.types import ReportPlan, ReportPlanSection, StopReason
    from workflows.types import Outcome, ResearchRequest, SectionProgress

from workflows.context import ModeTraits
from workflows.handlers import ResearchHandlers
from workflows.run import Run
from workflows.sections.coordinator import SectionCoordinator
from workflows.sections.drafting import SectionDrafting
from workflows.sections.results import SectionResults
from workflows.state import RunState
from workflows.steps.failures import OutOfBudget
from workflows.steps.writing import NO_PAID_CALLS

PARALLEL_DRAFTS = "parallel-drafts"
"""Patch: sections are drafted at the same time and compared afterwards."""


@workflow.defn
class DeepResearch(ResearchHandlers):
    """Plan, approve, research the sections in parallel, write one report."""

    sections: SectionCoordinator

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = Run(request, state, ModeTraits("deep", self._writing_roles))
        self.sections = SectionCoordinator(self.research)
        self._results = SectionResults(self.research.context, self.research.events)
        self._drafting = SectionDrafting(self.research, self._results, self.sections)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        self._drafting.parallel = workflow.patched(PARALLEL_DRAFTS)
        return await self.research.run_to_completion(self._answer, self._conclude)

    def _writing_roles(self, _request: ResearchRequest, _state: RunState) -> tuple[Role, ...]:
        return self._drafting.calls_to_write()

    async def _answer(self) -> StopReason:
        """Plan, wait for approval of the plan if requested, and research every section."""
        await self.research.preparation.initialize()
        await self._make_plan()
        if not await self.research.gates.approval_gate("plan", "the plan waits for approval"):
            return "rejected_by_reviewer"
        return await self._research_sections()

    async def _make_plan(self) -> None:
        """Outline the report: sections with a key question each."""
        research, state = self.research, self.research.state
        if state.plan is not None:
            return
        await research.gates.checkpoint()
        research.events.set_phase("planning", "outlining the report")
        assert state.parsed is not None
        question, most = research.request.question, research.request.limits.max_sections
        step = PlanInput(**research.context.step_inputs(), parsed=state.parsed, max_sections=most)
        empty = ReportPlan(report_title=question)
        planner = ThinkActivities.plan_report
        try:
            plan = await research.models.execute("planner", planner, step, empty)
        except OutOfBudget as error:
            spent = "time" if error.reason == "timeout" else "budget"
            research.events.add_limitation("planned_without_model", used_up=spent)
            plan = await research.models.execute("planner", planner, step, empty, use_model=False)
        outline = plan.report_outline[:most] or (ReportPlanSection(title="Findings", key_question=question),)
        research.context.adopt_plan(
            ReportPlan(
                report_title=plan.report_title or question,
                background_context=plan.background_context,
                report_outline=outline,
            )
        )
        research.events.emit_event(
            "planned", f"{len(outline)} sections", sections=len(outline), plan_hash=state.plan_hash
        )

    async def _research_sections(self) -> StopReason:
        """One child a section, at most `max_parallel_sections` at once; drafting begins meanwhile."""
        research, state = self.research, self.research.state
        outline = research.context.outline
        if research.context.history_is_long():
            await research.context.continue_as_new()
        await research.gates.checkpoint()
        research.events.set_phase("researching", f"{len(outline)} sections")
        for section in outline:
            state.sections.setdefault(section.id, SectionProgress(id=section.id, title=section.title))
        waiting = [section for section in outline if section.id not in state.findings]
        research.models.reserve_for_writing()
        self.sections.divide_budget(len(waiting))
        slots = asyncio.Semaphore(research.request.limits.max_parallel_sections)
        tasks = [asyncio.create_task(self._research_section(section, slots)) for section in waiting]
        tasks.append(asyncio.create_task(self._drafting.draft_in_order_while_researching()))
        try:
            await asyncio.gather(*tasks)
        except (asyncio.CancelledError, FailureError) as error:
            # A child that is being cancelled still returns what it found. A draft that is cancelled in its
            # activity raises the activity's error.
            if is_cancelled_exception(error):
                state.control.cancelled = True
                await workflow.wait(tasks)
            raise
        return self._results.overall_stop()

    async def _research_section(self, section: ReportPlanSection, slots: asyncio.Semaphore) -> None:
        """One section, from its slot to its findings. Its failure does not affect the others."""
        async with slots:
            await self.research.gates.checkpoint()
            left = self.research.context.research_seconds()
            if self.research.state.control.finish or (left is not None and left <= 0):
                self._results.skip(section, "timeout" if left == 0 else "finished_by_reviewer")
                return
            try:
                outcome = await self.sections.run_section(section)
            except FailureError as error:
                self._results.accept_failure(section, error)
            else:
                self._results.accept(section, outcome)
            await self.sections.serve_requests()
        await self._drafting.draft_when_done(section)

    async def _conclude(self, stop: StopReason) -> Outcome:
        """Name candidates, draft every section, publish."""
        use_model = stop not in NO_PAID_CALLS
        self._results.rank_relevant()
        await self.research.candidates.settle(use_model)
        await self._drafting.draft_all(use_model)
        await self.research.events.store_older_events()
        drafts = self.research.state.drafts
        sections = tuple(drafts[section.id] for section in self.research.context.outline)
        return await self.research.publisher.release(sections, stop, self._results.confidence())
