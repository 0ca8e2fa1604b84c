"""Long writer: one section of a long report, aware of the sections before it."""

from collections.abc import Sequence

from activities.drafts import SectionDraft, WriteInput
from activities.roles import drafting
from activities.roles.drafting import DraftAnswer
from activities.roles.role import Prompt, RoleSpec
from activities.types import Evidence


def render(step: WriteInput, documents: Sequence[Evidence], room: int) -> Prompt:
    return drafting.render(
        "long_writer", step, documents, room, "Write this section in at most {most} claims."
    )


SPEC = RoleSpec[WriteInput, DraftAnswer, SectionDraft](
    "long_writer",
    DraftAnswer,
    render,
    drafting.accept,
    lambda step: step.evidence,
    drafting.by_code,
    drafting.review,
    drafting.filled,
    drafting.paragraphs_so_far,
)
