"""The record of each iteration of a run's search-judge loop.

The gaps, the searches, the works found and the judgement. Later iterations and users read it.
"""

from typing import Literal

from pydantic import Field

from activities.contracts.bounds import Matches
from activities.contracts.evidence import Frozen, SearchStatus, SourceKind

Recommendation = Literal["continue", "synthesize", ""]
"""The judge's advice: continue the search, or write. Empty without one."""


class Scores(Frozen):
    """How the evidence meets the criteria of the profile, and what that says of the search."""

    scores: dict[str, int] = Field(default_factory=dict)
    """Criterion -> 0 to 10; criteria that do not apply to the question are left out."""
    score_reasons: dict[str, str] = Field(default_factory=dict)
    """Criterion -> why it has its score, in one sentence."""
    recommendation: Recommendation = ""


class Counted(Scores):
    """The same with what the judge was shown, which code counts."""

    sources_breakdown: dict[str, int] = Field(default_factory=dict)
    """Source -> items from it that the judge was shown."""
    kinds_breakdown: dict[SourceKind, int] = Field(default_factory=dict)
    """Kind of source -> items of it that the judge was shown."""
    confidence: float | None = Field(default=None, ge=0.0, le=1.0)


class IterationSearch(Frozen):
    source: str
    query: str
    """As it was selected."""
    status: SearchStatus
    hits: Matches = 0
    """What the source says it has."""
    kept: int = 0
    """Records that entered the store."""


class Finding(Frozen):
    evidence_id: str
    title: str


class IterationSum(Frozen):
    """What an iteration of a loop took and came to."""

    iteration: int
    """From 1, within its loop."""
    section: str = ""
    """Id of the section whose loop it is; empty for a run with one loop."""
    tokens: int = 0
    scores: dict[str, int] = Field(default_factory=dict)
    """Criterion -> 0 to 10; empty where nothing was judged."""
    score_reasons: dict[str, str] = Field(default_factory=dict)
    open: tuple[str, ...] = ()
    """What a model left open after it: the judge, else the gap evaluator."""


class IterationRecord(Counted, IterationSum):
    """One iteration, finished or under way; its scores are empty where nothing was judged in it.

    Texts and lists are cut to a bounded length; the whole ledger of searches and the whole log of events are
    elsewhere.
    """

    started_at: str = ""
    """ISO time."""
    seconds: float = 0.0
    """From its beginning to the beginning of the next one, waiting for people included; 0 while under way."""
    thought: str = ""
    """The observation that the iteration began with."""
    gaps: tuple[str, ...] = ()
    searches: tuple[IterationSearch, ...] = ()
    new_items: int = 0
    """Works that its searches found for the first time."""
    findings: tuple[Finding, ...] = ()
    """The first of them."""
    shared_items: int = 0
    """Works that other sections had found and that this one adopted."""
    reflection: str = ""
    """Why its searches served the gaps, or did not."""
    judged: bool = False
    """Whether a judgement was made in it."""
    sufficient: bool = False
    """Whether the judgement met the profile, as code decides it."""
    verdict: str = ""
    """The judge's reasoning."""
    model_calls: int = 0
    """Calls of this iteration, as are tokens and cost; those of judging and writing that end later
    count where they end."""
    cost_microusd: int | None = 0
    """Millionths of a US dollar; None when a price was not known."""
