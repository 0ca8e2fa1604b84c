"""Progress of the current model call: for heartbeats, and so for anyone who watches the run.

The client writes, the activity reads. A context variable carries it, because the roles between them need not
know of it.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from activities.contracts.evidence import Usage


@dataclass(slots=True)
class Progress:
    role: str
    attempt: int = 1
    model: str = ""
    waiting: bool = False
    """For a turn at the server."""
    characters: int = 0
    usage: Callable[[], Usage] | None = None
    """The cost of the step so far; estimated while an answer is coming."""
    begun: float = field(default_factory=time.monotonic)
    answer_so_far: Callable[[], str] = str
    """The text of the answer that is coming; set by the client."""
    read_paragraphs: Callable[[str, int], tuple[str, ...]] = lambda _text, _least: ()
    """(answer so far, least number) -> the whole paragraphs of a draft; set by a role that writes one."""

    def paragraphs(self, least: int) -> tuple[str, ...]:
        """Return the paragraphs that are whole so far; empty when they are fewer than `least`."""
        return self.read_paragraphs(self.answer_so_far(), least)

    def details(self) -> dict[str, object]:
        return {
            "role": self.role,
            "attempt": self.attempt,
            "model": self.model,
            "waiting": self.waiting,
            "seconds": round(time.monotonic() - self.begun, 1),
            "characters": self.characters,
            "usage": self.usage().model_dump(mode="json") if self.usage else {},
        }


CURRENT: ContextVar[Progress | None] = ContextVar("model_call_progress", default=None)
"""The progress of the step this task works on; None outside one."""
