"""The input of a research workflow and the answers of its queries.

Passed through the sandbox: no clock, no randomness, no I/O.
"""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from activities.contracts.bounds import MAX_SECONDS
from activities.contracts.candidates import Candidate
from activities.contracts.effects import Effect, Expected
from activities.contracts.evidence import (
    ApprovalGate,
    Clarify,
    Compact,
    EvidenceRef,
    Filters,
    Frozen,
    Gate,
    Length,
    Mode,
    ReportPlan,
    SearchRecord,
    StopReason,
    Usage,
)
from activities.contracts.iterations import IterationRecord
from activities.contracts.prepare import Continued, FollowUp, WorkerChoice
from activities.contracts.publish import Ended
from activities.contracts.step import Reading
from workflows.amounts import Limits
from workflows.event_types import AgentEvent
from workflows.graph.definition import GraphDefinition
from workflows.sections.types import SectionFindings

DEFAULT_TASK_QUEUE = "determinator"
QUESTION_CHARS = 4_000
PERMANENT = ("auth", "model_not_found", "insufficient_quota")
"""Failures of a model's server after which no further call succeeds: only a person can mend them."""
MAX_COLUMNS = 14
"""Columns of one table, beside those of the statistics: each is asked of each work."""
COLUMN_CHARS = 60


class ResearchRequest(WorkerChoice):
    """One question and how to answer it: the input of every research workflow."""

    question: str = Field(min_length=3, max_length=QUESTION_CHARS)
    mode: Mode = "auto"
    graph: GraphDefinition | None = None
    """Mode graph: the graph that the run walks; None for the built-in one. It travels with the run, so that
    an edit of the file it was read from changes nothing."""
    profile: str = "auto"
    """`auto`, a built-in profile, or a name of the user's own."""
    limits: Limits = Limits()
    open_limits: tuple[str, ...] = ()
    """Limits that the user did not set: in mode auto, the chosen mode's own defaults replace them."""
    filters: Filters = Filters()
    """What every search is narrowed by, as far as its source can be."""
    search_seconds: float | None = Field(default=30.0, gt=0, le=MAX_SECONDS)
    """How long one search may wait for answers of its source, all its pages together; what it has found by
    then is kept. None: no limit."""
    follow_up: FollowUp | None = None
    """The finished run whose evidence this one begins with."""
    columns: tuple[Annotated[str, Field(max_length=COLUMN_CHARS)], ...] = Field(
        default=(), max_length=MAX_COLUMNS
    )
    """Columns of the table of works, which a model fills. Empty: the profile's."""
    length: Length = "standard"
    """How much of its report is printed."""
    language: str = Field(default="", max_length=35)
    """ISO 639-1 code of the language of its report; empty for that of the question."""
    judge_threshold: float | None = Field(default=None, ge=0, le=1)
    """Confidence from which the evidence may suffice. None: the profile's."""
    clarify: Clarify = "off"
    """Whether a model may ask back before it searches, and who answers."""
    approve: tuple[ApprovalGate, ...] = ()
    """Gates that wait for a person."""
    approval_timeout_seconds: float | None = Field(default=None, gt=0, le=MAX_SECONDS)
    """None waits without bound."""
    approval_default: Literal["approve", "reject"] = "approve"
    """What a gate's time-out means."""
    analyse: bool = False
    """Whether the effects of the table are analysed."""
    effects: tuple[Effect, ...] = Field(default=(), max_length=300)
    """Effects of the user's own file, which are analysed as well."""
    expected: Expected = "different"
    """What the analysis is asked to find."""
    wait_for_model: bool = False
    """Wait durably for a model that is down instead of ending in `judge_unavailable`."""
    indexed: bool = False
    """Whether the search attributes are registered, so that the run may keep them up to date."""
    history_events: int = Field(default=8_000, ge=50)
    """Continue as new at the next boundary once the history is longer than this (or the server asks)."""

    def waits_at(self, gate: Gate) -> bool:
        return self.clarify == "ask" if gate == "clarification" else gate in self.approve

    @field_validator("question")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if len(value.strip()) < 3:
            raise ValueError("the question is empty")
        return value.strip()


Phase = Literal[
    "starting",
    "reading",
    "planning",
    "observing",
    "evaluating_gaps",
    "selecting_tools",
    "searching",
    "judging",
    "hypothesising",
    "waiting_for_approval",
    "paused",
    "waiting_for_model",
    "researching",
    "writing",
    "verifying",
    "extracting",
    "editing",
    "publishing",
    "done",
]


class BudgetStatus(Frozen):
    """Query `budget`: what was used, what is held for calls under way, what is left."""

    limits: Limits
    used: Usage = Usage()
    reserved_tokens: int = 0
    cost_known: bool = True
    iterations: int = 0
    elapsed_seconds: float = 0.0
    """Working time so far, as of `as_of`."""
    as_of: float = 0.0
    """Seconds since the epoch: the clock of a workflow stands still while it waits for an activity."""
    remaining_seconds: float | None = None
    by_role: dict[str, Usage] = Field(default_factory=dict)


class SectionProgress(Compact):
    id: str
    title: str = ""
    """Empty in a report of the section itself, as is the id of its workflow."""
    status: Literal["waiting", "running", "complete", "partial", "failed", "cancelled"] = "waiting"
    phase: Phase = "starting"
    iteration: int = 0
    evidence: int = 0
    searches: int = 0
    by_role: dict[str, Usage] = Field(default_factory=dict)
    """What the section has spent so far; a report has the roles of which that has changed."""
    spent_microusd: int = 0
    workflow_id: str = ""
    note: str = ""
    events: tuple[AgentEvent, ...] = ()
    """What happened in the section since its last report, for the log of the whole run."""
    history: tuple[IterationRecord, ...] = ()
    """The iterations that have ended since its last report."""
    found: tuple[EvidenceRef, ...] = ()
    """What its judge found relevant since its last report, to be offered to the other sections."""


class Progress(Frozen):
    """Query `progress`: the state of the run."""

    run_id: str
    question: str
    mode: Mode
    profile: str
    phase: Phase = "starting"
    message: str = ""
    """One line for a person."""
    iteration: int = 0
    max_iterations: int = 0
    evidence: int = 0
    searches: tuple[SearchRecord, ...] = ()
    """The latest twenty."""
    searches_total: int = 0
    sections: tuple[SectionProgress, ...] = ()
    budget: BudgetStatus
    waiting_for: Gate | None = None
    paused: bool = False
    confidence: float | None = None
    """None where no model judged."""
    scores: dict[str, int] = Field(default_factory=dict)
    steering: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    """What the run asks back, or asked."""
    candidates: tuple[Candidate, ...] = ()
    """Put forward so far: what the candidate gate is about."""
    chosen_because: str = ""
    """Mode auto: what was chosen and why."""
    continues: Continued | None = None
    """The earlier run that it follows up."""
    stop_reason: StopReason | None = None
    started_at: str = ""
    last_seq: int = 0


class Outcome(Ended):
    """The result of a research workflow: small; the report itself is in the store."""

    run_id: str
    report_blob: str
    used: Usage = Usage()
    spent_microusd: int = 0
    """What counts against the money limit, calls of unknown price included."""
    findings: SectionFindings | None = None
    """Set only by a section of a deep run, which publishes nothing itself."""
    events: tuple[AgentEvent, ...] = ()
    """The end of the event log, so that who followed the run need not query it once more."""


# what a run is sent by its worker, and answers of queries


class GiveUp(Frozen):
    """Signal `give_up`."""

    reason: str
    attempt: int = 1
    """How often the run was asked that."""


class StoredEvents(Frozen):
    """A part of the event log that is in the evidence store."""

    first: int
    last: int
    blob: str
    """Key of the blob: one event a line, as JSON."""


class EventLogView(Frozen):
    """Query `event_log`: where the older part of the log is, and its length."""

    stored: tuple[StoredEvents, ...] = ()
    last_seq: int = 0


class ItemsAfter(Frozen):
    """The number of items that a query in parts leaves out; of `events`, the number of the last one."""

    after: int = 0


class EvidenceIndex(Frozen):
    """Query `evidence_index`: as many items as fit into an answer, and how many there are in all."""

    items: tuple[EvidenceRef, ...] = ()
    total: int = 0


class IterationHistory(Frozen):
    """Query `iterations`: as many records as fit into an answer, and how many there are in all."""

    items: tuple[IterationRecord, ...] = ()
    total: int = 0


class PlanView(Frozen):
    """Query `plan`."""

    plan: ReportPlan | None = None
    plan_hash: str = ""
    approved: bool = False
    asked: bool = True
    """Whether a person was to approve it."""


class ReportView(Frozen):
    """Answer of the query `report`: the key of the report, empty until there is one.

    While the report gate waits it is the key of a draft.
    """

    blob: str = ""
    draft: bool = False
