"""The plan of a question without a run: the question is read and outlined by a worker, each as an activity of
its own, and nothing is searched."""

import uuid
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from activities.report.names import report_name
from pydantic import BaseModel
from temporalio.client import ActivityFailureError, Client

from activities.contracts.errors import StoreError
from activities.contracts.evidence import Frozen, ReportPlan, Usage
from activities.contracts.plan import ParsedQuery, ParseQueryInput, PlanInput
from activities.contracts.prepare import PrepareInput
from activities.contracts.publish import Amount, Estimate
from activities.contracts.step import Role, StepAnswer
from activities.contracts.stop_reasons import StopReason
from activities.models.prices import price_of
from activities.models.sizing import effort_of
from activities.prepare_activity import PrepareActivities
from activities.report.archive import Archive
from activities.report.schema import Methodology
from activities.roles.allowances import allowance_of
from activities.settings import Settings
from client.failures import Failure, named
from workflows.context import number_sections
from workflows.modes import AUTO, Available, offered
from workflows.rules.estimate import Outline, PastRun, estimate
from workflows.steps import policy
from workflows.steps.role_steps import PARSE, PLAN, I, O, RoleStep, equipped, served
from workflows.types import ResearchRequest

if TYPE_CHECKING:
    from activities.contracts.evidence import Usage
    from activities.contracts.step import Role


Output = TypeVar("Output")
UNNAMED = "plan"
"""Stands for the id of a run in what a step is given."""


class Planned(BaseModel):
    """How a question would be researched."""

    parsed: ParsedQuery
    plan: ReportPlan
    sources: tuple[str, ...]
    estimate: Estimate | None
    """What a run of it is expected to take; None where no language model serves it."""
    usage: Usage
    """What the plan itself took."""
    by_role: dict[Role, Usage]
    """The same by the role that was asked."""

    @property
    def outline(self) -> Outline:
        """The mode and the number of sections, as they were planned."""
        return Outline(self.parsed.research_mode, len(self.plan.report_outline))


async def plan_question(client: Client, request: ResearchRequest, task_queue: str) -> Planned:
    """Read and outline a question on the workers of a queue; a library is not looked into. Raises Failure and
    RPCError."""

    async def act(method: Callable[..., Awaitable[Output]], step: object, options: policy.Options) -> Output:
        arguments: dict[str, Any] = {**options}
        try:
            answer: Output = await client.execute_activity(
                method, step, id=f"{UNNAMED}-{uuid.uuid4()}", task_queue=task_queue, **arguments
            )
        except ActivityFailureError as error:
            raise Failure(f"the question could not be planned: {error.cause}") from error
        return answer

    auto = request.profile == AUTO
    prepared = await act(
        PrepareActivities.prepare,
        PrepareInput(
            profile="general" if auto else request.profile,
            sources=tuple(name for name in request.sources if name != "library"),
            models=request.models,
            fallbacks=request.fallbacks,
            chooses_profile=auto,
        ),
        policy.internal_step("what this worker offers"),
    )

    async def think(kind: RoleStep[I, O], step: I) -> "StepAnswer[O]":
        model = served(prepared, kind.role)
        asked = equipped(step, prepared, model, allowance_of(kind.role, model))
        options = policy.model_call(None, kind.role.replace("_", " "), streams=model.backend != "extractive")
        return await act(kind.activity, asked, options)

    enabled = tuple(one for one in prepared.sources if one.enabled and one.info.role == "search")
    manager = served(prepared, "manager").backend != "extractive"
    has = Available(sources=bool(enabled), model=manager, manager_model=manager)
    mode = None if request.mode == AUTO else request.mode
    common = {"run_id": UNNAMED, "question": request.question}
    reading = ParseQueryInput(
        **common,
        profile=prepared.profile,
        profiles=prepared.profiles if auto else {},
        mode=mode,
        modes={} if mode else offered(has),
        sources=() if request.sources else enabled,
        preferences=prepared.preferences,
    )
    read = await think(PARSE, reading)
    parsed = read.output
    profile = prepared.alternatives.get(parsed.profile, prepared.profile)
    wanted = request.sources or parsed.sources or profile.sources
    outlining = PlanInput(
        **common,
        profile=profile,
        parsed=parsed,
        sources=tuple(one for one in enabled if one.info.name in wanted) or enabled,
        max_sections=request.limits.max_sections,
    )
    outlined = await think(PLAN, outlining)
    return Planned(
        parsed=parsed,
        plan=number_sections(outlined.output),
        sources=tuple(one.info.name for one in outlining.sources),
        estimate=request.estimate,
        usage=read.usage + outlined.usage,
        by_role={PARSE.role: read.usage, PLAN.role: outlined.usage},
    )


CUT_SHORT: frozenset[StopReason] = frozenset({"cancelled", "rejected_by_reviewer", "finished_by_reviewer"})
"""Ends of runs that do not say what a run takes."""
MAX_RUNS = 12
"""Earlier runs of the home that are looked at, the latest ones."""


async def estimated(
    settings: Settings, request: ResearchRequest, outline: Outline | None = None
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


async def past_runs(settings: Settings, models: tuple[str, ...]) -> list[PastRun]:
    """The latest runs of the home with these models that came to their own end."""
    runs: list[PastRun] = []
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
            runs.append(PastRun(report.mode, amount, cast("dict[Role, Usage]", method.by_role)))
    except (StoreError, ValueError):
        return runs  # an estimate from fewer runs, or from the plan
    return runs


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
    elif expected.basis == "earlier" and most < expected.cost_microusd:
        yield (
            f"{named('max_cost')} {most / 1e6:.2f} is below the ${expected.cost_microusd / 1e6:.2f} that is "
            "expected: the run will stop searching early and report what it has by then"
        )
