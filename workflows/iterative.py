"""IterativeResearch: observe, evaluate gaps, select tools, search, judge, until code decides to write.

It runs on its own, and as the child of a deep run: then it returns findings instead of a report, and asks its
parent for budget when its lease is used up.
"""

from functools import partial

from temporalio import workflow

from workflows.context import ModeTraits
from workflows.handlers import ResearchHandlers
from workflows.rules.stopping import LastStep, NextStep
from workflows.run import RunParts
from workflows.state import RunState
from workflows.types import Outcome, ResearchRequest

TRAITS = ModeTraits("iterative", single_section=True)


@workflow.defn(sandboxed=False)
class IterativeResearch(ResearchHandlers):
    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = RunParts(request, state, TRAITS)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        research = partial(self.research.research_question, self._execute_step)
        return await self.research.run_to_completion(research, self.research.conclude_single_section)

    async def _execute_step(self, decision: NextStep) -> LastStep:
        """Execute a step, and return the last one done: known searches are a choice of tools."""
        steps = self.research.steps
        match decision.step:
            case "observe":
                if await steps.select_known_searches():
                    return "select_tools"
                await steps.observe()
            case "evaluate_gaps":
                await steps.evaluate_gaps()
            case "select_tools":
                await steps.select_tools()
            case "search":
                await steps.search()
            case "judge":
                await self.research.judging.judge()
                await self.research.parts.act("after_judging", use_model=True)
            case "write":
                raise AssertionError("the loop ends before it writes")
        return decision.step
