"""What a question is expected to cost, said before it is asked."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, cast

from activities.contracts.errors import StoreError
from activities.contracts.evidence import Frozen, ModelChoice
from activities.contracts.publish import Amount, Estimate
from activities.contracts.stop_reasons import StopReason
from activities.models.address import parse
from activities.models.prices import address, context_window, price_of
from activities.models.sizing import effort_of, facts_of
from activities.report.archive import Archive
from activities.report.names import report_name
from activities.report.schema import Methodology
from activities.roles.allowances import MAX_WORK_CHARS, PASSAGES_CHARS
from activities.settings import Settings
from client.naming import named
from workflows.rules.estimate import Server, Settled, Took, Works, estimate
from workflows.types import ResearchRequest

if TYPE_CHECKING:
    from activities.contracts.evidence import Usage
    from activities.contracts.step import Role

CUT_SHORT: frozenset[StopReason] = frozenset({"cancelled", "rejected_by_reviewer", "finished_by_reviewer"})
"""Ends of runs that do not say what a run takes."""
MAX_RUNS = 12
"""Earlier runs of the home that are looked at, the latest ones."""
TEXTS = (".txt", ".text", ".md", ".markdown")
RECORDS = (".json", ".jsonl", ".gz", ".csv", ".tsv", ".bib", ".ris")
"""Endings of files that are as long as their text, and of files with many works."""


async def estimated(
    settings: Settings, request: ResearchRequest, settled: Settled | None = None
) -> Estimate | None:
    """What a run of the embedded worker is expected to take; None where no language model serves it."""
    chosen = {"default": settings.model_choices()["default"], **(request.models or settings.model_choices())}
    efforts = {one: await effort_of(settings, one) for one in dict.fromkeys(chosen.values())}
    choices = {role: one.replace(effort=efforts[one]) for role, one in chosen.items()}  # as the worker does
    paid = [one for one in choices.values() if one.backend != "extractive"]
    if not paid:
        return None
    prices = {one.model: price_of(settings, one) for one in choices.values()}
    models = tuple(dict.fromkeys(f"{one.model} (effort {one.effort or 'normal'})" for one in paid))
    made = estimate(
        request,
        choices,
        prices,
        await taken(settings, models),
        works=works_in(request.library) if request.sources == ("library",) else Works(),
        server=await server_of(settings, paid[0]),
        settled=settled,
    )
    return made.replace(models=models)


class Earlier(Frozen):
    """What is read of the report of an earlier run: of no other part a long report takes time."""

    mode: str
    stop_reason: str
    sections: tuple[object, ...]
    methodology: Methodology


async def taken(settings: Settings, models: tuple[str, ...]) -> list[Took]:
    """What the latest runs of the home took that were estimated and came to their own end. How often and how
    fast a model was asked is told only of those with the same `models`."""
    runs: list[Took] = []
    try:
        archive = Archive(settings.evidence_url)
        for name in (await archive.names())[:MAX_RUNS]:
            if (data := await archive.store.get_named(report_name(name, "json"))) is None:
                continue
            run = Earlier.model_validate_json(data)
            method, said = run.methodology, run.methodology.estimate
            if said is None or not method.model_calls or run.stop_reason in CUT_SHORT:
                continue
            loops = [one.section for one in method.spent_by]
            runs.append(
                Took(
                    kind=said.kind,
                    mode=run.mode,
                    amount=Amount(
                        calls=method.model_calls,
                        tokens=method.tokens,
                        cost_microusd=None if method.cost_usd is None else round(method.cost_usd * 1e6),
                        seconds=method.seconds,
                    ),
                    by_role=cast("dict[Role, Usage]", method.by_role) if said.models == models else {},
                    sections=len(run.sections) or 1,
                    iterations=len(loops) / len(set(loops)) if loops else 1.0,
                )
            )
    except (StoreError, ValueError):
        return runs  # an estimate from fewer runs, or from the plan
    return runs


async def server_of(settings: Settings, choice: ModelChoice) -> Server:
    """What is known of the server of a model: as set, as it says, one call at a time for a local server that
    does not say, and no limit for a provider's."""
    facts = await facts_of(settings, choice)
    slots = int(parse(address(settings, choice)).local) if facts.slots is None else facts.slots
    at_once, assumed = settings.model_concurrency, context_window(settings, choice)
    return Server(slots if at_once is None else at_once, facts.context_tokens or assumed)


def works_in(folder: str | None) -> Works:
    """How many documents a folder has and how long they are, by its files alone: a text is as long as its
    file, of others passages are read. How many works a file of records has is not known."""
    chars: list[float] = []
    for root, _, names in os.walk(folder or ""):
        for name in names:
            ending = Path(name).suffix.lower()
            if ending in RECORDS:
                return Works()
            if not name.startswith("."):
                with suppress(OSError):  # a link to nothing is no document
                    size = Path(root, name).stat().st_size
                    is_short = ending in TEXTS and size <= MAX_WORK_CHARS
                    chars.append(size if is_short else PASSAGES_CHARS)
    return Works(most=len(chars), chars=fmean(chars)) if chars else Works()


def limit_doubts(expected: Estimate, request: ResearchRequest) -> Iterable[str]:
    """Why the limit of a request's cost cannot hold, or will cut its run short."""
    most = request.limits.max_cost_microusd
    if most is None:
        return
    if expected.cost_microusd is None:
        yield (
            f"{named('max_cost')} counts no call of a model whose price is not known: state it under [model] "
            f"prices, or limit the run by {named('max_tokens')}"
        )
    elif most < expected.cost_microusd:
        yield (
            f"{named('max_cost')} {most / 1e6:.2f} is below the ${expected.cost_microusd / 1e6:.2f} that is "
            "expected: the run will stop searching early and report what it has by then"
        )
