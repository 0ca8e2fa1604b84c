"""Inputs and outputs of the steps of a systematic review, and of the roles that they ask.

What grows with the records is passed by the key of a blob; only numbers and letters travel.
"""

from pydantic import Field

from activities.contracts.evidence import Compact, EvidenceRef, Frozen, ModelChoice, Usage
from activities.contracts.step import StepContext
from activities.review.decisions import Decision, Marks, Stage, Verdict
from activities.review.extraction import AskedField
from activities.review.protocol import Criterion
from activities.review.state import Course, ReviewState


class ScreenInput(StepContext):
    """Records or one full text, and the criteria that each is held against."""

    evidence: tuple[EvidenceRef, ...] = ()
    criteria: tuple[Criterion, ...] = ()


class RecordDecision(Frozen):
    evidence_id: str
    verdict: Verdict
    criterion: str = ""
    words: tuple[str, ...] = ()
    """Sentences of the work, word for word."""
    reason: str = ""
    """Why; of a title, why a verdict of the model was not taken as it was."""


class ScreenedBatch(Frozen):
    decisions: tuple[RecordDecision, ...] = ()
    """Of the records that were decided on; the others stay unscreened."""


class ExtractDataInput(StepContext):
    """One study, and the fields to fill."""

    evidence: tuple[EvidenceRef, ...] = ()
    fields: tuple[AskedField, ...] = ()
    outcome: str = ""
    """The outcome whose risk of bias the fields ask about."""


class StateStep(Compact):
    """A step that looks at the whole state of a review."""

    run_id: str
    at: str
    state: ReviewState


class AddRecords(Compact):
    """Merge the records of a search or a file into those of the review, or part a copy again."""

    run_id: str
    records: str = ""
    """Key of the records so far; empty for none."""
    origin: str = ""
    refs: tuple[EvidenceRef, ...] = ()
    blob: str = ""
    """Key of the references of a file, in the place of `refs`."""
    part: str = ""
    """Blob of a merged copy that becomes a record of its own; then nothing is added."""


class AddedRecords(Frozen):
    records: str
    total: int
    given: int = 0
    new: int = 0


class RecordsStep(Compact):
    """Look up records by their numbers."""

    run_id: str
    records: str
    numbers: tuple[int, ...]


class ReadStep(Compact):
    """One call of a model: several records by title and abstract, or one full text for one stage."""

    run_id: str
    stage: Stage
    records: str = ""
    numbers: tuple[int, ...]
    text: EvidenceRef | None = None
    """The full text of the one record."""
    protocol: str
    version: int
    reader: str
    """The screener of the protocol who reads."""
    outcome: str = ""
    """Label of the outcome whose risk of bias is asked about."""
    fields: tuple[str, ...] = ()
    """Fields that are extracted again; empty for all."""
    earlier: str = ""
    """Key of the extraction whose other fields stand."""
    model: ModelChoice
    at: str


class ReadResult(Compact):
    key: str = ""
    """Of what was read; of verdicts, of their lines of the log."""
    letters: str = ""
    """A letter for each of the numbers; `.` for a record that was not decided on."""
    usage: Usage = Usage()
    model: str = ""
    prompt: str = ""


class ScreeningPlan(Compact):
    course: Course
    order: str = ""
    """Key of the order of all unread records; empty where the one before stands."""


class KeepStep(Compact):
    """Write decisions to the log: those of people, with the blobs of a round."""

    run_id: str
    decisions: tuple[Decision, ...] = ()
    blobs: tuple[str, ...] = ()


class ReopenedMarks(Compact):
    titles: Marks
    full_texts: Marks
    again: int
    """Decisions that are made again."""


class SettledFields(Frozen):
    pending: dict[int, tuple[str, ...]] = Field(default_factory=dict)
    """Record -> fields on which a person has to decide."""
    silent: tuple[str, ...] = ()
    """Results that a study does not report, by `study_key`."""


class TellStep(Compact):
    """Tell that conclusions have changed."""

    run_id: str
    notice: str
    """Key of the notice."""
