"""What a question is expected to take and what it sends where, said before it is asked.

Expected is the median of the home's runs in the same mode with the same models; where there are none, the
plan of the mode within the limits of the request, each call as its allowance permits: a bound from above. The
sources that are enabled follow from the settings, but finding them means loading every source: the answer is
kept in home under the fingerprint of the settings.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from urllib.parse import urlsplit

from activities.contracts.errors import StoreError
from activities.contracts.evidence import Frozen, ModelChoice, Price, SourceOption
from activities.contracts.publish import Amount, Estimate
from activities.contracts.step import Role
from activities.contracts.stop_reasons import StopReason
from activities.credentials import without_credentials
from activities.models.prices import OPENAI_URL, effort_of, price_of
from activities.private_files import write_whole
from activities.proxies import is_here
from activities.report.archive import Archive, report_name
from activities.report.schema import Methodology
from activities.roles.allowances import MAX_TABLE_ITEMS, WORKS_A_TABLE_CALL, allowance_of, asks_model
from activities.settings import Settings
from client.configuration import is_local
from client.embedded.home import Places, fingerprint
from client.failures import named
from workflows.amounts import worst_cost
from workflows.types import ResearchRequest

CUT_SHORT: frozenset[StopReason] = frozenset({"cancelled", "rejected_by_reviewer", "finished_by_reviewer"})
"""Ends of runs that do not say what a run takes."""
MAX_RUNS = 12
"""Earlier runs of the home that are looked at, the latest ones."""


async def estimated(settings: Settings, request: ResearchRequest) -> Estimate | None:
    """Estimate a run of the embedded worker; None where no language model serves it."""
    chosen = {"default": settings.model_choices()["default"], **(request.models or settings.model_choices())}
    efforts = {choice: await effort_of(settings, choice) for choice in dict.fromkeys(chosen.values())}
    choices = {role: choice.replace(effort=efforts[choice]) for role, choice in chosen.items()}
    paid = [choice for choice in choices.values() if choice.backend != "extractive"]
    if not paid:
        return None
    prices = {choice.model: price_of(settings, choice) for choice in choices.values()}
    models = tuple(dict.fromkeys(f"{model.model} (effort {model.effort or 'normal'})" for model in paid))
    past = await past_runs(settings, models)
    return estimate(request, choices, prices, past).replace(models=models)


class PastReport(Frozen):
    """The fields that are read of an earlier report."""

    mode: str
    stop_reason: str
    methodology: Methodology


async def past_runs(settings: Settings, models: tuple[str, ...]) -> list[tuple[str, Amount]]:
    """Return mode and amount of the home's latest runs with these models that came to their own end."""
    runs: list[tuple[str, Amount]] = []
    try:
        archive = Archive(settings.evidence_url)
        for name in (await archive.names())[:MAX_RUNS]:
            if (data := await archive.store.get_named(report_name(name, "json"))) is None:
                continue
            report = PastReport.model_validate_json(data)
            method = report.methodology
            alike = method.estimate is not None and method.estimate.models == models
            if not alike or not method.model_calls or report.stop_reason in CUT_SHORT:
                continue
            amount = Amount(
                calls=method.model_calls,
                tokens=method.tokens,
                cost_microusd=None if method.cost_usd is None else round(method.cost_usd * 1e6),
                seconds=method.seconds,
            )
            runs.append((report.mode, amount))
    except (StoreError, ValueError):
        return runs  # an estimate from fewer runs, or from the plan
    return runs


def limit_doubts(expected: Estimate, request: ResearchRequest) -> Iterable[str]:
    """Return why the limit of a request's cost cannot hold, or will cut its run short."""
    most = request.limits.max_cost_microusd
    if most is None:
        return
    if expected.cost_microusd is None:
        yield (
            f"{named('max_cost')} counts no call of a model whose price is not known: state it under [model] "
            f"prices, or limit the run by {named('max_tokens')}"
        )
    elif expected.basis == "earlier" and most < expected.cost_microusd:
        yield (
            f"{named('max_cost')} {most / 1e6:.2f} is below the ${expected.cost_microusd / 1e6:.2f} that is "
            "expected: the run will stop searching early and report what it has by then"
        )


TOKENS_A_SECOND = 80.0
"""The pace of a hosted model."""
TEAMS, IN_SECTIONS = ("team", "hierarchical"), ("deep", "hierarchical")


def estimate(
    request: ResearchRequest,
    choices: Mapping[str, ModelChoice],
    prices: Mapping[str, Price | None],
    past: Sequence[tuple[str, Amount]],
) -> Estimate:
    """Estimate a run.

    `choices`: the model of each role, with `default`; `prices` by model; `past`: the mode and the amount of
    each run of the home with the same models.
    """
    mode = "iterative" if request.mode == "auto" else request.mode
    if alike := [amount for name, amount in past if name == mode]:
        likely, least, most = (_each(how, alike) for how in (median, min, max))
        return Estimate(basis="earlier", runs=len(alike), **likely.model_dump(), least=least, most=most)
    in_sections = request.graph.has_sections if request.graph else mode in IN_SECTIONS
    limit = request.limits.max_sections if in_sections else 1
    least = _planned(request, mode, min(2, limit), 1, choices, prices)
    most = _planned(request, mode, limit, request.limits.max_iterations, choices, prices)
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
    costs_known = [cost for cost in costs if cost is not None]
    return sum(costs_known) if len(costs_known) == len(costs) else None


def _each(how: Callable[[Sequence[float]], float], amounts: Sequence[Amount]) -> Amount:
    """One amount of several, number by number; the cost only where it is known of each."""
    costs = [amount.cost_microusd for amount in amounts if amount.cost_microusd is not None]
    return Amount(
        calls=round(how([amount.calls for amount in amounts])),
        tokens=round(how([amount.tokens for amount in amounts])),
        cost_microusd=round(how(costs)) if len(costs) == len(amounts) else None,
        seconds=how([amount.seconds for amount in amounts]),
    )


NAME_FULL_TEXTS = frozenset({"europepmc", "openalex", "semanticscholar"})
"""Sources whose records name an open full text."""


def models_of(settings: Settings, request: ResearchRequest) -> list[str]:
    """Return the language models a run may call, in the order of trying; empty when there is none."""
    chosen = (*(request.models or settings.model_choices()).values(),)
    fallbacks = request.fallbacks or settings.fallback_choices()
    return list(
        dict.fromkeys(fallback.model for fallback in (*chosen, *fallbacks) if fallback.backend == "openai")
    )


async def available(settings: Settings) -> tuple[SourceOption, ...]:
    """Return the sources as a worker with these settings sees them."""
    from activities.sources.http.client import open_http
    from activities.sources.registry import Sources, options

    async with open_http(settings) as http:
        return options(settings, Sources(settings, http))


async def network_sources(settings: Settings) -> tuple[str, ...]:
    """Return the enabled sources that need the network, with those that need none left out.

    From the file in home when the settings are those it was made with.
    """
    places = Places(settings.home)
    path = places.state / "sources.json"
    key = fingerprint(settings, places)
    try:
        stored = json.loads(path.read_bytes())
        if stored["fingerprint"] == key:
            return tuple(str(name) for name in stored["names"])
    except (OSError, ValueError, LookupError, TypeError):
        pass
    infos = [option.info for option in await available(settings) if option.enabled]
    names = [info.name for info in infos if info.role == "search" and "local" not in info.domains]
    write_whole(path, json.dumps({"fingerprint": key, "names": names}).encode())
    return tuple(names)


async def destinations(settings: Settings, request: ResearchRequest) -> str:
    """One line: what a run on the embedded worker sends where."""
    online: list[str] = []
    if not settings.offline and request.sources != ("library",):
        enabled = await network_sources(settings)
        online = [name for name in enabled if not request.sources or name in request.sources]
    models = models_of(settings, request)
    address = settings.openai_base_url or OPENAI_URL
    sent = []
    if online:
        sent.append(f"search queries to {', '.join(online)}")
        if models and request.limits.full_texts and NAME_FULL_TEXTS & set(online):
            sent.append("requests for open full texts to the addresses that these name")
    if models and not is_local(address):
        sent.append(
            f"the question and found text to {', '.join(models)} at {urlsplit(address).hostname or address}"
        )
    if not is_here(settings.evidence_url):
        sent.append(f"evidence and reports to {without_credentials(settings.evidence_url)}")
    if not sent:
        return "Nothing leaves this machine."
    return f"Leaves this machine: {'; '.join(sent)}."
