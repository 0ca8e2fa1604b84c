"""What a run and its sections give each other."""

from pydantic import Field

from activities.contracts.evidence import (
    EvidenceRef,
    Frozen,
    ReportPlanSection,
    SearchRecord,
    Statement,
    StopReason,
    Usage,
)
from activities.contracts.iterations import IterationRecord
from activities.contracts.judge import Refused, WorkJudgement
from activities.contracts.publish import SectionStatus
from workflows.amounts import Addition, Spend
from workflows.event_types import AgentEvent


class SectionJob(Frozen):
    """The job that makes an IterativeResearch a section of a deep run."""

    section: ReportPlanSection
    parent_id: str
    background: str = ""
    searches_run_question: bool = False
    """Whether the section searches the question of the run beside its own: one section does."""
    lineage: str = ""
    """The lineage of the parent; see `RunContext.lineage`."""


class SectionFindings(Frozen):
    section_id: str
    status: SectionStatus
    stop_reason: StopReason
    evidence: tuple[EvidenceRef, ...] = ()
    """Best first; only items worth showing a writer."""
    works: tuple[str, ...] = ()
    """Evidence ids of everything found: several sections may find one work."""
    relevant: tuple[str, ...] = ()
    """Ids of those among `evidence` that the section found itself and its judge found relevant."""
    screened: int = 0
    identified: int = 0
    searches: tuple[SearchRecord, ...] = ()
    iterations: int = 0
    by_role: dict[str, Usage] = Field(default_factory=dict)
    spent_microusd: int = 0
    """What counts against the money limit, calls of unknown price included."""
    confidence: float | None = None
    """None where no model judged."""
    scores: dict[str, int] = Field(default_factory=dict)
    judgements: tuple[WorkJudgement, ...] = ()
    """Judgements of the works among `evidence`."""
    refused: tuple[Refused, ...] = ()
    events: tuple[AgentEvent, ...] = ()
    """What happened since the last report of the section."""
    history: tuple[IterationRecord, ...] = ()
    """The iterations that have ended since its last report."""
    facts: tuple[str, ...] = ()
    """What the manager of a sub-team holds for known, for those who write."""
    instruction: str = ""
    """What it last asked of the reporter, for those who write."""
    models: tuple[str, ...] = ()
    prompt_versions: tuple[str, ...] = ()
    notes: tuple[Statement | str, ...] = ()


class LeaseRequest(Frozen):
    """Signal `request_lease` to the parent: the section's next call does not fit into its lease."""

    section_id: str
    wanted: Spend
    least: Spend
    """What its next call needs."""


class SharedEvidence(Frozen):
    """Signal `offer_evidence` to a section: works that other sections found."""

    items: tuple[EvidenceRef, ...] = ()
    """References only, the best first."""


class Grant(Addition):
    """Signal `grant` to a section."""

    final: bool = False
    """Nothing is left: do not ask again."""
