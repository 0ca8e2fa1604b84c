"""Writer: a whole short report."""

from collections.abc import Sequence

from activities.drafts import SectionDraft, WriteInput
from activities.roles import drafting
from activities.roles.drafting import DraftAnswer
from activities.roles.role import Prompt, RoleSpec
from activities.types import Evidence


def render(step: WriteInput, documents: Sequence[Evidence], room: int) -> Prompt:
    return drafting.render("writer", step, documents, room, "Write the report in at most {most} claims.")


SPEC = RoleSpec[WriteInput, DraftAnswer, SectionDraft](
    "writer",
    DraftAnswer,
    render,
    drafting.accept,
    lambda step: step.evidence,
    drafting.by_code,
    drafting.review,
    drafting.filled,
    drafting.paragraphs_so_far,
)
