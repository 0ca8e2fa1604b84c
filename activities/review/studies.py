"""What is read of the studies of a review: values of fields and answers on the risk of bias."""

from typing import Literal

from activities.contracts.evidence import EvidenceType, Frozen, Support
from activities.contracts.judge import Refused

FieldKind = Literal["text", "number", "choice"]
Answer = Literal["Y", "PY", "PN", "N", "NI"]
"""Yes, probably yes, probably no, no, no information."""
ASSESSED: frozenset[EvidenceType] = frozenset(
    {"randomized_trial", "clinical_trial", "article", "preprint", "document", "web_page"}
)
"""Kinds of works that may be randomised trials; a person says which of them is none."""


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
    """The values that one extractor read of one study; fields that the study does not state are absent."""

    evidence_id: str
    extractor: str = ""
    values: tuple[Value, ...] = ()
    refused: tuple[Refused, ...] = ()
    prompt_version: str = ""

    def value(self, field: str) -> Value | None:
        return next((one for one in self.values if one.field == field), None)


class ExtractionDecision(Frozen):
    """A person's decision on a field. `other`: the value is `text`, with the person's own quote if any."""

    evidence_id: str
    field: str
    choice: Literal["first", "second", "absent", "other"]
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


class BiasProposal(Frozen):
    """The answers that a model proposes; nothing is judged by them."""

    evidence_id: str = ""
    outcome: str = ""
    answers: tuple[SignallingAnswer, ...] = ()
    refused: tuple[Refused, ...] = ()
    prompt_version: str = ""
