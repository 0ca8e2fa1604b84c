"""The messages to a run that have no content, as every surface sends and words them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from client.run import Run

MessageName = Literal["pause", "resume", "finish", "cancel"]


class Message(NamedTuple):
    send: "Callable[[Run], Awaitable[object]]"
    does: str
    """For the help of a command, a tool."""
    sent: str
    """What the run does once it has it, after its name."""


MESSAGES: Mapping[MessageName, Message] = {
    "pause": Message(
        lambda run: run.pause(),
        "Pause a run at its next step; waiting uses no budget.",
        "pauses at its next step",
    ),
    "resume": Message(lambda run: run.resume(), "Resume a paused run.", "goes on"),
    "finish": Message(
        lambda run: run.finish(),
        "Stop searching and write the report.",
        "stops searching and writes its report",
    ),
    "cancel": Message(
        lambda run: run.cancel(),
        "Stop a run; it still writes a report from what it found.",
        "is being cancelled; a report of what was found is still written",
    ),
}
