"""The only door to a language model, as the roles see it."""

from typing import Protocol, TypeVar

from pydantic import BaseModel

from activities.types import Allowance, ModelChoice, Usage

Answer = TypeVar("Answer", bound=BaseModel)


class Completion(BaseModel):
    """A validated answer and what it took."""

    model: str
    usage: Usage
    repaired: bool = False
    from_store: bool = False
    """The answer had been paid for by an earlier attempt of this very step."""
    notes: tuple[str, ...] = ()
    """What the reader must be told, such as usage that the provider did not report and was estimated."""


class LanguageModel(Protocol):
    """The only door to a language model (`activities.models.client`)."""

    async def ask(
        self,
        choice: ModelChoice,
        *,
        system: str,
        user: str,
        answer: type[Answer],
        allowance: Allowance,
        scope: str,
    ) -> tuple[Answer, Completion]:
        """Ask for an answer of the given shape within the allowance.

        `system` is the stable part of the prompt, `user` what changes. `scope` names run and step for the
        store of paid answers. Raises ModelError; its `usage` is what was paid all the same.
        """
        ...
