"""A run's state: all of it in one model, so that continuing as new carries everything over."""

from pydantic import BaseModel, Field

from activities.steps import (
    AgentTask,
    Decision,
    MechanismHypothesis,
    ParsedQuery,
    PlannedSection,
    Prepared,
)
from activities.types import (
    Candidate,
    Claim,
    EvidenceRef,
    Gate,
    ReportPlan,
    SearchRecord,
    StopReason,
)
from workflows.budget import Budget
from workflows.stopping import LoopState
from workflows.types import AgentEvent, Phase, SectionFindings, SectionJob, SectionProgress

EVENTS_KEPT = 400
"""Events a run remembers; older ones are dropped from the front, the numbering goes on."""
EVENTS_CARRIED = 60
"""Events that are carried into the next run of the same workflow."""


class ControlState(BaseModel):
    """What people have said, and where the run stands for them to see."""

    phase: Phase = "starting"
    message: str = ""
    paused: bool = False
    finish: bool = False
    cancelled: bool = False
    waiting_for: Gate | None = None
    gate_opened_at: float = 0.0
    """Seconds since the epoch; 0 while no gate waits. Survives continuing as new, so a time-out does too."""
    answers: dict[Gate, Decision] = Field(default_factory=dict)
    """The answer of each gate that was answered."""
    decisions: list[Decision] = Field(default_factory=list)
    steering: list[str] = Field(default_factory=list)
    added_sources: list[str] = Field(default_factory=list)
    chosen: list[str] = Field(default_factory=list)
    """Candidates a reviewer chose."""
    events: list[AgentEvent] = Field(default_factory=list)
    last_seq: int = 0


class RunState(BaseModel):
    """Everything a research workflow knows beside its request."""

    control: ControlState = Field(default_factory=ControlState)
    budget: Budget | None = None
    prepared: Prepared | None = None
    parsed: ParsedQuery | None = None
    chosen_because: str = ""
    loop: LoopState = Field(default_factory=LoopState)
    evidence: list[EvidenceRef] = Field(default_factory=list)
    relevant: list[str] = Field(default_factory=list)
    """Ids of items the judge found helpful, best first."""
    screened: int = 0
    """How many items a judge was shown, the most in one judgement."""
    tasks: list[AgentTask] = Field(default_factory=list)
    """The searches selected for this iteration."""
    recommended: list[str] = Field(default_factory=list)
    """Searches the judge or the reflector recommended."""
    steering_read: int = 0
    """How many steering texts a gap evaluation has read."""
    searches: list[SearchRecord] = Field(default_factory=list)
    identified: int = 0
    duplicates: int = 0
    observation: str = ""
    gaps: list[str] = Field(default_factory=list)
    models: list[str] = Field(default_factory=list)
    prompt_versions: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    """What the report's limitations must say."""
    plan: ReportPlan | None = None
    plan_hash: str = ""
    hypotheses: list[MechanismHypothesis] = Field(default_factory=list)
    candidates: list[Candidate] = Field(default_factory=list)
    model_down: bool = False
    model_unusable: bool = False
    """A permanent failure (authentication, unknown model): no further call is made."""
    stop_reason: StopReason | None = None

    job: SectionJob | None = None
    """Set for a section of a deep run."""
    exhausted: bool = False
    """The parent said that no budget is left."""

    sections: dict[str, SectionProgress] = Field(default_factory=dict)
    findings: dict[str, SectionFindings] = Field(default_factory=dict)
    drafts: dict[str, PlannedSection] = Field(default_factory=dict)
    written: list[Claim] = Field(default_factory=list)

    def carry(self) -> None:
        """Get ready to be handed to the next run: a long event list need not travel, its numbering does."""
        del self.control.events[:-EVENTS_CARRIED]
