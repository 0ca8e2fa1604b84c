"""Effects of studies and what the analysis makes of them."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from activities.contracts.bounds import MAX_COUNT
from activities.contracts.evidence import EvidenceRef, Frozen
from activities.contracts.judge import Table
from activities.contracts.parts import PartData
from activities.contracts.step import StepContext
from activities.messages import N_, plural

Measure = Literal["OR", "RR", "HR", "RD", "MD", "SMD"]
"""Odds, risk and hazard ratio, risk difference (as a share), mean difference, standardised mean
difference."""
RATIOS: frozenset[Measure] = frozenset({"OR", "RR", "HR"})
"""Measures that are pooled as logarithms and whose value for no effect is 1."""
BY_COUNTS: frozenset[Measure] = frozenset({"OR", "RR", "RD"})
"""Measures that events and participants of two groups give."""
MEASURE_NAMES: Mapping[Measure, str] = {
    "OR": N_("odds ratio"),
    "RR": N_("risk ratio"),
    "HR": N_("hazard ratio"),
    "RD": N_("risk difference"),
    "MD": N_("mean difference"),
    "SMD": N_("standardised mean difference"),
}
Verdict = Literal["SUPPORTED", "REFUTED", "INCONCLUSIVE"]
Expected = Literal["lower", "higher", "different"]
"""The hypothesis: the effect is below, above, or merely not at the value for no effect."""
MAX_ANALYST_EFFECTS = 40
"""Effects that an analyst is shown."""
NotPooledReason = Literal[
    "no_uncertainty",
    "interval_contradicts_estimate",
    "impossible_counts",
    "no_event_in_either_group",
    "same_study",
    "same_cohort",
    "same_trial",
    "retracted",
    "only_one_study",
    "another_measure",
    "estimate_contradicts_counts",
    "not_a_ratio",
]


class Arms(Frozen):
    """Events and participants of two groups."""

    events: int = Field(ge=0, le=MAX_COUNT)
    total: int = Field(ge=1, le=MAX_COUNT)
    control_events: int = Field(ge=0, le=MAX_COUNT)
    control_total: int = Field(ge=1, le=MAX_COUNT)


class Effect(Frozen):
    """One effect of one study: an estimate with its interval, events by group, or both."""

    study: str
    """What a reader calls it; the label in the plot."""
    outcome: str
    measure: Measure
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = Field(default=0.95, gt=0, lt=1)
    """Coverage of the interval."""
    n: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    """Participants."""
    arms: Arms | None = None
    evidence_id: str = ""
    """The work that reports it; empty for an effect of the user's own file."""
    quote: str = ""
    """The sentence of the work that the numbers are from."""


class NotPooled(Frozen):
    effect: Effect
    reason: NotPooledReason
    same_as: str = ""
    """The study that is pooled in its place: another report of the trial, or of the same participants."""


UnreadReason = Literal[
    "no_sentence",
    "not_in_work",
    "number_not_in_sentence",
    "not_a_number",
    "unknown_measure",
    "other_measure",
    "interval_elsewhere",
    "not_read",
]
"""Why an effect that a work states is not known: a cell failed a check, or (`not_read`) nothing was read of
a work whose text has a measure with its interval."""


class Unread(Frozen):
    study: str
    evidence_id: str
    reason: UnreadReason
    column: str = ""
    text: str = ""
    """What stood in the cell that was refused."""
    quote: str = ""


class Interval(Frozen):
    """An estimate with its interval, on the measure's own scale."""

    estimate: float
    low: float
    high: float


class StudyRow(Frozen):
    """A study as the pool used it."""

    effect: Effect
    result: Interval
    """Computed from the events by group where there are any, else as reported."""
    weight: float
    """Share of the random-effects estimate, 0 to 1."""


class LeftOut(Frozen):
    """The random-effects estimate without one study."""

    study: str
    result: Interval


class SmallStudyCheck(Frozen):
    """Egger's regression of the standard normal deviate on precision."""

    intercept: float
    p: float


class Pool(Frozen):
    """The studies of one outcome and measure, pooled by inverse variance."""

    outcome: str
    measure: Measure
    rows: tuple[StudyRow, ...]
    fixed: Interval
    random: Interval
    """By the estimator's between-study variance, normal interval."""
    hartung_knapp: Interval
    """The random-effects estimate with Hartung and Knapp's interval, never narrower than `random`."""
    p: float
    """Two-sided, of the wider interval."""
    q: float
    q_p: float
    tau2: float
    """Between-study variance, on the scale of the pooling (logarithm for ratios)."""
    i2: float
    """Share of the variation that is heterogeneity, 0 to 1."""
    prediction: Interval | None = None
    """Where the effect of a further study is expected; from three studies on."""
    left_out: tuple[LeftOut, ...] = ()
    """From three studies on."""
    small_studies: SmallStudyCheck | None = None
    """From ten studies on."""


class GeneratedAnalysis(Frozen):
    code: str
    method: str = ""
    """What it computes, as the model that wrote it says."""
    model: str = ""
    output: str
    """What it printed, cut to a limit."""
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    null: float = 0.0
    """The value that means no effect."""
    failed: str = ""
    """Why there is no result."""


class Analysis(Frozen):
    expected: Expected
    verdict: Verdict
    confidence: float | None = Field(default=None, ge=0, le=1)
    """None for an inconclusive verdict."""
    pools: tuple[Pool, ...] = ()
    not_pooled: tuple[NotPooled, ...] = ()
    unread: tuple[Unread, ...] = ()
    """Where there is one, the effects that could be read are not all there are, and no verdict is given."""
    generated: GeneratedAnalysis | None = None
    key_findings: tuple[str, ...] = ()
    """Sentences that code fills with the numbers."""
    limitations: tuple[str, ...] = ()


class AnalystInput(StepContext):
    """What the analyst reads: the effects that the fixed analysis does not pool, and its other findings."""

    expected: Expected
    not_pooled: tuple[NotPooled, ...] = ()
    """Without quotes; at most `MAX_ANALYST_EFFECTS`."""
    findings: tuple[str, ...] = ()


class Program(Frozen):
    """A program that a model wrote; empty when it found nothing worth computing."""

    code: str = ""
    method: str = ""
    """What it computes, in one line; a model wrote it and nothing is decided by it."""


class RunProgramInput(Frozen):
    run_id: str
    blob: str
    """Key of the stored `Analysis`."""
    program: Program
    model: str = ""


class AnalyseInput(Frozen):
    run_id: str
    table: Table = Table()
    """The extractor's table, whose columns of effects are read."""
    evidence: tuple[EvidenceRef, ...] = ()
    """The works of its rows."""
    effects: tuple[Effect, ...] = ()
    """Effects of the user's own file."""
    expected: Expected = "different"


class Analysed(Frozen):
    """A small pointer to a stored `Analysis`."""

    verdict: Verdict = "INCONCLUSIVE"
    confidence: float | None = None
    pools: int = 0
    studies: int = 0
    """Studies in the pools, each as often as it is pooled."""
    listed: int = 0
    """Effects that were not pooled."""
    blob: str = ""
    """Its key in the evidence store; empty when there is none."""
    works: int = 0
    """Rows of the table that it was made of."""
    findings: tuple[str, ...] = ()
    not_pooled: tuple[NotPooled, ...] = ()
    """Those with numbers that a program could use, without their quotes; at most `MAX_ANALYST_EFFECTS`."""
    no_programs: str = ""
    """Why no generated program can run on this worker; empty when one can."""
    failed: str = ""
    """Why there is none, in one line."""

    @property
    def counts(self) -> str:
        return f"{plural(self.studies, 'study')} pooled, {plural(self.listed, 'effect')} listed"


PART = PartData[str, Analysis | None]("analysis", str, "", Analysis | None, None)
"""Publishing is given the key of the statistics in the evidence store."""
