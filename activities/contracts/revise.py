"""What a person asks of a finished report: a question, a change, a dispute; and what becomes of it."""

from typing import Literal

from pydantic import Field

from activities.contracts.bounds import Money
from activities.contracts.evidence import EvidenceRef, Frozen, Length, ModelChoice
from activities.contracts.judge import Refused
from activities.contracts.step import StepContext
from activities.contracts.write import DraftClaim, EditedSentence

MAX_INSTRUCTION_CHARS = 2_000


InstructionKind = Literal["tell", "change", "dispute", "decide"]


class Instruction(Frozen):
    kind: InstructionKind
    """A question about it, a change of it, the dispute of a sentence, the decision of a dispute."""
    text: str = Field(default="", max_length=MAX_INSTRUCTION_CHARS)
    """The question, the instruction, the reason."""
    by: str = ""
    sentence: str = ""
    """Id of the sentence that is disputed."""
    upheld: bool = False
    """Whether the sentence goes, by a decision."""
    profile: str = "general"
    models: dict[str, ModelChoice] = Field(default_factory=dict)
    """Per role; empty: the worker's setting."""
    fallbacks: tuple[ModelChoice, ...] = ()
    max_cost_microusd: Money | None = None
    """What its calls may cost together; None: no limit."""


class Wanted(Frozen):
    question: str
    section: str = ""
    """Id of the section that it goes to; empty for a section of its own."""


class ReviseInput(StepContext):
    """What the reviser reads: the report as it stands, and what is to be changed."""

    wanted: str
    by_identifier: tuple[str, ...] = ()
    """Works that the instruction names and that were read for it."""
    sections: dict[str, str] = Field(default_factory=dict)
    """Id -> title, in order."""
    sentences: tuple[DraftClaim, ...] = ()
    """Sentences of the sections, as they are printed."""
    edited: tuple[EditedSentence, ...] = ()
    lines: tuple[DraftClaim, ...] = ()
    """Sentences that code computed, which may be put in other words and not removed."""
    evidence: tuple[EvidenceRef, ...] = ()
    """The works that are cited."""


class Revised(Frozen):
    """What an instruction touches; everything else stays as it is."""

    removed: tuple[str, ...] = ()
    """Ids of sentences that go."""
    sections: tuple[str, ...] = ()
    """Ids of sections that go."""
    works: tuple[str, ...] = ()
    """Ids of works that nothing may rest on any more."""
    sentences: tuple[DraftClaim, ...] = ()
    """New wordings, or fewer quotes, under the old ids, with what the gate decided of them."""
    edited: tuple[EditedSentence, ...] = ()
    """The same of the editor's."""
    lines: tuple[DraftClaim, ...] = ()
    """The same of those that code computed."""
    title: str = ""
    length: Length | None = None
    write: Wanted | None = None
    refused: tuple[Refused, ...] = ()
    """Wordings that the gate refused; the old ones stay."""
    cannot: str = ""
    """Why nothing can be done, in the model's words."""

    @property
    def touches(self) -> bool:
        return any(
            (self.removed, self.sections, self.works, self.sentences, self.edited, self.lines, self.title)
        ) or (self.length is not None or self.write is not None)
