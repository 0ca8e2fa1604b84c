"""The research of a report with sections: outline it, then one child workflow a section, all at once."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import FailureError

from activities.contracts.evidence import UNPLANNED, Mode, ReportPlan, ReportPlanSection
from activities.contracts.plan import PlanInput
from activities.contracts.stop_reasons import STOPS, StopReason
from activities.messages import plural
from activities.role_calls import PLAN
from workflows.context import RunPart
from workflows.run import RunParts
from workflows.sections.coordinator import SectionCoordinator
from workflows.sections.drafting import SectionDrafting, SectionResults
from workflows.steps.policy import OutOfBudget, run_all
from workflows.types import Outcome, SectionProgress


class SectionResearch(RunPart):
    """Plans the sections of a run, researches them in parallel, and publishes what they found."""

    def __init__(
        self, run: RunParts, child_workflow: str = "IterativeResearch", child_mode: Mode = "iterative"
    ) -> None:
        """`child_workflow` researches a section, as a run of the mode `child_mode`."""
        super().__init__(run)
        self.sections = SectionCoordinator(run, child_workflow, child_mode)
        self.results = SectionResults(run)
        self.drafting = SectionDrafting(run, self.results)
        run.sections, run.calls_to_write = self.sections, self.drafting.calls_to_write

    async def answer(self) -> StopReason:
        """Outline the report, wait for approval of the plan if requested, and research every section."""
        await self.run.preparation.initialize()
        await self.make_plan()
        if not await self.gates.approval_gate("plan", "the plan waits for approval"):
            return "rejected_by_reviewer"
        return await self.research_all()

    async def make_plan(self) -> None:
        """Outline the report: sections with a key question each."""
        run, state = self.run, self.state
        if state.question.plan is not None:
            return
        await run.gates.checkpoint()
        run.events.set_phase("planning", "outlining the report")
        assert state.question.parsed is not None
        question, limit = run.context.run_question, run.request.limits.max_sections
        step = PlanInput(
            **run.context.step_inputs(),
            parsed=state.question.parsed,
            sources=run.searches.sources(),
            max_sections=limit,
        )
        try:
            plan = await run.models.execute(PLAN, step)
        except OutOfBudget as error:
            resource = "time" if error.reason == "timeout" else "budget"
            run.events.add_limitation("planned_without_model", used_up=resource)
            plan = await run.models.execute(PLAN, step, use_model=False)
        outline = plan.report_outline[:limit] or (ReportPlanSection(title=UNPLANNED, key_question=question),)
        run.context.adopt_plan(
            ReportPlan(
                report_title=plan.report_title or question,
                background_context=plan.background_context,
                report_outline=outline,
            )
        )
        run.events.emit(
            "planned",
            plural(len(outline), "section"),
            sections=len(outline),
            plan_hash=state.question.plan_hash,
        )

    async def research_all(self) -> StopReason:
        """One child a section, at most `max_parallel_sections` at once."""
        run, state, outline = self.run, self.state, self.context.outline
        if run.context.history_is_long():
            await run.context.continue_as_new()
        await run.gates.checkpoint()
        run.events.set_phase("researching", plural(len(outline), "section"))
        for section in outline:
            state.sections.progress.setdefault(
                section.id, SectionProgress(id=section.id, title=section.title)
            )
        sections = [section for section in outline if section.id not in state.sections.findings]
        run.models.reserve_for_writing()
        self.sections.divide_budget(len(sections))
        slots = asyncio.Semaphore(run.request.limits.max_parallel_sections)
        tasks = [asyncio.create_task(self._research(section, slots)) for section in sections]
        try:
            await workflow.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        except asyncio.CancelledError:
            # A child that is cancelled still returns what it found; no draft is begun of that.
            state.people.cancelled = True
            run.gates.end_pause()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        for task in tasks:
            if task.done():
                task.result()
        return self.results.overall_stop()

    async def _research(self, section: ReportPlanSection, slots: asyncio.Semaphore) -> None:
        """One section, from its slot to its findings. Its failure does not affect the others."""
        async with slots:
            await self.gates.checkpoint()
            if self.context.must_end:
                stop: StopReason = "timeout" if self.context.is_out_of_time else "finished_by_reviewer"
                self.results.skip(section, stop)
                return
            try:
                outcome = await self.sections.run_section(section)
            except FailureError as error:
                self.results.accept_failure(section, error)
            else:
                self.results.accept(section, outcome)
            if not self.state.people.cancelled:
                await self.sections.serve_requests()

    async def conclude(self, stop: StopReason) -> Outcome:
        """Name candidates, draft every section, publish."""
        use_model = STOPS[stop].pays
        self.results.rank_relevant()
        await self.run.parts.act("before_writing", use_model)
        await self.drafting.draft_all(use_model)
        await self.events.store_older_events()
        if self.state.draft.edited is None:
            await self.drafting.boundary(use_model)
        writing, names = self.run.writing, [section.id for section in self.context.outline]
        part_steps = self.run.parts.beside_writing(use_model)
        await run_all((writing.finish(names, use_model), *part_steps))
        await self.run.parts.act("before_publishing", use_model)
        sections = tuple(self.state.draft.sections[name] for name in names)
        return await self.run.publisher.release(sections, stop, self.state.sections.confidence)
