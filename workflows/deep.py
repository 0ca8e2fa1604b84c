"""DeepResearch: a plan, a person's approval, one child workflow a section, one report.

Invariants:

* results are keyed by section id, never by position;
* a section that fails or is cancelled leaves the others alone and is named in the report;
* sections spend only what the run's budget has leased to them, and what they leave is given to the others;
* every phase leaves its result in the state, so that continuing as new repeats none of them; it happens only
  while no section runs.
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.steps import Role
    from activities.types import StopReason
    from workflows.types import Outcome, ResearchRequest

from workflows.context import ModeTraits
from workflows.handlers import ResearchHandlers
from workflows.run import Run
from workflows.sections.coordinator import SectionCoordinator
from workflows.sections.drafting import SectionDrafting
from workflows.sections.research import SectionResearch
from workflows.sections.results import SectionResults
from workflows.state import RunState


@workflow.defn
class DeepResearch(ResearchHandlers):
    """Plan, approve, research the sections in parallel, write one report."""

    sections: SectionCoordinator

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = Run(request, state, ModeTraits("deep", self._writing_roles))
        self.sections = SectionCoordinator(self.research)
        results = SectionResults(self.research.context, self.research.events)
        self._drafting = SectionDrafting(self.research, results, self.sections)
        self._work = SectionResearch(self.research, self._drafting)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.research.run_to_completion(self._answer, self._work.conclude)

    def _writing_roles(self, _request: ResearchRequest, _state: RunState) -> tuple[Role, ...]:
        return self._drafting.calls_to_write()

    async def _answer(self) -> StopReason:
        """Plan, wait for approval of the plan if requested, and research every section."""
        await self.research.preparation.initialize()
        await self._work.make_plan()
        if not await self.research.gates.approval_gate("plan", "the plan waits for approval"):
            return "rejected_by_reviewer"
        return await self._work.research_all()
