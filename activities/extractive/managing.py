"""Managing a team without a model: the members work in a fixed rotation."""

from activities.steps import ManagerInput, Member, TeamLedger

ROTATION: tuple[Member, ...] = ("searcher", "hypothesizer", "judge")
"""Who works after whom; the reporter writes when the research has ended."""
MAX_FACTS = 10


def manage(step: ManagerInput) -> TeamLedger:
    """The next member of the rotation; a hypothesizer has a turn only where the profile names candidates."""
    rotation = [m for m in ROTATION if m != "hypothesizer" or step.profile.candidates]
    last = step.turns[-1] if step.turns else None
    place = rotation.index(last.member) + 1 if last and last.member in rotation else 0
    facts = (*step.facts, *((f"{last.member}: {last.result}",) if last else ()))
    wanted = step.steering[::-1] or step.judged_gaps or (step.question,)
    return TeamLedger(
        facts=tuple(dict.fromkeys(facts))[-MAX_FACTS:],
        plan=step.plan or (f"search for evidence on: {step.question}", "judge it", "report"),
        progress=last is None or last.new,
        next_speaker=rotation[place % len(rotation)],
        instruction=wanted[step.round % len(wanted)] if step.replan else wanted[0],
    )
