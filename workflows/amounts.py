"""The dimensions of a budget: what calls are charged with, and what may be added to the limits of a run.

Another dimension is a row here, a limit in `Limits`, and a setting; what it is charged with is in
`workflows.rules.budget`.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from pydantic import Field

from activities.contracts.bounds import MAX_SECONDS
from activities.contracts.evidence import Frozen, StopReason

MAX_ITERATIONS = 50
MAX_TOKENS = 10**12
MAX_COST_MICROUSD = 10**12
"""The most that a limit may be, extensions included. Far beyond any run; a number without bound is a mistake
or an attack, and one that no clock can add fails the run."""

Kind = Literal["tokens", "cost_microusd"]
"""What calls of models are charged with. The limit of each is `max_<kind>` of the run and
`max_section_<kind>` of a section."""
KINDS: Mapping[Kind, StopReason] = {
    "tokens": "token_budget_exceeded",
    "cost_microusd": "cost_budget_exceeded",
}


class Spend(Frozen):
    """An amount of what calls are charged with."""

    tokens: int = Field(default=0, ge=0)
    cost_microusd: int = Field(default=0, ge=0)

    def of(self, kind: Kind) -> int:
        amount: int = getattr(self, kind)
        return amount

    def each(self, change: Callable[[Kind, int], int]) -> "Spend":
        """Return what `change` makes of the amount of each kind."""
        return Spend(**{kind: change(kind, self.of(kind)) for kind in KINDS})

    def __add__(self, other: "Spend") -> "Spend":
        return self.each(lambda kind, amount: amount + other.of(kind))

    def less(self, other: "Spend") -> "Spend":
        """Return what is left without another amount."""
        return self.each(lambda kind, amount: max(amount - other.of(kind), 0))


class Addition(Spend):
    """What is added to the limits of a run."""

    seconds: float = Field(default=0, ge=0)
    iterations: int = Field(default=0, ge=0)


class Dimension(NamedTuple):
    """What may be added to a limit, which is `max_<its name>` of `Limits`."""

    most: float
    """The most that the limit may be."""
    called: str
    words: Callable[[float], str]


ADDED: Mapping[str, Dimension] = {
    "tokens": Dimension(MAX_TOKENS, "tokens", "{:,} tokens".format),
    "cost_microusd": Dimension(
        MAX_COST_MICROUSD, "microdollars", lambda amount: f"{amount / 1e6:.2f} US dollars"
    ),
    "seconds": Dimension(MAX_SECONDS, "seconds", "{:g} seconds".format),
    "iterations": Dimension(MAX_ITERATIONS, "iterations", "{} iterations".format),
}


def described(more: Addition) -> str:
    """Return an extension in words."""
    added = {name: getattr(more, name) for name in ADDED}
    return "budget extended by " + ", ".join(ADDED[n].words(amount) for n, amount in added.items() if amount)
