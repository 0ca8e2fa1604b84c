"""What was read of each work: the judgement of a work, the reader's table of cited works, and what a check
refused of all that a model wrote."""

from typing import Literal

from pydantic import Field

from activities.types import Frozen, Statement, Support

Direction = Literal["yes", "no", "mixed", "not_asked"]
"""Which answer to a yes-or-no question a work supports; `not_asked` where the question is none."""
BACKGROUND = "background"
"""The role of a work that contributes nothing that the profile names."""


RefusedKind = Literal[
    "claim", "wording", "reworded", "reservation", "summary", "cell", "judgement", "hypothesis", "effect"
]
"""What a check refused: a claim; a wording, in whose place its quote stands; a wording that
the writer replaced by another one; a reservation; a sentence of the
editor; a cell of the table; a field of a judgement; a field of a hypothesis; an effect that a
work reports."""


class Refused(Frozen):
    """Something that a model wrote and a check refused. The report lists all of them."""

    kind: RefusedKind
    text: str
    """As the model wrote it, at most 600 characters."""
    reason: Statement
    evidence_ids: tuple[str, ...] = ()
    """The works it named."""


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
    participants: int | None = None
    """Number of participants, where a sentence of the work has that number."""
    design: str = ""
    """Kind of study, as the model read it."""
    reason: str = ""
    """At most ten words."""


class Cell(Frozen):
    """One field of the table of works; empty text where the work does not say it."""

    text: str = ""
    support: Support | None = None
    """The sentence of that very work the text is from."""


class TableRow(Frozen):
    """One cited work."""

    evidence_id: str
    cells: dict[str, Cell] = Field(default_factory=dict)
    """Column -> field."""


class Table(Frozen):
    """The reader's table of cited works (`ask --columns`)."""

    columns: tuple[str, ...] = ()
    rows: tuple[TableRow, ...] = ()
