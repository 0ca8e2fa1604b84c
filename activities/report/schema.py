"""The report as others read it (`report --format json`). Keys are stable; more may be added."""

from typing import Literal

from pydantic import Field

from activities.steps import Decision, PrismaCounts
from activities.types import (
    Candidate,
    Claim,
    EvidenceType,
    Frozen,
    Identifiers,
    SearchRecord,
    Standing,
    StopReason,
)


class Reference(Frozen):
    number: int
    evidence_id: str
    source: str
    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    identifiers: Identifiers = Identifiers()
    url: str | None = None
    evidence_type: EvidenceType = "article"
    standing: Standing = "unknown"
    full_text: bool = False


class ReportSection(Frozen):
    id: str
    title: str
    key_question: str
    markdown: str
    status: Literal["complete", "partial", "failed", "cancelled"]
    claims: tuple[Claim, ...] = ()


class DroppedClaim(Frozen):
    text: str
    reason: str


class Verification(Frozen):
    """What the quote check found."""

    claims: int = 0
    verified: int = 0
    repaired: int = 0
    dropped: tuple[DroppedClaim, ...] = ()


class Methodology(Frozen):
    searches: tuple[SearchRecord, ...] = ()
    counts: PrismaCounts = PrismaCounts()
    iterations: int = 0
    tokens: int = 0
    model_calls: int = 0
    cost_usd: float | None = None
    """None when a price was not known."""
    models: tuple[str, ...] = ()
    prompt_versions: tuple[str, ...] = ()
    plan_hash: str = ""
    approvals: tuple[Decision, ...] = ()


class Report(Frozen):
    run_id: str
    question: str
    mode: str
    profile: str
    title: str
    executive_summary: str
    sections: tuple[ReportSection, ...]
    candidates: tuple[Candidate, ...] = ()
    references: tuple[Reference, ...] = ()
    methodology: Methodology = Methodology()
    verification: Verification = Verification()
    limitations: tuple[str, ...] = ()
    confidence: float = 0.0
    stop_reason: StopReason
    generated_at: str


class Published(Frozen):
    """What the publishing activity returns to the workflow."""

    report: Report
    """Slimmed to stay under the payload limit; `blob` holds it whole."""
    blob: str
    markdown_blob: str
    complete: bool = True
    """False when `report` was slimmed."""
    answered: bool = True
    """False when no claim survived the quote check: the run ends with exit code 4."""
    verified_claims: int = Field(default=0)
