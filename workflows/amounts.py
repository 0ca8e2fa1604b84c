"""The dimensions of a budget: what calls are charged with, its limits, and what may be added to them.

Another dimension is a row of `KINDS` and of `ADDED`, an amount of each class here and two limits, and in
other files the settings of those limits and the reason to stop. The ledger is in `workflows.rules.budget`.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field

from activities.configuration.declaration import option
from activities.configuration.declaration import seconds as duration
from activities.contracts.bounds import MAX_SECONDS
from activities.contracts.evidence import Allowance, Frozen, Price, StopReason, Usage

MAX_ITERATIONS = 50
MAX_TOKENS = 10**12
MAX_COST_MICROUSD = 10**12
"""The most that a limit may be, extensions included. Far beyond any run; a number without bound is a mistake
or an attack, and one that no clock can add fails the run."""

Kind = Literal["tokens", "cost_microusd"]
"""What calls of models are charged with. The limit of each is `max_<kind>` of the run and
`max_section_<kind>` of a section."""


def _dollars(microusd: int) -> str:
    """`$2.50`, `$0.0123`."""
    return f"${microusd / 1e6:.{2 if microusd and microusd % 10_000 == 0 else 4}f}"


class Charge(NamedTuple):
    """One of `KINDS`."""

    stop: StopReason
    called: str
    of: Callable[[Usage], int | None]
    """None: not known."""
    words: Callable[[int], str]


KINDS: Mapping[Kind, Charge] = {
    "tokens": Charge("token_budget_exceeded", "tokens", lambda usage: usage.tokens, "{:,}".format),
    "cost_microusd": Charge("cost_budget_exceeded", "cost", lambda usage: usage.cost_microusd, _dollars),
}


class Limits(Frozen):
    """The limits of a run. None means no limit of that kind."""

    max_iterations: int = Field(default=5, ge=1, le=MAX_ITERATIONS)
    """Iterations of each search-judge loop."""
    max_tokens: int | None = Field(default=250_000, ge=0, le=MAX_TOKENS)
    max_cost_microusd: int | None = Field(default=None, ge=0, le=MAX_COST_MICROUSD)
    max_seconds: float | None = Field(default=3600, gt=0, le=MAX_SECONDS)
    """Working time; waiting for a person (gates, pauses) does not count."""
    max_section_tokens: int | None = Field(default=None, ge=0, le=MAX_TOKENS)
    """Tokens of each section's research; None: its share of what is free."""
    max_section_cost_microusd: int | None = Field(default=None, ge=0, le=MAX_COST_MICROUSD)
    """The cost of each section's research; None: its share of what is free."""
    max_section_seconds: float | None = Field(default=None, gt=0, le=MAX_SECONDS)
    """Working time of each section's research; None: what the run has left."""
    max_sections: int = Field(default=5, ge=1, le=20)
    max_parallel_sections: int = Field(default=5, ge=1, le=20)
    max_gaps: int = Field(default=3, ge=1, le=10)
    searches_per_gap: int = Field(default=3, ge=1, le=10)
    results_per_search: int = Field(default=10, ge=1, le=50)
    full_texts: int = Field(default=4, ge=0, le=20)
    """Works of a section that are read in full before they are cited."""


class Spend(Frozen):
    """An amount of what calls are charged with."""

    tokens: int = Field(default=0, ge=0)
    cost_microusd: int = Field(default=0, ge=0)

    def of(self, kind: Kind) -> int:
        amount: int = getattr(self, kind)
        return amount

    def map_kinds(self, change: Callable[[Kind, int], int]) -> "Spend":
        """Return what `change` makes of the amount of each kind."""
        return Spend(**{kind: change(kind, self.of(kind)) for kind in KINDS})

    def __add__(self, other: "Spend") -> "Spend":
        return self.map_kinds(lambda kind, amount: amount + other.of(kind))

    def less(self, other: "Spend") -> "Spend":
        """Return what is left without another amount."""
        return self.map_kinds(lambda kind, amount: max(amount - other.of(kind), 0))


def needs(allowance: Allowance, price: Price | None) -> Spend:
    """Return what a call can be charged with at most."""
    return Spend(tokens=allowance.tokens, cost_microusd=worst_cost(allowance, price))


def spend_of(usage: Usage, microusd: int) -> Spend:
    """Return what calls are charged with; `microusd`, also where what they cost is not known."""
    return Spend(tokens=usage.tokens, cost_microusd=microusd)


def worst_cost(allowance: Allowance, price: Price | None) -> int:
    """Millionths of a dollar a call can cost at most; 0 when its price is not known."""
    if price is None:
        return 0
    dollars = (
        allowance.input_tokens * price.input_per_million + allowance.output_tokens * price.output_per_million
    )
    # dollars a million tokens times tokens is millionths of a dollar
    return int(dollars) + 1


class Addition(Spend):
    """An addition to the limits of a run."""

    seconds: float = Field(default=0, ge=0)
    iterations: int = Field(default=0, ge=0)


class Amounts(Frozen):
    """An addition of people to the limits of a run, in the units of the settings."""

    model_config = ConfigDict(extra="forbid")

    tokens: Annotated[int, option("Tokens to add."), Field(ge=0)] = 0
    cost: Annotated[float, option("US dollars to add.", unit="US dollars"), Field(ge=0)] = 0
    seconds: Annotated[
        float,
        BeforeValidator(lambda value: duration(value) if isinstance(value, str) else value),
        option("Time to add, as in 90s, 30m or 2h.", flag="--time", unit="seconds"),
        Field(ge=0),
    ] = 0
    iterations: Annotated[int, option("Iterations to add."), Field(ge=0)] = 0

    @property
    def addition(self) -> Addition:
        return Addition(
            tokens=self.tokens,
            cost_microusd=round(self.cost * 1e6),
            seconds=self.seconds,
            iterations=self.iterations,
        )


NOTHING_ADDED = "nothing to add: give tokens, cost, time or iterations"


class Dimension(NamedTuple):
    """A limit that may be raised, which is `max_<its name>` of `Limits`."""

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


def extension_in_words(addition: Addition) -> str:
    """Return an extension in words."""
    texts = [row.words(amount) for name, row in ADDED.items() if (amount := getattr(addition, name))]
    return "budget extended by " + ", ".join(texts)
