"""Which records a person decides on next. Pure.

Nobody is led by another: a screener is shown records by title and abstract alone, and the letters of others
only once both have decided and differ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from activities.contracts.evidence import Evidence
from activities.review.decisions import OPEN, Decision, conflicts
from workflows.review.types import ReviewView

TaskKind = Literal["label", "screen", "conflict"]


@dataclass(frozen=True, slots=True)
class Task:
    """A record that a person decides on."""

    number: int
    kind: TaskKind
    record: Evidence
    decisions: tuple[Decision, ...] = ()
    """Of a conflict: what both screeners decided."""
    left: int = 0
    """Records that wait for this person, this one counted."""


def tasks(view: ReviewView, by: str, order: Sequence[int] = ()) -> Iterator[tuple[int, TaskKind]]:
    """The records that a person decides on, in order. A sample that waits for labels comes first, for
    everybody; then, for a screener, the records of the round and those behind it in the stored `order`; then,
    for all, conflicts."""
    marks = view.titles
    if view.labelling:
        yield from ((number, "label") for number in view.sample if marks.labels[number] == OPEN)
        return
    place = screener_place(view, by)
    if place is not None:
        ahead = order if not view.report else ()
        for number in dict.fromkeys((*view.batch, *ahead)):
            if marks.of_screener(place)[number] == marks.words[number] == marks.labels[number] == OPEN:
                yield number, "screen"
    else:
        yield from ((number, "conflict") for number in conflicts(marks))


def screener_place(view: ReviewView, by: str) -> int | None:
    """The place of a person among the screeners; None for anybody else."""
    names = [one.name if one.kind == "person" else "" for one in view.protocol.screeners]
    return names.index(by) if by in names else None


def may_open(view: ReviewView, owner: str, user: str) -> bool:
    """The user started the review, or is named by its protocol as who screens or decides."""
    return bool(user) and user in (owner, *view.protocol.people, *view.protocol.deciders)
