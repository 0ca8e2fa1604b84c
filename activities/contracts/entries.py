"""Dated events and amounts that works state, for a question that asks when or how much."""

from decimal import Decimal
from typing import Literal

from activities.contracts.evidence import Frozen, Support
from activities.contracts.parts import PartData
from activities.contracts.plan import Asked

Counts = Literal["add", "subtract", "no"]
"""How an amount enters the total that the question asks for; `no`: it is of another matter, listed a second
time, or a total itself."""


class Entry(Frozen):
    """What one sentence of a work states: an event with its date, or an amount."""

    evidence_id: str
    support: Support
    what: str
    """In words of the sentence."""
    day: str = ""
    """ISO date of the event, else of the work; empty where neither is known."""
    day_from: Literal["", "sentence", "work"] = ""
    amount: str = ""
    """With its unit, as the sentence states it."""
    value: Decimal | None = None
    """The number of the amount, as the language of its work writes numbers."""
    counts: Counts = "no"
    total: str = ""
    """The sum that it belongs to, in words of the question (`claimed`, `paid`), where it asks for several."""


class Entries(Frozen):
    """What was read of the works."""

    asks: tuple[Asked, ...] = ()
    entries: tuple[Entry, ...] = ()


class Total(Frozen):
    """The sum of the amounts of one unit that belong together."""

    name: str = ""
    """In words of the question; empty where it asks for one sum."""
    unit: str
    expression: str
    """`11,210 + 1,890`, in the order of the entries."""
    result: str

    @property
    def line(self) -> str:
        """`paid: 11,210 + 1,890 = 13,100 pounds`."""
        name = f"{self.name}: " if self.name else ""
        return f"{name}{self.expression} = {self.result} {self.unit}".strip()


class Ledger(Frozen):
    """The entries in order of time, and what their amounts come to."""

    asks: tuple[Asked, ...] = ()
    entries: tuple[Entry, ...] = ()
    totals: tuple[Total, ...] = ()


PART = PartData[Entries, Ledger]("entries", Entries, Entries(), Ledger, Ledger())
