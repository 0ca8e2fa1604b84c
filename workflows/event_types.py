"""The closed set of events: each type with the data it carries.

The thirteen types of the system this one re-thinks come first, then those for people, sections and budgets.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import ConfigDict, Field, JsonValue

from activities.contracts.evidence import Frozen

EventType = Literal[
    "started",
    "searching",
    "search_complete",
    "judging",
    "judge_complete",
    "looping",
    "hypothesizing",
    "analyzing",
    "analysis_complete",
    "synthesizing",
    "streaming",
    "complete",
    "error",
    "reading",
    "clarification_needed",
    "read",
    "verifying",
    "extracting",
    "editing",
    "refused",
    "mode_chosen",
    "planned",
    "awaiting_approval",
    "approved",
    "rejected",
    "section_started",
    "section_complete",
    "gap",
    "evidence_shared",
    "reflected",
    "hypotheses",
    "budget",
    "paused",
    "resumed",
    "steered",
    "source_added",
    "finishing",
    "stopping",
    "waiting_for_model",
    "turn",
    "managed",
    "replanning",
    "best_attempt",
    "ignored",
    "rewound",
    "imported",
    "cancelled",
]


class EventData(Frozen):
    """Base of the data of all events: no field beyond those that are declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NoData(EventData):
    """The type says everything."""


class Started(EventData):
    question: str = ""
    mode: str = ""


class ModeChosen(EventData):
    mode: str = ""
    reason: str = ""


class Read(EventData):
    """What was understood of the question."""

    profile: str = ""
    entities: int = 0
    questions: int = 0
    sources: str = ""
    """Names of those that are searched, separated by commas."""
    question: str = ""
    """The question as it stands alone, where it was typed as a follow-up."""


class Asked(EventData):
    """What a model asks back before the search, with what holds where nobody answers."""

    questions: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


class Searching(EventData):
    searches: int = 0
    sources: str = ""
    """Names, separated by commas."""


class SearchComplete(EventData):
    source: str = ""
    query: str = ""
    status: str = ""
    hits: int = 0
    kept: int = 0
    listed: int = 0
    """Results that were found and not read."""
    new: int = 0
    """Works that no earlier search had found."""
    seconds: float = 0.0
    attempts: int = 0


class Items(EventData):
    items: int = 0
    """Works that the step works on."""
    section_id: str = ""
    """Section of a long report that is written; empty for a step of the run or section itself."""


class AnalysisComplete(EventData):
    """The statistics over effects."""

    verdict: str = ""
    confidence: float | None = None
    pools: int = 0
    studies: int = 0


class RefusedWordings(EventData):
    """A draft of which the checks refused more than a third; its quotes are kept."""

    section_id: str = ""
    refused: int = 0
    share: float = 0.0
    """Of the sentences that the model wrote, 0 to 1."""


class JudgeComplete(EventData):
    confidence: float | None = None
    """None where no model judged."""
    scores: Mapping[str, float] = Field(default_factory=dict)
    """Criterion -> score, 0 to 10."""
    gaps: int = 0
    sufficient: bool = False
    """Whether it meets the profile, as code decides it."""
    recommendation: str = ""
    """The judge's advice: `continue` or `synthesize`."""
    works: int = 0
    """That were judged so far."""
    relevant: int = 0
    """Of these, works that answer."""


class Looping(EventData):
    iteration: int = 0
    max_iterations: int = 0


class Streaming(EventData):
    """A paragraph of a draft. The latest event of a section's paragraph is the one that counts: a draft that
    is written again, or completed from another model, replaces what it changes."""

    section_id: str = ""
    paragraph: int = 0
    """From 1."""
    text: str = ""
    """Empty when the draft has this paragraph no more."""
    replaces: bool = False
    """Whether an earlier event gave this paragraph another text."""


class Complete(EventData):
    stop_reason: str = ""
    answered: bool = False
    confidence: float | None = None
    claims: int = 0
    references: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    """0 also when a price is not known."""
    seconds: float = 0.0
    """Working time; waiting for people does not count."""


class Failed(EventData):
    kind: str = ""
    """`step_failed`, `model_failed`, `parent_gone` or `section_gone`."""
    role: str = ""
    category: str = ""
    section_id: str = ""


class Planned(EventData):
    sections: int = 0
    plan_hash: str = ""
    by: str = ""
    """Who edited the plan; empty for the plan as it was proposed."""


class AwaitingApproval(EventData):
    gate: str = ""


class Decided(EventData):
    gate: str = ""
    action: str = ""
    by: str = ""
    note: str = ""


class SectionStarted(EventData):
    section_id: str = ""
    title: str = ""
    key_question: str = ""


class SectionComplete(EventData):
    section_id: str = ""
    title: str = ""
    status: str = ""
    stop_reason: str = ""
    evidence: int = 0
    iterations: int = 0
    confidence: float | None = None
    tokens: int = 0


class Gap(EventData):
    gap: str = ""
    by: str = ""
    """Who named it: `judge` where code passed it on, else `gap_evaluator`."""


class Reflected(EventData):
    """Whether the last searches served their gaps."""

    served: bool = False
    searches: int = 0
    """Better ones that were named."""


class HypothesesFormed(EventData):
    candidates: str = ""
    """Names, separated by commas."""
    searches: int = 0
    """Suggested, to test them."""


class BudgetChanged(EventData):
    tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    iterations: int = 0


class Steered(EventData):
    text: str = ""


class SourceAdded(EventData):
    source: str = ""


class Stopping(EventData):
    stop_reason: str = ""


class Waiting(EventData):
    seconds: float = 0.0


class Turn(EventData):
    """A member of a team, or a node of a graph, begins."""

    member: str = ""
    instruction: str = ""
    overruled: str = ""
    """Why code decided otherwise than the manager; empty when it did not."""


class Managed(EventData):
    """What the manager of a team decided."""

    next_speaker: str = ""
    instruction: str = ""


class Replanning(EventData):
    resets: int = 0


class BestAttempt(EventData):
    attempt: int = 0
    """The iteration whose result is kept."""


class ImportedItems(EventData):
    run_id: str = ""
    """The run that is followed up."""
    items: int = 0


class RewoundTo(EventData):
    iteration: int = 0
    """The last iteration that is kept; 0 for none."""


class Ignored(EventData):
    signal: str = ""
    gate: str = ""


DATA: Mapping[EventType, type[EventData]] = {
    "started": Started,
    "searching": Searching,
    "search_complete": SearchComplete,
    "judging": Items,
    "judge_complete": JudgeComplete,
    "looping": Looping,
    "hypothesizing": Items,
    "analyzing": Items,
    "analysis_complete": AnalysisComplete,
    "reading": NoData,
    "clarification_needed": Asked,
    "read": Read,
    "verifying": Items,
    "extracting": Items,
    "editing": Items,
    "refused": RefusedWordings,
    "synthesizing": Items,
    "streaming": Streaming,
    "complete": Complete,
    "error": Failed,
    "mode_chosen": ModeChosen,
    "planned": Planned,
    "awaiting_approval": AwaitingApproval,
    "approved": Decided,
    "rejected": Decided,
    "section_started": SectionStarted,
    "section_complete": SectionComplete,
    "gap": Gap,
    "evidence_shared": Items,
    "reflected": Reflected,
    "hypotheses": HypothesesFormed,
    "budget": BudgetChanged,
    "paused": NoData,
    "resumed": NoData,
    "steered": Steered,
    "source_added": SourceAdded,
    "finishing": NoData,
    "stopping": Stopping,
    "waiting_for_model": Waiting,
    "turn": Turn,
    "managed": Managed,
    "replanning": Replanning,
    "best_attempt": BestAttempt,
    "ignored": Ignored,
    "rewound": RewoundTo,
    "imported": ImportedItems,
    "cancelled": NoData,
}
"""Type -> the model of its data."""


class AgentEvent(Frozen):
    """Query `events`: one thing that happened in a run, or in one of its sections."""

    seq: int
    """Position in the run's log, from 1."""
    type: EventType
    message: str
    iteration: int = 0
    section: str = ""
    """Id of the section in which it happened; empty for the run itself."""
    data: Mapping[str, JsonValue] = Field(default_factory=dict)
    """The fields of `DATA[type]`."""
    timestamp: str = ""

    @property
    def details(self) -> EventData:
        """The data as the model of its type."""
        return DATA[self.type].model_validate(dict(self.data))
