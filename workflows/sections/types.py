"""What a run and its sections give each other."""

from collections.abc import Callable, Mapping
from typing import Literal

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
from workflows.event_types import AgentEvent

Kind = Literal["tokens", "cost_microusd"]
"""What calls of models are charged with. The limit of each is `max_<kind>` of the run and
`max_section_<kind>` of a section."""
KINDS: Mapping[Kind, StopReason] = {
    "tokens": "token_budget_exceeded",
    "cost_microusd": "cost_budget_exceeded",
}


class Spend(Frozen):
    """An amount of what calls are charged with."""

    tokens: int = Field(default=0, ge=0)
    cost_microusd: int = Field(default=0, ge=0)

    def of(self, kind: Kind) -> int:
        amount: int = getattr(self, kind)
        return amount

    def each(self, change: Callable[[Kind, int], int]) -> "Spend":
        """Return what `change` makes of the amount of each kind."""
        return Spend(**{kind: change(kind, self.of(kind)) for kind in KINDS})

    def __add__(self, other: "Spend") -> "Spend":
        return self.each(lambda kind, amount: amount + other.of(kind))

    def less(self, other: "Spend") -> "Spend":
        """Return what is left without another amount."""
        return self.each(lambda kind, amount: max(amount - other.of(kind), 0))


class Addition(Spend):
    """What is added to the limits of a run."""

    seconds: float = Field(default=0, ge=0)
    iterations: int = Field(default=0, ge=0)


class SectionJob(Frozen):
    """What makes an IterativeResearch a section of a deep run."""

    section: ReportPlanSection
    parent_id: str
    background: str = ""
    searches_run_question: bool = False
    """Whether the section searches the question of the run beside its own: one section does."""
    lineage: str = ""
    """The lineage of the parent; see `RunContext.lineage`."""


class SectionFindings(Frozen):
    section_id: str
    status: Literal["complete", "partial", "failed", "cancelled"]
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
