"""AutoResearch: read the question, choose the mode, and go on as that workflow under the same id.

The choice is one typed step. Continuing as new as another workflow type keeps the id, so that a person
watching sees one run; what was learned and what was said meanwhile is carried over.
"""

from typing import NoReturn

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.types import Mode, StopReason
    from workflows.types import Outcome, ResearchRequest

from workflows.conclude import Conclusion
from workflows.state import RunState


@workflow.defn
class AutoResearch(Conclusion):
    """The default mode: chooses between IterativeResearch and DeepResearch, and says why."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.begin(request, state)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.see_through(self.choose)

    async def choose(self) -> StopReason:
        """Choose a mode and go on as it. Only a cancel leads back here."""
        await self.get_ready()
        fitting = self.state.parsed.research_mode if self.state.parsed else "iterative"
        mode: Mode = fitting if self.request.mode == "auto" else self.request.mode
        why = self.state.chosen_because or "the simplest that serves"
        self.tell("mode", f"{mode} research: {why}", mode=mode)
        await self.go_on_as(mode)

    async def go_on_as(self, mode: Mode) -> NoReturn:
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(
            workflow="DeepResearch" if mode == "deep" else "IterativeResearch",
            args=[self.request.model_copy(update={"mode": mode}), self.state.carried()],
        )
