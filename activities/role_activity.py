"""The thinking steps as activities: thin, one a role, so that each is a row of its own in the Web UI."""

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from temporalio import activity

from activities.contracts.appraisal import Appraisal, AppraiseInput
from activities.contracts.effects import AnalystInput, Program
from activities.contracts.evidence import ReportPlan
from activities.contracts.judge import (
    Hypotheses,
    HypothesisInput,
    JudgeBatch,
    JudgeInput,
    Ordered,
    OrderInput,
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
from activities.draft_progress import reporting_draft
from activities.heartbeat import reporting_errors, seconds_left
from activities.models import progress
from activities.own_step_activity import OwnStepInput, OwnStepOutput

if TYPE_CHECKING:  # workflows import this module, and no role
    from activities.roles.runner import RoleThinker


class ThinkActivities:
    def __init__(self, thinker: "RoleThinker") -> None:
        self._thinker = thinker

    async def _think(self, role: Role, step: StepContext) -> StepAnswer[Any]:
        info = activity.info()
        scope = f"{info.workflow_id}/{step.lineage or info.workflow_run_id}/{info.activity_id}"
        shown = progress.Progress(role, attempt=info.attempt)
        progress.CURRENT.set(shown)
        async with reporting_errors(details=shown.details), _reporting(step, shown):
            step = step.replace(scope=scope, seconds=seconds_left(info))
            return await self._thinker.think(role, step)

    @activity.defn
    async def clarify_question(self, step: ClarifyInput) -> StepAnswer[Clarified]:
        return await self._think("clarifier", step)

    @activity.defn
    async def parse_query(self, step: ParseQueryInput) -> StepAnswer[ParsedQuery]:
        return await self._think("query_parser", step)

    @activity.defn
    async def plan_report(self, step: PlanInput) -> StepAnswer[ReportPlan]:
        return await self._think("planner", step)

    @activity.defn
    async def observe(self, step: ObserveInput) -> StepAnswer[Observation]:
        return await self._think("observer", step)

    @activity.defn
    async def evaluate_gaps(self, step: GapsInput) -> StepAnswer[KnowledgeGapOutput]:
        return await self._think("gap_evaluator", step)

    @activity.defn
    async def select_tools(self, step: SelectInput) -> StepAnswer[AgentSelectionPlan]:
        return await self._think("tool_selector", step)

    @activity.defn
    async def judge_evidence(self, step: JudgeInput) -> StepAnswer[JudgeBatch]:
        return await self._think("judge", step)

    @activity.defn
    async def weigh_work(self, step: WeighInput) -> StepAnswer[Weighed]:
        return await self._think("orderer", step)

    @activity.defn
    async def reflect(self, step: ReflectInput) -> StepAnswer[Reflection]:
        return await self._think("reflector", step)

    @activity.defn
    async def generate_hypotheses(self, step: HypothesisInput) -> StepAnswer[Hypotheses]:
        return await self._think("hypothesis_generator", step)

    @activity.defn
    async def write_section(self, step: WriteInput) -> StepAnswer[SectionDraft]:
        return await self._think("writer", step)

    @activity.defn
    async def verify_sentences(self, step: VerifyInput) -> StepAnswer[Verdicts]:
        return await self._think("verifier", step)

    @activity.defn
    async def edit_report(self, step: EditInput) -> StepAnswer[Edited]:
        return await self._think("editor", step)

    @activity.defn
    async def revise_report(self, step: ReviseInput) -> StepAnswer[Revised]:
        return await self._think("reviser", step)

    @activity.defn
    async def extract_table(self, step: ExtractInput) -> StepAnswer[Extracted]:
        return await self._think("extractor", step)

    @activity.defn
    async def appraise_effects(self, step: AppraiseInput) -> StepAnswer[Appraisal]:
        return await self._think("appraiser", step)

    @activity.defn
    async def write_program(self, step: AnalystInput) -> StepAnswer[Program]:
        return await self._think("analyst", step)

    @activity.defn
    async def ask_own_role(self, step: OwnStepInput) -> StepAnswer[OwnStepOutput]:
        """Return a role of an installed package, by the name in the step."""
        return await self._think("own_role", step)

    @activity.defn
    async def order_evidence(self, step: OrderInput) -> Ordered:
        """Which works to judge, the most promising first."""
        async with reporting_errors():
            return await self._thinker.order(step)

    @activity.defn
    async def manage_team(self, step: ManagerInput) -> StepAnswer[TeamLedger]:
        return await self._think("manager", step)


def _reporting(step: StepContext, shown: progress.Progress) -> AbstractAsyncContextManager[None]:
    """Report the paragraphs of a draft that is written for a run that follows it."""
    if isinstance(step, WriteInput) and step.report_to:
        return reporting_draft(step.section_id, step.report_to, shown)
    return nullcontext()
