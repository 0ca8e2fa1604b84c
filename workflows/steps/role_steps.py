"""The steps that roles do, each declared once.

Its role, its activity, and its answer where nothing can give one.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from activities.contracts.appraisal import Appraisal
from activities.contracts.effects import Program
from activities.contracts.evidence import Allowance, ModelChoice, ReportPlan
from activities.contracts.judge import Hypotheses, Reflection, Weighed
from activities.contracts.plan import (
    AgentSelectionPlan,
    Clarified,
    GapsInput,
    KnowledgeGapOutput,
    Observation,
    ParsedQuery,
    TeamLedger,
)
from activities.contracts.prepare import Prepared
from activities.contracts.revise import Revised
from activities.contracts.step import Role, StepAnswer, StepContext
from activities.contracts.write import Edited, Extracted, SectionDraft, Verdicts
from activities.own_step_activity import OwnStepOutput
from activities.role_activity import ThinkActivities

I = TypeVar("I", bound=StepContext)  # noqa: E741 - input
O = TypeVar("O")  # noqa: E741 - output


@dataclass(frozen=True)
class RoleStep(Generic[I, O]):
    role: Role
    # quoted: pydantic hides the type variable of `StepAnswer` at run time
    activity: "Callable[[ThinkActivities, I], Awaitable[StepAnswer[O]]]"
    default: Callable[[I], O] | None
    """The answer where nothing can give one, so that every run ends with a report. None for the judge: a
    verdict must not be invented."""
    writes: bool = False
    """Whether it is part of writing the report: it may use what was kept back for that, and goes on without
    a model where there is no budget or time for one."""
    needs_model: bool = False
    """Whether only a model can do it; without one the default stands."""
    idle: Callable[[I], bool] = lambda _: False
    """Whether there is nothing to ask: then the default stands, and no activity is executed."""


CLARIFY = RoleStep("clarifier", ThinkActivities.clarify_question, lambda _: Clarified(), needs_model=True)
PARSE = RoleStep(
    "query_parser",
    ThinkActivities.parse_query,
    lambda step: ParsedQuery(
        original_query=step.question, improved_query=step.question, profile=step.profile.name
    ),
)
PLAN = RoleStep("planner", ThinkActivities.plan_report, lambda step: ReportPlan(report_title=step.question))
OBSERVE = RoleStep(
    "observer", ThinkActivities.observe, lambda _: Observation(text=""), idle=lambda step: not step.titles
)
EVALUATE_GAPS = RoleStep(
    "gap_evaluator",
    ThinkActivities.evaluate_gaps,
    lambda step: KnowledgeGapOutput(outstanding_gaps=_parts(step)),
    idle=lambda step: not step.titles,
)
SELECT_TOOLS = RoleStep("tool_selector", ThinkActivities.select_tools, lambda _: AgentSelectionPlan())
JUDGE = RoleStep("judge", ThinkActivities.judge_evidence, None)
REFLECT = RoleStep("reflector", ThinkActivities.reflect, lambda _: Reflection(served=False))
HYPOTHESIZE = RoleStep("hypothesis_generator", ThinkActivities.generate_hypotheses, lambda _: Hypotheses())
NAME_CANDIDATES = replace(HYPOTHESIZE, writes=True)
"""The same when the report is written."""
MANAGE = RoleStep(
    "manager", ThinkActivities.manage_team, lambda step: TeamLedger(facts=step.facts, plan=step.plan)
)
ASK_OWN_ROLE = RoleStep("own_role", ThinkActivities.ask_own_role, lambda _: OwnStepOutput(), needs_model=True)
WRITE = RoleStep(
    "writer", ThinkActivities.write_section, lambda step: SectionDraft(title=step.title), writes=True
)
ORDER = RoleStep("orderer", ThinkActivities.weigh_work, lambda _: Weighed(), writes=True, needs_model=True)
VERIFY = RoleStep(
    "verifier", ThinkActivities.verify_sentences, lambda _: Verdicts(), writes=True, needs_model=True
)
EDIT = RoleStep("editor", ThinkActivities.edit_report, lambda _: Edited(), writes=True, needs_model=True)
EXTRACT = RoleStep(
    "extractor", ThinkActivities.extract_table, lambda _: Extracted(), writes=True, needs_model=True
)
APPRAISE = RoleStep(
    "appraiser", ThinkActivities.appraise_effects, lambda _: Appraisal(), writes=True, needs_model=True
)
WRITE_PROGRAM = RoleStep(
    "analyst", ThinkActivities.write_program, lambda _: Program(), writes=True, needs_model=True
)
REVISE = RoleStep(
    "reviser", ThinkActivities.revise_report, lambda _: Revised(), writes=True, needs_model=True
)


def _parts(step: GapsInput) -> tuple[str, ...]:
    """Return what a reviewer asked for, then what the judge missed, else the question's parts.

    The latest wish comes first.
    """
    parts = step.judged_gaps or step.research_questions or (step.question,)
    return tuple(dict.fromkeys((*reversed(step.steering), *parts)))


def served(prepared: Prepared, role: Role) -> ModelChoice:
    return prepared.models.get(role) or prepared.models.get("default") or ModelChoice()


def equipped(step: I, prepared: Prepared, choice: ModelChoice, allowance: Allowance, **more: object) -> I:
    """Return a step with the model that is asked, what it may use, and the models that stand in for it."""
    fallbacks = prepared.fallbacks if choice.backend != "extractive" else ()
    update = {"model": choice, "fallbacks": fallbacks, "allowance": allowance, **more}
    return step.model_copy(update=update)
