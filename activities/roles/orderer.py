"""Orderer: does one work answer the question? The only role of a small model, which says one word.

Passages are put in order by how sure it was of it (`workflows.steps.ordering`).
"""

from collections.abc import Sequence

from activities.contracts.evidence import Evidence
from activities.contracts.judge import Weighed, WeighInput
from activities.models.base import YesOrNo, estimate
from activities.roles.prompt import clip, fence
from activities.roles.role import Accepted, Prompt, RoleSpec, prompt_file
from activities.roles.works import lay_out

MAX_CHARS = 2_600
"""Characters of a work that is read whole, as most abstracts are; of a longer one the passages nearest to the
question."""


def render(step: WeighInput, documents: Sequence[Evidence], room: int) -> Prompt:
    """Put the work first, so that a server that keeps what it has read reads anew only the question."""
    file = prompt_file("orderer", evidence=False)
    task = f"Question: {clip(step.question, 400)}\nDoes the text answer this question? Answer yes or no."
    works_room = room - estimate(file.text, f"Text:\n{fence('text', '')}\n\n{task}")
    works = lay_out(step.question, documents, works_room, chars=MAX_CHARS, with_labels=False)
    user = f"Text:\n{fence('text', works.text)}\n\n{task}"
    return Prompt(file.text, user, file.version, works=works.items)


def accept(_step: WeighInput, _prompt: Prompt, answer: YesOrNo) -> Accepted[Weighed]:
    """Return how sure it was; nothing where it said another word."""
    return Accepted(Weighed(yes=answer.yes))


ORDERER = RoleSpec("orderer", YesOrNo, render, accept, lambda *_: Weighed(), reads=True)
