"""The things that every part of a run works on: the request, the state, the clock and the budget."""

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from itertools import count
from typing import TYPE_CHECKING, NoReturn, TypedDict

from temporalio import workflow

from activities.contracts.evidence import Mode, ReportPlan, ReportPlanSection, SourceOption
from activities.contracts.prepare import Prepared
from activities.contracts.profile import Profile, Specialist
from activities.contracts.step import Role
from activities.messages import ENGLISH
from activities.profiles.loader import specialists_of
from workflows.rules.budget import Budget
from workflows.state import RunState
from workflows.types import BudgetStatus, ResearchRequest

if TYPE_CHECKING:
    from workflows.events import EventLog
    from workflows.gates import Gates
    from workflows.run import RunParts
    from workflows.steps.model import ModelSteps


SINGLE_LOOPS: tuple[Mode, ...] = ("simple", "iterative")
"""Modes whose question one specialist searches, where `auto` handed it over."""


@dataclass(frozen=True)
class ModeTraits:
    """The traits of a mode that shared parts need to know."""

    mode: Mode | None
    """What the report and the progress name as the mode; None when it is still to be chosen."""
    single_section: bool = False
    """Whether the report has one section, whose key question is the question of the run."""
    search_seconds: float | None = None
    """Seconds that one search may last, all its pages and attempts together; None leaves it to the source."""
    temperatures: Mapping[Role, float] = field(default_factory=dict)
    """Sampling temperature by role; 0 for those that are not named."""


class StepInputs(TypedDict):
    """The fields that the input of every step of a role has; see `activities.contracts.step.StepContext`."""

    run_id: str
    question: str
    run_question: str
    aspect: str
    background: str
    instruction: str
    profile: Profile
    language: str
    is_foreign: bool
    searches_in: tuple[str, ...]


class RunContext:
    """The request, the state and the clock of one run. Holds no logic of a mode."""

    def __init__(self, request: ResearchRequest, state: RunState | None, traits: ModeTraits) -> None:
        # The SDK passes plain JSON, whatever the type says, when an optional argument was not sent.
        self.request = ResearchRequest.model_validate(request)
        self.state = RunState.unpack(state)
        self.traits = traits
        self.before_continue_as_new: list[Callable[[], Awaitable[None]]] = []
        """What must be done before the state is carried over, in order."""
        self.was_rewound = False
        """Whether Temporal has reset the run to this point, and nothing has been said of it yet."""
        self.instruction = ""
        """What the manager of a team asks of the member whose turn it is."""
        self.prompts: dict[Role, str] = {}
        """Texts of a graph's nodes that stand in place of the prompt files of their roles."""
        self.member = ""
        """The specialist of a team whose turn it is."""
        self._reset = self._renumber = False
        self._last_now = 0.0
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
        job = self.state.sections.job
        if job is not None and job.lineage:
            return f"{job.lineage}/{job.section.id}"
        return workflow.info().first_execution_run_id

    def _on_reset(self, _seed: int) -> None:
        """Temporal gives a run that was reset another random seed.

        Nothing else may be done here: this is called outside the workflow's event loop.
        """
        self._reset = self._renumber = self.was_rewound = True

    def now(self) -> float:
        """Seconds since the epoch, of the workflow's clock.

        What passed between the point that a run was reset to and the reset itself does not count as working
        time.
        """
        now = workflow.now().timestamp()
        if self._reset:
            self._reset = False
            if self.state.budget is not None:
                self.state.budget.exclude_seconds(max(now - self._last_now, 0.0))
        self._last_now = now
        return now

    def budget_status(self) -> BudgetStatus:
        """Return what was used, what is held for calls under way, what is left."""
        return self.budget.status(self.now(), self.state.sections.running_sections)

    def next_seq(self) -> int:
        """Return the number of the next event.

        After a rewind numbers go on from the milliseconds since the run began, which no run has events for:
        so none stands for two events. In a section they do so from the event `rewound` on; events before it
        (the last judgement, decided again) are known to the parent under their old numbers.
        """
        control = self.state.people
        if self._renumber and not (self.state.sections.job and self.was_rewound):
            self._renumber = False
            began = self.budget.started_at
            control.last_seq = max(control.last_seq, int((workflow.now().timestamp() - began) * 1000))
        control.last_seq += 1
        return control.last_seq

    def timestamp(self) -> str:
        """Return the workflow's time in ISO form."""
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
    def is_out_of_time(self) -> bool:
        return self.research_seconds() == 0

    @property
    def must_end(self) -> bool:
        return self.state.people.finish or self.is_out_of_time

    @property
    def prepared(self) -> Prepared:
        """Return what the worker offers. `Preparation.initialize` must have run."""
        assert self.state.question.prepared is not None
        return self.state.question.prepared

    @property
    def profile(self) -> Profile:
        """The profile of the run. `Preparation.initialize` must have run."""
        return self.prepared.profile

    @property
    def section_id(self) -> str:
        """The section of a deep run that this run researches; empty for a run of its own."""
        return self.state.sections.job.section.id if self.state.sections.job else ""

    @property
    def question(self) -> str:
        """The question of this loop: its section's, that of a plan with one section, or the run's."""
        return self.section.key_question if self.section else self.run_question

    @property
    def section(self) -> ReportPlanSection | None:
        """The section that this loop is on; None for the whole of a report with several."""
        if self.state.sections.job:
            return self.state.sections.job.section
        return self.outline[0] if self.traits.single_section and self.outline else None

    @property
    def run_question(self) -> str:
        """The question of the whole run: as it was typed, or, of a follow-up, as it stands alone."""
        return self.state.question.reworded or self.request.question

    @property
    def outline(self) -> tuple[ReportPlanSection, ...]:
        """The sections of the plan; empty before there is one."""
        return self.state.question.plan.report_outline if self.state.question.plan else ()

    @property
    def max_sections(self) -> int:
        return 1 if self.traits.single_section else self.request.limits.max_sections

    @property
    def specialist(self) -> Specialist | None:
        """The specialist that searches now: a member of a team, or the choice of mode `auto`.

        A section of a longer report has its own question.
        """
        parsed, is_whole = self.state.question.parsed, self.state.sections.job is None
        name = parsed.specialist if parsed and is_whole and self.traits.mode in SINGLE_LOOPS else ""
        return specialists_of(self.profile).get(self.member or name)

    def step_inputs(
        self,
        *,
        question: str = "",
        section: ReportPlanSection | None = None,
        facts: Iterable[str] | None = None,
        instruction: str | None = None,
    ) -> StepInputs:
        """Return the fields that the input of every step of a role has in common.

        By default the question is that of this loop or of `section`, the facts are those of the run, and the
        instruction is that of the turn.
        """
        background = self.state.question.plan.background_context if self.state.question.plan else ""
        lines = self.state.evidence.facts if facts is None else facts
        section = section or self.section
        key_question = question or (section.key_question if section else self.run_question)
        return {
            "run_id": self.run_id,
            "question": key_question,
            "run_question": "" if key_question == self.run_question else self.run_question,
            "aspect": section.aspect if section and not question else "",
            "background": "\n".join(filter(None, (background, *lines))),
            "instruction": self.instruction if instruction is None else instruction,
            "profile": self.profile,
            "language": self.language,
            "is_foreign": self.is_foreign,
            "searches_in": self.searches_in,
        }

    def loop_inputs(self, *reads: str) -> StepInputs:
        """Return the same as `step_inputs`, of the profile only its name and what the step `reads`.

        A history keeps the input of every iteration.
        """
        brief = Profile(name=self.profile.name, description="", criteria=())
        fields = {name: getattr(self.profile, name) for name in reads}
        return {**self.step_inputs(), "profile": brief.model_copy(update=fields)}

    def adopt_plan(self, plan: ReportPlan) -> None:
        """Make a new plan the run's: number its sections and compute its hash. Ids in `plan` are replaced."""
        outline = tuple(section.replace(id="") for section in plan.report_outline)
        self.adopt_edited_plan(plan.replace(report_outline=outline))

    def adopt_edited_plan(self, plan: ReportPlan) -> None:
        """Make an edited plan the run's; section ids that are given and unique are kept."""
        self.state.question.plan = number_sections(plan)
        self.state.question.plan_hash = hashlib.sha256(
            self.state.question.plan.model_dump_json().encode()
        ).hexdigest()[:16]

    def history_is_long(self) -> bool:
        """Tell whether to continue as new at this boundary."""
        info = workflow.info()
        return info.is_continue_as_new_suggested() or (
            info.get_current_history_length() > self.request.history_events
        )

    async def continue_as_new(self) -> NoReturn:
        """Continue as a new run of the same workflow with the whole state."""
        for action in self.before_continue_as_new:
            await action()
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(args=[self.request, self.state.pack()])

    # languages and sources

    @property
    def language(self) -> str:
        """The language of the report."""
        prepared = self.state.question.prepared
        return prepared.language if prepared else self.request.language or ENGLISH

    @property
    def is_foreign(self) -> bool:
        """Tell whether question, answer or documents are in another language than English."""
        prepared = self.prepared
        return {prepared.language, prepared.asked_in, *prepared.library_languages} != {ENGLISH}

    @property
    def searches_in(self) -> tuple[str, ...]:
        """The languages of a folder searched alone, else English; none where the question is in one."""
        is_library_alone = set(self._sources) <= {"library"}
        languages = self.prepared.library_languages if is_library_alone else (ENGLISH,)
        return () if self.prepared.asked_in in languages else languages

    @property
    def _sources(self) -> tuple[str, ...]:
        """The sources that the request names, else all that can be searched."""
        searchable = (source.info.name for source in self.prepared.sources if source.searchable)
        return self.request.sources or tuple(searchable)

    def source(self, name: str) -> SourceOption | None:
        """Return a source of the worker; None where it has none of this name."""
        return next((source for source in self.prepared.sources if source.info.name == name), None)

    def languages_of(self, source: str) -> tuple[str, ...]:
        """Return the languages of a source: those of the library, as far as they are known, else English."""
        return self.prepared.library_languages if source == "library" else (ENGLISH,)

    @property
    def wordings_in(self) -> tuple[str, ...]:
        """The languages of sources that the question is not in."""
        languages = dict.fromkeys(language for name in self._sources for language in self.languages_of(name))
        return tuple(language for language in languages if language != self.prepared.asked_in)


class RunPart:
    """An object that a run holds, and that reaches the others through the run (`RunParts`)."""

    def __init__(self, run: "RunParts") -> None:
        self.run, self.context = run, run.context
        self.state, self.request = run.context.state, run.context.request

    @property
    def events(self) -> "EventLog":
        return self.run.events

    @property
    def gates(self) -> "Gates":
        return self.run.gates

    @property
    def models(self) -> "ModelSteps":
        return self.run.models


def number_sections(plan: ReportPlan) -> ReportPlan:
    """Return the plan with an id for every section; ids that are present and unique are kept."""
    ids = [section.id for section in plan.report_outline]
    sections: dict[str, ReportPlanSection] = {}
    for number, section in enumerate(plan.report_outline, 1):
        free = (f"s{n}" for n in count(number) if f"s{n}" not in sections and f"s{n}" not in ids)
        name = section.id if section.id and section.id not in sections else next(free)
        sections[name] = section.replace(id=name)
    return plan.replace(report_outline=tuple(sections.values()))
