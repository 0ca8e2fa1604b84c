"""What works say of each outcome of a comparing question, and what follows by outcome."""

from typing import Literal

from pydantic import Field

from activities.contracts.effects import Effect, Interval, Measure
from activities.contracts.evidence import EvidenceRef, Frozen, Support
from activities.contracts.judge import Refused, WorkJudgement
from activities.contracts.step import StepContext

EffectDirection = Literal["higher", "lower", "no_difference", "uncertain"]
"""Direction of the outcome in the group that is asked about, against the one it is compared with."""
ConclusionDirection = Literal["higher", "lower", "no_difference", "uncertain", "not_enough_data"]
Certainty = Literal["very_low", "low", "moderate", "high"]
"""The words of GRADE, the least certain first."""
CertaintyReason = Literal[
    "observational",
    "not_in_people",
    "abstracts_only",
    "few_participants",
    "few_events",
    "wide_interval",
    "few_studies",
    "inconsistent",
    "opposite",
    "indirect",
    "no_numbers",
    "under_concern",
]
"""Why a certainty is not higher, as the checked fields show it."""


class Means(Frozen):
    """Means with standard deviations and participants of two groups."""

    mean: float
    sd: float = Field(gt=0)
    total: int = Field(ge=2)
    control_mean: float
    control_sd: float = Field(gt=0)
    control_total: int = Field(ge=2)


class Shares(Frozen):
    """Percentages of two groups that had the outcome, with the participants of each."""

    percent: float = Field(ge=0, le=100)
    total: int = Field(ge=1)
    control_percent: float = Field(ge=0, le=100)
    control_total: int = Field(ge=1)


class StudyEffect(Frozen):
    evidence_id: str
    outcome: str
    group: str
    """As its sentences call it; so the comparator."""
    comparator: str
    direction: EffectDirection
    """As the model read it; numbers, where there are any, decide."""
    support: tuple[Support, ...]
    effect: Effect | None = None
    """Its numbers, each of which stands in a quote."""
    opposite: bool = False
    """Whether they are of the opposite of the outcome: deaths, where it is survival."""
    means: Means | None = None
    shares: Shares | None = None
    """Where the work gives percentages and no events."""
    total_of_both: bool = False
    """Whether the work gives the participants of both groups together; where it gives those of neither,
    halves are assumed."""
    n: int | None = None
    """Participants."""


class Proposed(Frozen):
    outcome: str
    group: str = ""
    comparator: str = ""
    direction: ConclusionDirection
    certainty: Certainty
    reasons: tuple[str, ...] = ()


class Appraisal(Frozen):
    """What a model read of the effects, as far as its quotes bear it out."""

    effects: tuple[StudyEffect, ...] = ()
    proposed: tuple[Proposed, ...] = ()
    refused: tuple[Refused, ...] = ()
    concluded: tuple[str, ...] = ()
    """What follows of them, a line for each outcome, for those who write the answer. A report makes its
    conclusions anew of what stands then."""


class AppraiseInput(StepContext):
    """What the appraiser reads: the works that answer a comparing question."""

    evidence: tuple[EvidenceRef, ...] = ()
    judgements: tuple[WorkJudgement, ...] = ()
    """Judgements of these works, without their quotes."""


class WorkFacts(Frozen):
    """What is known of a work beside its effects, all of it checked."""

    design: str = ""
    randomized: bool = False
    in_people: bool = True
    participants: int | None = None
    full_text: bool = False
    direct: bool = True
    """Whether it was judged to answer directly."""
    under_concern: bool = False


class AppraisedWork(Frozen):
    """An effect of a work as a conclusion used it."""

    evidence_id: str
    direction: EffectDirection
    """From its numbers where it has any."""
    effect: Effect | None = None
    """Its numbers, where they fit together; by events or means where the work gives them."""
    opposite: bool = False
    """Whether the work states the numbers of the opposite of the outcome."""
    result: Interval | None = None
    """The effect with its interval of 95 %."""
    shares: Shares | None = None
    """What its events were computed from."""
    total_of_both: bool = False
    n: int | None = None
    """Participants."""
    facts: WorkFacts = WorkFacts()
    support: tuple[Support, ...] = ()


class PooledFigure(Frozen):
    """The works of an outcome that could be pooled."""

    measure: Measure
    result: Interval
    """The random-effects estimate with its normal interval."""
    works: tuple[str, ...]
    i2: float


class Conclusion(Frozen):
    """What follows on one outcome, proposed and not assessed: risk of bias was not read."""

    outcome: str
    group: str
    comparator: str
    direction: ConclusionDirection
    certainty: Certainty
    reasons: tuple[CertaintyReason, ...] = ()
    proposed: Proposed | None = None
    """What the model proposed; it may say less than the numbers and never more."""
    works: tuple[AppraisedWork, ...] = ()
    pooled: PooledFigure | None = None
