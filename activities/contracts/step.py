"""The input and the answer of a step that a role does.

A step is one piece of work of a run: the workflow decides on it and executes it (`workflows/steps/`), and the
activity that does it is given it as `step`, its input. One that a role does has one of the `...Input` models
of its stage and returns `StepAnswer[...]`: the answer, and what it cost. What a language model is asked to
produce is the bare output model; ids, numbering and verification are code.
"""

from collections.abc import Mapping
from typing import Generic, Literal, TypeVar

from activities.contracts.evidence import (
    Allowance,
    Compact,
    Frozen,
    ModelChoice,
    Statement,
    Usage,
)
from activities.contracts.profile import Profile
from activities.messages import ENGLISH, N_

T = TypeVar("T")

Role = Literal[
    "clarifier",
    "query_parser",
    "planner",
    "observer",
    "gap_evaluator",
    "tool_selector",
    "judge",
    "orderer",
    "reflector",
    "hypothesis_generator",
    "writer",
    "verifier",
    "editor",
    "extractor",
    "appraiser",
    "reviser",
    "manager",
    "analyst",
    "full_text_screener",
    "data_extractor",
    "bias_assessor",
    "screener",
    "own_role",
]
"""`own_role` stands for all roles that installed packages add."""
TITLES: Mapping[str, str] = {
    "clarifier": N_("Asking for clarification"),
    "query_parser": N_("Reading the question"),
    "planner": N_("Planning"),
    "observer": N_("Reading the evidence"),
    "gap_evaluator": N_("Finding what is missing"),
    "tool_selector": N_("Choosing searches"),
    "judge": N_("Judging the evidence"),
    "orderer": N_("Ordering the passages"),
    "reflector": N_("Reviewing searches"),
    "hypothesis_generator": N_("Naming candidates"),
    "writer": N_("Writing"),
    "verifier": N_("Verifying sentences"),
    "editor": N_("Editing"),
    "extractor": N_("Filling the table"),
    "appraiser": N_("Appraising the effects"),
    "reviser": N_("Changing the report"),
    "manager": N_("Managing the team"),
    "analyst": N_("Writing a program for the statistics"),
    "screener": "Screening records",
    "full_text_screener": "Screening the full texts",
    "data_extractor": "Extracting the data",
    "bias_assessor": "Proposing the risk of bias",
    "own_role": "A role of an installed package",
}
"""Role -> what it does, as reports name its step."""

Member = str
"""A member of a team, beside its manager: `searcher`, `hypothesizer`, `judge`, `analyst`, `reporter`, or a
specialist by its name (`activities.profiles.loader`)."""
ROLE_OF_MEMBER: Mapping[str, Role] = {
    "searcher": "tool_selector",
    "hypothesizer": "hypothesis_generator",
    "reporter": "writer",
}
"""The roles of members that go by another name."""


BY_CODE = "code"
"""The `model` of an answer that followed from its input, so that nothing had to be asked."""


class StepAnswer(Compact, Generic[T]):
    output: T
    usage: Usage = Usage()
    model: str = "extractive"
    prompt_version: str = ""
    """`role@digest` of the prompt that was sent; empty for the extractive back end."""
    fell_back: bool = False
    """The model asked for did not answer and another one (or the extractive back end) did."""
    notes: tuple[Statement | str, ...] = ()
    """What the report must state, such as evidence left out so that the prompt would fit."""


class Reading(Frozen):
    """A question back to the person who asked, with the answer that holds where none comes."""

    question: str
    assumed: str
    answer: str = ""
    """The person's; empty where what is assumed holds."""

    @property
    def text(self) -> str:
        """`Which adults? All of them (assumed)`."""
        return f"{self.question} {self.answer or f'{self.assumed} (assumed)'}"


InstructionKind = Literal["search", "restriction", "text"]
"""`search`: something to look for. `restriction`: which works count. `text`: how the report is written."""


class Instruction(Frozen):
    """An instruction of a person, as a model read it."""

    text: str
    """As the person wrote it."""
    kind: InstructionKind
    query: str = ""
    """The words of a search."""


class StepContext(Compact):
    """The fields of every step that a role does."""

    run_id: str
    section: str = ""
    question: str
    """The question of this loop: the run's, or the section's key question."""
    run_question: str = ""
    """The question of the whole run, where it is another one: what a section's "it" stands for."""
    aspect: str = ""
    """See `ReportPlanSection.aspect`."""
    background: str = ""
    profile: Profile
    model: ModelChoice = ModelChoice()
    fallbacks: tuple[ModelChoice, ...] = ()
    """Tried in order when the model is down."""
    allowance: Allowance = Allowance(input_tokens=6000, output_tokens=1500)
    instruction: str = ""
    """What the manager of a team asks of this step; a model wrote it."""
    prompt: str = ""
    """Stands in place of the role's prompt file; a node of a graph may have one. Empty: the file."""
    steering: tuple[str, ...] = ()
    """What the reviewer said, oldest first. Trusted, unlike evidence."""
    readings: tuple[Reading, ...] = ()
    """How the question is meant, as its person answered or as it was assumed."""
    language: str = ENGLISH
    """ISO 639-1 code of the language of the answer."""
    is_foreign: bool = False
    """Whether question, answer or documents are in another language than English: then roles are told."""
    searches_in: tuple[str, ...] = ()
    """Languages that searches are written in, where that is to be said."""
    scope: str = ""
    """Identifies the run for the store of paid answers; set by the activity, not by the caller."""
    lineage: str = ""
    """Identifies the run through continuing as new and rewinding: what was paid for is found again."""
    seconds: float | None = None
    """Seconds this attempt may last; set by the activity, not by the caller. None: no limit."""
