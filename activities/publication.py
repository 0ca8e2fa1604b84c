"""What the last step of a run is given: drafts, decisions of people, counts and standings."""

from typing import Literal

from pydantic import Field

from activities.analysis.appraisal import Appraisal
from activities.candidates.types import Candidate
from activities.drafts import Edited, Refused, SectionDraft
from activities.judgements import Table, WorkJudgement
from activities.profiles.types import STUDIES, Words
from activities.types import (
    EvidenceRef,
    Filters,
    Frozen,
    Gate,
    Length,
    Mode,
    ReportPlanSection,
    SearchRecord,
    StandingNotice,
    Statement,
    StopReason,
    Usage,
)

WrittenBy = Literal["model", "extractive"]
"""Who wrote a report: a language model, or code that finds and quotes passages."""


class PlannedSection(Frozen):
    """A section on its way into the report."""

    section: ReportPlanSection
    draft: SectionDraft = SectionDraft()
    status: Literal["complete", "partial", "failed", "cancelled"] = "complete"
    note: str = ""


class Decision(Frozen):
    """Who decided what, and when."""

    gate: Gate
    action: Literal["approved", "rejected", "timed_out_approved", "timed_out_rejected", "edited", "chosen"]
    by: str = ""
    note: str = ""
    at: str = ""
    """ISO time."""
    plan_hash: str = ""


class PrismaCounts(Frozen):
    """The numbers of a PRISMA flow diagram."""

    identified: int = 0
    duplicates: int = 0
    screened: int = 0
    included: int = 0


class PubMedCheck(Frozen):
    """The works of a report that PubMed is asked about."""

    run_id: str
    pmids: tuple[str, ...]


class PubMedSaid(Frozen):
    """What PubMed says of works when a report is released."""

    asked: tuple[str, ...] = ()
    """PMIDs."""
    notices: dict[str, tuple[StandingNotice, ...]] = Field(default_factory=dict)
    """By PMID; empty for a work PubMed knows and has no notice on."""
    failure: str = ""
    """Why PubMed did not answer."""


class Continued(Frozen):
    """The finished run that a report continues."""

    run_id: str
    question: str = ""


class PublishInput(Frozen):
    """Everything code needs to check the quotes, number the references and render the report."""

    run_id: str
    question: str
    mode: Mode
    profile: str
    title: str
    sections: tuple[PlannedSection, ...]
    candidates: tuple[Candidate, ...] = ()
    evidence: tuple[EvidenceRef, ...] = ()
    """What is cited, and what is retracted or under concern."""
    found: tuple[str, ...] = ()
    """Ids of everything that was found; empty where it was not recorded."""
    searches: tuple[SearchRecord, ...] = ()
    counts: PrismaCounts = PrismaCounts()
    iterations: int = 0
    usage: Usage = Usage()
    models: tuple[str, ...] = ()
    prompt_versions: tuple[str, ...] = ()
    plan_hash: str = ""
    approvals: tuple[Decision, ...] = ()
    limitations: tuple[Statement | str, ...] = ()
    written_by: WrittenBy = "model"
    judgements: tuple[WorkJudgement, ...] = ()
    """Of every work that was judged."""
    table: Table = Table()
    """The reader's columns, filled for cited works."""
    appraisal: Appraisal = Appraisal()
    """Effects by work and outcome, of which conclusions are made."""
    analysis: str = ""
    """Key of the statistics (`activities.analysis.types.Analysis`) in the evidence store."""
    edited: Edited | None = None
    """What the editor wrote; None where none was asked or it did not answer."""
    reader: Literal["", "same_model", "other_model"] = ""
    """Who the second reader was; empty where none was asked."""
    refused: tuple[Refused, ...] = ()
    """What checks refused outside the drafts of the sections: of judgements, hypotheses, cells."""
    continues: Continued | None = None
    """The earlier run that this one follows up."""
    asked: str = ""
    """The question as it was typed, where `question` is a rewording of it that stands alone."""
    confidence: float | None = None
    """None where nobody judged the evidence."""
    confidence_reasons: tuple[Statement, ...] = ()
    stop_reason: StopReason = "sufficient_evidence"
    generated_at: str
    """ISO time, from the workflow's clock."""
    draft: bool = False
    """True while the report gate waits: the standing is checked again when it is released."""
    pubmed: PubMedSaid | None = None
    """What PubMed says of the cited works now; None when it was not asked."""
    filters: Filters = Filters()
    """What every search was narrowed by."""
    results_per_search: int = 10
    """Works that each search was asked for."""
    words: Words = STUDIES
    """What the profile calls what was read."""
    length: Length = "standard"
