"""The messages to a run that have no content, as every surface sends and words them."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

MessageName = Literal["pause", "resume", "finish", "cancel"]


class Message(NamedTuple):
    """A method of `client.run.Run` without arguments."""

    does: str
    """For the help of a command, a tool."""
    sent: str
    """What the run does once it has it, after its name."""


MESSAGES: Mapping[MessageName, Message] = {
    "pause": Message("Pause a run at its next step; waiting uses no budget.", "pauses at its next step"),
    "resume": Message("Resume a paused run.", "goes on"),
    "finish": Message("Stop searching and write the report.", "stops searching and writes its report"),
    "cancel": Message(
        "Stop a run; it still writes a report from what it found.",
        "is being cancelled; a report of what was found is still written",
    ),
}
