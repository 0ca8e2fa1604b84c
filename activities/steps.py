"""Typed inputs and outputs of every step of a run.

A thinking step has one of the `...Input` models as its input and returns `Charged[...]`: the answer, and what
it cost. What a language model is asked to produce is the bare output model; ids, numbering and verification
are code.
"""

from typing import Generic, Literal, TypeVar

from pydantic import Field

from activities.iterations import IterationRecord, Recommendation
from activities.judgements import Refused, WorkJudgement
from activities.profiles.types import Profile
from activities.types import (
    Allowance,
    EvidenceRef,
    Frozen,
    Mode,
    ModelChoice,
    SearchRecord,
    SourceOption,
    Statement,
    Support,
    Usage,
)

T = TypeVar("T")

Role = Literal[
    "query_parser",
    "planner",
    "observer",
    "gap_evaluator",
    "tool_selector",
    "judge",
    "reflector",
    "hypothesis_generator",
    "writer",
    "verifier",
    "editor",
    "extractor",
    "appraiser",
    "manager",
    "analyst",
    "own_role",
]
"""`own_role` stands for all roles that installed packages add."""

Member = Literal["searcher", "hypothesizer", "judge", "analyst", "reporter"]
"""A member of a team, beside its manager."""


class Charged(Frozen, Generic[T]):
    """A step's answer and its price."""

    output: T
    usage: Usage = Usage()
    model: str = "extractive"
    prompt_version: str = ""
    """`role@digest` of the prompt that was sent; empty for the extractive back end."""
    fell_back: bool = False
    """The model asked for did not answer and another one (or the extractive back end) did."""
    notes: tuple[Statement | str, ...] = ()
    """What the report must state, such as evidence left out so that the prompt would fit."""


class StepContext(Frozen):
    """What every thinking step knows."""

    run_id: str
    section: str = ""
    question: str
    """The question of this loop: the run's, or the section's key question."""
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
    scope: str = ""
    """Identifies the run for the store of paid answers; set by the activity, not by the caller."""
    lineage: str = ""
    """Identifies the run through continuing as new and rewinding: what was paid for is found again."""
    seconds: float | None = None
    """Seconds this attempt may last; set by the activity, not by the caller. None: no limit."""


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
    earlier_question: str = ""
    """What the run asked that this one follows up; empty for a question of its own."""
    earlier_answer: tuple[str, ...] = ()
    """What that run answered, sentence by sentence."""

    def preferred(self, profile: str) -> tuple[str, ...]:
        """The sources that a profile prefers."""
        return self.preferences.get(profile, self.profile.sources if profile == self.profile.name else ())


class ParsedQuery(Frozen):
    original_query: str = ""
    improved_query: str
    """The question as one clear sentence; of a follow-up, so that it stands alone."""
    research_mode: Mode = "iterative"
    profile: str = "general"
    sources: tuple[str, ...] = ()
    """Names of enabled sources that fit, the best first; empty leaves the choice to the profile."""
    key_entities: tuple[str, ...] = ()
    research_questions: tuple[str, ...] = ()
    rationale: str = ""
    """One sentence: what was chosen and why."""


class PlanInput(StepContext):
    parsed: ParsedQuery
    sources: tuple[SourceOption, ...] = ()
    """Those that will be searched."""
    max_sections: int = 5


class ObserveInput(StepContext):
    iteration: int
    evidence: tuple[EvidenceRef, ...] = ()
    judgements: tuple[WorkJudgement, ...] = ()
    """Of the works found so far, best first: what the observer reads in place of their texts."""
    last_judgement: str = ""
    earlier: tuple[IterationRecord, ...] = ()
    """The latest iterations before this one."""


class Observation(Frozen):
    """What is known so far and what it means for the next step, in a few sentences."""

    text: str


class GapsInput(StepContext):
    iteration: int
    observation: str = ""
    evidence: tuple[EvidenceRef, ...] = ()
    judgements: tuple[WorkJudgement, ...] = ()
    """Of the works found so far, best first."""
    judged_gaps: tuple[str, ...] = ()
    tried: tuple[SearchRecord, ...] = ()
    research_questions: tuple[str, ...] = ()
    max_gaps: int = 3
    earlier: tuple[IterationRecord, ...] = ()
    """The latest iterations before this one."""


class KnowledgeGapOutput(Frozen):
    research_complete: bool = False
    outstanding_gaps: tuple[str, ...] = ()


TEST_GAP = "What would support or refute a hypothesis: "
"""How the gap of a search begins that tests a hypothesis; the suggested search stands after it."""


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


class AgentTask(Frozen):
    """Search `agent` (a source's name) with `query` to close `gap`."""

    gap: str
    agent: str
    query: str


class AgentSelectionPlan(Frozen):
    tasks: tuple[AgentTask, ...] = ()


class OrderInput(StepContext):
    """Which of the works found are worth judging, and in which order? Code answers, without a model."""

    evidence: tuple[EvidenceRef, ...]
    """In the order they were found; each names the searches that found it."""
    run_question: str = ""
    """The question of the whole run, where it is another than that of the loop."""
    queries: tuple[str, ...] = ()
    """The searches made so far, as they were asked, the latest last."""
    answered: tuple[EvidenceRef, ...] = ()
    """Works that were judged to answer in earlier rounds: what is further than the weakest of them is not
    worth judging."""
    most: int = 30
    """How many are wanted."""


class Ordered(Frozen):
    """Ids of works that are near the question, the most promising first."""

    ids: tuple[str, ...] = ()
    far: int = 0
    """Works that are not among them because they are far from it."""


class JudgeInput(StepContext):
    iteration: int
    evidence: tuple[EvidenceRef, ...]
    """The works of this batch (`activities.roles.allowances.judge_batches`), none of them judged yet."""
    judged: tuple[WorkJudgement, ...] = ()
    """Of earlier batches and rounds."""
    titles: tuple[str, ...] = ()
    """Of what else was found."""
    max_shown: int = 30


class JudgeBatch(Frozen):
    """What one call of the judge gave: the judgement of each work of a batch, and advice on the search."""

    judgements: tuple[WorkJudgement, ...] = ()
    scores: dict[str, int] = Field(default_factory=dict)
    """Criterion -> 0 to 10; criteria that do not apply to the question are left out."""
    score_reasons: dict[str, str] = Field(default_factory=dict)
    gaps: tuple[str, ...] = ()
    recommended_searches: tuple[str, ...] = ()
    recommendation: Recommendation = ""
    reasoning: str = ""
    relevant: tuple[str, ...] = ()
    """Without a model: ids of works with a passage that is near enough to the question, the nearest first."""
    refused: tuple[Refused, ...] = ()
    """What checks refused of the judgements."""
    model: str = ""


class JudgeAssessment(Frozen):
    """Scores and advice: whether they suffice is decided by code (`workflows.rules.stopping`)."""

    scores: dict[str, int] = Field(default_factory=dict)
    """Criterion -> 0 to 10."""
    score_reasons: dict[str, str] = Field(default_factory=dict)
    """Criterion -> why it has its score, in one sentence."""
    sufficient: bool | None = None
    """The judge's own opinion whether the evidence suffices; None where it gave none. It stops no run."""
    recommendation: Recommendation = ""
    candidates_found: tuple[str, ...] = ()
    """Drugs that the items shown name, the most often named first."""
    sources_breakdown: dict[str, int] = Field(default_factory=dict)
    """Source -> how many of the items shown are from it; counted by code."""
    confidence: float | None = Field(default=None, ge=0.0, le=1.0)
    carried: float | None = Field(default=None, ge=0.0, le=1.0)
    """What the works carry as if no error were common to them: whether further searches are worth their price
    is decided by it. A model's judgements only."""
    by_code: bool = False
    """Whether code alone judged; its confidence is an estimate of being right, a model's is a claim."""
    confidence_by_code: float | None = None
    """Beside a model's confidence: what code estimates of the same evidence."""
    gaps: tuple[str, ...] = ()
    recommended_searches: tuple[str, ...] = ()
    confidence_reasons: tuple[Statement, ...] = ()
    """What the confidence was computed from."""
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
    """Did these searches serve the gap?"""

    served: bool
    reason: str = ""
    better_searches: tuple[str, ...] = ()


class HypothesisInput(StepContext):
    evidence: tuple[EvidenceRef, ...]
    max_candidates: int = 6
    chosen: tuple[str, ...] = ()
    """Names a reviewer chose; empty for no restriction."""


class MechanismHypothesis(Frozen):
    drug: str
    target: str = ""
    pathway: str = ""
    effect: str = ""
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)
    supporting_evidence: tuple[Support, ...] = ()
    contradicting_evidence: tuple[Support, ...] = ()
    search_suggestions: tuple[str, ...] = ()
    generic_name: str = ""
    current_indications: tuple[str, ...] = ()
    regulatory_status: str = ""
    trial_status: str = ""
    records: tuple[Support, ...] = ()
    """Quotes of labels, approvals and registrations that say where the drug stands."""
    safety: tuple[Support, ...] = ()
    """Quotes on its harms, or on their absence."""


class Hypotheses(Frozen):
    hypotheses: tuple[MechanismHypothesis, ...] = ()


# managing a team


class TeamTurn(Frozen):
    """What a member of a team did."""

    round: int
    member: Member
    instruction: str = ""
    result: str = ""
    """In a few words."""
    new: bool = False
    """Whether it added anything new, as code counts it."""


class ManagerInput(StepContext):
    """What the manager of a team knows before a round."""

    round: int
    members: dict[Member, str]
    """Member -> what it does."""
    facts: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    replan: bool = False
    """The plan is to be made, or made again; the facts are kept."""
    turns: tuple[TeamTurn, ...] = ()
    found: int = 0
    """Items found so far."""
    unjudged: int = 0
    """Items among them that no judgement has covered."""
    judged_gaps: tuple[str, ...] = ()
    judged_reasons: str = ""
    """The judge's reasoning, and why each criterion has its score."""
    judgements: tuple[WorkJudgement, ...] = ()
    """Of the works found so far, best first."""
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
    next_speaker: Member | Literal[""] = ""
    """Empty when it named no member of the team."""
    instruction: str = ""
