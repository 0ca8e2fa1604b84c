"""What a run is expected to take, before its first paid call: pure arithmetic.

Runs of this home that were asked in the same way (mode, effort, sources, limits) say it best: the median of
what they took. Else the calls that the mode makes are counted, each with the share of its allowance that such
calls take.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from statistics import median

from activities.contracts.evidence import ModelChoice, Price
from activities.contracts.publish import Estimate
from activities.contracts.step import Role
from activities.roles.allowances import MAX_WEIGHED, allowance_of, asks_model, most_judged, works_a_batch
from workflows.rules.budget import scaled, worst_cost
from workflows.types import ResearchRequest

FURTHER_ROUNDS = 0.5
"""Rounds of searches beside the first that a loop is expected to make: most end after one or two."""
SUB_TEAMS = 3
"""Teams of a hierarchical run."""
SOURCES = 3
"""That are searched where none is named, as far as their works are judged."""
SHARE = 0.4
"""The share of an allowance, that a call takes: allowances are worst cases, read high."""
SECONDS_A_CALL = 8.0
"""Seconds of a call of a hosted model, with what is done around it, where no run of the home says it."""
ONCE: Sequence[Role] = ("query_parser", "writer", "verifier", "appraiser")
FURTHER: Mapping[str, Sequence[Role]] = {
    "simple": ("judge",),
    "team": ("manager",) * 6 + ("tool_selector", "judge"),
    "hierarchical": ("tool_selector", "judge"),
}
"""Calls of a further round of a mode; of the others those of `iterative`. The first is judged only."""
ITERATIVE: Sequence[Role] = ("observer", "gap_evaluator", "tool_selector", "judge")


def kind_of(request: ResearchRequest, choices: Mapping[str, ModelChoice]) -> str:
    """What makes two runs alike: mode, models, effort, sources and limits, as a digest."""
    asked = (
        request.mode,
        sorted((role, one.model_dump_json()) for role, one in choices.items()),
        sorted(request.sources),
        request.library or "",
        request.limits.model_dump_json(exclude={"max_cost_microusd", "max_seconds"}),
        bool(request.columns or request.analyse),
    )
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:12]


def estimate(
    request: ResearchRequest,
    choices: Mapping[str, ModelChoice],
    prices: Mapping[str, Price | None],
    earlier: Sequence[Estimate],
) -> Estimate:
    """What a run of this request is expected to take. `choices`: the model of each role, with `default`;
    `prices` by model; `earlier`: what runs of the home took, with the kind of each."""
    kind = kind_of(request, choices)
    calls, in_sequence = _calls(request, choices)
    alike = [one for one in earlier if one.kind == kind]
    if alike:
        priced = all(prices.get(choices.get(role, choices["default"]).model) for role in calls)
        costs = [one.cost_microusd for one in alike if priced and one.cost_microusd is not None]
        return Estimate(
            kind=kind,
            basis="earlier",
            runs=len(alike),
            calls=round(median(one.calls for one in alike)),
            tokens=round(median(one.tokens for one in alike)),
            cost_microusd=round(median(costs)) if costs else None,
            seconds=median(one.seconds for one in alike),
            in_sequence=in_sequence,
        )
    tokens = cost = 0.0
    has_prices = True
    for role, count in calls.items():
        choice = choices.get(role) or choices["default"]
        allowance = allowance_of(role, choice)
        price = prices.get(choice.model)
        likely = scaled(allowance, int(allowance.tokens * SHARE))
        tokens += likely.tokens * count
        cost += worst_cost(likely, price) * count
        has_prices = has_prices and price is not None
    made = math.ceil(sum(calls.values()))
    measured = [one for one in earlier if one.calls]
    seconds = SECONDS_A_CALL * in_sequence
    if measured:
        # a call of this home, whatever the run: prompts are of one kind, and so is the server
        tokens = round(median(one.tokens / one.calls for one in measured) * made)
        seconds = median(one.seconds / (one.in_sequence or one.calls) for one in measured) * in_sequence
    if request.limits.max_tokens is not None:
        tokens = min(tokens, request.limits.max_tokens)
    return Estimate(
        kind=kind,
        basis="plan",
        calls=made,
        tokens=round(tokens),
        cost_microusd=round(cost) if has_prices else None,
        seconds=min(seconds, request.limits.max_seconds or seconds),
        in_sequence=in_sequence,
    )


def _calls(request: ResearchRequest, choices: Mapping[str, ModelChoice]) -> tuple[dict[Role, float], float]:
    """The paid calls of a run by role, and how many of them follow one another."""
    limits, mode = request.limits, "iterative" if request.mode == "auto" else request.mode
    parts = {"deep": limits.max_sections, "hierarchical": SUB_TEAMS}.get(mode, 1)
    judge = choices.get("judge") or choices["default"]
    works = min(10 * (len(request.sources) or SOURCES), most_judged(judge))
    batches = math.ceil(works / works_a_batch(judge))
    more = FURTHER.get(mode, ITERATIVE) if limits.max_iterations > 1 else ()
    calls: dict[Role, float] = dict.fromkeys(ONCE, 1.0)
    calls |= {"judge": parts * batches, "orderer": parts * MAX_WEIGHED}
    for role in more:
        calls[role] = calls.get(role, 0.0) + parts * FURTHER_ROUNDS
    if parts > 1:
        calls |= {"planner": 1, "editor": 1, "writer": parts, "verifier": parts}
    if request.columns or request.analyse:
        calls["extractor"] = parts
    paid = {role: count for role, count in calls.items() if _is_paid(role, choices)}
    return paid, min(sum(paid.values()), len(ONCE) + 2 * (parts > 1) + batches + len(more))


def _is_paid(role: Role, choices: Mapping[str, ModelChoice]) -> bool:
    return asks_model(role, choices.get(role) or choices["default"])
