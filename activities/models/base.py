"""Answers of a language model (`activities.models.client`), the tokens of prompts, progress of a call.

The progress of the current call is for heartbeats, and so for anyone who watches the run. The client writes,
the activity reads; a context variable carries it, because the roles between them need not know of it.
"""

import math
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from activities.contracts.evidence import Allowance, Usage

Answer = TypeVar("Answer", bound=BaseModel)


class Completion(BaseModel):
    model: str
    usage: Usage
    notes: tuple[str, ...] = ()
    """Notes for the report, such as usage that the provider did not report and was estimated."""


class YesOrNo(BaseModel):
    """The certainty of a model of one of two words."""

    yes: float | None = None
    """Probability of "yes" against "no", 0 to 1; 1 or 0 where the server gives none; None for another
    word."""


BYTES_PER_TOKEN = 2.5
"""UTF-8 bytes a token. English prose has 4 to 4.5 with today's tokenizers, tables of numbers and gene names
about 3: the estimate is meant to be high."""
PER_MESSAGE = 8
"""Tokens that a chat template adds to each message."""
PROMPT_SHARE = 0.8
"""The share of the input allowance, for the prompt; the rest is for a repair turn."""
MIN_OUTPUT = 64
"""The shortest useful answer."""


def estimate(*texts: str) -> int:
    """Tokens of messages with these texts, estimated high."""
    return sum(math.ceil(len(text.encode()) / BYTES_PER_TOKEN) + PER_MESSAGE for text in texts)


def room(allowance: Allowance, context_tokens: int) -> int:
    """Return the tokens a first prompt may use.

    The answer, and mostly a repair turn too, still fit into the allowance and into the model's context.
    """
    within_context = context_tokens - min(allowance.output_tokens, context_tokens // 2)
    return max(min(math.floor(allowance.input_tokens * PROMPT_SHARE), within_context), 0)


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
    began: float = field(default_factory=time.monotonic)

    def details(self) -> dict[str, object]:
        return {
            "role": self.role,
            "attempt": self.attempt,
            "model": self.model,
            "waiting": self.waiting,
            "seconds": round(time.monotonic() - self.began, 1),
            "characters": self.characters,
            "usage": self.usage().model_dump(mode="json") if self.usage else {},
        }


CURRENT: ContextVar[Progress | None] = ContextVar("model_call_progress", default=None)
"""The progress of the step this task works on; None outside one."""
