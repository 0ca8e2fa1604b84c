"""Records that a person decides on next. Pure.

Nobody is led by another: a screener is shown records by title and abstract alone, and the letters of others
only once both have decided and differ.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field, computed_field

from activities.contracts.evidence import Evidence, Frozen
from activities.review.decisions import OPEN, Decision, conflicts
from activities.review.state import ReviewState

TaskKind = Literal["label", "screen", "conflict"]


class Task(Frozen):
    """A record that a person decides on."""

    record: int
    kind: TaskKind
    work: Evidence = Field(exclude=True)
    decisions: tuple[Decision, ...] = ()
    """On a conflict: those of both screeners."""
    left: int = 0
    """Records that wait for this person, this one counted."""

    @computed_field
    def title(self) -> str:
        return self.work.title

    @computed_field
    def text(self) -> str:
        return self.work.text


def tasks(view: ReviewState, by: str, order: Sequence[int] = ()) -> Iterator[tuple[int, TaskKind]]:
    """Yield the records that a person decides on, in order.

    A sample that waits for labels comes first, for everybody; then, for a screener, the records of the round
    and those behind it in the stored `order`; then, for all others, conflicts.
    """
    marks = view.titles
    if view.labelling:
        yield from ((number, "label") for number in view.sample if marks.labels[number] == OPEN)
        return
    place = screener_place(view, by)
    if place is None:
        yield from ((number, "conflict") for number in conflicts(marks))
        return
    if view.course is None or view.course.phase == "done":
        return
    for number in dict.fromkeys((*view.course.batch, *order)):
        if marks.of_screener(place)[number] == marks.words[number] == marks.labels[number] == OPEN:
            yield number, "screen"


def screener_place(view: ReviewState, by: str) -> int | None:
    """Return the place of a person among the screeners; None for anybody else."""
    names = [one.name if one.kind == "person" else "" for one in view.protocol.screeners]
    return names.index(by) if by in names else None


def may_open(view: ReviewState, owner: str, user: str) -> bool:
    """Say whether a user started the review, or is named by its protocol as who screens or decides."""
    return bool(user) and user in (owner, *view.protocol.people, *view.protocol.deciders)
