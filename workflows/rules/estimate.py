"""Expected calls, tokens, cost and time of a run, before its first paid call: pure arithmetic.

The median of the home's runs in the same mode with the same models. Where there are none, the plan of the
mode within the limits of the request, each call as such calls of the role were in runs of other modes, else
as its allowance permits: what such a plan says of tokens, cost and time is a bound from above.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from activities.contracts.evidence import Allowance, ModelChoice, Price, Usage
from activities.contracts.publish import Amount, Estimate
from activities.contracts.step import Role
from activities.roles.allowances import MAX_TABLE_ITEMS, WORKS_A_TABLE_CALL, allowance_of, asks_model
from workflows.rules.budget import worst_cost
from workflows.types import ResearchRequest

TOKENS_A_SECOND = 80.0
"""The pace of a hosted model, where no call of the home says how fast it is."""
TEAMS, IN_SECTIONS = ("team", "hierarchical"), ("deep", "hierarchical")
Calls = Mapping[Role, int]


@dataclass(frozen=True)
class PastRun:
    """A run of the home with the same models."""

    mode: str
    amount: Amount
    by_role: Mapping[Role, Usage]


@dataclass(frozen=True)
class Outline:
    """The mode and the sections of a run whose plan was made already."""

    mode: str
    sections: int


def estimate(
    request: ResearchRequest,
    choices: Mapping[str, ModelChoice],
    prices: Mapping[str, Price | None],
    past: Sequence[PastRun],
    outline: Outline | None = None,
) -> Estimate:
    """Estimate a run. `choices`: the model of each role, with `default`; `prices` by model."""
    mode = outline.mode if outline else ("iterative" if request.mode == "auto" else request.mode)
    if alike := [run.amount for run in past if run.mode == mode]:
        likely, least, most = (_each(how, alike) for how in (median, min, max))
        return Estimate(basis="earlier", runs=len(alike), **likely.model_dump(), least=least, most=most)
    in_sections = request.graph.has_sections if request.graph else mode in IN_SECTIONS
    limit = request.limits.max_sections if in_sections else 1
    sections = (outline.sections, outline.sections) if outline else (min(2, limit), limit)

    def planned(number: int, rounds: int) -> Amount:
        def calls(sections: int) -> Calls:
            every = _calls(request, mode, sections, rounds)
            return {role: n for role, n in every.items() if asks_model(role, _of(choices, role))}

        return _priced(request, calls(number), calls(1), choices, prices, past)

    least, most = planned(sections[0], 1), planned(sections[1], request.limits.max_iterations)
    calls_only = Amount(calls=least.calls, cost_microusd=None if most.cost_microusd is None else 0)
    return Estimate(**least.model_dump(), least=calls_only, most=most)


def _calls(request: ResearchRequest, mode: str, sections: int, rounds: int) -> Calls:
    """Return the calls of a mode by role, as far as they are always made, and those of further rounds."""
    calls: dict[Role, int] = {"query_parser": 1, "appraiser": 1, "orderer": 1}
    calls |= {"judge": sections * rounds, "writer": sections, "verifier": sections}
    if request.clarify != "off":
        calls["clarifier"] = 1
    if sections > 1:
        calls |= {"planner": 1, "editor": 1}
    if mode in TEAMS:
        calls |= {"manager": 2 * sections * rounds, "tool_selector": sections * rounds}
    elif mode != "simple":
        further: tuple[Role, ...] = ("observer", "gap_evaluator", "tool_selector")
        calls |= dict.fromkeys(further, sections * (rounds - 1))
    if request.columns or request.analyse:
        calls["extractor"] = math.ceil(MAX_TABLE_ITEMS / WORKS_A_TABLE_CALL)
    return calls


def _priced(
    request: ResearchRequest,
    calls: Calls,
    in_sequence: Calls,
    choices: Mapping[str, ModelChoice],
    prices: Mapping[str, Price | None],
    past: Sequence[PastRun],
) -> Amount:
    """Return the amount of these calls, of which those of one section follow one another."""
    tokens, cost, seconds, limits = 0, 0, 0.0, request.limits
    known_prices = [prices.get(_of(choices, role).model) for role in calls]
    for role, n in calls.items():
        made = [run.by_role[role] for run in past if role in run.by_role and run.by_role[role].calls]
        call = _median_call(made) or allowance_of(role, _of(choices, role))
        pace = [one.seconds / one.calls for one in made] or [call.output_tokens / TOKENS_A_SECOND]
        tokens += n * call.tokens
        cost += n * worst_cost(call, prices.get(_of(choices, role).model))
        seconds += in_sequence.get(role, n) * median(pace)
    return Amount(
        calls=sum(calls.values()),
        tokens=tokens if limits.max_tokens is None else min(tokens, limits.max_tokens),
        cost_microusd=None if None in known_prices else cost,
        seconds=min(seconds, limits.max_seconds or seconds),
    )


def _of(choices: Mapping[str, ModelChoice], role: Role) -> ModelChoice:
    return choices.get(role) or choices["default"]


def _median_call(made: Iterable[Usage]) -> Allowance | None:
    pairs = [(one.input_tokens // one.calls, one.output_tokens // one.calls) for one in made]
    if not pairs:
        return None
    read, written = (round(median(numbers)) for numbers in zip(*pairs, strict=True))
    return Allowance(input_tokens=read, output_tokens=written)


def _each(how: Callable[[Sequence[float]], float], amounts: Sequence[Amount]) -> Amount:
    """One amount of several, number by number; the cost only where it is known of each."""
    costs = [one.cost_microusd for one in amounts if one.cost_microusd is not None]
    return Amount(
        calls=round(how([one.calls for one in amounts])),
        tokens=round(how([one.tokens for one in amounts])),
        cost_microusd=round(how(costs)) if len(costs) == len(amounts) else None,
        seconds=how([one.seconds for one in amounts]),
    )
