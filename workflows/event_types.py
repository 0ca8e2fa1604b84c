"""The closed set of events: each type with the data it carries.

The thirteen types of the system this one re-thinks come first, then those for people, sections and budgets.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import ConfigDict, Field, JsonValue

from activities.contracts.evidence import Frozen


class EventData(Frozen):
    """Base of the events: what each type carries, told apart by `type`.

    No field beyond those that are declared.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str


class NoData(EventData):
    """The type says everything."""

    type: Literal["reading", "paused", "resumed", "finishing", "cancelled"]


class Started(EventData):
    type: Literal["started"] = "started"
    question: str = ""
    mode: str = ""


class ModeChosen(EventData):
    type: Literal["mode_chosen"] = "mode_chosen"
    mode: str = ""
    reason: str = ""


class Read(EventData):
    """What was understood of the question."""

    type: Literal["read"] = "read"
    profile: str = ""
    entities: int = 0
    questions: int = 0
    sources: str = ""
    """Names of those that are searched, separated by commas."""
    question: str = ""
    """The question as it stands alone, where it was typed as a follow-up."""


class Asked(EventData):
    """What a model asks back before the search, with what holds where nobody answers."""

    type: Literal["clarification_needed"] = "clarification_needed"
    questions: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


class Searching(EventData):
    type: Literal["searching"] = "searching"
    searches: int = 0
    sources: str = ""
    """Names, separated by commas."""


class SearchComplete(EventData):
    type: Literal["search_complete"] = "search_complete"
    source: str = ""
    query: str = ""
    status: str = ""
    hits: int = 0
    kept: int = 0
    listed: int = 0
    """Results that were found and not read."""
    new: int = 0
    """Works that no earlier search had found."""
    seconds: float = 0.0
    attempts: int = 0


class Items(EventData):
    type: Literal[
        "judging",
        "hypothesizing",
        "analyzing",
        "verifying",
        "extracting",
        "editing",
        "synthesizing",
        "evidence_shared",
    ]
    items: int = 0
    """Works that the step works on."""
    section_id: str = ""
    """Section of a long report that is written; empty for a step of the run or section itself."""


class AnalysisComplete(EventData):
    """The statistics over effects."""

    type: Literal["analysis_complete"] = "analysis_complete"
    verdict: str = ""
    confidence: float | None = None
    pools: int = 0
    studies: int = 0


class RefusedWordings(EventData):
    """A draft of which the checks refused more than a third; its quotes are kept."""

    type: Literal["refused"] = "refused"
    section_id: str = ""
    refused: int = 0
    share: float = 0.0
    """The share of the sentences that the model wrote, 0 to 1."""


class JudgeComplete(EventData):
    type: Literal["judge_complete"] = "judge_complete"
    confidence: float | None = None
    """None where no model judged."""
    scores: Mapping[str, float] = Field(default_factory=dict)
    """Criterion -> score, 0 to 10."""
    gaps: int = 0
    sufficient: bool = False
    """Whether it meets the profile, as code decides it."""
    recommendation: str = ""
    """The judge's advice: `continue` or `synthesize`."""
    works: int = 0
    """That were judged so far."""
    relevant: int = 0
    """Works among them that answer."""


class Looping(EventData):
    type: Literal["looping"] = "looping"
    iteration: int = 0
    max_iterations: int = 0


class Streaming(EventData):
    """A paragraph of a draft.

    The latest event of a section's paragraph is the one that counts: a draft that is written again, or
    completed from another model, replaces what it changes.
    """

    type: Literal["streaming"] = "streaming"
    section_id: str = ""
    paragraph: int = 0
    """From 1."""
    text: str = ""
    """Empty when the draft has this paragraph no more."""
    replaces: bool = False
    """Whether an earlier event gave this paragraph another text."""


class Complete(EventData):
    type: Literal["complete"] = "complete"
    stop_reason: str = ""
    answered: bool = False
    confidence: float | None = None
    claims: int = 0
    references: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    """0 also when a price is not known."""
    seconds: float = 0.0
    """Working time; waiting for people does not count."""


class Failed(EventData):
    type: Literal["error"] = "error"
    kind: str = ""
    """`step_failed`, `model_failed`, `parent_gone`, `section_gone` or `cannot_continue`."""
    role: str = ""
    category: str = ""
    section_id: str = ""
    reason: str = ""
    """Of a model that failed: what its server said."""


class Planned(EventData):
    type: Literal["planned"] = "planned"
    sections: int = 0
    plan_hash: str = ""
    by: str = ""
    """Who edited the plan; empty for the plan as it was proposed."""


class AwaitingApproval(EventData):
    type: Literal["awaiting_approval"] = "awaiting_approval"
    gate: str = ""


class Decided(EventData):
    type: Literal["approved", "rejected"]
    gate: str = ""
    action: str = ""
    by: str = ""
    note: str = ""


class SectionStarted(EventData):
    type: Literal["section_started"] = "section_started"
    section_id: str = ""
    title: str = ""
    key_question: str = ""


class SectionComplete(EventData):
    type: Literal["section_complete"] = "section_complete"
    section_id: str = ""
    title: str = ""
    status: str = ""
    stop_reason: str = ""
    evidence: int = 0
    iterations: int = 0
    confidence: float | None = None
    tokens: int = 0


class Gap(EventData):
    type: Literal["gap"] = "gap"
    gap: str = ""
    by: str = ""
    """Who named it: `judge` where code passed it on, else `gap_evaluator`."""


class Reflected(EventData):
    """Whether the last searches served their gaps."""

    type: Literal["reflected"] = "reflected"
    served: bool = False
    searches: int = 0
    """Better ones that were named."""


class HypothesesFormed(EventData):
    type: Literal["hypotheses"] = "hypotheses"
    candidates: str = ""
    """Names, separated by commas."""
    searches: int = 0
    """Suggested, to test them."""


class BudgetChanged(EventData):
    type: Literal["budget"] = "budget"
    tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    iterations: int = 0


class Steered(EventData):
    type: Literal["steered"] = "steered"
    text: str = ""


class SourceAdded(EventData):
    type: Literal["source_added"] = "source_added"
    source: str = ""


class Stopping(EventData):
    type: Literal["stopping"] = "stopping"
    stop_reason: str = ""


class Waiting(EventData):
    type: Literal["waiting_for_model"] = "waiting_for_model"
    seconds: float = 0.0


class TurnBegins(EventData):
    """A member of a team, or a node of a graph, begins."""

    type: Literal["turn"] = "turn"
    member: str = ""
    instruction: str = ""
    overruled: str = ""
    """Why code decided otherwise than the manager; empty when it did not."""


class Managed(EventData):
    """What the manager of a team decided."""

    type: Literal["managed"] = "managed"
    next_speaker: str = ""
    instruction: str = ""


class Replanning(EventData):
    type: Literal["replanning"] = "replanning"
    resets: int = 0


class BestAttempt(EventData):
    type: Literal["best_attempt"] = "best_attempt"
    attempt: int = 0
    """The iteration whose result is kept."""


class ImportedItems(EventData):
    type: Literal["imported"] = "imported"
    run_id: str = ""
    """The run that is followed up."""
    items: int = 0


class RewoundTo(EventData):
    type: Literal["rewound"] = "rewound"
    iteration: int = 0
    """The last iteration that is kept; 0 for none."""


class Ignored(EventData):
    type: Literal["ignored"] = "ignored"
    signal: str = ""
    gate: str = ""


TYPES: Mapping[str, type[EventData]] = {
    name: kind
    for kind in EventData.__subclasses__()
    for name in get_args(kind.model_fields["type"].annotation)
}
"""Type -> the model of its data."""


class AgentEvent(Frozen):
    """Query `events`: one thing that happened in a run, or in one of its sections."""

    seq: int
    """Position in the run's log, from 1."""
    type: str
    message: str
    iteration: int = 0
    section: str = ""
    """Id of the section in which it happened; empty for the run itself."""
    data: Mapping[str, JsonValue] = Field(default_factory=dict)
    """The fields of `TYPES[type]` that have not their defaults."""
    timestamp: str = ""

    @property
    def details(self) -> EventData:
        """The data as the model of its type."""
        return TYPES[self.type].model_validate({**self.data, "type": self.type})
