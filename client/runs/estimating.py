"""What a question is expected to cost, said before it is asked."""

from collections.abc import Iterable
from typing import Any

from activities.contracts.errors import StoreError
from activities.contracts.publish import Estimate
from activities.contracts.stop_reasons import StopReason
from activities.models.prices import price_of
from activities.models.sizing import effort_of
from activities.report.archive import Archive
from activities.report.names import report_name
from activities.settings import Settings
from workflows.rules.estimate import estimate
from workflows.types import ResearchRequest

CUT_SHORT: frozenset[StopReason] = frozenset({"cancelled", "rejected_by_reviewer", "finished_by_reviewer"})
"""Ends of runs that do not say what a run takes."""
MAX_RUNS = 12
"""Earlier runs of the home that are looked at, the latest ones."""


async def estimated(settings: Settings, request: ResearchRequest) -> Estimate | None:
    """What a run of the embedded worker is expected to take; None where no language model serves it."""
    chosen = {"default": settings.model_choices()["default"], **(request.models or settings.model_choices())}
    efforts = {one: await effort_of(settings, one) for one in dict.fromkeys(chosen.values())}
    choices = {role: one.replace(effort=efforts[one]) for role, one in chosen.items()}  # as the worker does
    if all(one.backend == "extractive" for one in choices.values()):
        return None
    prices = {one.model: price_of(settings, one) for one in choices.values()}
    paid = [one for one in choices.values() if one.backend != "extractive"]
    models = tuple(dict.fromkeys(f"{one.model} (effort {one.effort or 'normal'})" for one in paid))
    return estimate(request, choices, prices, await taken(settings)).replace(models=models)


async def taken(settings: Settings) -> list[Estimate]:
    """What the latest runs of the home took that were estimated and came to their own end."""
    import json

    runs: list[Estimate] = []
    try:
        archive = Archive(settings.evidence_url)
        for name in (await archive.names())[:MAX_RUNS]:
            data = json.loads(await archive.store.get_named(report_name(name, "json")) or b"{}")
            method: dict[str, Any] = data.get("methodology") or {}
            if data.get("stop_reason") in CUT_SHORT:
                continue
            if method.get("estimate") and method.get("model_calls"):
                cost = method.get("cost_usd")
                runs.append(
                    Estimate(
                        kind=method["estimate"]["kind"],
                        calls=method["model_calls"],
                        tokens=method["tokens"],
                        cost_microusd=None if cost is None else round(cost * 1e6),
                        seconds=method["seconds"],
                        in_sequence=method["estimate"].get("in_sequence", 0.0),
                    )
                )
    except (StoreError, ValueError, LookupError, TypeError):
        return runs  # an estimate from fewer runs, or from the plan
    return runs


def estimate_lines(expected: Estimate, request: ResearchRequest) -> Iterable[str]:
    """What is said before a run begins."""
    yield f"expected: {expected.text}"
    most = request.limits.max_cost_microusd
    if most is None:
        return
    if expected.cost_microusd is None:
        yield (
            "--max-cost counts no call of a model whose price is not known: state it under [model] prices, "
            "or limit the run by --max-tokens"
        )
    elif most < expected.cost_microusd:
        yield (
            f"--max-cost {most / 1e6:.2f} is below the ${expected.cost_microusd / 1e6:.2f} that is expected: "
            "the run will stop searching early and report what it has by then"
        )
