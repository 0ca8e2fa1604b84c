"""Reflector: did these searches serve the gaps they were made for? It reads the titles of what they found."""

from collections.abc import Sequence

from activities.contracts.evidence import ANSWERED, Evidence
from activities.contracts.judge import ReflectInput, Reflection
from activities.extractive import searching
from activities.roles.prompt import compose, listed, tried
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Text, Texts, limits, line, lines

MAX_SEARCHES = 5
MAX_TITLES = 20
NOTHING_NEW = "They brought no new work."


class ReflectionAnswer(Loose):
    served: bool
    reason: Text = limits(length=300, default="")
    better_searches: Texts = limits(items=MAX_SEARCHES, length=120, default_factory=list)


def render(step: ReflectInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    titles = [ref.title for ref in step.new_evidence if ref.standing != "retracted"]
    return compose(
        "reflector",
        step,
        room=room,
        inputs=[
            listed("Gaps", step.gaps, each=300),
            tried(step.searches),
            listed("New works", titles, MAX_TITLES, 140) or NOTHING_NEW,
        ],
        task="Did the new works serve the gaps? Answer with JSON.",
    )


def accept(step: ReflectInput, _prompt: Prompt, answer: ReflectionAnswer) -> Accepted[Reflection]:
    """Searches that were made already are no better ones."""
    made = {" ".join((s.asked or s.query).casefold().split()) for s in step.searches}
    better = (q for q in answer.better_searches if " ".join(q.casefold().split()) not in made)
    return Accepted(
        Reflection(
            served=answer.served,
            reason=line(answer.reason, 500),
            better_searches=lines(better, MAX_SEARCHES, 200),
        )
    )


SPEC = RoleSpec[ReflectInput, ReflectionAnswer, Reflection](
    "reflector",
    "Reviewing searches",
    ReflectionAnswer,
    render,
    accept,
    searching.reflect,
    idle=lambda step, _: not step.new_evidence and all(s.status not in ANSWERED for s in step.searches),
)
