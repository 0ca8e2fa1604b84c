"""The rules of a team: how code applies the manager's decisions. Pure.

The manager proposes, code decides: the profile says whether the evidence suffices, code counts whether a turn
found anything, and a member has a turn only when there is something for it to work on. A manager that makes
false claims, repeats itself or names no member can therefore waste rounds, and neither end the research nor
prolong it.
"""

from typing import Literal

from pydantic import Field

from activities.contracts.evidence import Frozen
from activities.contracts.plan import TeamLedger, TeamTurn
from activities.contracts.profile import Profile
from activities.contracts.step import Member
from workflows.part_state import PartState
from workflows.rules.stopping import LoopState, NextStep, all_failed, enough, must_stop, write

MAX_STALLS = 3
"""Rounds without progress after which the plan is made again."""
MAX_RESETS = 2
"""How often the plan is made again."""
MAX_TURNS_KEPT = 12


class TeamState(PartState, defer_build=True):
    """The task ledger and what the rounds have come to; carried over when the run continues as new."""

    name = "team"
    plan: tuple[str, ...] = ()
    turns: list[TeamTurn] = Field(default_factory=list)
    """The latest, oldest first."""
    stalls: int = 0
    resets: int = 0
    report_instruction: str = ""
    """What the manager last asked of the reporter."""
    replan: bool = True
    """Whether the manager is asked for a plan in the next round."""

    @property
    def last(self) -> TeamTurn | None:
        """The turn before this round; None in the first."""
        return self.turns[-1] if self.turns else None

    def with_turn(self, turn: TeamTurn) -> "TeamState":
        return self.model_copy(update={"turns": [*self.turns, turn][-MAX_TURNS_KEPT:]})


class Turn(Frozen):
    """The member that works in this round; empty when the plan is to be made again first."""

    member: Member | None
    instruction: str = ""
    overruled: Literal["", "not_sufficient", "nothing_to_work_on", "not_judged", "nobody_named"] = ""
    """Why it is not the member that the manager named."""


def decide_round(loop: LoopState, team: TeamState, profile: Profile) -> NextStep:
    """Whether there is another round (`observe`), or the report is written, and why."""
    stop = must_stop(loop)
    if stop is not None:
        return stop
    last = team.last.member if team.last else None
    if last == "searcher" and all_failed(loop.statuses):
        return write("all_sources_failed", "every search of this round failed")
    current = not loop.judge_failures and not loop.unread_steering
    if last == "judge" and current and (stop := enough(profile, loop.judged, loop.gained)):
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
    early = ledger.satisfied or ledger.next_speaker == "reporter"
    brought_nothing = team.last is not None and not team.last.new
    stalled = early or ledger.looping or not ledger.progress or brought_nothing
    stalls = team.stalls + 1 if stalled else max(team.stalls - 1, 0)
    after = team.model_copy(
        update={
            "plan": ledger.plan,
            "stalls": stalls,
            "replan": False,
            # for the report, if it comes next: it does not outlast what is asked of another member
            "report_instruction": ledger.instruction if ledger.next_speaker == "reporter" else "",
        }
    )
    if stalls >= MAX_STALLS:
        reset = {"stalls": 0, "resets": team.resets + 1, "replan": True, "plan": ()}
        return after.model_copy(update=reset), Turn(member=None)
    return after, _turn(ledger, team, loop)


def _turn(ledger: TeamLedger, team: TeamState, loop: LoopState) -> Turn:
    """Return the member that works: the one that was named, unless it has nothing to work on.

    What the manager wrote for one member is not given to another.
    """
    named, fitting = ledger.next_speaker, _fitting(loop)
    last_round = loop.iteration >= loop.max_iterations
    left_unjudged = loop.unjudged > 0 and (last_round or (team.last is not None and not team.last.new))
    if left_unjudged and named != "judge":
        return Turn(member="judge", overruled="not_judged")
    if not named:
        return Turn(member=fitting, instruction=ledger.instruction, overruled="nobody_named")
    if named == "reporter":
        return Turn(member=fitting, overruled="not_sufficient")
    idle = (named == "judge" and not loop.unjudged) or (named == "hypothesizer" and not loop.evidence)
    if named == "analyst":
        idle = loop.judged is None or not loop.judged.relevant
    if idle:
        return Turn(member=fitting, overruled="nothing_to_work_on")
    return Turn(member=named, instruction=ledger.instruction)


def _fitting(loop: LoopState) -> Member:
    """Return the member that has something to work on.

    The judge while evidence is not judged, else the searcher.
    """
    return "judge" if loop.unjudged else "searcher"
