"""Manager of a team: keeps what is known and the plan, and says which member works next on what."""

import re
from collections.abc import Sequence
from dataclasses import replace

from activities.contracts.evidence import Evidence
from activities.contracts.plan import ManagerInput, TeamLedger
from activities.extractive import planning
from activities.roles.fields import Loose, Text, Texts, limits
from activities.roles.prompt import compose, listing
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, lines, one_of

MAX_FACTS = 10
MAX_STEPS = 8
MAX_TURNS = 10
MAX_WORKS = 12
MAX_HYPOTHESES = 6
LABEL = re.compile(r"\[(W\d{1,2})\]")
"""How a fact names the work that it rests on."""
REPLAN = "The plan did not work. Keep the facts and make another plan."


class ManagerAnswer(Loose):
    facts: Texts = limits(items=MAX_FACTS, length=200, default_factory=list)
    plan: Texts = limits(items=MAX_STEPS, length=200, default_factory=list)
    satisfied: bool = False
    looping: bool = False
    progress: bool = True
    next_speaker: Text
    instruction: Text = limits(length=300, default="")


def render(step: ManagerInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    members = "\n".join(f"- {name}: {task_of_member}" for name, task_of_member in step.members.items())
    turns = [f"{turn.member}, {turn.instruction}: {turn.result}" for turn in step.turns]
    hypotheses = [
        f"{guess.line} ({len(guess.supporting_evidence)} works for it, "
        f"{len(guess.contradicting_evidence)} against)"
        for guess in step.hypotheses
    ]
    inputs = [
        f"Members:\n{members}",
        f"Round {step.round}; {step.found} items found, {step.unjudged} of them not judged yet.",
        listing("Facts", step.facts, MAX_FACTS),
        listing("Plan", step.plan, MAX_STEPS),
        REPLAN if step.replan and step.turns else "",
        listing("Turns so far", turns[-MAX_TURNS:], MAX_TURNS),
        listing("Works, the best first", _describe(step), MAX_WORKS, 300),
        listing("Hypotheses", hypotheses, MAX_HYPOTHESES),
        listing("What the judge says", (step.judged_reasons,) if step.judged_reasons else (), 1, 800),
        listing("Gaps the judge named", step.judged_gaps, 5),
    ]
    task = "Choose the next turn. Answer with JSON."
    prompt = compose("manager", step, room=room, inputs=inputs, task=task)
    return replace(prompt, choices={"next_speaker": tuple(step.members)})


def _labels(step: ManagerInput) -> dict[str, str]:
    """Map labels to the works that the manager sees: those that answer best, then the others."""
    judged_ids = [j.evidence_id for j in step.judgements if j.evidence_id in step.titles]
    names = list(dict.fromkeys((*judged_ids, *step.titles)))[:MAX_WORKS]
    return {f"W{number}": name for number, name in enumerate(names, 1)}


def _describe(step: ManagerInput) -> list[str]:
    """Describe each work in a line: title, and what was judged of it with its best sentence."""
    judgements = {judgement.evidence_id: judgement for judgement in step.judgements}
    rows = []
    for label, name in _labels(step).items():
        note = "not judged"
        if judgement := judgements.get(name):
            quote = judgement.support[0].quote if judgement.support else ""
            answers = f"answers {judgement.answers} of 3"
            note = "; ".join(filter(None, (answers, judgement.reason, judgement.finding, quote)))
        rows.append(f"{label}: {step.titles[name]} ({note})")
    return rows


def accept(step: ManagerInput, _prompt: Prompt, answer: ManagerAnswer) -> Accepted[TeamLedger]:
    """Accept a member of the team as next speaker, and facts, which are added and never lost.

    The plan stays until it is to be made again. A fact names works by their ids; a label of no work is
    removed.
    """
    labels = _labels(step)
    facts = (
        LABEL.sub(lambda m: f"[{labels[m[1]]}]" if m[1] in labels else "", fact) for fact in answer.facts
    )
    ledger = TeamLedger(
        facts=lines((*step.facts, *facts), MAX_FACTS, 300),
        plan=(lines(answer.plan, MAX_STEPS, 200) if step.replan else ()) or step.plan,
        satisfied=answer.satisfied,
        looping=answer.looping,
        progress=answer.progress,
        next_speaker=one_of(answer.next_speaker, step.members) or "",
        instruction=line(answer.instruction, 300),
    )
    return Accepted(ledger)


MANAGER = RoleSpec("manager", ManagerAnswer, render, accept, lambda step, _: planning.manage(step))
