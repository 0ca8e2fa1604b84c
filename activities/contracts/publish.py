"""What the last step of a run is given: drafts, decisions of people, counts and standings."""

from typing import Literal

from pydantic import Field

from activities.contracts.evidence import (
    Compact,
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
from activities.contracts.iterations import IterationSum
from activities.contracts.judge import WorkJudgement
from activities.contracts.parts import PublishParts
from activities.contracts.profile import STUDIES, Words
from activities.contracts.write import Edited, Refused, SectionDraft
from activities.messages import ENGLISH

WrittenBy = Literal["model", "extractive"]
"""Who wrote a report: a language model, or code that finds and quotes passages."""


SectionStatus = Literal["complete", "partial", "failed", "cancelled"]
SecondReader = Literal["", "same_model", "other_model"]
"""Who the second reader was; empty where none was asked."""


class PlannedSection(Frozen):
    """A section on its way into the report."""

    section: ReportPlanSection
    draft: SectionDraft = SectionDraft()
    status: SectionStatus = "complete"
    note: str = ""


Action = Literal[
    "approved", "rejected", "timed_out_approved", "timed_out_rejected", "edited", "chosen", "answered"
]


class Decision(Frozen):
    gate: Gate
    action: Action
    by: str = ""
    note: str = ""
    at: str = ""
    """ISO time."""
    plan_hash: str = ""


class PrismaCounts(Frozen):
    """The numbers of a PRISMA flow diagram: those identified are duplicates, screened or not screened."""

    identified: int = 0
    duplicates: int = 0
    screened: int = 0
    not_screened: int = 0
    """Different works that no judge was shown."""
    included: int = 0
    """Works that are cited; each was screened."""

    @property
    def not_cited(self) -> int:
        """Works that were screened and are not cited."""
        return self.screened - self.included

    def add_up(self, unique: int, screened: int, included: int) -> "PrismaCounts":
        """Return the counts of a report that cites `included` works, such that they add up.

        `unique`: works that the run still holds, which may be fewer than it found.
        """
        screened = max(screened, included)
        unique = max(unique, self.identified - self.duplicates, screened)
        identified = max(self.identified, unique)
        return PrismaCounts(
            identified=identified,
            duplicates=identified - unique,
            screened=screened,
            not_screened=unique - screened,
            included=included,
        )


class PubMedCheck(Frozen):
    run_id: str
    pmids: tuple[str, ...]


class PubMedSaid(Frozen):
    """What PubMed says of works when a report is released."""

    asked: tuple[str, ...] = ()
    """PMIDs."""
    notices: dict[str, tuple[StandingNotice, ...]] = Field(default_factory=dict)
    """By PMID; empty for a work PubMed knows and has no notice on."""
    failure: str = ""


class Dispute(Frozen):
    """Somebody says that a sentence of a finished report is wrong."""

    sentence: str
    """Its id."""
    text: str
    """As it read then."""
    reason: str
    by: str = ""
    at: str = ""
    """ISO time."""
    reader: Literal["", "stands", "falls"] = ""
    """What the second reader says, who read its works again; empty where there is none."""
    problem: Statement | None = None
    decision: Literal["", "upheld", "rejected"] = ""
    """Upheld: the sentence goes, its quote stands in its place."""
    decided_by: str = ""
    note: str = ""


class IterationUse(IterationSum):
    """The same with why its loop ended after it; what was open is that of the last iteration of a loop."""

    calls: int = 0
    cost_usd: float | None = None
    """None where a price was not known."""
    stopped: StopReason | None = None
    """The stop reason of the last iteration of its loop."""


class Method(Frozen):
    """How a run worked."""

    searches: tuple[SearchRecord, ...] = ()
    counts: PrismaCounts = PrismaCounts()
    iterations: int = 0
    spent_by: tuple[IterationUse, ...] = ()
    """Each iteration, section by section, as far as there is room; what its run used beyond them went into
    reading the question, planning and writing."""
    by_role: dict[str, Usage] = Field(default_factory=dict)
    """The model calls by the role that was asked."""
    seconds: float = 0.0
    """Working time; waiting for people does not count."""
    models: tuple[str, ...] = ()
    prompt_versions: tuple[str, ...] = ()
    plan_hash: str = ""
    approvals: tuple[Decision, ...] = ()
    filters: Filters = Filters()
    """What every search was narrowed by."""
    results_per_search: int = 10
    """Works that each search was asked for."""


class Head(Frozen):
    """What is known of a report before its sentences are checked."""

    run_id: str
    question: str
    asked: str = ""
    """The question as it was typed, where `question` is a rewording of it that stands alone."""
    mode: Mode
    profile: str
    title: str
    written_by: WrittenBy = "model"
    language: str = ENGLISH
    """ISO 639-1 code of the language that it was asked for in; its fixed words are English where they are not
    translated."""
    confidence: float | None = None
    """None where nobody judged the evidence."""
    confidence_reasons: tuple[Statement, ...] = ()
    draft: bool = False
    """It waits for a reviewer's approval: the standing of works is checked again when it is released."""
    words: Words = STUDIES
    """What the profile calls what was read."""
    length: Length = "standard"
    """How much of it is printed, where nothing else is asked for."""
    stop_reason: StopReason = "sufficient_evidence"
    generated_at: str
    """ISO time, from the workflow's clock."""
    disputes: tuple[Dispute, ...] = ()
    """Sentences that somebody says are wrong, with what became of it, the oldest first."""


class Ended(Frozen):
    """How a run ended, and what its report has."""

    stop_reason: StopReason
    answered: bool = True
    """False when no claim survived the checks, no passage is near, or the answer says only what no work says:
    the run ends with exit code 4."""
    markdown_blob: str
    title: str = ""
    summary: str = ""
    """The executive summary, cut where it is very long."""
    references: int = 0
    verified_claims: int = 0


class PublishInput(Compact, Head, Method, PublishParts):
    """Everything code needs to check the quotes, number the references and render the report."""

    sections: tuple[PlannedSection, ...]
    evidence: tuple[EvidenceRef, ...] = ()
    """What is cited, and what is retracted or under concern."""
    found: dict[str, str] = Field(default_factory=dict)
    """Id of everything that was found -> the beginning of its title; empty where it was not recorded."""
    usage: Usage = Usage()
    limitations: tuple[Statement | str, ...] = ()
    judgements: tuple[WorkJudgement, ...] = ()
    edited: Edited | None = None
    """What the editor wrote; None where none was asked or it did not answer."""
    reader: SecondReader = ""
    refused: tuple[Refused, ...] = ()
    """What checks refused outside the drafts of the sections: of judgements, hypotheses, cells."""
    pubmed: PubMedSaid | None = None
    """What PubMed says of the cited works now; None when it was not asked."""

    @property
    def screened(self) -> int:
        """Works that a judge was shown or, without a judge, that were compared with the question: all."""
        if self.written_by == "extractive":
            return max(self.counts.identified - self.counts.duplicates, len(self.evidence))
        return self.counts.screened
