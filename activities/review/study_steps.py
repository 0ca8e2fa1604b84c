"""Inputs and outputs of the steps that read the studies of a review. Bodies are in the evidence store."""

from typing import Literal

from pydantic import Field

from activities.contracts.evidence import Compact, EvidenceRef, Frozen, ModelChoice, Usage
from activities.review.studies import ExtractionDecision

StudyStage = Literal["full_texts", "extraction", "bias"]
NOT_A_TRIAL = "-"
"""Stands for the key of an assessment where a person says that the study is no randomised trial."""


class StudyKeys(Compact):
    """What was read and decided of the studies, by record; what publishing needs of it."""

    texts: dict[int, EvidenceRef] = Field(default_factory=dict)
    """Record -> the work with its full text."""
    extracted: dict[int, tuple[str, ...]] = Field(default_factory=dict)
    """Record -> keys of what each extractor read, by the place of the extractor; empty: not yet."""
    decisions: str = ""
    """Key of the decisions on fields."""
    assessed: dict[str, str] = Field(default_factory=dict)
    """`record/outcome` -> key of the assessment of the risk of bias, or `NOT_A_TRIAL`."""


class RecordsStep(Compact):
    """Look up records by their numbers."""

    run_id: str
    records: str
    numbers: tuple[int, ...]


class RecordRefs(Compact):
    refs: tuple[EvidenceRef, ...] = ()


class ReadStudyStep(Compact):
    """Have a model read one work for one stage."""

    run_id: str
    stage: StudyStage
    record: int
    text: EvidenceRef
    protocol: str
    version: int
    reader: str
    """The screener of the protocol who reads."""
    outcome: str = ""
    """Label of the outcome whose risk of bias is asked about."""
    model: ModelChoice
    fallbacks: tuple[ModelChoice, ...] = ()
    at: str


class StudyRead(Compact):
    key: str
    """Of what was read; of a verdict on a full text, of its line of the log."""
    letter: str = ""
    """Of a verdict on a full text."""
    usage: Usage = Usage()
    model: str = ""
    prompt: str = ""


class SettleStep(Compact):
    """Compare two extractions of each study, and apply the decisions of people."""

    run_id: str
    protocol: str
    extracted: dict[int, tuple[str, ...]]
    decisions: str = ""
    added: tuple[ExtractionDecision, ...] = ()


class SettledFields(Frozen):
    decisions: str
    """Key of all decisions so far."""
    pending: dict[int, tuple[str, ...]] = Field(default_factory=dict)
    """Record -> fields on which a person has to decide."""


class TellStep(Compact):
    """Tell that conclusions have changed."""

    run_id: str
    notice: str
    """Key of the notice."""
