"""The plan of a question without a run.

The question is read and outlined by a worker, each as an activity of its own, and nothing is searched.
"""

from typing import TypeVar

from pydantic import BaseModel
from temporalio.client import ActivityFailureError, Client

from activities.contracts.evidence import ReportPlan, Usage
from activities.contracts.plan import ParsedQuery, ParseQueryInput, PlanInput
from activities.contracts.prepare import Prepared, PrepareInput
from activities.contracts.publish import Estimate
from activities.contracts.step import Role, StepAnswer
from activities.role_steps import PARSE, PLAN, I, O, RoleStep, equipped, served
from activities.roles.allowances import allowance_of
from client.failures import Failure
from client.runs.fleet import alone
from workflows.context import number_sections
from workflows.modes import AUTO, Available, offered
from workflows.steps import policy
from workflows.types import ResearchRequest

Output = TypeVar("Output")
UNNAMED = "plan"
"""Stands for the id of a run in what a step is given."""


class Planned(BaseModel):
    """Plan of how a question would be researched."""

    parsed: ParsedQuery
    plan: ReportPlan
    sources: tuple[str, ...]
    estimate: Estimate | None
    """Estimate of what a run of it is expected to take; None where no language model serves it."""
    usage: Usage
    """Usage of the plan itself."""
    by_role: dict[Role, Usage]
    """The same by the role that was asked."""


async def plan_question(client: Client, request: ResearchRequest, task_queue: str) -> Planned:
    """Read and outline a question on the workers of a queue, without a library. Raises Failure, RPCError."""

    async def act(name: str, kind: type[Output], step: object, options: policy.Options) -> Output:
        try:
            return await alone(client, name, step, kind, task_queue, options)
        except ActivityFailureError as error:
            raise Failure(f"the question could not be planned: {error.cause}") from error

    auto = request.profile == AUTO
    prepared = await act(
        "prepare",
        Prepared,
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
        return await act(kind.activity, kind.answer, asked, options)

    enabled = tuple(source for source in prepared.sources if source.enabled and source.info.role == "search")
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
        sources=tuple(option for option in enabled if option.info.name in wanted) or enabled,
        max_sections=request.limits.max_sections,
    )
    outlined = await think(PLAN, outlining)
    return Planned(
        parsed=parsed,
        plan=number_sections(outlined.output),
        sources=tuple(source.info.name for source in outlining.sources),
        estimate=request.estimate,
        usage=read.usage + outlined.usage,
        by_role={PARSE.role: read.usage, PLAN.role: outlined.usage},
    )
