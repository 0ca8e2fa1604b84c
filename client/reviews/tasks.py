"""Records that a person decides on next. Pure.

Nobody is led by another: a screener is shown records by title and abstract alone, and the letters of others
only once both have decided and differ.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import Field, computed_field

from activities.contracts.evidence import Evidence, Frozen
from activities.review.decisions import OPEN, Decision, ScreenedStage, conflicts
from activities.review.state import ReviewState

TaskKind = Literal["label", "screen", "conflict"]
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "protocol": ("approve",),
    "labels": ("screen --by NAME",),
    "decisions": ("screen --by NAME", "conflicts"),
    "model": ("resume",),
    "budget": ("amend PROTOCOL --reason TEXT",),
    "full_texts": ("missing", "provide FOLDER", "approve"),
    "extraction": (
        "extract RECORD FIELD=VALUE --by NAME",
        "differences",
        "field RECORD FIELD VALUE --by NAME",
    ),
    "bias": ("bias", "assess RECORD --by NAME"),
    "report": ("report", "approve"),
}
"""Gate -> the commands of people who are waited for; the review stands behind the verb."""


def commands(gate: str, review: str) -> list[str]:
    """Write the commands of a gate as a person types them."""
    words = (command.partition(" ") for command in COMMANDS.get(gate, ()))
    return [" ".join(filter(None, ("determinator review", verb, review, rest))) for verb, _, rest in words]


class Task(Frozen):
    """A record that a person decides on."""

    record: int
    kind: TaskKind
    stage: ScreenedStage = "titles"
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


def tasks(
    view: ReviewState, by: str, order: Sequence[int] = ()
) -> Iterator[tuple[int, TaskKind, ScreenedStage]]:
    """Yield the records that a person decides on, in order.

    A sample that waits for labels comes first, for everybody; then, for a screener, the records of the round
    and those behind it in the stored `order`; then, for all others, conflicts. Full texts come after titles.
    """
    titles, texts = view.titles, view.full_texts
    if view.labelling:
        for number in view.sample:
            if titles.labels[number] == OPEN:
                yield number, "label", "titles"
        return
    place = screener_place(view, by)
    if place is None:
        yield from ((number, "conflict", "titles") for number in conflicts(titles))
    elif view.course is not None and view.course.phase != "done":
        for number in dict.fromkeys((*view.course.batch, *order)):
            if titles.of_screener(place)[number] == titles.words[number] == titles.labels[number] == OPEN:
                yield number, "screen", "titles"
    for number in view.retrieved():
        if place is None and texts.state(number) == "conflict":
            yield number, "conflict", "full_texts"
        elif place is not None and texts.of_screener(place)[number] == texts.words[number] == OPEN:
            yield number, "screen", "full_texts"


def screener_place(view: ReviewState, by: str) -> int | None:
    """Return the place of a person among the screeners; None for anybody else."""
    screeners = enumerate(view.protocol.screeners)
    return next(
        (place for place, screener in screeners if (screener.kind, screener.name) == ("person", by)), None
    )


def may_open(view: ReviewState, owner: str, user: str) -> bool:
    """Say whether a user started the review, or is named by its protocol as who screens or decides."""
    return bool(user) and user in (owner, *view.protocol.people, *view.protocol.deciders)
