"""The budget's invariants, for any sequence of calls, leases and extensions."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from activities.contracts.evidence import Allowance, Price, Usage
from workflows.amounts import Addition, Limits, Spend, worst_cost
from workflows.rules.budget import HEADROOM, Budget, expected_allowance, smaller_allowance

pytestmark = pytest.mark.invariant

PRICE = Price(input_per_million=2.0, output_per_million=10.0)
allowances = st.builds(Allowance, input_tokens=st.integers(0, 9_000), output_tokens=st.integers(0, 3_000))


def a_budget(tokens: int | None = 100_000, microusd: int | None = None, **limits: Any) -> Budget:
    return Budget(
        limits=Limits.model_validate({"max_tokens": tokens, "max_cost_microusd": microusd, **limits})
    )


def part(draw: st.DrawFn, allowance: Allowance, known: bool) -> Usage:
    """What a call may have used that was held to its allowance."""
    tokens_in = draw(st.integers(0, allowance.input_tokens))
    tokens_out = draw(st.integers(0, allowance.output_tokens))
    used = Allowance(input_tokens=tokens_in, output_tokens=tokens_out)
    cost = draw(st.integers(0, worst_cost(used, PRICE))) if known else None
    return Usage(calls=1, input_tokens=tokens_in, output_tokens=tokens_out, cost_microusd=cost)


class BudgetMachine(RuleBasedStateMachine):
    """Any order of reserving, settling, leasing, closing and extending, by one run and its sections."""

    def __init__(self) -> None:
        super().__init__()
        self.budget = a_budget(120_000, 600_000)
        self.budget.keep_for_writing([(Allowance(input_tokens=9_000, output_tokens=2_500), PRICE)])
        self.open: dict[int, Allowance] = {}
        self.sections: dict[str, Budget] = {}
        self.begun = 0
        self.limit = (120_000, 600_000)

    @rule(allowance=allowances, writing=st.booleans())
    def reserve(self, allowance: Allowance, writing: bool) -> None:
        number = self.budget.reserve("judge", allowance, PRICE, writing)
        if number is not None:
            self.open[number] = allowance

    @precondition(lambda self: self.open)
    @rule(data=st.data(), known=st.booleans(), twice=st.booleans())
    def settle(self, data: st.DataObject, known: bool, twice: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.open)))
        usage = data.draw(st.composite(part)(self.open.pop(number), known))
        self.budget.settle(number, usage)
        if twice:
            before = self.budget.model_copy(deep=True)
            self.budget.settle(number, usage)
            assert self.budget == before

    @precondition(lambda self: len(self.sections) < 5)
    @rule(tokens=st.integers(0, 60_000), cost=st.integers(0, 300_000))
    def start_section(self, tokens: int, cost: int) -> None:
        self.begun += 1
        lease = self.budget.lease(f"s{self.begun}", Spend(tokens=tokens, cost_microusd=cost))
        self.sections[f"s{self.begun}"] = a_budget(lease.tokens, lease.cost_microusd)

    @precondition(lambda self: self.sections)
    @rule(data=st.data(), tokens=st.integers(0, 30_000), cost=st.integers(0, 100_000))
    def lease_more(self, data: st.DataObject, tokens: int, cost: int) -> None:
        name = data.draw(st.sampled_from(sorted(self.sections)))
        lease = self.budget.lease(name, Spend(tokens=tokens, cost_microusd=cost))
        self.sections[name].extend(Addition(**lease.model_dump()))

    @precondition(lambda self: self.sections)
    @rule(data=st.data(), allowance=allowances, known=st.booleans())
    def work_in_section(self, data: st.DataObject, allowance: Allowance, known: bool) -> None:
        section = self.sections[data.draw(st.sampled_from(sorted(self.sections)))]
        number = section.reserve("judge", allowance, PRICE)
        if number is not None:
            section.settle(number, data.draw(st.composite(part)(allowance, known)))

    @precondition(lambda self: self.sections)
    @rule(data=st.data(), lost=st.booleans())
    def end_section(self, data: st.DataObject, lost: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.sections)))
        section = self.sections.pop(name)
        if lost:
            self.budget.withhold(name, {}, 0)
        else:
            self.budget.close_lease(name, section.by_role, section.spent_microusd)

    @rule(tokens=st.integers(0, 10_000), cost=st.integers(0, 10_000))
    def extend(self, tokens: int, cost: int) -> None:
        self.budget.extend(Addition(tokens=tokens, cost_microusd=cost))
        self.limit = (self.limit[0] + tokens, self.limit[1] + cost)

    @invariant()
    def what_is_used_and_held_stays_within_the_limits(self) -> None:
        budget = self.budget
        assert (budget.limits.max_tokens, budget.limits.max_cost_microusd) == self.limit
        promised = sum((*budget.reservations.values(), *budget.leases.values()), start=Spend())
        assert budget.used.tokens + promised.tokens <= self.limit[0]
        assert budget.spent_microusd + promised.cost_microusd <= self.limit[1]

    @invariant()
    def what_all_have_really_used_stays_within_the_limits(self) -> None:
        everywhere = [self.budget, *self.sections.values()]
        assert sum(b.used.tokens for b in everywhere) <= self.limit[0]
        assert sum(b.spent_microusd for b in everywhere) <= self.limit[1]

    @invariant()
    def roles_add_up(self) -> None:
        assert sum(u.tokens for u in self.budget.by_role.values()) == self.budget.used.tokens


BudgetMachine.TestCase.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
TestBudget = BudgetMachine.TestCase


def test_the_writing_reserve_is_kept_for_writing() -> None:
    budget = a_budget(30_000)
    writing = Allowance(input_tokens=9_000, output_tokens=2_000)
    budget.keep_for_writing([(writing, None)])
    assert budget.free_amount("tokens") == 19_000
    assert budget.reserve("judge", Allowance(input_tokens=19_001, output_tokens=0), None) is None
    assert budget.reserve("judge", Allowance(input_tokens=19_000, output_tokens=0), None) is not None
    assert budget.reserve("judge", Allowance(input_tokens=1, output_tokens=0), None) is None
    assert budget.reserve("writer", writing, None, writing=True) is not None


def test_the_writing_reserve_leaves_most_for_research() -> None:
    budget = a_budget(10_000)
    budget.keep_for_writing([(Allowance(input_tokens=9_000, output_tokens=2_000), None)] * 5)
    assert budget.free_amount("tokens") == 6_000


def test_a_call_of_unknown_price_does_not_lift_the_money_limit() -> None:
    budget = a_budget(None, 100_000)
    allowance = Allowance(input_tokens=10_000, output_tokens=2_000)
    number = budget.reserve("judge", allowance, PRICE)
    assert number is not None
    budget.settle(number, Usage(calls=1, input_tokens=10, cost_microusd=None))
    assert budget.spent_microusd == worst_cost(allowance, PRICE)
    assert budget.free_amount("cost_microusd") == 100_000 - worst_cost(allowance, PRICE)
    assert not budget.status(0).cost_known


def test_a_refusal_names_the_limit_that_is_in_the_way() -> None:
    assert a_budget(100).refusal(Spend(tokens=101)) == "token_budget_exceeded"
    assert a_budget(None, 100).refusal(Spend(tokens=10, cost_microusd=101)) == "cost_budget_exceeded"
    assert a_budget(None, None).refusal(Spend(tokens=10**9, cost_microusd=10**9)) is None


@pytest.mark.parametrize(
    ("limits", "used", "spent"),
    [
        ({}, 10_000, None),
        ({"max_tokens": 10_000}, 9_000, None),
        ({"max_tokens": 10_000}, 9_001, "token_budget_exceeded"),
        ({"max_tokens": 100_000, "max_cost_microusd": 10_000}, 9_001, "cost_budget_exceeded"),
    ],
)
def test_a_budget_of_which_less_than_a_tenth_is_left_is_for_writing(
    limits: dict[str, int], used: int, spent: str | None
) -> None:
    budget = Budget(limits=Limits.model_validate(limits), used=Usage(input_tokens=used), spent_microusd=used)
    assert budget.nearly_spent() == spent


def test_no_limit_is_no_limit_after_extending() -> None:
    budget = a_budget(None)
    budget.extend(Addition(tokens=5, cost_microusd=5, seconds=5, iterations=5))
    assert budget.limits.max_tokens is None
    assert budget.limits.max_cost_microusd is None


@given(st.lists(st.tuples(st.sampled_from(["hold", "release"]), st.sampled_from("abc"), st.integers(0, 50))))
def test_the_clock_counts_exactly_the_time_nothing_holds_it(steps: list[tuple[str, str, int]]) -> None:
    budget = a_budget(max_seconds=1e6)
    now, worked, holding = 1_000.0, 0.0, set[str]()
    budget.started_at = now
    for what, why, seconds in steps:
        (budget.hold_clock if what == "hold" else budget.release_clock)(why, now)
        (holding.add if what == "hold" else holding.discard)(why)
        now += seconds
        worked += 0 if holding else seconds
        assert budget.elapsed(now) == worked
        assert budget.remaining_seconds(now) == 1e6 - worked


def test_time_for_writing_is_kept_back_from_research() -> None:
    long, short = a_budget(max_seconds=3600.0), a_budget(max_seconds=100.0)
    assert long.research_seconds(1000.0) == 3600 - 1000 - 120
    assert short.research_seconds(0.0) == 85
    assert short.research_seconds(90.0) == 0


FULL = Allowance(input_tokens=8_000, output_tokens=900)


@pytest.mark.parametrize(
    ("used", "free", "tokens"),
    [
        (None, 8_900, 8_900),
        (None, 4_000, 4_000),
        (None, 3_000, None),
        (Usage(calls=2, input_tokens=2_400, output_tokens=200), 1_600, 1_600),
        (Usage(calls=2, input_tokens=2_400, output_tokens=200), 1_500, None),
        (Usage(calls=1, input_tokens=8_000, output_tokens=900), 4_000, 4_000),
    ],
)
def test_a_call_that_does_not_fit_whole_is_made_smaller_by_what_its_role_really_used(
    used: Usage | None, free: int, tokens: int | None
) -> None:
    smaller = smaller_allowance(FULL, expected_allowance(FULL, used, None), free)
    assert (smaller.tokens if smaller else None) == tokens


@given(allowances, st.integers(0, 20_000), st.integers(0, 5), st.integers(0, 20_000))
def test_a_smaller_allowance_never_exceeds_what_is_free(
    wanted: Allowance, free: int, calls: int, used: int
) -> None:
    likely = expected_allowance(wanted, Usage(calls=calls, input_tokens=used), None)
    smaller = smaller_allowance(wanted, likely, free)
    assert smaller is None or smaller.tokens <= min(free, wanted.tokens)


def test_what_is_kept_back_follows_what_calls_take() -> None:
    assert expected_allowance(FULL, None, None) == FULL
    assert expected_allowance(FULL, None, 0.25).tokens == int(FULL.tokens * 0.25 * HEADROOM)
    own = Usage(calls=2, input_tokens=2_000)
    assert expected_allowance(FULL, own, 0.9).tokens == int(1_000 * HEADROOM)
