"""How a workflow calls each role: the activity, its input and output, and the answer without a model.

What the role does with its input is its `RoleSpec` (`activities.roles.role`), which no workflow imports.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, cast

from activities.contracts.appraisal import Appraisal, AppraiseInput
from activities.contracts.effects import AnalystInput, Program
from activities.contracts.evidence import Allowance, ModelChoice, ReportPlan
from activities.contracts.judge import (
    Hypotheses,
    HypothesisInput,
    JudgeBatch,
    JudgeInput,
    ReflectInput,
    Reflection,
    Weighed,
    WeighInput,
)
from activities.contracts.plan import (
    AgentSelectionPlan,
    Clarified,
    ClarifyInput,
    GapsInput,
    KnowledgeGapOutput,
    ManagerInput,
    Observation,
    ObserveInput,
    ParsedQuery,
    ParseQueryInput,
    PlanInput,
    SelectInput,
    TeamLedger,
)
from activities.contracts.prepare import Prepared
from activities.contracts.revise import Revised, ReviseInput
from activities.contracts.step import Role, StepAnswer, StepContext
from activities.contracts.write import (
    Edited,
    EditInput,
    Extracted,
    ExtractInput,
    SectionDraft,
    Verdicts,
    VerifyInput,
    WriteInput,
)
from activities.own_step_activity import OwnStepInput, OwnStepOutput

I = TypeVar("I", bound=StepContext)  # noqa: E741 - input
O = TypeVar("O")  # noqa: E741 - output


@dataclass(frozen=True)
class RoleCall(Generic[I, O]):
    """The declaration of a call of a role; its input is a step of the run."""

    role: Role
    activity: str
    """Its name, a row of its own in the Web UI."""
    takes: type[I]
    gives: type[O]
    stand_in: Callable[[I], O] | None = None
    """Makes the answer where nothing can give one, so that every run ends with a report; else it is empty."""
    writes: bool = False
    """Whether it is part of writing the report: it may use what was kept back for that, and goes on without
    a model where there is no budget or time for one."""
    needs_model: bool = False
    """Whether only a model can do it; without one the default stands."""
    idle: Callable[[I], bool] = lambda _: False
    """Whether there is nothing to ask: then the default stands, and no activity is executed."""

    def default(self, step: I) -> O:
        return self.stand_in(step) if self.stand_in else self.gives()

    @property
    def has_default(self) -> bool:
        """Whether something may stand in for an answer; not for the judge's: no verdict is invented."""
        return self.role != "judge"

    @property
    def answer(self) -> "type[StepAnswer[O]]":
        """What the activity returns."""
        return cast("type[StepAnswer[O]]", StepAnswer.__class_getitem__(self.gives))


def _question_as_typed(step: ParseQueryInput) -> ParsedQuery:
    question = step.question
    return ParsedQuery(original_query=question, improved_query=question, profile=step.profile.name)


def _gaps(step: GapsInput) -> KnowledgeGapOutput:
    """Return what a reviewer asked for, then what the judge missed, else the question's parts.

    The latest wish comes first.
    """
    parts = step.judged_gaps or step.research_questions or (step.question,)
    return KnowledgeGapOutput(outstanding_gaps=tuple(dict.fromkeys((*reversed(step.steering), *parts))))


CLARIFY = RoleCall("clarifier", "clarify_question", ClarifyInput, Clarified, needs_model=True)
PARSE = RoleCall("query_parser", "parse_query", ParseQueryInput, ParsedQuery, _question_as_typed)
PLAN = RoleCall(
    "planner", "plan_report", PlanInput, ReportPlan, lambda step: ReportPlan(report_title=step.question)
)
OBSERVE = RoleCall(
    "observer",
    "observe",
    ObserveInput,
    Observation,
    lambda _: Observation(text=""),
    idle=lambda step: not step.titles,
)
EVALUATE_GAPS = RoleCall(
    "gap_evaluator", "evaluate_gaps", GapsInput, KnowledgeGapOutput, _gaps, idle=lambda step: not step.titles
)
SELECT_TOOLS = RoleCall("tool_selector", "select_tools", SelectInput, AgentSelectionPlan)
JUDGE = RoleCall("judge", "judge_evidence", JudgeInput, JudgeBatch)
REFLECT = RoleCall("reflector", "reflect", ReflectInput, Reflection, lambda _: Reflection(served=False))
HYPOTHESIZE = RoleCall("hypothesis_generator", "generate_hypotheses", HypothesisInput, Hypotheses)
NAME_CANDIDATES = replace(HYPOTHESIZE, writes=True)
"""The same when the report is written."""
MANAGE = RoleCall(
    "manager",
    "manage_team",
    ManagerInput,
    TeamLedger,
    lambda step: TeamLedger(facts=step.facts, plan=step.plan),
)
ASK_OWN_ROLE = RoleCall("own_role", "ask_own_role", OwnStepInput, OwnStepOutput, needs_model=True)
WRITE = RoleCall(
    "writer",
    "write_section",
    WriteInput,
    SectionDraft,
    lambda step: SectionDraft(title=step.title),
    writes=True,
)
ORDER = RoleCall("orderer", "weigh_work", WeighInput, Weighed, writes=True, needs_model=True)
VERIFY = RoleCall("verifier", "verify_sentences", VerifyInput, Verdicts, writes=True, needs_model=True)
EDIT = RoleCall("editor", "edit_report", EditInput, Edited, writes=True, needs_model=True)
EXTRACT = RoleCall("extractor", "extract_table", ExtractInput, Extracted, writes=True, needs_model=True)
APPRAISE = RoleCall("appraiser", "appraise_effects", AppraiseInput, Appraisal, writes=True, needs_model=True)
WRITE_PROGRAM = RoleCall("analyst", "write_program", AnalystInput, Program, writes=True, needs_model=True)
REVISE = RoleCall("reviser", "revise_report", ReviseInput, Revised, writes=True, needs_model=True)
ROLE_CALLS: tuple[RoleCall[Any, Any], ...] = (
    *(CLARIFY, PARSE, PLAN, OBSERVE, EVALUATE_GAPS, SELECT_TOOLS, JUDGE, REFLECT, HYPOTHESIZE, MANAGE),
    *(ASK_OWN_ROLE, WRITE, ORDER, VERIFY, EDIT, EXTRACT, APPRAISE, WRITE_PROGRAM, REVISE),
)


def choice_of(prepared: Prepared, role: Role) -> ModelChoice:
    return prepared.models.get(role) or prepared.models.get("default") or ModelChoice()


def with_model(step: I, prepared: Prepared, choice: ModelChoice, allowance: Allowance, **fields: object) -> I:
    """Return the input of a step with its model, what that may use, what stands in for it, and `fields`."""
    fallbacks = prepared.fallbacks if choice.backend != "extractive" else ()
    update = {"model": choice, "fallbacks": fallbacks, "allowance": allowance, **fields}
    return step.model_copy(update=update)
