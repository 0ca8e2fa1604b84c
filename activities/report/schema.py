"""The report as others read it (`report --format json`). Keys are stable; more may be added.

`executive_summary`, `markdown` and `limitations` are text for those who read the JSON alone. Code reads the
fields beside them: `summary_claims`, `paragraphs`, `statements`. Reports of before those fields existed load
with the fields empty, and the formats print their text.
"""

from typing import Literal

from pydantic import Field

from activities.candidates.types import Candidate
from activities.drafts import UnusedReason
from activities.publication import Decision, PrismaCounts
from activities.text.drug_findings import Finding
from activities.types import (
    Claim,
    EvidenceType,
    Filters,
    Frozen,
    Identifiers,
    SearchRecord,
    Standing,
    Statement,
    StopReason,
    WorkRow,
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
    study: int = 0
    """References with the same number report the same study; 0: not known."""
    pages: tuple[int, ...] = ()
    """Pages of the document on which its quotes begin, where it has pages."""
    from_run: str = ""
    """Id of the earlier run it was imported from; empty for what this run found itself."""


class UnusedWork(Frozen):
    """A work that was found and that the report does not cite."""

    evidence_id: str
    reason: UnusedReason


class QuoteContext(Frozen):
    """A quote with the text around it in its work."""

    evidence_id: str
    quote: str
    before: str = ""
    after: str = ""
    """With the space between them and the quote, where there is one."""
    page: int = 0
    """On which page of its document the quote begins, from 1; 0: not known."""


class NearPassage(Frozen):
    """A sentence that comes near to a question that no claim answers. It is checked as a quote and not judged
    to answer, so it has no number, strength or direction, and the confidence does not rest on it."""

    work: Reference
    """Its number is 0: it is no reference of the report."""
    quote: str
    missing: tuple[str, ...] = ()
    """Words of the question for things that the work does not mention."""


class ReportSection(Frozen):
    id: str
    title: str
    key_question: str
    markdown: str
    status: Literal["complete", "partial", "failed", "cancelled"]
    claims: tuple[Claim, ...] = ()
    paragraphs: tuple[tuple[str, ...], ...] = ()
    """Ids of the claims, by paragraph."""
    empty_because: Statement | None = None
    """Why there is no claim."""


class Answer(Frozen):
    """A name, a number or a phrase that answers a question for a fact or for a list."""

    text: str
    """As a quote states it, or the long form that the quotes define for its abbreviation."""
    claims: tuple[str, ...]
    """Ids of the claims whose quotes contain it, the best first."""
    works: int
    """How many works name it."""
    finding: Finding = "none"
    """For a drug, what the works that are cited for it found of it."""


class BriefSentence(Frozen):
    """A sentence of the short answer that code makes where no model wrote (`activities.report.brief`)."""

    text: str
    """With the numbers of the references."""
    claims: tuple[str, ...]
    """Ids of the claims it rests on, at least one."""
    statement: Statement
    """The same as data."""


CertaintyLevel = Literal["very low", "low", "moderate", "high"]
CertaintyDomain = Literal["design", "risk_of_bias", "inconsistency", "imprecision", "indirectness"]


class CertaintyReason(Frozen):
    """What one domain of GRADE adds to the certainty of an outcome."""

    domain: CertaintyDomain
    steps: int
    """Levels up or down; 0 for the design, which says where it starts."""
    text: str
    """What was read, and what could not be judged."""


class OutcomeCertainty(Frozen):
    """How certain the evidence on an outcome is, computed from abstracts (`activities.report.certainty`); no
    replacement for a person's GRADE."""

    outcome: str
    """As the table of works is grouped."""
    works: tuple[str, ...]
    """Evidence ids of the works that were rated: those of the best design."""
    level: CertaintyLevel
    reasons: tuple[CertaintyReason, ...]
    """One a domain."""


class DroppedClaim(Frozen):
    text: str
    reason: str
    reasons: tuple[Statement, ...] = ()
    """The same as data: which check refused it, and why."""


class Verification(Frozen):
    """What the quote check found."""

    claims: int = 0
    verified: int = 0
    repaired: int = 0
    dropped: tuple[DroppedClaim, ...] = ()


class QuestionParts(Frozen):
    """The parts of the question in its own words, as code read them (`activities.text.pico`); a part that it
    does not name is empty."""

    population: str = ""
    intervention: str = ""
    """Or exposure, test, cause."""
    comparison: str = ""
    outcome: str = ""


class Methodology(Frozen):
    question_parts: QuestionParts = QuestionParts()
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
    filters: Filters = Filters()
    """What every search was narrowed by."""
    results_per_search: int = 10
    """Works that each search was asked for."""


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
    confidence_reasons: tuple[Statement, ...] = ()
    draft: bool = False
    """The report waits for a reviewer's approval."""
    summary_claims: tuple[str, ...] = ()
    """Ids of the claims that the summary repeats, in its order."""
    answers: tuple[Answer, ...] = ()
    """The best first; empty for a question that asks for no fact and no list, or where no quote gives one."""
    brief: tuple[BriefSentence, ...] = ()
    """The short answer, in front of the summary's claims; empty where a model wrote the report."""
    unanswered: Statement | None = None
    """Why no claim passed the checks; None when one did."""
    not_mentioned: tuple[str, ...] = ()
    """What the question names and no work that was found mentions, as typed; of a report without a claim."""
    near: tuple[NearPassage, ...] = ()
    """What comes nearest, the nearest first; of a report without a claim."""
    statements: tuple[Statement, ...] = ()
    """The limitations as data, in the order of `limitations`."""
    works: tuple[WorkRow, ...] = ()
    """One row a reference, in the order of the references."""
    certainty: tuple[OutcomeCertainty, ...] = ()
    """By outcome, for those that several works measured."""
    contexts: tuple[QuoteContext, ...] = ()
    """The surroundings of each quote."""
    unused: tuple[UnusedWork, ...] = ()
    """Works that were found and are not cited, in the order of the evidence; empty where not recorded."""
    stop_reason: StopReason
    generated_at: str

    @property
    def quoted_works(self) -> tuple[Reference, ...]:
        """The references, and the works of the passages that come nearest."""
        return (*self.references, *(passage.work for passage in self.near))

    @property
    def structured(self) -> bool:
        """Whether the summary, the paragraphs and the limitations are there as data. False for a report of
        before they were, and for one that was cut to travel."""
        return bool(self.summary_claims) or self.unanswered is not None


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
