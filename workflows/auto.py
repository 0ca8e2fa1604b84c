"""AutoResearch: parse the question, choose the mode, and go on as the workflow of that mode.

The choice is one typed step.
"""

from temporalio import workflow

from activities.contracts.evidence import Mode, StopReason
from workflows.context import ModeTraits
from workflows.handlers import ResearchHandlers
from workflows.modes import AUTO, MODES, WORKFLOW_OF_MODE, class_at
from workflows.run import RunParts
from workflows.state import RunState
from workflows.steps.prepare import settled_mode
from workflows.types import Outcome, ResearchRequest

REASON_GRAPH = "a graph was given"


class Chosen(Exception):
    """The mode is chosen: the run goes on as the request says."""

    def __init__(self, request: ResearchRequest) -> None:
        super().__init__()
        self.request = request


@workflow.defn(sandboxed=False)
class AutoResearch(ResearchHandlers):
    """The default mode: chooses between the other modes and states the reason."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = RunParts(request, state, ModeTraits(None))

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        request = self.research.request
        if request.mode == AUTO:
            try:
                return await self.research.run_to_completion(
                    self._choose, self.research.conclude_single_section
                )
            except Chosen as chosen:
                request = chosen.request
        return await self._run_as(request)

    async def _choose(self) -> StopReason:
        """Choose a mode. Raises Chosen; only a cancel ends the run here."""
        await self.research.preparation.initialize()
        question, request = self.research.state.question, self.research.request
        fitting_mode = question.parsed.research_mode if question.parsed else "iterative"
        mode: Mode = settled_mode(request) or fitting_mode
        if request.graph is not None:
            question.chosen_because = REASON_GRAPH
        reason = question.chosen_because or "the simplest mode that fits"
        # then the event `read` has stated it
        is_stated = question.parsed is not None and reason == question.parsed.rationale
        message = f"{mode} research" if is_stated else f"{mode} research: {reason}"
        self.research.events.emit("mode_chosen", message, mode=mode, reason=reason)
        raise Chosen(self._with_defaults(mode).replace(mode=mode))

    async def _run_as(self, request: ResearchRequest) -> Outcome:
        """Go on as the workflow of the chosen mode: it runs here, with the same state.

        A graph answers a query of its own, and a mode of another package needs the sandbox: they continue as
        new.
        """
        state, location = self.research.state, MODES[request.mode].location.split()
        if request.mode == "graph" or not location:
            await workflow.wait_condition(workflow.all_handlers_finished)
            workflow.continue_as_new(workflow=WORKFLOW_OF_MODE[request.mode], args=[request, state.pack()])
        mode = class_at(location[0])(request, state)
        self.research = mode.research
        outcome: Outcome = await mode.run(request, state)
        return outcome

    def _with_defaults(self, mode: Mode) -> ResearchRequest:
        """Return the request with the mode's own defaults for limits that the user did not set.

        What was added to the budget meanwhile stays added.
        """
        request, budget = self.research.request, self.research.context.budget
        defaults = {
            name: value for name, value in MODES[mode].defaults.items() if name in request.open_limits
        }
        extra = budget.limits.max_iterations - request.limits.max_iterations
        limits = request.limits.model_copy(update=defaults)
        budget.limits = budget.limits.model_copy(
            update={**defaults, "max_iterations": limits.max_iterations + extra}
        )
        return request.replace(limits=limits, open_limits=())
