"""Observer: what is known so far, and what that means for the next step. It reads what was judged of the
works, not their texts."""

import re
from collections.abc import Sequence

from activities.contracts.evidence import Evidence
from activities.contracts.plan import Observation, ObserveInput
from activities.extractive import searching
from activities.roles.prompt import compose, earlier, findings, listed
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Text, limits, line

MAX_TEXT_CHARS = 1_000
_LABEL = re.compile(r"(?:(?<!\s)\s+)?\[?\b[ES]\d{1,4}\b\]?")
"""A label means nothing to later steps."""


class ObservationAnswer(Loose):
    text: Text = limits(length=MAX_TEXT_CHARS)


def render(step: ObserveInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    return compose(
        "observer",
        step,
        room=room,
        inputs=[
            findings(step.judgements, step.titles),
            listed("The judge says", (step.last_judgement,) if step.last_judgement else (), 1, each=400),
            earlier(step.earlier),
        ],
        task="Say what is known and what is missing. Answer with JSON.",
    )


def accept(step: ObserveInput, _prompt: Prompt, answer: ObservationAnswer) -> Accepted[Observation]:
    text = line(_LABEL.sub("", answer.text), MAX_TEXT_CHARS + 200)
    return Accepted(Observation(text=text or f"Nothing was concluded yet about: {line(step.question, 300)}"))


SPEC = RoleSpec[ObserveInput, ObservationAnswer, Observation](
    "observer",
    "Reading the evidence",
    ObservationAnswer,
    render,
    accept,
    lambda step, _: searching.observe(step),
    idle=lambda step, _: not step.titles,
)
