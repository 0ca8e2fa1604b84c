"""The workflow of the mode `one_round`: the question is searched once, and its works are judged."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from determinator import (
        ModeTraits,
        Outcome,
        OutOfBudget,
        ResearchHandlers,
        ResearchRequest,
        RunParts,
        RunState,
        StopReason,
    )


@workflow.defn
class OneRound(ResearchHandlers):
    """One round of searches and one judgement."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = RunParts(request, state, ModeTraits("one_round", single_section=True))

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.research.run_to_completion(self._answer, self.research.conclude_single_section)

    async def _answer(self) -> StopReason:
        research = self.research
        await research.preparation.initialize()
        if not await research.approve_single_section_plan():
            return "rejected_by_reviewer"
        try:
            await research.loop.begin_iteration()
            research.state.loop.gaps = (research.context.question,)
            for step in (research.steps.select_tools, research.steps.search, research.judging.judge):
                await research.gates.checkpoint()
                await step()
        except OutOfBudget as error:
            return error.reason
        return "searched_out"
