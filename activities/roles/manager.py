"""Manager of a team: keeps what is known and the plan, and says which member works next on what."""

from collections.abc import Sequence
from dataclasses import replace

from activities.roles.prompt import compose, listed
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Text, Texts, limits, line, lines
from activities.steps import ManagerInput, TeamLedger
from activities.types import Evidence

MOST_FACTS = 10
MOST_STEPS = 8
MOST_TURNS = 10
AGAIN = "The plan did not work. Keep the facts and make another plan."


class ManagerAnswer(Loose):
    facts: Texts = limits(items=MOST_FACTS, length=200, default_factory=list)
    plan: Texts = limits(items=MOST_STEPS, length=200, default_factory=list)
    satisfied: bool = False
    looping: bool = False
    progress: bool = True
    next_speaker: Text
    instruction: Text = limits(length=300, default="")


def render(step: ManagerInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    members = "\n".join(f"- {name}: {about}" for name, about in step.members.items())
    turns = [f"{turn.member}, {turn.instruction}: {turn.result}" for turn in step.turns]
    given = [
        f"Members:\n{members}",
        f"Round {step.round}; {step.found} items found, {step.unjudged} of them not judged yet.",
        listed("Facts", step.facts, MOST_FACTS),
        listed("Plan", step.plan, MOST_STEPS),
        AGAIN if step.replan and step.turns else "",
        listed("Turns so far", turns[-MOST_TURNS:], MOST_TURNS),
        listed("Gaps the judge named", step.judged_gaps, 5),
    ]
    task = "Choose the next turn. Answer with JSON."
    prompt = compose("manager", step, room=room, given=given, task=task)
    return replace(prompt, choices={"next_speaker": tuple(step.members)})


def accept(step: ManagerInput, _prompt: Prompt, answer: ManagerAnswer) -> Accepted[TeamLedger]:
    """Only a member of the team can be named; facts are added and never lost, and the plan stays until it is
    to be made again."""
    named = answer.next_speaker.strip().casefold()
    ledger = TeamLedger(
        facts=lines((*step.facts, *answer.facts), MOST_FACTS, 200),
        plan=(lines(answer.plan, MOST_STEPS, 200) if step.replan else ()) or step.plan,
        satisfied=answer.satisfied,
        looping=answer.looping,
        progress=answer.progress,
        next_speaker=next((member for member in step.members if member == named), ""),
        instruction=line(answer.instruction, 300),
    )
    return Accepted(ledger)


SPEC = RoleSpec[ManagerInput, ManagerAnswer, TeamLedger]("manager", ManagerAnswer, render, accept)
