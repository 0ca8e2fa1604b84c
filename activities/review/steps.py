"""Inputs and outputs of the steps of a systematic review. What grows with the records is passed by the key of
a blob; only numbers and letters travel."""

from pydantic import Field

from activities.contracts.evidence import Compact, EvidenceRef, Frozen, ModelChoice, Usage
from activities.contracts.step import StepContext
from activities.review.counts import Flow, FullText
from activities.review.course import Round, ScreenerAccuracy
from activities.review.decisions import Decision, Marks, Verdict
from activities.review.protocol import Amendment, Criterion
from activities.review.study_steps import StudyKeys


class ScreenInput(StepContext):
    """Does each record meet the criteria? `question` is that of the protocol."""

    evidence: tuple[EvidenceRef, ...] = ()
    criteria: tuple[Criterion, ...] = ()


class RecordDecision(Frozen):
    evidence_id: str
    verdict: Verdict
    criterion: str = ""
    words: tuple[str, ...] = ()
    """Sentences of the record, word for word."""
    reason: str = ""
    """Why a verdict of the model was not taken as it was."""


class ScreenedBatch(Frozen):
    decisions: tuple[RecordDecision, ...] = ()
    """Of the records that were decided on; the others stay unscreened."""


class FileOfRecords(Frozen):
    """A file that a client has read: references to its records as lines of a blob."""

    name: str
    blob: str
    records: int = 0
    set_aside: int = 0
    """Records that could not be read."""


class SearchRow(Frozen):
    """A search or a file as PRISMA-S asks it to be reported."""

    origin: str
    source: str
    query: str = ""
    at: str = ""
    status: str = "ok"
    hits: int = 0
    """Records that the source says match."""
    records: int = 0
    """Records that were taken."""
    new: int = 0
    """Of these, works that no earlier search had."""
    set_aside: int = 0
    detail: str = ""


class AddRecords(Compact):
    """Merge what a search or a file gave into the records of the review."""

    run_id: str
    records: str = ""
    """Key of the records so far; empty for none."""
    origin: str
    refs: tuple[EvidenceRef, ...] = ()
    blob: str = ""
    """Key of the references of a file, in the place of `refs`."""
    part: str = ""
    """Blob of a merged copy that becomes a record of its own; then nothing is added."""


class Added(Frozen):
    records: str
    total: int
    given: int = 0
    new: int = 0


class ScreenStep(Compact):
    """Records that one screener reads in one call."""

    run_id: str
    stage: str = "titles"
    records: str
    numbers: tuple[int, ...]
    protocol: str
    version: int
    screener: str
    model: ModelChoice
    fallbacks: tuple[ModelChoice, ...] = ()
    at: str


class Screened(Compact):
    log: str = ""
    """Key of the decisions."""
    letters: str = ""
    """A letter for each of the numbers; `.` for a record that was not decided on."""
    usage: Usage = Usage()
    model: str = ""
    prompt: str = ""


class PlanStep(Compact):
    """Choose what is read next."""

    run_id: str
    records: str
    protocol: str
    round: Round
    marks: Marks
    measured: tuple[bool, bool] = (True, True)
    read_all: bool = False
    restate: bool = False
    """Only the stated recall is computed again."""


class Planned(Compact):
    round: Round
    order: str = ""
    """Key of the order of all unread records."""


class KeepStep(Compact):
    """Write decisions to the log: those of people, with the blobs of a round."""

    run_id: str
    decisions: tuple[Decision, ...] = ()
    blobs: tuple[str, ...] = ()


class SampleStep(Compact):
    total: int
    half_width: float
    records: int | None = None
    seed: str


class Sampled(Frozen):
    numbers: tuple[int, ...] = ()


class AmendStep(Compact):
    """Find the decisions that rest on changed criteria."""

    run_id: str
    keys: tuple[str, ...]
    log: tuple[str, ...]
    screeners: tuple[str, str]
    titles: Marks
    full_texts: Marks


class Amended(Compact):
    titles: Marks
    full_texts: Marks
    again: int
    """Decisions that are made again."""
    kept: int


class Validation(Frozen):
    """The accuracy of the screeners on one sample."""

    version: int
    """Of the protocol."""
    labelled: int
    by: tuple[str, ...] = ()
    screeners: tuple[ScreenerAccuracy, ...] = ()


class ToolUse(Frozen):
    """A model as it was used, from the steps themselves."""

    stage: str
    screener: str
    model: str
    prompt: str
    calls: int = 0
    decisions: int = 0
    usage: Usage = Usage()


class PublishStep(Compact):
    """Everything a review has come to, for its report and exports."""

    run_id: str
    protocol: str
    version: int
    amendments: tuple[Amendment, ...] = ()
    searches: tuple[SearchRow, ...] = ()
    records: str
    titles: Marks
    full_texts: Marks
    got: dict[int, FullText] = Field(default_factory=dict)
    log: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    screening: Round
    sampled: int = 0
    tools: tuple[ToolUse, ...] = ()
    approved_by: str = ""
    started: str = ""
    at: str = ""
    unreached: tuple[str, ...] = ()
    """Stages that this review did not do, each with why."""
    studies: StudyKeys = StudyKeys()
    """What was read of the studies."""
    reports: int = 0
    """Reports that were published before."""
    closed: bool = False
    """A person has ended screening, so that what is open is not read."""


class ReviewReport(Frozen):
    """What was published: keys of the report as data and of its parts."""

    version: int = 1
    report: str = ""
    """Key of the report as JSON."""
    at: str = ""
    flow: Flow
    findings: str = ""
    """Key of what was found in the studies; empty where none was read."""
    notice: str = ""
    """Key of what is told of conclusions that are others than in the report before."""
    validation: Validation | None = None
