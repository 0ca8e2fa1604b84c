"""One typed answer asked for: the question, its repair turn, and what both have cost so far."""

import time
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from activities.contracts.errors import ModelRefused, ModelUnusable
from activities.contracts.evidence import Allowance, ModelChoice, Usage
from activities.models.address import Address
from activities.models.answer_store import RawAnswer, key_of
from activities.models.base import Completion
from activities.models.request import Question
from activities.models.structured import Unreadable
from activities.models.tokens import LEAST_OUTPUT

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(slots=True)
class Conversation(Generic[Answer]):
    """What one call of `ask` knows: the question, and what it has cost so far."""

    choice: ModelChoice
    address: Address
    answer: type[Answer]
    schema: dict[str, Any]
    allowance: Allowance
    window: int
    scope: str
    seconds: float
    begun: float = field(default_factory=time.monotonic)
    spent: Usage = field(default_factory=Usage)
    notes: list[str] = field(default_factory=list)
    turns: int = 0

    def left(self) -> float:
        """Seconds of the step's time; infinite without a limit."""
        return max(self.seconds - (time.monotonic() - self.begun), 0.0)

    def room(self, estimated: int) -> int:
        """Tokens left for an answer to a prompt of this size."""
        return min(self.allowance.tokens - self.spent.tokens, self.window) - estimated

    def question(self, sent: tuple[str, str], estimated: int) -> Question:
        """Return the next turn.

        Raises ModelRefused when it leaves no room to answer.
        """
        left = self.room(estimated)
        least = LEAST_OUTPUT if self.schema else 1
        # the first turn leaves room for a repair; a reasoning model may need more than the plain answer
        cap = left if self.turns else min(left, max(self.allowance.output_tokens, left // 2))
        cap = cap if self.schema else min(cap, least)
        if cap < least:
            raise ModelRefused(
                f"the prompt of about {estimated} tokens leaves {self.choice.model} no room to answer "
                f"(allowance {self.allowance.tokens}, context {self.window})",
                category="context_length",
                usage=self.spent,
            )
        key = key_of(
            self.scope,
            self.choice.model,
            self.address.shown,
            *sent,
            self.schema,
            self.allowance.tokens,
            self.turns,
        )
        self.turns += 1
        return Question(
            self.choice,
            self.address,
            *sent,
            self.schema,
            self.answer.__name__,
            cap,
            key,
            estimated,
        )

    def completion(self, *notes: str) -> Completion:
        noted = tuple(dict.fromkeys((*self.notes, *notes)))
        return Completion(model=self.choice.model, usage=self.spent, notes=noted)

    def unusable(self, problem: Unreadable, when: str) -> ModelUnusable:
        return ModelUnusable(
            f"{self.choice.model} gave no usable answer ({problem.problem[:300]}) {when}; a larger model may",
            usage=self.spent,
        )


@dataclass(frozen=True, slots=True)
class Attempt(Generic[Answer]):
    raw: RawAnswer
    prompt_tokens: int
    value: Answer | None = None
    """None for one that cannot be used."""
    notes: tuple[str, ...] = ()
    problem: Unreadable | None = None
    """What a repair turn is told; None where there is nothing to repair."""
    failures: int = 0


def raise_refusal(raw: RawAnswer, question: Question, spent: Usage) -> None:
    name = question.choice.model
    if raw.finish_reason == "content_filter":
        raise ModelRefused(
            f"the content filter of {question.where} stopped the answer",
            category="content_filter",
            usage=spent,
        )
    if raw.refusal:
        reason = " ".join(raw.refusal.split())[:200]
        raise ModelRefused(f"{name} refused to answer: {reason}", category="refusal", usage=spent)
