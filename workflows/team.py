"""TeamResearch: a manager gives turns to a searcher, a hypothesizer and a judge; the reporter writes.

Each round asks the manager for its ledger, and code decides how to apply it. Every exit ends in
the reporter's turn. Without a model the manager is a fixed rotation.

The manager proposes, code decides: the profile says whether the evidence suffices, code counts whether a turn
found anything, and a member has a turn only when there is something for it to work on. A manager that makes
false claims, repeats itself or names no member can therefore waste rounds, and neither end the research nor
prolong it. These rules are pure.
"""

from collections.abc import Mapping
from functools import partial
from typing import Literal

from pydantic import Field
from temporalio import workflow

from activities.contracts.bounds import within
from activities.contracts.evidence import Frozen, StopReason
from activities.contracts.judge import JudgeAssessment
from activities.contracts.plan import ManagerInput, TeamLedger, TeamTurn
from activities.contracts.profile import Profile
from activities.contracts.step import Member, Role
from activities.messages import plural
from activities.profiles.loader import GENERAL, specialists_of
from activities.role_calls import MANAGE
from workflows.context import ModeTraits, RunPart
from workflows.handlers import ResearchHandlers
from workflows.part_state import AnalysisState, CandidatesState, PartState
from workflows.rules.stopping import LastStep, LoopState, NextStep, all_failed, forced_end, judged_end, write
from workflows.run import RunParts
from workflows.state import RunState
from workflows.steps.writing import JUDGEMENTS_ROOM
from workflows.types import Outcome, ResearchRequest

MAX_STALLS = 3
"""Rounds without progress after which the plan is made again."""
MAX_RESETS = 2
"""How often the plan is made again."""
MAX_TURNS = 12


class TeamState(PartState, defer_build=True):
    """The task ledger and what the rounds have come to; carried over when the run continues as new."""

    name = "team"
    plan: tuple[str, ...] = ()
    turns: list[TeamTurn] = Field(default_factory=list)
    """The latest, oldest first."""
    stalls: int = 0
    resets: int = 0
    report_instruction: str = ""
    """The last thing that the manager asked of the reporter."""
    replan: bool = True
    """True when the manager is asked for a plan in the next round."""

    @property
    def last(self) -> TeamTurn | None:
        """The turn before this round; None in the first."""
        return self.turns[-1] if self.turns else None

    def with_turn(self, turn: TeamTurn) -> "TeamState":
        return self.model_copy(update={"turns": [*self.turns, turn][-MAX_TURNS:]})


class Turn(Frozen):
    """The member that works in this round; empty when the plan is to be made again first."""

    member: Member | None
    instruction: str = ""
    overruled: Literal["", "not_sufficient", "nothing_to_work_on", "not_judged", "nobody_named"] = ""
    """Why it is not the member that the manager named."""


def decide_round(loop: LoopState, team: TeamState, profile: Profile) -> NextStep:
    """Decide on another round (`observe`) or on the report, and say why."""
    stop = forced_end(loop)
    if stop is not None:
        return stop
    last = team.last.member if team.last else None
    if last == "searcher" and all_failed(loop.statuses):
        return write("all_sources_failed", "every search of this round failed")
    is_current = not loop.judge_failures and not loop.unread_steering
    if last == "judge" and is_current and (stop := judged_end(profile, loop.judged, loop.gained)):
        return stop
    if team.resets > MAX_RESETS:
        return write(
            "no_new_evidence", f"the plan was made again {MAX_RESETS} times and nothing new came of it"
        )
    if loop.iteration >= loop.max_iterations:
        return write("max_iterations_reached", f"{loop.max_iterations} rounds are used up")
    return NextStep(step="observe", reason="another round begins")


def apply_ledger(ledger: TeamLedger, team: TeamState, loop: LoopState) -> tuple[TeamState, Turn]:
    """Return the state after the manager's decision, and the turn that follows from it."""
    is_early = ledger.satisfied or ledger.next_speaker == "reporter"
    has_nothing_new = team.last is not None and not team.last.new
    is_stalled = is_early or ledger.looping or not ledger.progress or has_nothing_new
    stalls = team.stalls + 1 if is_stalled else max(team.stalls - 1, 0)
    new_team = team.model_copy(
        update={
            "plan": ledger.plan,
            "stalls": stalls,
            "replan": False,
            # for the report, if it comes next: it does not outlast what is asked of another member
            "report_instruction": ledger.instruction if ledger.next_speaker == "reporter" else "",
        }
    )
    if stalls >= MAX_STALLS:
        changes = {"stalls": 0, "resets": team.resets + 1, "replan": True, "plan": ()}
        return new_team.model_copy(update=changes), Turn(member=None)
    return new_team, _turn(ledger, team, loop)


def _turn(ledger: TeamLedger, team: TeamState, loop: LoopState) -> Turn:
    """Return the member that works: the one that was named, unless it has nothing to work on.

    What the manager wrote for one member is not given to another.
    """
    choice, busy = ledger.next_speaker, _busy_member(loop)
    is_last_round = loop.iteration >= loop.max_iterations
    has_unjudged = loop.unjudged > 0 and (is_last_round or (team.last is not None and not team.last.new))
    if has_unjudged and choice != "judge":
        return Turn(member="judge", overruled="not_judged")
    if not choice:
        return Turn(member=busy, instruction=ledger.instruction, overruled="nobody_named")
    if choice == "reporter":
        return Turn(member=busy, overruled="not_sufficient")
    is_idle = (choice == "judge" and not loop.unjudged) or (choice == "hypothesizer" and not loop.evidence)
    if choice == "analyst":
        is_idle = loop.judged is None or not loop.judged.relevant
    if is_idle:
        return Turn(member=busy, overruled="nothing_to_work_on")
    return Turn(member=choice, instruction=ledger.instruction)


def _busy_member(loop: LoopState) -> Member:
    """Return the member that has something to work on.

    The judge while evidence is not judged, else the searcher.
    """
    return "judge" if loop.unjudged else "searcher"


MEMBERS: Mapping[Member, str] = {
    "searcher": "searches the sources for what the manager asks",
    "hypothesizer": "names drugs with target, pathway and effect from the evidence",
    "judge": "scores the evidence and names gaps",
    "analyst": "pools the effects that the judged works report and gives a verdict from their numbers",
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
MAX_TITLES = 40
"""Works that the manager is told of."""
TRAITS = ModeTraits("team", single_section=True, temperatures=TEMPERATURES)


class Team(RunPart):
    """A manager, its members and their rounds over one question."""

    @property
    def team(self) -> TeamState:
        return self.state.part(TeamState)

    def decide(self, last_step: LastStep) -> NextStep:
        return decide_round(self.state.loop, self.team, self.context.profile)

    async def execute_round(self, step: NextStep) -> LastStep:
        """One round: the manager's ledger, then the turn of the member that code lets work."""
        state = self.state
        ledger = await self._ask_manager()
        state.evidence.facts = ledger.facts
        team, turn = apply_ledger(ledger, self.team, state.loop)
        state.set_part(team)
        if turn.member is None:
            message = "the plan is made again, and the facts are kept"
            self.events.emit("replanning", message, resets=team.resets)
            return "observe"
        await self.gates.checkpoint()
        if self.context.must_end:
            return "observe"
        self.events.emit(
            "turn",
            f"{turn.member}: {turn.instruction}",
            member=turn.member,
            instruction=turn.instruction,
            overruled=turn.overruled,
        )
        result, new = await self._execute_turn(turn.member, turn.instruction)
        team_turn = TeamTurn(
            round=state.loop.iteration,
            member=turn.member,
            instruction=turn.instruction,
            result=result,
            new=new,
        )
        state.set_part(team.with_turn(team_turn))
        return "observe"

    async def _ask_manager(self) -> TeamLedger:
        run, state, team = self.run, self.state, self.team
        run.events.set_phase("planning", f"the manager plans round {state.loop.iteration}")
        assessment = state.loop.judged
        step = ManagerInput(
            **run.context.step_inputs(facts=()),  # they are a field of their own
            round=state.loop.iteration,
            members=self._members(),
            facts=state.evidence.facts,
            plan=team.plan,
            replan=team.replan,
            turns=tuple(team.turns),
            found=len(state.evidence.refs),
            unjudged=state.loop.unjudged,
            judged_gaps=assessment.gaps if assessment else (),
            judged_reasons=_reasons(assessment) if assessment else "",
            judgements=within(run.judging.judgements(), JUDGEMENTS_ROOM),
            titles={ref.evidence_id: ref.title for ref in state.evidence.ranked_refs[:MAX_TITLES]},
            hypotheses=tuple(state.part(CandidatesState).hypotheses),
        )
        state.loop.steering_read = state.people.steered
        ledger = await run.models.execute(MANAGE, step)
        run.events.emit(
            "managed",
            f"{ledger.next_speaker or 'no member'}: {ledger.instruction}",
            next_speaker=ledger.next_speaker,
            instruction=ledger.instruction,
        )
        return ledger

    def _members(self) -> dict[Member, str]:
        """Return the members with what each does.

        The analyst where effects are analysed, and the specialists that have a source of their own here.
        """
        run = self.run
        names = {s.info.name for s in run.context.prepared.sources if s.enabled}
        specialists = specialists_of(run.context.profile).values()
        return {
            **{name: does for name, does in MEMBERS.items() if name != "analyst" or run.request.analyse},
            **{
                specialist.name: specialist.does
                for specialist in specialists
                if names.intersection(specialist.sources)
            },
        }

    async def _execute_turn(self, member: Member, instruction: str) -> tuple[str, bool]:
        """Return a member's turn: its result in a few words, and whether that was anything new."""
        self.context.instruction = instruction
        try:
            match member:
                case "hypothesizer":
                    new = await self.run.parts.candidates.form_hypotheses()
                    return f"{new} new hypotheses", new > 0
                case "analyst":
                    before = self.state.part(AnalysisState).done
                    result = await self.run.parts.analysis.analyse_now()
                    return result, self.state.part(AnalysisState).done != before
                case "judge" | "reporter":
                    return await self._judge()
                case _:
                    self.context.member = GENERAL if member == "searcher" else member
                    return await self._search(instruction)
        finally:
            self.context.instruction = self.context.member = ""

    async def _search(self, instruction: str) -> tuple[str, bool]:
        run, loop = self.run, self.state.loop
        gaps = loop.judged.gaps if loop.judged else ()
        queries = dict.fromkeys((instruction or run.context.question, *gaps))
        loop.gaps = tuple(queries)[: run.request.limits.max_gaps]
        await run.steps.select_tools()
        if not run.state.loop.selected:
            return "no search is left that has not been made", False
        await run.steps.search(reflect=False)
        return (
            f"{plural(loop.new_evidence, 'new item')} from {plural(loop.tasks, 'search')}",
            loop.new_evidence > 0,
        )

    async def _judge(self) -> tuple[str, bool]:
        loop = self.state.loop
        await self.run.judging.judge()
        if loop.judge_failures or loop.judged is None:
            return "the judge did not answer", False
        confidence = loop.judged.confidence
        text = "looked through" if confidence is None else f"confidence {confidence:.2f}"
        return f"{text}; {len(loop.judged.gaps)} gaps", True

    async def conclude(self, stop: StopReason) -> Outcome:
        """Take the reporter's turn, in which every team ends; what the manager asked goes with it."""
        team = self.team
        self.context.instruction = team.report_instruction
        if team.last is None or team.last.member != "reporter":
            text = stop.replace("_", " ")
            turn = TeamTurn(round=self.state.loop.iteration, member="reporter", result=text)
            self.events.emit("turn", f"reporter: {text}", member="reporter")
            self.state.set_part(team.with_turn(turn))
        return await self.run.conclude_single_section(stop)


def _reasons(assessment: JudgeAssessment) -> str:
    scores = (f"{name}: {reason}" for name, reason in assessment.score_reasons.items())
    return "; ".join(filter(None, (assessment.reasoning, *scores)))


@workflow.defn(sandboxed=False)
class TeamResearch(ResearchHandlers):
    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = RunParts(request, state, TRAITS)
        self._team = Team(self.research)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        research = partial(self.research.research_question, self._team.execute_round, self._team.decide)
        return await self.research.run_to_completion(research, self._team.conclude)
