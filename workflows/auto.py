"""AutoResearch: parse the question, choose the mode, and continue as that workflow under the same id.

The choice is one typed step. Continuing as new as another workflow type keeps the id, so that a person who
follows the run sees one run; the state is carried over.
"""

from temporalio import workflow

from activities.contracts.evidence import Mode, StopReason
from workflows.context import ModeTraits
from workflows.event_types import ModeChosen
from workflows.handlers import ResearchHandlers
from workflows.modes import MODES, WORKFLOW_OF_MODE
from workflows.run import RunParts
from workflows.state import RunState
from workflows.steps.prepare import settled_mode
from workflows.types import Outcome, ResearchRequest

REASON_GRAPH = "a graph was given"


@workflow.defn(sandboxed=False)
class AutoResearch(ResearchHandlers):
    """The default mode: chooses between the other modes and states the reason."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = RunParts(request, state, ModeTraits(None))

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.research.run_to_completion(self._choose, self.research.conclude_single_section)

    async def _choose(self) -> StopReason:
        """Choose a mode and continue as its workflow. Only a cancel ends the run here."""
        await self.research.preparation.initialize()
        state, request = self.research.state, self.research.request
        fitting = state.question.parsed.research_mode if state.question.parsed else "iterative"
        mode: Mode = settled_mode(request) or fitting
        if request.graph is not None:
            state.question.chosen_because = REASON_GRAPH
        reason = state.question.chosen_because or "the simplest mode that fits"
        read = (
            state.question.parsed is not None and reason == state.question.parsed.rationale
        )  # then `read` has stated it
        message = f"{mode} research" if read else f"{mode} research: {reason}"
        self.research.events.emit(ModeChosen(mode=mode, reason=reason), message)
        request = self._with_defaults(mode)
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(
            workflow=WORKFLOW_OF_MODE[mode],
            args=[request.replace(mode=mode), state.carried()],
        )

    def _with_defaults(self, mode: Mode) -> ResearchRequest:
        """The request with the mode's own defaults for limits that the user did not set; what was added to
        the budget meanwhile stays added."""
        request, budget = self.research.request, self.research.context.budget
        own = {name: value for name, value in MODES[mode].defaults.items() if name in request.open_limits}
        added = budget.limits.max_iterations - request.limits.max_iterations
        limits = request.limits.model_copy(update=own)
        budget.limits = budget.limits.model_copy(
            update={**own, "max_iterations": limits.max_iterations + added}
        )
        return request.replace(limits=limits, open_limits=())
