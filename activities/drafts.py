"""Typed inputs and outputs of the steps that write: a writer produces claims with quotes; markdown, numbering
and references are code."""

from typing import Literal

from pydantic import Field

from activities.steps import MechanismHypothesis, StepContext
from activities.types import Claim, EvidenceRef, Frozen, StopReason, Support, WorkRow


class DraftClaim(Frozen):
    text: str
    """One sentence."""
    support: tuple[Support, ...]
    contradicts: tuple[str, ...] = ()
    """Texts or ids of earlier claims it contradicts."""
    added_by_code: bool = False
    """Chosen by code, because the model's own claims were fewer than the evidence carries."""


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


class NearWork(Frozen):
    """A work that comes near to a question and does not answer it."""

    evidence_id: str
    title: str
    missing: tuple[str, ...] = ()
    """Words of the question for things that the work does not mention."""
    said: str = ""
    """The sentence of the work that comes nearest, word for word; empty where none is short enough."""


class SectionDraft(Frozen):
    """What a writer makes of one section; every sentence is a claim."""

    title: str = ""
    paragraphs: tuple[DraftParagraph, ...] = ()
    limitations: tuple[str, ...] = ()
    works: tuple[WorkRow, ...] = ()
    """What the cited works did and found, as far as it was read from them."""
    unused: dict[UnusedReason, tuple[str, ...]] | None = None
    """Reason -> ids of the works that the writer was given and does not cite; None where not recorded."""
    nearest: tuple[NearWork, ...] = ()
    """What comes nearest where nothing answers, the nearest first."""
    not_mentioned: tuple[str, ...] = ()
    """What the question names and no work at hand mentions, as typed, where nothing answers."""

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
    report_to: str = ""
    """Workflow id of the run that receives the paragraphs while they are written; empty for none."""


class ProofreadInput(StepContext):
    """One pass over the drafts of all sections: drop repetition, mark contradictions, keep every quote."""

    drafts: dict[str, SectionDraft]
    owners: dict[str, str] = Field(default_factory=dict)
    """Evidence id -> section it belongs to: where a repeated claim stays."""
    titles: dict[str, str] = Field(default_factory=dict)


class Proofread(Frozen):
    drafts: dict[str, SectionDraft]
