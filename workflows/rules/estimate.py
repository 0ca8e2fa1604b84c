"""Expected calls, tokens, cost and time of a run, before its first paid call: pure arithmetic.

The median of the home's runs in the same mode with the same models; where there are none, the plan of the
mode within the limits of the request, each call as its allowance permits: a bound from above.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from activities.contracts.evidence import ModelChoice, Price
from activities.contracts.publish import Amount, Estimate
from activities.contracts.step import Role
from activities.roles.allowances import MAX_TABLE_ITEMS, WORKS_A_TABLE_CALL, allowance_of, asks_model
from workflows.rules.budget import worst_cost
from workflows.types import ResearchRequest

TOKENS_A_SECOND = 80.0
"""The pace of a hosted model."""
TEAMS, IN_SECTIONS = ("team", "hierarchical"), ("deep", "hierarchical")


def estimate(
    request: ResearchRequest,
    choices: Mapping[str, ModelChoice],
    prices: Mapping[str, Price | None],
    past: Sequence[tuple[str, Amount]],
    outline: tuple[str, int] | None = None,
) -> Estimate:
    """Estimate a run.

    `choices`: the model of each role, with `default`; `prices` by model; `past`: the mode and the amount of
    each run of the home with the same models; `outline`: mode and number of sections that are planned.
    """
    mode = outline[0] if outline else ("iterative" if request.mode == "auto" else request.mode)
    if alike := [amount for name, amount in past if name == mode]:
        likely, least, most = (_each(how, alike) for how in (median, min, max))
        return Estimate(basis="earlier", runs=len(alike), **likely.model_dump(), least=least, most=most)
    in_sections = request.graph.has_sections if request.graph else mode in IN_SECTIONS
    limit = request.limits.max_sections if in_sections else 1
    fewest, largest = (outline[1], outline[1]) if outline else (min(2, limit), limit)
    least = _planned(request, mode, fewest, 1, choices, prices)
    most = _planned(request, mode, largest, request.limits.max_iterations, choices, prices)
    calls_only = Amount(calls=least.calls, cost_microusd=None if most.cost_microusd is None else 0)
    return Estimate(**least.model_dump(), least=calls_only, most=most)


def _calls(request: ResearchRequest, mode: str, sections: int, rounds: int) -> dict[Role, int]:
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


def _planned(
    request: ResearchRequest,
    mode: str,
    sections: int,
    rounds: int,
    choices: Mapping[str, ModelChoice],
    prices: Mapping[str, Price | None],
) -> Amount:
    """Return the amount of a plan's calls, of which those of one section follow one another."""
    in_sequence, limits = _calls(request, mode, 1, rounds), request.limits
    calls, tokens, costs, seconds = 0, 0, list[int | None](), 0.0
    for role, number in _calls(request, mode, sections, rounds).items():
        choice = choices.get(role) or choices["default"]
        if asks_model(role, choice):
            call, price = allowance_of(role, choice), prices.get(choice.model)
            calls += number
            tokens += number * call.tokens
            costs.append(None if price is None else number * worst_cost(call, price))
            seconds += in_sequence.get(role, number) * call.output_tokens / TOKENS_A_SECOND
    return Amount(
        calls=calls,
        tokens=tokens if limits.max_tokens is None else min(tokens, limits.max_tokens),
        cost_microusd=_sum(costs),
        seconds=min(seconds, limits.max_seconds or seconds),
    )


def _sum(costs: Sequence[int | None]) -> int | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _each(how: Callable[[Sequence[float]], float], amounts: Sequence[Amount]) -> Amount:
    """One amount of several, number by number; the cost only where it is known of each."""
    costs = [one.cost_microusd for one in amounts if one.cost_microusd is not None]
    return Amount(
        calls=round(how([one.calls for one in amounts])),
        tokens=round(how([one.tokens for one in amounts])),
        cost_microusd=round(how(costs)) if len(costs) == len(amounts) else None,
        seconds=how([one.seconds for one in amounts]),
    )
