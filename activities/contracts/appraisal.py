"""What works say of each outcome of a comparing question, and what follows by outcome."""

from typing import Literal

from pydantic import Field

from activities.contracts.bounds import Participants
from activities.contracts.effects import Effect, Interval, Measure
from activities.contracts.evidence import EvidenceRef, Frozen, Support
from activities.contracts.judge import Refused, WorkJudgement
from activities.contracts.parts import PartData
from activities.contracts.step import StepContext

EffectDirection = Literal["higher", "lower", "no_difference", "uncertain"]
"""Direction of the outcome in the group that is asked about, against the one it is compared with."""
ConclusionDirection = Literal["higher", "lower", "no_difference", "uncertain", "not_enough_data"]
Certainty = Literal["very_low", "low", "moderate", "high"]
"""The words of GRADE, the least certain first."""
CertaintyReason = Literal[
    "not_in_people",
    "abstracts_only",
    "few_participants",
    "few_events",
    "wide_interval",
    "few_studies",
    "one_study",
    "inconsistent",
    "opposite",
    "indirect",
    "no_numbers",
    "under_concern",
]
"""Why a certainty is not higher, as the checked fields show it."""
Doubt = Literal["how_done", "inconsistent", "indirect", "imprecise", "selective"]
"""The domains of GRADE in which a model finds a body of evidence wanting, beyond what fields show."""


Figures = dict[str, str]
"""Field -> number as the model copied it; `12 + 9` where a group of the question is several arms of the work.
Which fields there are: `activities.analysis.figures`."""


class FigureTerms(Frozen):
    """How the numbers of a work are to be read."""

    counts: str = ""
    """What the numbers count, where it is not the outcome: deaths, where it is survival."""
    opposite: bool = False
    """Whether more of what they count is less of the outcome."""
    reverse: bool = False
    """Whether the estimate is that of the comparator against the group."""
    unit: str = ""
    """The unit of means: days."""


class WorkFigures(FigureTerms):
    """The same of one work, with its numbers and the sentences that state them."""

    evidence_id: str
    direction: EffectDirection
    """Of the outcome, in the group against the comparator: as the model read it, or from the numbers where
    there are any."""
    support: tuple[Support, ...] = ()
    figures: Figures = Field(default_factory=dict)
    clustered: bool = False
    """Whether groups of people were allocated, so that events cannot be taken as independent."""


class StudyEffect(WorkFigures):
    """What a work reports of an outcome, as a model read it; each number stands in a quote."""

    outcome: str
    group: str
    """As its sentences call it; so the comparator."""
    comparator: str
    randomised: bool = False
    """Whether a quote says that chance allocated."""


class Proposed(Frozen):
    outcome: str
    group: str = ""
    comparator: str = ""
    direction: ConclusionDirection
    certainty: Certainty
    doubts: tuple[Doubt, ...] = ()
    """Why the certainty is not higher."""
    excludes: bool | None = None
    """Whether a difference that matters is excluded; None where the model does not say."""
    plural: bool = False
    """Whether the name of the group is a plural."""
    asked: bool = True
    """Whether group and outcome are those that the question names."""


class Appraisal(Frozen):
    """What a model read of the effects, as far as its quotes bear it out."""

    effects: tuple[StudyEffect, ...] = ()
    proposed: tuple[Proposed, ...] = ()
    refused: tuple[Refused, ...] = ()
    worded: dict[str, str] = Field(default_factory=dict)
    """`Conclusion.key` -> its line in other words, as a person asked and a second reader confirmed."""


class AppraiseInput(StepContext):
    """What the appraiser reads: the works that answer a comparing question."""

    evidence: tuple[EvidenceRef, ...] = ()
    judgements: tuple[WorkJudgement, ...] = ()
    """Judgements of these works, without their quotes."""


class WorkFacts(Frozen):
    """What is known of a work beside its effects, all of it checked."""

    design: str = ""
    randomized: bool = False
    synthesis: bool = False
    """Whether it joins studies: a review, which is not pooled with what it may hold."""
    in_people: bool = True
    participants: Participants = None
    full_text: bool = False
    direct: bool = True
    """Whether it was judged to answer directly."""
    under_concern: bool = False


class AppraisedWork(WorkFigures):
    """An effect of a work as a conclusion used it, with what it was computed from."""

    counted: bool = True
    """Whether the conclusion rests on it: where there are randomised trials, it rests on these alone."""
    effect: Effect | None = None
    """Its numbers as the work counts them, where they fit together; by events where the work gives them."""
    result: Interval | None = None
    """The effect with its interval of 95 %, in the direction in which the work counts it."""
    p: str = ""
    """The P value that it states."""
    n: Participants = None
    """Participants."""
    facts: WorkFacts = WorkFacts()


class PooledFigure(FigureTerms):
    """The works of an outcome that could be pooled."""

    measure: Measure
    result: Interval
    """The random-effects estimate with its normal interval, in the direction in which the works count."""
    works: tuple[str, ...]
    i2: float
    left_out: tuple[str, ...] = ()
    """The fewest works, of one and of two that carry it most, without which another result follows; the last
    ones that were tried where none does."""
    without: Interval | None = None
    """The result of the others; None for two works."""


class Concern(Frozen):
    """A reason that lowers a certainty."""

    code: CertaintyReason
    levels: int


class Conclusion(Frozen):
    """What follows on one outcome, proposed and not assessed: risk of bias was not read."""

    outcome: str
    group: str
    comparator: str
    direction: ConclusionDirection
    """As the model proposes it, unless the checked effects refute it."""
    by_effects: ConclusionDirection
    """The direction that the checked effects alone have."""
    certainty: Certainty
    starts: Certainty = "high"
    """The level before the concerns, by the kind of the works."""
    concerns: tuple[Concern, ...] = ()
    """By the checked fields; with those of the model they add up to the certainty."""
    asked: bool = True
    """Whether it is on what the question names."""
    proposed: Proposed | None = None
    works: tuple[AppraisedWork, ...] = ()
    pooled: PooledFigure | None = None
    wording: str = ""
    """Its line in other words, without the figures; see `Appraisal.worded`."""

    @property
    def key(self) -> str:
        """What it is on and which way it goes: another direction needs other words."""
        return "|".join((self.outcome, self.group, self.comparator, self.direction, self.certainty))


PART = PartData[Appraisal, tuple[Conclusion, ...]](
    "conclusions", Appraisal, Appraisal(), tuple[Conclusion, ...], ()
)
"""Publishing is given the effects that were read, and the report shows what follows from those that stand."""
