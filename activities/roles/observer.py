"""Observer: what is known so far, and what that means for the next step."""

import re
from collections.abc import Sequence

from activities.roles.prompt import compose, earlier, fenced
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Text, item, limits, line
from activities.steps import Observation, ObserveInput
from activities.types import Evidence

_LABEL = re.compile(r"\[?\bE\d{1,4}\b\]?")


class ObservationAnswer(Loose):
    text: Text = limits(length=900)


def render(step: ObserveInput, documents: Sequence[Evidence], room: int) -> Prompt:
    judged = [f"The last judgement:\n{fenced('judgement', step.last_judgement[:800])}"]
    return compose(
        "observer",
        step,
        room=room,
        given=[*(judged if step.last_judgement else ()), earlier(step.earlier)],
        documents=documents,
        per_item=300,
        at_most=12,
        task=f"Iteration {step.iteration}. Say what is known and what is missing. Answer with JSON.",
    )


def accept(step: ObserveInput, prompt: Prompt, answer: ObservationAnswer) -> Accepted[Observation]:
    """Labels mean nothing to later steps: they become evidence ids, and unknown ones are removed."""

    def named(match: re.Match[str]) -> str:
        shown = item(match.group(), prompt)
        return f"[{shown.evidence_id}]" if shown else ""

    text = line(_LABEL.sub(named, answer.text), 1_500)
    return Accepted(Observation(text=text or f"Nothing was concluded yet about: {line(step.question, 300)}"))


def by_code(step: ObserveInput, documents: Sequence[Evidence]) -> Observation | None:
    if documents:
        return None
    return Observation(text=f"Nothing has been found yet for: {line(step.question, 400)}")


SPEC = RoleSpec[ObserveInput, ObservationAnswer, Observation](
    "observer", ObservationAnswer, render, accept, lambda step: step.evidence, by_code
)
