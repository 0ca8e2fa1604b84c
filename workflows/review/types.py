"""The input, messages and answers of a systematic review."""

from typing import Literal

from pydantic import Field

from activities.contracts.evidence import Compact, EvidenceRef, Frozen
from activities.review.protocol import Protocol
from activities.review.results import Flow, Validation
from activities.review.state import FileOfRecords, ReviewState

WORKFLOW = "SystematicReview"
ReviewGate = Literal[
    "", "protocol", "labels", "decisions", "model", "budget", "full_texts", "extraction", "bias", "report"
]
"""Why a review waits: for a person who approves the protocol, labels the sample, decides on records, provides
full texts, decides on extracted fields and on the risk of bias, or approves the report; for a model that is
down; for a budget that is used up."""


class ReviewRequest(Compact):
    protocol: Protocol
    protocol_key: str
    files: tuple[FileOfRecords, ...] = ()
    history_events: int = Field(default=6_000, ge=50)
    state: ReviewState | None = None


class Message(Frozen):
    by: str = Field(min_length=1, max_length=80)


class Amend(Message):
    reason: str = Field(min_length=1, max_length=1_000)
    protocol: Protocol
    protocol_key: str
    files: tuple[FileOfRecords, ...] = ()


class ProvideFullText(Message):
    record: int = Field(ge=0)
    ref: EvidenceRef | None = None
    """None: it cannot be retrieved."""


class PartCopy(Message):
    """Part a record that was merged with another one."""

    blob: str


class ReviewProgress(Frozen):
    title: str
    phase: str
    gate: ReviewGate = ""
    text: str = ""
    until: str = ""
    """The time at which it goes on by itself."""
    version: int = 1
    total: int = 0
    settled: int = 0
    included: int = 0
    conflicts: int = 0
    awaited: dict[str, int] = Field(default_factory=dict)
    """Person who screens -> works of this stage that wait for them."""
    labelled: int = 0
    sample: int = 0
    round: int = 0
    recall: float | None = None
    estimate: str = ""
    counted: dict[str, int] = Field(default_factory=dict)
    files: tuple[FileOfRecords, ...] = ()
    spent_microusd: int = 0
    calls: int = 0
    again: int = 0
    paused: bool = False
    reports: int = 0
    next_search: str = ""
    flow: Flow | None = None
    """Of the newest report."""
    validation: Validation | None = None

    @property
    def rests(self) -> bool:
        """No step of its own is under way: it waits, is paused or is over."""
        return bool(self.gate) or self.paused or self.phase in ("waiting", "completed", "cancelled")
