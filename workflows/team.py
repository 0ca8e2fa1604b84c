"""TeamResearch: a manager gives turns to a searcher, a hypothesizer and a judge; the reporter writes.

Each round asks the manager for its ledger, and code decides how to apply it (`workflows.rules.team`). Every
exit ends in the reporter's turn. Without a model the manager is a fixed rotation.
"""

from collections.abc import Mapping

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.role_activities import ThinkActivities
    from activities.steps import ManagerInput, Member, Role, TeamLedger, TeamTurn
    from activities.types import StopReason
    from workflows.types import Outcome, ResearchRequest

from workflows.context import ModeTraits
from workflows.handlers import ResearchHandlers
from workflows.rules.stopping import NextStep
from workflows.rules.team import Turn, apply_ledger, decide_round
from workflows.run import Run
from workflows.state import RunState

MEMBERS: Mapping[Member, str] = {
    "searcher": "searches the sources for what the manager asks",
    "hypothesizer": "names drugs with target, pathway and effect from the evidence",
    "judge": "scores the evidence and names gaps",
    "reporter": "writes the report; only when the judge found the evidence sufficient",
}
TEMPERATURES: Mapping[Role, float] = {
    "manager": 0.2,
    "tool_selector": 0.3,
    "hypothesis_generator": 0.7,
    "judge": 0.0,
    "writer": 0.2,
}
"""Sampling temperature of each member; a model that accepts none is not sent one."""
TRAITS = ModeTraits("team", single_section=True, temperatures=TEMPERATURES)


@workflow.defn
class TeamResearch(ResearchHandlers):
    """A managed team over one question."""

    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = Run(request, state, TRAITS)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.research.run_to_completion(self._answer, self._conclude)

    async def _answer(self) -> StopReason:
        await self.research.preparation.initialize()
        if not await self.research.approve_single_section_plan():
            return "rejected_by_reviewer"
        return await self.research.loop.run(self._execute_round, self._decide)

    def _decide(self) -> NextStep:
        """Whether there is another round."""
        state = self.research.state
        return decide_round(state.loop, state.team, self.research.context.profile)

    async def _execute_round(self, _: NextStep) -> None:
        """One round: the manager's ledger, then the turn of the member that code lets work."""
        state = self.research.state
        ledger = await self._ask_manager()
        state.team, turn = apply_ledger(ledger, state.team, state.loop)
        if turn.member is None:
            message = "the plan is made again, and the facts are kept"
            self.research.events.emit_event("replanning", message, resets=state.team.resets)
            return
        await self.research.gates.checkpoint()
        if self._must_end():
            return
        self._announce(turn, turn.member)
        result, new = await self._execute_turn(turn.member, turn.instruction)
        state.team = state.team.with_turn(
            TeamTurn(
                round=state.loop.iteration,
                member=turn.member,
                instruction=turn.instruction,
                result=result,
                new=new,
            )
        )

    async def _ask_manager(self) -> TeamLedger:
        """The manager's ledger for this round."""
        research, state, team = self.research, self.research.state, self.research.state.team
        research.events.set_phase("planning", f"the manager plans round {state.loop.iteration}")
        judged = state.loop.judged
        step = ManagerInput(
            **research.context.step_inputs(),
            round=state.loop.iteration,
            members=dict(MEMBERS),
            facts=team.facts,
            plan=team.plan,
            replan=team.replan,
            turns=tuple(team.turns),
            found=len(state.evidence),
            unjudged=state.loop.unjudged,
            judged_gaps=judged.gaps if judged else (),
        )
        state.steering_read = state.control.steered
        no_turn = TeamLedger(facts=team.facts, plan=team.plan)
        ledger = await research.models.execute("manager", ThinkActivities.manage_team, step, no_turn)
        research.events.emit_event(
            "managed",
            f"{ledger.next_speaker or 'no member'}: {ledger.instruction}",
            next_speaker=ledger.next_speaker,
            instruction=ledger.instruction,
        )
        return ledger

    def _must_end(self) -> bool:
        """Whether a reviewer asked to finish or the time was used up while the manager was asked."""
        left = self.research.context.research_seconds()
        return self.research.state.control.finish or (left is not None and left <= 0)

    def _announce(self, turn: Turn, member: Member) -> None:
        self.research.events.emit_event(
            "turn",
            f"{member}: {turn.instruction}",
            member=member,
            instruction=turn.instruction,
            overruled=turn.overruled,
        )

    async def _execute_turn(self, member: Member, instruction: str) -> tuple[str, bool]:
        """A member's turn: its result in a few words, and whether that was anything new."""
        match member:
            case "searcher":
                return await self._search(instruction)
            case "hypothesizer":
                return await self._form_hypotheses()
            case "judge" | "reporter":
                return await self._judge()

    async def _search(self, instruction: str) -> tuple[str, bool]:
        research, loop = self.research, self.research.state.loop
        gaps = loop.judged.gaps if loop.judged else ()
        wanted = dict.fromkeys((instruction or research.context.question, *gaps))
        loop.gaps = tuple(wanted)[: research.request.limits.max_gaps]
        await research.steps.select_tools()
        if not research.state.tasks:
            return "no search is left that has not been made", False
        await research.steps.search(reflect=False)
        return f"{loop.new_evidence} new items from {loop.tasks} searches", loop.new_evidence > 0

    async def _form_hypotheses(self) -> tuple[str, bool]:
        new = await self.research.candidates.form_hypotheses()
        return f"{new} new hypotheses", new > 0

    async def _judge(self) -> tuple[str, bool]:
        loop = self.research.state.loop
        await self.research.steps.judge(observe_ahead=False)
        if loop.judge_failures or loop.judged is None:
            return "the judge did not answer", False
        return f"confidence {loop.judged.confidence:.2f}; {len(loop.judged.gaps)} gaps", True

    async def _conclude(self, stop: StopReason) -> Outcome:
        """The reporter's turn: candidates, the report, its release."""
        team = self.research.state.team
        if team.last is None or team.last.member != "reporter":
            text = stop.replace("_", " ")
            turn = TeamTurn(round=self.research.state.loop.iteration, member="reporter", result=text)
            self.research.events.emit_event("turn", f"reporter: {text}", member="reporter")
            self.research.state.team = team.with_turn(turn)
        return await self.research.conclude_single_section(stop)
