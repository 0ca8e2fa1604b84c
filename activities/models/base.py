"""The only interface to a language model, as the roles see it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from pydantic import BaseModel

from activities.contracts.evidence import Allowance, ModelChoice, Usage

Answer = TypeVar("Answer", bound=BaseModel)


class Completion(BaseModel):
    """A validated answer and its cost."""

    model: str
    usage: Usage
    repaired: bool = False
    from_store: bool = False
    """The answer had been paid for by an earlier attempt of this very step."""
    notes: tuple[str, ...] = ()
    """What the report must state, such as usage that the provider did not report and was estimated."""


class YesOrNo(BaseModel):
    """How sure a model was of one of two words."""

    yes: float | None = None
    """Probability of "yes" against "no", 0 to 1; 1 or 0 where the server gives none; None for another
    word."""


class Review(BaseModel):
    """What a role finds wrong with an answer that has the right form."""

    problem: str = ""
    """In words for the repair turn; empty when all is well."""
    usable: bool = False
    """Whether the answer is used all the same when the repair turn returns no better one."""
    failures: int = 0
    """How many parts are wrong: of two usable answers the one with fewer is kept."""


class LanguageModel(Protocol):
    """The only interface to a language model (`activities.models.client`)."""

    async def ask(
        self,
        choice: ModelChoice,
        *,
        system: str,
        user: str,
        answer: type[Answer],
        allowance: Allowance,
        scope: str,
        choices: Mapping[str, Sequence[str]] | None = None,
        review: Callable[[Answer], Review] | None = None,
        seconds: float | None = None,
    ) -> tuple[Answer, Completion]:
        """Ask for an answer of the given shape within the allowance.

        `system` is the stable part of the prompt, `user` what changes. `scope` names run and step for the
        store of paid answers. `choices` are the values a field may have, by its path (`claims.sentence`).
        `review` examines a valid answer; the problems it finds are sent back once. `seconds` is how long the
        step has: what is whole by then is used. Raises ModelError; its `usage` is what was paid all the same.
        """
        ...

    async def ask_yes_or_no(
        self,
        choice: ModelChoice,
        *,
        system: str,
        user: str,
        allowance: Allowance,
        scope: str,
        seconds: float | None = None,
    ) -> tuple[YesOrNo, Completion]:
        """Ask for one word, one token. Raises ModelError."""
        ...

    async def context(self, choice: ModelChoice) -> int:
        """Tokens the model reads and writes in one exchange, as far as it is known by now."""
        ...
