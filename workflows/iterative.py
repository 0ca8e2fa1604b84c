"""IterativeResearch: observe, evaluate gaps, select tools, search, judge, until code decides to write.

It runs on its own, and as the child of a deep run (`state.job` is set): then it returns findings instead of a
report, and asks its parent for budget when its lease is used up.
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.steps import Role
    from activities.types import StopReason
    from workflows.types import Outcome, ResearchRequest

from workflows.context import ModeTraits
from workflows.handlers import ResearchHandlers
from workflows.rules.stopping import NextStep, decide_next
from workflows.run import Run
from workflows.state import RunState
from workflows.steps.failures import OutOfBudget


def _writing_roles(_request: ResearchRequest, _state: RunState) -> tuple[Role, ...]:
    return ("writer",)


TRAITS = ModeTraits("iterative", _writing_roles, single_section=True)


@workflow.defn
class IterativeResearch(ResearchHandlers):
    """One search-judge loop over one question."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = Run(request, state, TRAITS)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.research.run_to_completion(self._answer, self.research.conclude_single_section)

    async def _answer(self) -> StopReason:
        """Parse the question, wait for approval if requested, and research it."""
        await self.research.preparation.initialize()
        if not await self.research.approve_single_section_plan():
            return "rejected_by_reviewer"
        return await self._loop()

    async def _loop(self) -> StopReason:
        """Decide and execute the next step, until the decision is to write."""
        research = self.research
        while True:
            await research.gates.checkpoint()
            step = self._decide()
            if step.stop is not None:
                research.events.emit_event("stopping", step.reason, stop_reason=step.stop)
                return step.stop
            if step.step == "observe":
                await self._begin_iteration()
            await self._execute_step(step)

    def _decide(self) -> NextStep:
        """Update the loop's state and decide."""
        state, left = self.research.state, self.research.context.research_seconds()
        loop, control = state.loop, state.control
        loop.finish, loop.cancelled = control.finish, control.cancelled
        loop.out_of_time = left is not None and left <= 0
        loop.evidence = len(state.evidence)
        loop.unread_steering = control.steered - state.steering_read
        return decide_next(loop, self.research.context.profile)

    async def _begin_iteration(self) -> None:
        """The boundary between two iterations: continue as new here when the history has grown long."""
        context, loop = self.research.context, self.research.state.loop
        if context.history_is_long() and loop.iteration > 0:
            await context.continue_as_new()
        loop.last, loop.iteration = "start", loop.iteration + 1
        loop.tasks, loop.statuses, loop.new_evidence = 0, (), 0
        context.budget.iterations = loop.iteration
        self.research.events.emit_event("iteration", f"iteration {loop.iteration} of {loop.max_iterations}")
        self.research.parent.report_progress()

    async def _execute_step(self, step: NextStep) -> None:
        """Execute one step of the loop. A budget that is used up is a reason to stop, not an error."""
        steps = self.research.steps
        try:
            match step.step:
                case "observe":
                    await steps.observe()
                case "evaluate_gaps":
                    await steps.evaluate_gaps()
                case "select_tools":
                    await steps.select_tools()
                case "search":
                    await steps.search()
                case "judge":
                    await steps.judge()
                case "write":
                    return
        except OutOfBudget as error:
            self.research.state.loop.refused = error.reason
