"""What every part of a run works on: the request, the state, the clock and the budget."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, NoReturn

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.steps import Prepared, Role
    from activities.types import Mode, Profile, ReportPlan, ReportPlanSection
    from workflows.types import ResearchRequest

from workflows.rules.budget import Budget
from workflows.rules.plan import number_sections, plan_hash
from workflows.state import RunState

REVISION_1 = "revision-1"
"""Patch: a run has all steps and branches of the patches before this one, the searches of a library are one
step, and the stop reason is indexed with the next phase."""


def one_writer(_request: ResearchRequest, _state: RunState) -> tuple[Role, ...]:
    """The report needs one call of the writer."""
    return ("writer",)


@dataclass(frozen=True)
class ModeTraits:
    """How a mode differs from the others where shared parts need to know it."""

    mode: Mode | None
    """What the report and the progress name as the mode; None when it is still to be chosen."""
    writing_roles: Callable[[ResearchRequest, RunState], tuple[Role, ...]] = one_writer
    """The model calls that the report still needs; what they may cost is kept back."""
    single_section: bool = False
    """Whether the report has one section, whose key question is the question of the run."""
    search_seconds: float | None = None
    """Seconds that one search may last, all its pages and attempts together; None leaves it to the source."""
    temperatures: Mapping[Role, float] = field(default_factory=dict)
    """Sampling temperature by role; 0 for those that are not named."""


class RunContext:
    """The request, the state and the clock of one run. Holds no logic of a mode."""

    def __init__(self, request: ResearchRequest, state: RunState | None, traits: ModeTraits) -> None:
        # The SDK passes plain JSON, whatever the type says, when an optional argument was not sent.
        self.request = ResearchRequest.model_validate(request)
        self.state = RunState.received(state)
        self.traits = traits
        self.before_continue_as_new: Callable[[], Awaitable[None]] | None = None
        """What must be done before the state is carried over."""
        self.was_rewound = False
        """Whether Temporal has reset the run to this point, and nothing has been said of it yet."""
        self.known_revised = False
        """Whether `revised` was asked for and held, which is what sections are told. Asking earlier than a
        run of an earlier version did would miss its marker."""
        self._reset = False
        self._seen = 0.0
        """What `now` returned last."""
        workflow.register_random_seed_callback(self._on_reset)
        self.state.loop.max_iterations = self.budget.limits.max_iterations

    @property
    def run_id(self) -> str:
        """The workflow id."""
        return workflow.info().workflow_id

    @property
    def lineage(self) -> str:
        """The same for all executions of a run, also after it was rewound, and different for another run."""
        job = self.state.job
        if job is not None and job.lineage:
            return f"{job.lineage}/{job.section.id}"
        return workflow.info().first_execution_run_id

    @property
    def revised(self) -> bool:
        """Whether this run follows the course of `REVISION_1`: as its parent said, else by its own marker."""
        job = self.state.job
        self.known_revised = (job is not None and job.revised) or workflow.patched(REVISION_1)
        return self.known_revised

    def follows(self, patch: str) -> bool:
        """Whether this run has a step or a branch that was added with a patch.

        The marker of a patch is two events of the history. One marker stands for all patches that a revision
        includes; those of runs that began before it are asked for one by one."""
        return self.revised or workflow.patched(patch)

    def _on_reset(self, _seed: int) -> None:
        """Temporal gives a run that was reset another random seed. Nothing else may be done here: this is
        called outside the workflow's event loop."""
        self._reset = self.was_rewound = True

    def now(self) -> float:
        """Seconds since the epoch, of the workflow's clock. What passed between the point that a run was
        reset to and the reset itself does not count as working time."""
        now = workflow.now().timestamp()
        if self._reset:
            self._reset = False
            if self.state.budget is not None:
                self.state.budget.exclude_seconds(max(now - self._seen, 0.0))
        self._seen = now
        return now

    def timestamp(self) -> str:
        """The workflow's time in ISO form."""
        return workflow.now().astimezone(UTC).isoformat(timespec="seconds")

    @property
    def budget(self) -> Budget:
        """The run's budget, opened on first use."""
        if self.state.budget is None:
            self.state.budget = Budget(limits=self.request.limits, started_at=self.now())
        return self.state.budget

    def research_seconds(self) -> float | None:
        """Working seconds left for research; None without a limit."""
        return self.budget.research_seconds(self.now())

    @property
    def prepared(self) -> Prepared:
        """What the worker offers. `Preparation.initialize` must have run."""
        assert self.state.prepared is not None
        return self.state.prepared

    @property
    def profile(self) -> Profile:
        """The profile of the run. `Preparation.initialize` must have run."""
        return self.prepared.profile

    @property
    def section_id(self) -> str:
        """The section of a deep run that this run researches; empty for a run of its own."""
        return self.state.job.section.id if self.state.job else ""

    @property
    def question(self) -> str:
        """The question of this run: its section's, that of a plan with a single section, or the request's."""
        if self.state.job:
            return self.state.job.section.key_question
        if self.traits.single_section and self.state.plan and self.state.plan.report_outline:
            return self.state.plan.report_outline[0].key_question
        return self.request.question

    @property
    def outline(self) -> tuple[ReportPlanSection, ...]:
        """The sections of the plan; empty before there is one."""
        return self.state.plan.report_outline if self.state.plan else ()

    @property
    def max_sections(self) -> int:
        """How many sections a plan of this run may have."""
        return 1 if self.traits.single_section else self.request.limits.max_sections

    def step_inputs(self) -> dict[str, Any]:
        """The fields that the input of every model step has in common."""
        return {
            "run_id": self.run_id,
            "question": self.question,
            "background": self.state.plan.background_context if self.state.plan else "",
            "profile": self.profile,
        }

    def adopt_plan(self, plan: ReportPlan) -> None:
        """Make a plan the run's: number its sections and compute its hash. Ids in `plan` are replaced."""
        outline = tuple(section.model_copy(update={"id": ""}) for section in plan.report_outline)
        self.set_plan(plan.model_copy(update={"report_outline": outline}))

    def set_plan(self, plan: ReportPlan) -> None:
        """Make a plan the run's; section ids that are given and unique are kept."""
        self.state.plan = number_sections(plan)
        self.state.plan_hash = plan_hash(self.state.plan)

    def history_is_long(self) -> bool:
        """Whether to continue as new at this boundary."""
        info = workflow.info()
        return info.is_continue_as_new_suggested() or (
            info.get_current_history_length() > self.request.history_events
        )

    async def continue_as_new(self) -> NoReturn:
        """Continue as a new run of the same workflow with the whole state."""
        if self.before_continue_as_new is not None:
            await self.before_continue_as_new()
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(args=[self.request, self.state.carried()])
