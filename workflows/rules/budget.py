"""Budget arithmetic: reserve before a call, settle after it, keep back what the report needs.

Pure: the time is an argument, and there is no clock. Invariants, held by property tests:

* what is used plus what is reserved plus what is leased never exceeds a limit, as long as no call uses more
  than its allowance (the model client holds calls to it);
* the writing reserve can only be spent on writing;
* a reservation is settled once; settling an unknown one changes nothing;
* a call of unknown price is charged, for the limit, with what was held for it;
* extending raises limits and never lowers them;
* the clock is stopped while at least one reason holds it.
"""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from activities.contracts.evidence import Allowance, Price, StopReason, Usage
from workflows.amounts import KINDS, Addition, Kind, Limits, Spend, needs, spend_of
from workflows.types import BudgetStatus, SectionProgress

WRITING_SECONDS = 120.0
"""Working time kept back for writing and publishing, at most."""
WRITING_SHARE = 0.15
"""The share of the time limit that is kept back for writing when that is less than WRITING_SECONDS."""
MAX_WRITING_SHARE = 0.4
"""The share of a limit that is kept back for writing at most."""
MIN_SHARE = 0.4
"""The share of an allowance with which a call is still worth making: its prompt is made smaller to fit."""
MIN_LEFT = 0.1
"""The share of a limit; with less of it left, the next step is to write."""
HEADROOM = 1.2
"""A multiple of what calls used on average: the next one may be larger, and its prompt is estimated high."""


class Reservation(Spend):
    """The amount that a call under way may still use."""

    role: str
    writing: bool = False
    """Whether it draws on what was kept back for writing."""


class Budget(BaseModel, defer_build=True):
    """The ledger of one run (or of one section, whose limits are its lease)."""

    limits: Limits
    used: Usage = Usage()
    spent_microusd: int = 0
    """What counts against the money limit: what providers charged, or what was held where that is unknown."""
    by_role: dict[str, Usage] = Field(default_factory=dict)
    reservations: dict[int, Reservation] = Field(default_factory=dict)
    leases: dict[str, Spend] = Field(default_factory=dict)
    """Section -> what it was given of the run's budget."""
    writing_reserve: Spend = Spend()
    next_reservation: int = 1
    started_at: float = 0.0
    """Seconds since the epoch, of the workflow's clock."""
    waited: float = 0.0
    """Seconds spent waiting for people."""
    holds: list[str] = Field(default_factory=list)
    """The reasons for which the clock is stopped now."""
    held_since: float = 0.0
    iterations: int = 0

    # tokens and money

    def limit(self, kind: Kind) -> int | None:
        limit: int | None = getattr(self.limits, f"max_{kind}")
        return limit

    def charged_amount(self, kind: Kind) -> int:
        """Return what counts against a limit."""
        return spend_of(self.used, self.spent_microusd).of(kind)

    def held_amount(self, kind: Kind) -> int:
        """Return what is reserved for calls under way and leased to sections."""
        return sum(
            reservation.of(kind) for reservation in (*self.reservations.values(), *self.leases.values())
        )

    def free_amount(self, kind: Kind, writing: bool = False) -> int | None:
        """Return what may still be promised; None without a limit."""
        limit = self.limit(kind)
        if limit is None:
            return None
        in_use = sum(r.of(kind) for r in self.reservations.values() if r.writing)
        reserve = 0 if writing else max(self.writing_reserve.of(kind) - in_use, 0)
        return max(limit - self.charged_amount(kind) - self.held_amount(kind) - reserve, 0)

    def refusal(self, demand: Spend, writing: bool = False) -> StopReason | None:
        """Return why a call of this size may not be made, if it may not."""
        for kind, charge in KINDS.items():
            free = self.free_amount(kind, writing)
            if free is not None and demand.of(kind) > free:
                return charge.stop
        return None

    def nearly_spent(self) -> StopReason | None:
        """Return the limit of which less than `MIN_LEFT` is left, what is kept back for writing included."""
        for kind, charge in KINDS.items():
            limit = self.limit(kind)
            if limit is not None and limit - self.charged_amount(kind) < limit * MIN_LEFT:
                return charge.stop
        return None

    def reserve(
        self, role: str, allowance: Allowance, price: Price | None, writing: bool = False
    ) -> int | None:
        """Hold an allowance for a call and return the reservation's number; None when it does not fit."""
        need = needs(allowance, price)
        if self.refusal(need, writing) is not None:
            return None
        number = self.next_reservation
        self.next_reservation += 1
        self.reservations[number] = Reservation(role=role, writing=writing, **need.model_dump())
        return number

    def settle(self, number: int, usage: Usage) -> None:
        """Replace a reservation by what the call really used."""
        reservation = self.reservations.pop(number, None)
        if reservation is not None:
            cost = reservation.cost_microusd if usage.cost_microusd is None else usage.cost_microusd
            self.spent_microusd += cost
            self._count(reservation.role, usage)
            if reservation.writing:
                self.writing_reserve = self.writing_reserve.less(spend_of(usage, cost))

    def _count(self, role: str, usage: Usage) -> None:
        self.used = self.used + usage
        self.by_role[role] = self.by_role.get(role, Usage()) + usage

    def keep_for_writing(self, calls: Sequence[tuple[Allowance, Price | None]]) -> None:
        """Keep back the `expected_allowance` of the calls that write.

        At most `MAX_WRITING_SHARE` of a limit.
        """

        def capped(kind: Kind, amount: int) -> int:
            limit = self.limit(kind)
            return amount if limit is None else min(amount, int(limit * MAX_WRITING_SHARE))

        self.writing_reserve = sum((needs(*call) for call in calls), start=Spend()).map_kinds(capped)

    # leases to sections

    def lease(self, section: str, demand: Spend) -> Spend:
        """Give a section as much of what it asks for as is free; adds to what it has."""

        def share(kind: Kind, amount: int) -> int:
            free = self.free_amount(kind)
            return amount if free is None else min(amount, free)

        granted = demand.map_kinds(share)
        self.leases[section] = self.leases.get(section, Spend()) + granted
        return granted

    def close_lease(self, section: str, by_role: dict[str, Usage], spent_microusd: int) -> Spend:
        """Close a section's lease, charge what it used of it and return the rest."""
        lease = self.leases.pop(section, Spend())
        for role, usage in by_role.items():
            self._count(role, usage)
        self.spent_microusd += spent_microusd
        return lease.less(spend_of(sum(by_role.values(), start=Usage()), spent_microusd))

    def withhold(self, section: str, by_role: dict[str, Usage], spent_microusd: int) -> None:
        """Close the lease of a section that ended without an account.

        What it may have spent beyond what it had reported stays held, so that the limit cannot be exceeded.
        """
        self.leases[section] = self.close_lease(section, by_role, spent_microusd)

    def extend(self, addition: Addition) -> None:
        """Raise the limits. A kind without a limit stays without one."""
        before = {name: getattr(self.limits, f"max_{name}") for name in Addition.model_fields}
        limits = {f"max_{n}": most + getattr(addition, n) for n, most in before.items() if most is not None}
        self.limits = self.limits.model_copy(update=limits)

    # time

    def hold_clock(self, reason: str, now: float) -> None:
        """Stop counting time, until every reason to is gone."""
        if not self.holds:
            self.held_since = now
        if reason not in self.holds:
            self.holds.append(reason)

    def release_clock(self, reason: str, now: float) -> None:
        """Remove one reason to stop the clock."""
        if reason not in self.holds:
            return
        self.holds.remove(reason)
        if not self.holds:
            self.waited += max(now - self.held_since, 0.0)

    def exclude_seconds(self, seconds: float) -> None:
        """Do not count so many seconds as working time."""
        self.waited += seconds

    def elapsed(self, now: float) -> float:
        """Working seconds so far: waiting for people is not counted."""
        until = self.held_since if self.holds else now
        return max(until - self.started_at - self.waited, 0.0)

    def remaining_seconds(self, now: float) -> float | None:
        """Working seconds left; None without a limit."""
        if self.limits.max_seconds is None:
            return None
        return max(self.limits.max_seconds - self.elapsed(now), 0.0)

    def research_seconds(self, now: float) -> float | None:
        """Working seconds left for research, the time for writing kept back; None without a limit."""
        remaining = self.remaining_seconds(now)
        if remaining is None or self.limits.max_seconds is None:
            return None
        return max(remaining - min(WRITING_SECONDS, self.limits.max_seconds * WRITING_SHARE), 0.0)

    def status(self, now: float, sections: Sequence[SectionProgress] = ()) -> BudgetStatus:
        """Return the answer of query `budget`; `sections` are those that run now."""
        by_role = dict(self.by_role)
        for section in sections:
            for role, usage in section.by_role.items():
                by_role[role] = by_role.get(role, Usage()) + usage
        total = sum((usage for section in sections for usage in section.by_role.values()), start=self.used)
        return BudgetStatus(
            limits=self.limits,
            used=total,
            reserved_tokens=max(self.held_amount("tokens") - (total.tokens - self.used.tokens), 0),
            cost_known=total.cost_microusd is not None,
            iterations=self.iterations,
            elapsed_seconds=round(self.elapsed(now), 3),
            as_of=now,
            remaining_seconds=self.remaining_seconds(now),
            by_role=by_role,
        )


def expected_allowance(allowance: Allowance, usage: Usage | None, share: float | None) -> Allowance:
    """Return what the next call of a role will need, by what was measured in this run.

    Its own calls (`usage`), else the share of their allowances that all calls took. Before the first call it
    is the whole allowance.
    """
    tokens = allowance.tokens
    if usage is not None and usage.calls:
        tokens = min(tokens, int(usage.tokens / usage.calls * HEADROOM))
    elif share is not None:
        tokens = min(tokens, int(tokens * share * HEADROOM))
    return scale(allowance, tokens)


def smaller_allowance(full: Allowance, estimate: Allowance, free: int) -> Allowance | None:
    """Return what a call may be allowed when its full allowance is not free.

    All that is free, if calls of its kind need no more by the `estimate` of this run, or if it is a good part
    of the full allowance. None otherwise.
    """
    return scale(full, min(free, full.tokens)) if 0 < least_tokens(full, estimate) <= free else None


def least_tokens(full: Allowance, estimate: Allowance) -> int:
    """Tokens without which a call is not made."""
    return min(int(full.tokens * MIN_SHARE), estimate.tokens)


def scale(allowance: Allowance, tokens: int) -> Allowance:
    """Return an allowance of so many tokens, divided between prompt and answer as the one given."""
    output = tokens * allowance.output_tokens // max(allowance.tokens, 1)
    return Allowance(input_tokens=tokens - output, output_tokens=output)
