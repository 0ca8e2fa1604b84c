"""Clarifier: where the readings of a question differ in what would be searched, which one is meant?"""

from collections.abc import Sequence

from activities.contracts.evidence import Evidence
from activities.contracts.plan import MAX_READINGS, READING_CHARS, Clarified, ClarifyInput
from activities.contracts.step import Reading
from activities.roles.prompt import compose, listed
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import Loose, Text, limits, line


class ReadingAnswer(Loose):
    question: Text = limits(length=READING_CHARS, default="")
    assumed: Text = limits(length=READING_CHARS, default="")


class ClarifierAnswer(Loose):
    questions: list[ReadingAnswer] = limits(items=MAX_READINGS, default_factory=list)


def render(step: ClarifyInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    earlier = listed("It follows up an earlier question", [step.earlier_question], 1, 800)
    return compose(
        "clarifier",
        step,
        room=room,
        inputs=[earlier if step.earlier_question else ""],
        task="What must be known before the search? Answer with JSON.",
    )


def accept(_step: ClarifyInput, _prompt: Prompt, answer: ClarifierAnswer) -> Accepted[Clarified]:
    """The first questions that have an assumed answer, each once."""
    readings: dict[str, Reading] = {}
    for one in answer.questions:
        question, assumed = line(one.question, READING_CHARS), line(one.assumed, READING_CHARS)
        if question and assumed:
            readings.setdefault(question.casefold(), Reading(question=question, assumed=assumed))
    return Accepted(Clarified(readings=tuple(readings.values())[:MAX_READINGS]))


SPEC = RoleSpec[ClarifyInput, ClarifierAnswer, Clarified](
    "clarifier", "Asking back", ClarifierAnswer, render, accept, lambda _step, _documents: Clarified()
)
