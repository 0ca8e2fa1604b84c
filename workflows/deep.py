"""DeepResearch: a plan, a person's approval, one child workflow a section, one report.

Invariants:

* results are keyed by section id, never by position;
* a section that fails or is cancelled leaves the others alone and is named in the report;
* sections spend only what the run's budget has leased to them, and what they leave is given to the others;
* every phase leaves its result in the state, so that continuing as new repeats none of them; it happens only
  while no section runs.
"""

from temporalio import workflow

from workflows.context import ModeTraits
from workflows.handlers import ResearchHandlers
from workflows.run import RunParts
from workflows.sections.research import SectionResearch
from workflows.state import RunState
from workflows.types import Outcome, ResearchRequest


@workflow.defn(sandboxed=False)
class DeepResearch(ResearchHandlers):
    """Plan, approve, research the sections in parallel, write one report."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = RunParts(request, state, ModeTraits("deep"))
        self._work = SectionResearch(self.research)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.research.run_to_completion(self._work.answer, self._work.conclude)
