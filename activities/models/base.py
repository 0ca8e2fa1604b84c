"""What a language model is asked for and answers with (`activities.models.client`)."""

from typing import TypeVar

from pydantic import BaseModel

from activities.contracts.evidence import Usage

Answer = TypeVar("Answer", bound=BaseModel)


class Completion(BaseModel):
    model: str
    usage: Usage
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
