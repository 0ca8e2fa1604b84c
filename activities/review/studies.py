"""What models and people, apart from each other, read of the studies of a review: verdicts on full texts,
values of fields, answers on the risk of bias."""

from typing import Literal

from activities.contracts.evidence import EvidenceRef, Frozen, Support
from activities.contracts.judge import Refused
from activities.contracts.step import StepContext
from activities.review.protocol import Criterion

Verdict = Literal["include", "exclude", "unsure"]
FieldKind = Literal["text", "number", "choice"]
Answer = Literal["Y", "PY", "PN", "N", "NI"]
"""Yes, probably yes, probably no, no, no information."""


class FullTextInput(StepContext):
    """What a screener of full texts reads: one work and the criteria."""

    evidence: tuple[EvidenceRef, ...] = ()
    criteria: tuple[Criterion, ...] = ()


class FullTextVerdict(Frozen):
    """What one screener says of one full text."""

    evidence_id: str
    screener: str = ""
    verdict: Verdict = "unsure"
    criterion: str = ""
    """Id of the criterion by which it is excluded."""
    reason: str = ""
    support: tuple[Support, ...] = ()
    prompt_version: str = ""


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
