"""Planning: the question, its plan, the gaps, the searches that close them, and the turns of a team."""

from typing import Literal

from pydantic import Field

from activities.contracts.evidence import (
    Frozen,
    Mode,
    SearchRecord,
    SourceOption,
)
from activities.contracts.iterations import IterationRecord
from activities.contracts.judge import MechanismHypothesis, WorkJudgement
from activities.contracts.parts import PartData
from activities.contracts.step import Instruction, Member, Reading, StepContext

MAX_READINGS = 3
"""Questions back before a run."""
READING_CHARS = 160


class ClarifyInput(StepContext):
    earlier_question: str = ""
    """What the run asked that this one follows up; empty for a question of its own."""


class Clarified(Frozen):
    """What the question leaves open that decides what is searched."""

    readings: tuple[Reading, ...] = ()


PART = PartData[tuple[Reading, ...], tuple[Reading, ...]](
    "readings", tuple[Reading, ...], (), tuple[Reading, ...], ()
)


class ParseQueryInput(StepContext):
    profiles: dict[str, str] = Field(default_factory=dict)
    """Profile name -> description, to choose from; empty when it is chosen already."""
    mode: Mode | None = None
    """The mode when it is chosen already."""
    modes: dict[str, str] = Field(default_factory=dict)
    """Mode -> what it is good for, to choose from; empty stands for `iterative` and `deep`."""
    sources: tuple[SourceOption, ...] = ()
    """To choose from; empty when they are chosen already."""
    preferences: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Profile -> the sources it prefers, best first."""
    specialists: dict[str, str] = Field(default_factory=dict)
    """Specialist -> what it searches for, where the question may be handed over to one."""
    earlier_question: str = ""
    """What the run asked that this one follows up; empty for a question of its own."""
    earlier_answer: tuple[str, ...] = ()
    """What that run answered, sentence by sentence."""
    wordings_in: tuple[str, ...] = ()
    """Languages of sources that the question is not in: it is worded once in each."""

    def preferred(self, profile: str) -> tuple[str, ...]:
        return self.preferences.get(profile, self.profile.sources if profile == self.profile.name else ())


Asked = Literal["comparison", "overview"]
"""`comparison`: of a thing with another one or with none. `overview`: what is known of a thing."""


class ParsedQuery(Frozen):
    original_query: str = ""
    improved_query: str
    """The question as one clear sentence; of a follow-up, so that it stands alone."""
    research_mode: Mode = "iterative"
    profile: str = "general"
    sources: tuple[str, ...] = ()
    """Names of enabled sources that fit, the best first; empty leaves the choice to the profile."""
    specialist: str = ""
    """Who searches; empty where the question was handed over to none."""
    key_entities: tuple[str, ...] = ()
    research_questions: tuple[str, ...] = ()
    asks: tuple[Asked, ...] = ()
    """What kind of answer it asks for, as a model read it; empty where none did, or for none of these."""
    wordings: dict[str, str] = Field(default_factory=dict)
    """The question in other languages, by their codes."""
    rationale: str = ""
    """One sentence: what was chosen and why."""

    @property
    def is_overview(self) -> bool:
        """True where it asks what is known of a thing: that compares nothing, and has no yes or no."""
        return "overview" in self.asks and "comparison" not in self.asks


class PlanInput(StepContext):
    parsed: ParsedQuery
    sources: tuple[SourceOption, ...] = ()
    """Those that will be searched."""
    max_sections: int = 5


class LoopInput(StepContext):
    """Where a loop stands when an iteration begins."""

    iteration: int
    titles: dict[str, str] = Field(default_factory=dict)
    """Evidence id -> title, of the works found so far, best first."""
    relevant: int = 0
    """How many works answer, or are near the question where no model judged."""
    judgements: tuple[WorkJudgement, ...] = ()
    """Judgements of these works, best first: what is read in place of their texts."""
    earlier: tuple[IterationRecord, ...] = ()
    """The latest iterations before this one."""


class ObserveInput(LoopInput):
    last_judgement: str = ""


class Observation(Frozen):
    """What is known so far and what it means for the next step, in a few sentences."""

    text: str


class GapsInput(LoopInput):
    observation: str = ""
    judged_gaps: tuple[str, ...] = ()
    tried: tuple[SearchRecord, ...] = ()
    research_questions: tuple[str, ...] = ()
    max_gaps: int = 3


class KnowledgeGapOutput(Frozen):
    research_complete: bool = False
    outstanding_gaps: tuple[str, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    """What the instructions of a person are, of each that was read."""


class SelectInput(StepContext):
    iteration: int
    gaps: tuple[str, ...]
    sources: tuple[SourceOption, ...]
    """Enabled ones only."""
    tried: tuple[SearchRecord, ...] = ()
    key_entities: tuple[str, ...] = ()
    recommended: tuple[str, ...] = ()
    """Searches the judge or the reflector recommended."""
    tests: tuple[str, ...] = ()
    """Searches that would support or refute a hypothesis; they are made first."""
    titles: tuple[str, ...] = ()
    """Titles of the works found so far with their identifiers, best first (`PMID 123: Title`)."""
    per_gap: int = 3
    reworded: bool = False
    """Without a model: each source is asked the question once more, in the names of the vocabularies, beside
    what `per_gap` allows."""
    specialist: str = ""
    """Who searches; empty for no one in particular."""


class AgentTask(Frozen):
    """Search `agent` (a source's name) with `query` to close `gap`."""

    gap: str
    agent: str
    query: str
    tests_hypothesis: bool = False
    """Whether `gap` is what would support or refute a hypothesis."""


class AgentSelectionPlan(Frozen):
    tasks: tuple[AgentTask, ...] = ()


# managing a team


class TeamTurn(Frozen):
    round: int
    member: Member
    instruction: str = ""
    result: str = ""
    """In a few words."""
    new: bool = False
    """Whether it added anything new, as code counts it."""


class ManagerInput(StepContext):
    round: int
    members: dict[Member, str]
    """Member -> what it does."""
    facts: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    replan: bool = False
    """The plan is to be made, or made again; the facts are kept."""
    turns: tuple[TeamTurn, ...] = ()
    found: int = 0
    unjudged: int = 0
    """Items among them that no judgement has covered."""
    judged_gaps: tuple[str, ...] = ()
    judged_reasons: str = ""
    """The judge's reasoning, and why each criterion has its score."""
    judgements: tuple[WorkJudgement, ...] = ()
    """Judgements of the works found so far, best first."""
    titles: dict[str, str] = Field(default_factory=dict)
    """Evidence id -> title, of the works that were judged and of the newest others."""
    hypotheses: tuple[MechanismHypothesis, ...] = ()


class TeamLedger(Frozen):
    """The manager's task ledger (facts, plan) and progress ledger (the rest)."""

    facts: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    satisfied: bool = False
    looping: bool = False
    progress: bool = True
    next_speaker: Member = ""
    """Empty when it named no member of the team."""
    instruction: str = ""
