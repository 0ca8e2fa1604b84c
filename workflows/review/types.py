"""The input, messages and answers of a systematic review, and the state that it carries over."""

from typing import Literal

from pydantic import BaseModel, Field

from activities.contracts.evidence import EvidenceRef, Frozen, ModelChoice, Price
from activities.review.counts import Flow, FullText
from activities.review.course import Round
from activities.review.decisions import Decision, Made, Marks, ScreenedStage
from activities.review.protocol import Amendment, Protocol
from activities.review.steps import FileOfRecords, ReviewReport, SearchRow, ToolUse, Validation
from activities.review.studies import ExtractionDecision

WORKFLOW = "SystematicReview"
ReviewGate = Literal[
    "",
    "protocol",
    "labels",
    "decisions",
    "model",
    "budget",
    "full_texts",
    "extraction",
    "bias",
    "report",
]
"""Why a review waits: for a person who approves the protocol, labels the sample, decides on records, provides
full texts, decides on extracted fields and on the risk of bias, or approves the report; for a model that is
down; for a budget that is used up."""
MAX_AT_ONCE = 200
"""Decisions of one message."""


def study_key(record: int, outcome: str) -> str:
    """Name a result of a study: its record and the label of the outcome."""
    return f"{record}/{outcome}"


class StudiesState(BaseModel):
    """What was read and decided of the studies, by keys."""

    tried: list[int] = Field(default_factory=list)
    """Records whose full text was looked for."""
    extracted: dict[int, tuple[str, ...]] = Field(default_factory=dict)
    """Record -> keys of what each extractor read, by the place of the screener."""
    pending: dict[int, tuple[str, ...]] = Field(default_factory=dict)
    """Record -> fields on which a person has to decide."""
    decided: list[ExtractionDecision] = Field(default_factory=list)
    """Decisions of people that were not applied yet."""
    decisions: str = ""
    """Key of those that were."""
    unsettled: bool = False
    proposed: dict[str, str] = Field(default_factory=dict)
    """`record/outcome` -> key of the answers that a model proposes on the risk of bias."""
    assessed: dict[str, str] = Field(default_factory=dict)


class ReviewState(BaseModel):
    """Everything that is carried over when a review continues as new. Bodies are in the evidence store."""

    protocol: Protocol
    protocol_key: str
    version: int = 1
    amendments: list[Amendment] = Field(default_factory=list)
    touched: list[str] = Field(default_factory=list)
    """Keys of the protocol that were amended and not applied yet."""
    files: list[FileOfRecords] = Field(default_factory=list)
    models: dict[str, ModelChoice] = Field(default_factory=dict)
    """By screener."""
    fallbacks: list[ModelChoice] = Field(default_factory=list)
    queues: dict[str, str | None] = Field(default_factory=dict)
    prices: dict[str, Price | None] = Field(default_factory=dict)
    unpaywall: bool = False
    counted: dict[str, int] = Field(default_factory=dict)
    """Search -> records that its source says match, before it is searched."""
    estimate: str = ""
    approved_by: str = ""
    searches: list[SearchRow] = Field(default_factory=list)
    search_round: int = 1
    """Grows by one each time the searches are made again."""
    records: str = ""
    total: int = 0
    titles: Marks = Marks()
    full_texts: Marks = Marks()
    sample: list[int] = Field(default_factory=list)
    sampled: bool = False
    labellers: list[str] = Field(default_factory=list)
    round: Round | None = None
    orders: list[str] = Field(default_factory=list)
    log: list[str] = Field(default_factory=list)
    loose: list[str] = Field(default_factory=list)
    """Decisions of models that are not in the log yet, by the keys of their steps."""
    pending: list[Decision] = Field(default_factory=list)
    """Decisions of people that are not in the log yet."""
    unanswered: dict[str, int] = Field(default_factory=dict)
    """`place/record` -> calls in which a model did not decide on it."""
    got: dict[int, FullText] = Field(default_factory=dict)
    provided: dict[int, EvidenceRef] = Field(default_factory=dict)
    """Record -> its full text."""
    studies: StudiesState = Field(default_factory=StudiesState)
    released: bool = False
    """A report was approved: from then on a conclusion that changes is told."""
    untold: str = ""
    """Why a change of conclusions could not be told."""
    tools: dict[str, ToolUse] = Field(default_factory=dict)
    spent: dict[str, int] = Field(default_factory=dict)
    """Stage -> millionths of a US dollar; a call of unknown price counts nothing."""
    changes: int = 0
    """Grows with everything that a report rests on."""
    published: int = -1
    """`changes` when the newest report was made."""
    reports: int = 0
    report: ReviewReport | None = None
    paused: bool = False
    closed: bool = False
    cancelled: bool = False
    report_by: str = ""
    restate: bool = False
    again: int = 0
    """Decisions that amendments and overruling opened again."""
    started: str = ""
    next_search: str = ""


class ReviewRequest(Frozen):
    """Start, or continue, a review."""

    protocol: Protocol
    protocol_key: str
    files: tuple[FileOfRecords, ...] = ()
    records_a_call: int = Field(default=10, ge=1, le=40)
    calls_at_once: int = Field(default=8, ge=1, le=64)
    history_events: int = Field(default=6_000, ge=50)
    retry_seconds: float = 600.0
    """After which a model that is down is asked again."""
    state: ReviewState | None = None


class Decide(Frozen):
    """A person's decisions: as one of the two screeners, or, of a record on which these differ, the word."""

    by: str = Field(min_length=1, max_length=80)
    decisions: tuple[Made, ...] = Field(min_length=1, max_length=MAX_AT_ONCE)
    stage: ScreenedStage = "titles"


class Overrule(Frozen):
    """A person's word on a record that is settled."""

    by: str = Field(min_length=1, max_length=80)
    record: int = Field(ge=0)
    verdict: Literal["include", "exclude"]
    criterion: str = Field(default="", max_length=60)
    reason: str = Field(min_length=1, max_length=1_000)
    stage: ScreenedStage = "titles"


class Amend(Frozen):
    by: str = Field(min_length=1, max_length=80)
    reason: str = Field(min_length=1, max_length=1_000)
    protocol: Protocol
    protocol_key: str
    files: tuple[FileOfRecords, ...] = ()


class ProvideFullText(Frozen):
    by: str = Field(min_length=1, max_length=80)
    record: int = Field(ge=0)
    ref: EvidenceRef | None = None
    """None: it cannot be retrieved."""


class DecideFields(Frozen):
    """A person's decisions on fields of which two extractors differ, or that both read wrongly."""

    decisions: tuple[ExtractionDecision, ...] = Field(min_length=1, max_length=MAX_AT_ONCE)


class Extracted(Frozen):
    """What a person extracted of a study, as one of the two extractors."""

    by: str = Field(min_length=1, max_length=80)
    record: int = Field(ge=0)
    key: str


class Assessed(Frozen):
    """The risk of bias of a result as a person decided it."""

    by: str = Field(min_length=1, max_length=80)
    record: int = Field(ge=0)
    outcome: str = ""
    key: str
    """Of the assessment; `-` for a study that is no randomised trial."""


class PartCopy(Frozen):
    """Part a record that was merged with another one."""

    by: str = Field(min_length=1, max_length=80)
    blob: str


class Accepted(Frozen):
    """What became of a message."""

    state: tuple[str, ...] = ()
    """Of each record: `open`, `conflict`, `included`, `excluded`."""
    text: str = ""


class ReviewProgress(Frozen):
    title: str
    phase: str
    gate: ReviewGate = ""
    text: str = ""
    """What the review does or waits for, as a sentence."""
    version: int = 1
    total: int = 0
    settled: int = 0
    included: int = 0
    conflicts: int = 0
    labelled: int = 0
    sample: int = 0
    round: int = 0
    recall: float | None = None
    estimate: str = ""
    counted: dict[str, int] = Field(default_factory=dict)
    spent_microusd: int = 0
    calls: int = 0
    again: int = 0
    paused: bool = False
    reports: int = 0
    next_search: str = ""
    flow: Flow | None = None
    """Of the newest report."""
    validation: Validation | None = None


class ReviewView(Frozen):
    """What a client needs to show records, conflicts and exports.

    Keys, letters and what is not in the log yet. A surface shows nobody another's letter on a record before
    both have decided.
    """

    protocol: Protocol
    protocol_key: str
    version: int
    amendments: tuple[Amendment, ...] = ()
    records: str = ""
    titles: Marks = Marks()
    full_texts: Marks = Marks()
    got: dict[int, FullText] = Field(default_factory=dict)
    sample: tuple[int, ...] = ()
    labelling: bool = False
    batch: tuple[int, ...] = ()
    order: str = ""
    log: tuple[str, ...] = ()
    pending: tuple[Decision, ...] = ()
    studies: StudiesState = Field(default_factory=StudiesState)
    provided: dict[int, EvidenceRef] = Field(default_factory=dict)
    searches: tuple[SearchRow, ...] = ()
    report: ReviewReport | None = None
