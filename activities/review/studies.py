"""What is read of the studies of a review: values of fields and answers on the risk of bias."""

from typing import Literal

from activities.contracts.evidence import EvidenceRef, EvidenceType, Frozen, Support
from activities.contracts.judge import Refused
from activities.contracts.step import StepContext
from activities.review.protocol import Criterion

FieldKind = Literal["text", "number", "choice"]
Answer = Literal["Y", "PY", "PN", "N", "NI"]
"""Yes, probably yes, probably no, no, no information."""


class FullTextInput(StepContext):
    """What a screener of full texts reads: one work and the criteria."""

    evidence: tuple[EvidenceRef, ...] = ()
    criteria: tuple[Criterion, ...] = ()


ASSESSED: frozenset[EvidenceType] = frozenset(
    {"randomized_trial", "clinical_trial", "article", "preprint", "document", "web_page"}
)
"""Kinds of works that may be randomised trials; a person says which of them is none."""


def is_assessed(kind: EvidenceType) -> bool:
    """Whether the risk of bias of a work of this kind is asked about."""
    return kind in ASSESSED


class AskedField(Frozen):
    """A field that extractors fill for a study: one of the protocol's, or a figure of an outcome."""

    id: str
    label: str
    kind: FieldKind = "text"
    choices: tuple[str, ...] = ()
    hint: str = ""
    outcome: str = ""
    """Id of the outcome whose figure it is."""


class Value(Frozen):
    """The value of one field, with the words of the study that state it."""

    field: str
    text: str
    support: tuple[Support, ...] = ()
    """Empty for a value that a person typed without a quote."""


class Extraction(Frozen):
    """What one extractor read of one study; fields that the study does not state are absent."""

    evidence_id: str
    extractor: str = ""
    values: tuple[Value, ...] = ()
    refused: tuple[Refused, ...] = ()
    prompt_version: str = ""

    def value(self, field: str) -> Value | None:
        return next((one for one in self.values if one.field == field), None)


class ExtractDataInput(StepContext):
    """What the extractor reads: one study, and the fields to fill."""

    evidence: tuple[EvidenceRef, ...] = ()
    fields: tuple[AskedField, ...] = ()


Choice = Literal["first", "second", "absent", "other"]


class ExtractionDecision(Frozen):
    """What a person decides of a field. `other`: the value is `text`, with the person's own quote if any."""

    evidence_id: str
    field: str
    choice: Choice
    by: str
    text: str = ""
    quote: str = ""
    reason: str = ""


class SignallingAnswer(Frozen):
    """An answer to a signalling question with what it rests on."""

    question: str
    answer: Answer
    reason: str = ""
    support: tuple[Support, ...] = ()


class BiasInput(StepContext):
    """What is asked about one result of one trial."""

    evidence: tuple[EvidenceRef, ...] = ()
    outcome: str = ""


class BiasProposal(Frozen):
    """What a model proposes; nothing is judged by it."""

    evidence_id: str = ""
    outcome: str = ""
    answers: tuple[SignallingAnswer, ...] = ()
    refused: tuple[Refused, ...] = ()
    prompt_version: str = ""
