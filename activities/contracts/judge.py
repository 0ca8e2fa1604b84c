"""What was read of each work.

The judgement of a work, the reader's table of cited works, and what a check refused of all that a model
wrote.
"""

from typing import Literal

from pydantic import Field

from activities.contracts.bounds import Participants
from activities.contracts.candidates import Drug
from activities.contracts.evidence import (
    EvidenceRef,
    Frozen,
    SearchRecord,
    Statement,
    Support,
)
from activities.contracts.iterations import Counted, Scores
from activities.contracts.parts import PartData
from activities.contracts.step import StepContext

Direction = Literal["yes", "no", "mixed", "not_asked"]
"""Which answer to a yes-or-no question a work supports; `not_asked` where the question is none."""
Design = Literal[
    "meta_analysis",
    "systematic_review",
    "guideline",
    "randomized_trial",
    "nonrandomized_trial",
    "cohort",
    "case_control",
    "cross_sectional",
    "case_report",
    "review",
    "preclinical",
]
"""Designs that a judge may name."""
DocumentKind = Literal[
    "minutes",
    "letter",
    "mail",
    "bill",
    "receipt",
    "contract",
    "statute",
    "report",
    "table",
    "note",
    "log",
    "form",
]
"""Kinds of a person's own documents that a judge may name."""
MIN_ANSWERS = 2
"""`answers` from which a work is held to answer: in part, or directly."""
BACKGROUND = "background"
"""The role of a work that contributes nothing that the profile names."""


RefusedKind = Literal["claim", "wording", "reworded", "summary", "cell", "judgement", "hypothesis", "effect"]
"""The kind of text that a check refused: a claim; a wording, in whose place its quote stands; a wording that
its writer replaced; a sentence of the editor; a cell of the table; a field of a judgement or of a hypothesis;
an effect that a work reports."""


class Refused(Frozen):
    """Something that a model wrote and a check refused. The report lists all of them."""

    kind: RefusedKind
    text: str
    """As the model wrote it, at most 600 characters."""
    reason: Statement
    evidence_ids: tuple[str, ...] = ()


class WorkJudgement(Frozen):
    """What a model judged of one work for one question, after reading it whole."""

    evidence_id: str
    answers: int = Field(ge=0, le=3)
    """0: another subject; 1: related; 2: answers in part; 3: answers directly."""
    direction: Direction = "not_asked"
    role: str = BACKGROUND
    """What it contributes to the answer: one of the profile's roles, or background."""
    finding: str = ""
    """What it found, in one sentence of the model; checked like every wording."""
    support: tuple[Support, ...] = ()
    """The sentences of the work that say so, word for word."""
    comparator: str = ""
    """What the work compared with; empty where it compared nothing or does not say."""
    compares: bool = False
    """Whether the question asks to compare, and the work does."""
    participants: Participants = None
    """Number of participants, where a sentence that was named for it has that number."""
    design: Design | Literal[""] = ""
    """Kind of study, where a sentence of the work, or its title, was named for it."""
    design_support: tuple[Support, ...] = ()
    """These sentences; none where the title says it."""
    kind: DocumentKind | Literal[""] = ""
    """What a person's own document is."""
    reason: str = ""
    """At most ten words."""


def relevance_score(answers: int) -> float:
    """0 to 1 for what a work was judged to answer, 0 to 3."""
    return round(answers / 3, 2)


class Cell(Frozen):
    """One field of the table of works; empty text where the work does not say it."""

    text: str = ""
    support: Support | None = None
    """The sentence of that very work the text is from."""


class TableRow(Frozen):
    evidence_id: str
    cells: dict[str, Cell] = Field(default_factory=dict)
    """Column -> field."""


class Table(Frozen):
    """The reader's table of cited works (`ask --columns`)."""

    columns: tuple[str, ...] = ()
    rows: tuple[TableRow, ...] = ()


PART = PartData[Table, Table]("table", Table, Table(), Table, Table())

MAX_QUERIES = 12
"""Searches that works are put in order by, the latest ones."""


class OrderInput(StepContext):
    """Which of the works found are worth judging, and in which order? Code answers, without a model."""

    evidence: tuple[EvidenceRef, ...]
    """In the order they were found; each names the searches that found it."""
    queries: tuple[str, ...] = ()
    """The searches made so far, as they were asked, the latest last."""
    asked_for: tuple[str, ...] = ()
    """Those of them that a judge or a person asked for: the first works of each are judged, however far."""
    whole_folder: bool = False
    """Whether the searches of a folder left out none of its documents that match; all are judged, if they
    are no more than `most`."""
    answered: tuple[EvidenceRef, ...] = ()
    """Works that were judged to answer in earlier rounds: what is further than the weakest of them is not
    worth judging."""
    most: int = 30


class Ordered(Frozen):
    """Ids of works that are near the question, the most promising first."""

    ids: tuple[str, ...] = ()
    far: int = 0
    """Works that are not among them because they are far from it."""


class WeighInput(StepContext):
    """Does one work answer the question? For a small model, which says one word."""

    evidence: tuple[EvidenceRef, ...]


class Weighed(Frozen):
    """How sure a small model was that a work answers."""

    yes: float | None = None
    """Probability of "yes" against "no", 0 to 1; None where it said neither."""


class JudgeInput(StepContext):
    iteration: int
    evidence: tuple[EvidenceRef, ...]
    """The works of this batch (`activities.roles.allowances.judge_batches`), none of them judged yet."""
    judged: tuple[WorkJudgement, ...] = ()
    """Judgements of earlier batches and rounds."""
    titles: tuple[str, ...] = ()
    """Titles of what else was found."""


class JudgeBatch(Scores):
    """What one call of the judge gave: the judgement of each work of a batch, and advice on the search."""

    judgements: tuple[WorkJudgement, ...] = ()
    gaps: tuple[str, ...] = ()
    recommended_searches: tuple[str, ...] = ()
    reasoning: str = ""
    relevant: tuple[str, ...] = ()
    """Without a model: ids of works with a passage that is near enough to the question, the nearest first."""
    refused: tuple[Refused, ...] = ()
    model: str = ""


class JudgeAssessment(Counted):
    """Scores and advice: whether they suffice is decided by code (`workflows.rules.stopping`)."""

    sufficient: bool | None = None
    """The judge's own opinion whether the evidence suffices; None where it gave none. It stops no run."""
    carried: float | None = Field(default=None, ge=0.0, le=1.0)
    """What the works carry as if no error were common to them: whether further searches are worth their price
    is decided by it. A model's judgements only."""
    by_code: bool = False
    """Whether code alone judged; its confidence is an estimate of being right, a model's is a claim."""
    gaps: tuple[str, ...] = ()
    recommended_searches: tuple[str, ...] = ()
    confidence_reasons: tuple[Statement, ...] = ()
    relevant: tuple[str, ...] = ()
    """Ids of items that help to answer, best first; only ids that were shown."""
    reasoning: str = ""
    shown: int = 0
    """How many items the judge saw."""


class ReflectInput(StepContext):
    iteration: int
    gaps: tuple[str, ...]
    searches: tuple[SearchRecord, ...]
    new_evidence: tuple[EvidenceRef, ...]


class Reflection(Frozen):
    """Tell whether these searches serve the gap."""

    served: bool
    reason: str = ""
    better_searches: tuple[str, ...] = ()


class HypothesisInput(StepContext):
    evidence: tuple[EvidenceRef, ...]
    max_candidates: int = 6
    chosen: tuple[str, ...] = ()
    """Names a reviewer chose; empty for no restriction."""


class MechanismHypothesis(Drug):
    drug: str
    effect: str = ""
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)
    supporting_evidence: tuple[Support, ...] = ()
    contradicting_evidence: tuple[Support, ...] = ()

    @property
    def line(self) -> str:
        """`drug -> target -> effect (generic name; what it is used for; its standing)`."""
        chain = " -> ".join(filter(None, (self.drug, self.target, self.pathway, self.effect)))
        uses = ", ".join(self.current_indications)
        facts = filter(None, (self.generic_name, uses, self.regulatory_status, self.trial_status))
        sure = f"confidence {self.confidence:.1f}" if self.confidence else ""
        details = "; ".join(filter(None, (*facts, sure)))
        return f"{chain} ({details})" if details else chain


class Hypotheses(Frozen):
    hypotheses: tuple[MechanismHypothesis, ...] = ()
