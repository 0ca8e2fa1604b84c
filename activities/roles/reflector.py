"""Reflector: did these searches serve the gaps they were made for?"""

from collections.abc import Sequence

from activities.roles.prompt import compose, listed, tried
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Text, Texts, limits, line, lines
from activities.steps import ReflectInput, Reflection
from activities.types import ANSWERED, Evidence

MOST_SEARCHES = 5
NOTHING_NEW = "They brought no new item."


class ReflectionAnswer(Loose):
    served: bool
    reason: Text = limits(length=300, default="")
    better_searches: Texts = limits(items=5, length=100, default_factory=list)


def render(step: ReflectInput, documents: Sequence[Evidence], room: int) -> Prompt:
    return compose(
        "reflector",
        step,
        room=room,
        given=[
            listed("Gaps", step.gaps, each=300),
            tried(step.searches),
            *([] if documents else [NOTHING_NEW]),
        ],
        documents=documents,
        per_item=260,
        at_most=10,
        task="Did the new items serve the gaps? Answer with JSON.",
    )


def accept(step: ReflectInput, prompt: Prompt, answer: ReflectionAnswer) -> Accepted[Reflection]:
    """Searches that were made already are no better ones."""
    made = {" ".join((s.asked or s.query).casefold().split()) for s in step.searches}
    better = (q for q in answer.better_searches if " ".join(q.casefold().split()) not in made)
    return Accepted(
        Reflection(
            served=answer.served,
            reason=line(answer.reason, 500),
            better_searches=lines(better, MOST_SEARCHES, 200),
        )
    )


def by_code(step: ReflectInput, documents: Sequence[Evidence]) -> Reflection | None:
    """Searches that all failed helped with no gap, and are no reason to search differently."""
    if documents or any(s.status in ANSWERED for s in step.searches):
        return None
    failed = [s.source for s in step.searches if s.status not in ANSWERED]
    also = f" ({', '.join(dict.fromkeys(failed))} did not answer)" if failed else ""
    return Reflection(served=False, reason=f"These searches found nothing new{also}.")


SPEC = RoleSpec[ReflectInput, ReflectionAnswer, Reflection](
    "reflector", ReflectionAnswer, render, accept, lambda step: step.new_evidence, by_code
)
