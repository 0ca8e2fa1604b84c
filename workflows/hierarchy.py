"""HierarchicalResearch: sub-teams research the parts of a question, their parent synthesizes.

A sub-team is a team of its own as a child workflow: its manager gives turns to its members, its judge judges
for the question of the sub-team, and what the judge misses goes back to the manager. It returns its best
attempt by score, not the latest. Parent and sub-teams exchange signals (budget, progress, a reviewer's
instructions), and a sub-team that fails leaves the others alone.
"""

from functools import partial

from temporalio import workflow

from activities.contracts.evidence import Frozen, StopReason
from activities.contracts.judge import JudgeAssessment
from workflows.context import ModeTraits
from workflows.handlers import ResearchHandlers
from workflows.part_state import PartState
from workflows.rules.stopping import LastStep, NextStep
from workflows.run import RunParts
from workflows.sections.research import SectionResearch
from workflows.state import RunState
from workflows.team import TEMPERATURES, Team
from workflows.types import Outcome, ResearchRequest

TRAITS_OF_SUB_TEAM = ModeTraits("hierarchical", single_section=True, temperatures=TEMPERATURES)


class Attempt(Frozen):
    """An attempt with what its judge said of it."""

    iteration: int
    judged: JudgeAssessment

    @property
    def score(self) -> tuple[float, float]:
        """Confidence first, then the mean of the criteria."""
        scores = self.judged.scores.values()
        return self.judged.confidence or 0.0, sum(scores) / len(scores) if scores else 0.0


class SubTeamState(PartState, defer_build=True):
    """The best attempt of a sub-team."""

    name = "sub_team"
    best: Attempt | None = None


@workflow.defn(sandboxed=False)
class HierarchicalResearch(ResearchHandlers):
    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = RunParts(request, state, ModeTraits("hierarchical"))
        self._teams = SectionResearch(self.research, "SubTeamResearch", "hierarchical")

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.research.run_to_completion(self._teams.answer, self._teams.conclude)


@workflow.defn(sandboxed=False)
class SubTeamResearch(ResearchHandlers):
    """A team over one part of the question; its best attempt is kept."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = RunParts(request, state, TRAITS_OF_SUB_TEAM)
        self._team = Team(self.research)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        research = partial(self.research.research_question, self._execute_round, self._team.decide)
        return await self.research.run_to_completion(research, self._conclude)

    async def _execute_round(self, step: NextStep) -> LastStep:
        """Return a round of the team; a judgement made in it is an attempt, of which the best is kept."""
        state = self.research.state
        before = state.loop.judged
        last_step = await self._team.execute_round(step)
        judged = state.loop.judged
        if judged is not None and judged is not before and not state.loop.judge_failures:
            part = state.part(SubTeamState)
            attempt = Attempt(iteration=state.loop.iteration, judged=judged)
            if part.best is None or attempt.score > part.best.score:  # the earlier one when they are equal
                part.best = attempt
        return last_step

    async def _conclude(self, stop: StopReason) -> Outcome:
        """Return the best attempt: its judgement, and what was relevant in it first."""
        state = self.research.state
        best = state.part(SubTeamState).best
        if best is not None and best.judged != state.loop.judged:
            state.loop.judged = best.judged
            state.evidence.relevant = list(best.judged.relevant)
            iteration, last = best.iteration, state.loop.iteration
            message = f"attempt {iteration} of {last} is kept: it has the best score"
            self.research.events.emit("best_attempt", message, attempt=iteration)
        return await self._team.conclude(stop)
