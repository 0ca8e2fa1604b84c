"""Typed inputs and outputs of the steps that write: a writer produces claims with quotes; markdown, numbering
and references are code."""

from typing import Literal

from pydantic import Field

from activities.judgements import Refused as Refused
from activities.judgements import RefusedKind as RefusedKind
from activities.judgements import Table, WorkJudgement
from activities.steps import MechanismHypothesis, StepContext
from activities.types import Claim, EvidenceRef, Frozen, Statement, StopReason, Support


class Passage(Frozen):
    """At most two sentences of one work, quoted and not judged (without a model)."""

    evidence_id: str
    quotes: tuple[str, ...]
    """Word for word, in the order of the work."""
    before: str = ""
    """The sentence before, where it is needed to understand: the head of a list, a header row, a speaker."""
    after: str = ""
    mentions: tuple[str, ...] = ()
    """Names of the question that the work mentions, as typed."""
    lacks: tuple[str, ...] = ()
    """Names of the question that it does not use, nor a word that is near one."""
    uses: tuple[str, ...] = ()
    """What it uses instead of a name: `HIV for AIDS`."""


ClaimState = Literal["stands", "unverified", "failed"]
"""`unverified`: it rests on several works, or its words are mostly its own: the verifier is asked.
`failed`: a check refused the wording; it is written once more, or its quote replaces it
(`activities.verification.verdicts`)."""


class DraftClaim(Frozen):
    text: str
    """One sentence."""
    support: tuple[Support, ...]
    contradicts: tuple[str, ...] = ()
    """Texts or ids of earlier claims it contradicts."""
    added_by_code: bool = False
    """Chosen by code, because the model's own claims were fewer than the evidence carries."""
    state: ClaimState = "stands"
    problem: Statement | None = None
    """Why it failed a check."""


class DraftParagraph(Frozen):
    claims: tuple[DraftClaim, ...]


UnusedReason = Literal[
    "retracted",
    "refused",
    "repeats",
    "outranked",
    "not_chosen",
    "no_sentence",
    "another_subject",
    "not_relevant",
    "not_read",
]
"""Why a work that was found is not cited:

- `retracted`: it supports nothing;
- `refused`: a writer cited it, and the claims or their quotes failed the checks;
- `repeats`: what it says is stated already, from another work or in another section;
- `outranked`: sentences of it answer, and those of other works answer better;
- `not_chosen`: the model read it and made no claim of it that addresses the question;
- `no_sentence`: it is relevant, and no single sentence of it answers;
- `another_subject`: it does not mention what the question names;
- `not_relevant`: it is too far from the question;
- `not_read`: it ranked below the works that a writer was given.
"""


class SectionDraft(Frozen):
    """What a writer makes of one section; every sentence is a claim."""

    title: str = ""
    paragraphs: tuple[DraftParagraph, ...] = ()
    limitations: tuple[str, ...] = ()
    unused: dict[UnusedReason, tuple[str, ...]] | None = None
    """Reason -> ids of the works that the writer was given and does not cite; None where not recorded."""

    answer: tuple[DraftClaim, ...] = ()
    """The direct answer to the question of the section, two to five sentences, in the model's order."""
    reservations: tuple[str, ...] = ()
    """What the model says that the evidence cannot show, in its words."""
    refused: tuple[Refused, ...] = ()
    """What checks refused of the draft."""
    passages: tuple[Passage, ...] = ()
    """Without a model: the passages nearest to the question, best first."""
    related: tuple[Passage, ...] = ()
    """Without a model: passages of works that do not mention all that the question names, best first."""

    @property
    def cited(self) -> tuple[str, ...]:
        """Ids of the works that its claims and passages quote, each once."""
        claims = (*self.answer, *(claim for paragraph in self.paragraphs for claim in paragraph.claims))
        quoted = (support.evidence_id for claim in claims for support in claim.support)
        passages = (passage.evidence_id for passage in (*self.passages, *self.related))
        return tuple(dict.fromkeys((*quoted, *passages)))

    @property
    def texts(self) -> tuple[str, ...]:
        """The paragraphs as text."""
        return tuple(" ".join(claim.text for claim in paragraph.claims) for paragraph in self.paragraphs)


class WriteInput(StepContext):
    """For the writer (a whole short report) and the long writer (one section of a long one)."""

    section_id: str = "s1"
    title: str = ""
    evidence: tuple[EvidenceRef, ...] = ()
    """Best first; retracted work is already left out."""
    judged: tuple[str, ...] | None = None
    """Ids of the items that code judged to help with the question, among all that were found; None where a
    model judged, or where items were found since."""
    written: tuple[Claim, ...] = ()
    """Claims of earlier sections, not to be repeated; contradictions to them are to be kept."""
    shared: tuple[str, ...] = ()
    """Ids of items that belong to another section: to be cited only for a statement of this section's own."""
    other_sections: tuple[str, ...] = ()
    """Key questions that other sections answer."""
    stop_reason: StopReason = "sufficient_evidence"
    hypotheses: tuple[MechanismHypothesis, ...] = ()
    judgements: tuple[WorkJudgement, ...] = ()
    """Of the items of `evidence` that were judged."""
    failed: tuple[Refused, ...] = ()
    """Sentences of the draft before that failed a check: they are to be written once more."""
    draft: SectionDraft | None = None
    """With `failed`: the draft they are from; the writer returns it with the new sentences in place."""
    report_to: str = ""
    """Workflow id of the run that receives the paragraphs while they are written; empty for none."""


class CheckedSentence(Frozen):
    """A sentence that a second reader is asked about, with the text it rests on."""

    id: str
    text: str
    support: tuple[Support, ...]


class VerifyInput(StepContext):
    """For the verifier: does the quoted text say this? One batched call a section."""

    section_id: str = "s1"
    sentences: tuple[CheckedSentence, ...]
    evidence: tuple[EvidenceRef, ...] = ()
    """The cited works: their titles and abstracts explain names and abbreviations."""


class SentenceVerdict(Frozen):
    id: str
    supported: Literal["yes", "partly", "no"]
    reason: str = ""


class Verdicts(Frozen):
    verdicts: tuple[SentenceVerdict, ...] = ()


class EditedSentence(Frozen):
    """A sentence of the editor, with the claims it rests on."""

    text: str
    claims: tuple[str, ...]
    """Ids of claims, at least one."""


class EditInput(StepContext):
    """For the editor, once the sections are drafted and checked: it adds no fact."""

    title: str = ""
    outline: dict[str, str] = Field(default_factory=dict)
    """Section id -> title, in the order of the report."""
    claims: dict[str, tuple[Claim, ...]] = Field(default_factory=dict)
    """Section id -> claims, in order."""
    answers: dict[str, tuple[Claim, ...]] = Field(default_factory=dict)
    """Section id -> the sentences of its answer, in order."""
    judgements: tuple[WorkJudgement, ...] = ()
    asks_mechanism: bool = False
    """Whether the profile asks for the mechanism of the disease."""


class Edited(Frozen):
    title: str = ""
    answer: tuple[EditedSentence, ...] = ()
    """The direct answer to the run's question, two to five sentences; of a report of several sections."""
    executive_summary: tuple[EditedSentence, ...] = ()
    mechanism: tuple[EditedSentence, ...] = ()
    transitions: dict[str, str] = Field(default_factory=dict)
    """Section id -> the sentence that leads into it; no number and no name that its claims lack."""
    repeated: tuple[str, ...] = ()
    """Ids of claims that another claim says already: they are removed."""
    contradictions: tuple[tuple[str, str], ...] = ()
    """Pairs of ids of claims that say the opposite."""
    refused: tuple[Refused, ...] = ()


class ExtractInput(StepContext):
    """For the extractor: the reader's columns, filled for cited works."""

    columns: tuple[str, ...]
    evidence: tuple[EvidenceRef, ...] = ()


class Extracted(Frozen):
    table: Table = Table()
    refused: tuple[Refused, ...] = ()
