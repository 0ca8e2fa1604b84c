"""AutoResearch: read the question, choose the mode, and go on as that workflow under the same id.

The choice is one typed step. Continuing as new as another workflow type keeps the id, so that a person
watching sees one run; what was learned and what was said meanwhile is carried over.
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from workflows.conduct import Conductor, OutOfBudget
    from workflows.state import RunState
    from workflows.types import Outcome, ResearchRequest


@workflow.defn
class AutoResearch(Conductor):
    """The default mode: chooses between IterativeResearch and DeepResearch, and says why."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        # the SDK leaves plain JSON as it is when an optional argument is not sent
        self.request = ResearchRequest.model_validate(request)
        self.state = state or RunState()
        self.state.loop.max_iterations = self.budget_ledger.limits.max_iterations

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        mode = "iterative"
        try:
            await self.get_ready()
            assert self.state.parsed is not None
            mode = self.state.parsed.research_mode
        except OutOfBudget as error:
            self.state.loop.refused = error.reason
        self.tell(
            "mode", f"{mode} research: {self.state.chosen_because or 'the simplest that serves'}", mode=mode
        )
        await workflow.wait_condition(workflow.all_handlers_finished)
        self.state.carry()
        workflow.continue_as_new(
            workflow="DeepResearch" if mode == "deep" else "IterativeResearch",
            args=[self.request.model_copy(update={"mode": mode}), self.state],
        )
