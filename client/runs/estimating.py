"""The expected cost of a question, said before it is asked."""

from collections.abc import Iterable

from activities.contracts.errors import StoreError
from activities.contracts.evidence import Frozen
from activities.contracts.publish import Amount, Estimate
from activities.contracts.stop_reasons import StopReason
from activities.models.prices import price_of
from activities.models.sizing import effort_of
from activities.report.archive import Archive, report_name
from activities.report.schema import Methodology
from activities.settings import Settings
from client.failures import named
from workflows.rules.estimate import estimate
from workflows.types import ResearchRequest

CUT_SHORT: frozenset[StopReason] = frozenset({"cancelled", "rejected_by_reviewer", "finished_by_reviewer"})
"""Ends of runs that do not say what a run takes."""
MAX_RUNS = 12
"""Earlier runs of the home that are looked at, the latest ones."""


async def estimated(
    settings: Settings, request: ResearchRequest, outline: tuple[str, int] | None = None
) -> Estimate | None:
    """Estimate a run of the embedded worker; None where no language model serves it."""
    chosen = {"default": settings.model_choices()["default"], **(request.models or settings.model_choices())}
    efforts = {choice: await effort_of(settings, choice) for choice in dict.fromkeys(chosen.values())}
    choices = {role: choice.replace(effort=efforts[choice]) for role, choice in chosen.items()}
    paid = [choice for choice in choices.values() if choice.backend != "extractive"]
    if not paid:
        return None
    prices = {choice.model: price_of(settings, choice) for choice in choices.values()}
    models = tuple(dict.fromkeys(f"{one.model} (effort {one.effort or 'normal'})" for one in paid))
    past = await past_runs(settings, models)
    return estimate(request, choices, prices, past, outline).replace(models=models)


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
