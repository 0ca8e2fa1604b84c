"""The numbers that a review publishes: how well its screeners decide, and the flow of its records."""

from typing import get_args

from pydantic import Field, computed_field

from activities.contracts.evidence import Frozen, SearchKind
from activities.review.decisions import ScreenedStage


class Share(Frozen):
    hits: int
    of: int
    low: float
    high: float


class ScreenerAccuracy(Frozen):
    """The accuracy of a screener on the records that a person labelled blind; `unsure` excludes nothing."""

    name: str
    sensitivity: Share
    specificity: Share


class Validation(Frozen):
    """The accuracy of the screeners on one sample."""

    version: int
    labelled: int
    by: tuple[str, ...] = ()
    screeners: tuple[ScreenerAccuracy, ...] = ()


class Agreement(Frozen):
    """How often both screeners gave one answer at a stage, before a person decided."""

    stage: ScreenedStage
    both: int
    """Records on which both have decided."""
    agreed: int
    kappa: float | None = None
    """Cohen's; None where chance alone would have them agree on everything."""


class Flow(Frozen):
    """The numbers of the flow diagram of PRISMA 2020 (Page et al., doi:10.1136/bmj.n71)."""

    identified: dict[str, int]
    """Search or file -> records."""
    kinds: dict[str, SearchKind] = Field(default_factory=dict)
    """Search or file -> whether it is of a database, a register or another method."""
    duplicates: int
    screened: int
    excluded: int
    unread: int
    """Records that the rule for stopping left unread."""
    open: int
    """Records that wait for a screener, or for a person who decides a conflict."""
    sought: int
    not_retrieved: int
    awaited: int
    assessed: int
    excluded_because: dict[str, int]
    """Criterion -> full texts that were excluded by it."""
    undecided: int
    included: int
    """Works, each the report of a study."""
    studies: int = 0
    """Studies that they report; 0 where no full text was read."""

    @property
    def identified_count(self) -> int:
        return sum(self.identified.values())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def identified_by_kind(self) -> dict[SearchKind, int]:
        """Count the records of databases, of registers and of other methods."""
        return {kind: sum(self.identified_of(kind).values()) for kind in get_args(SearchKind)}

    def identified_of(self, kind: SearchKind) -> dict[str, int]:
        """Return the searches and files of a kind with their records."""
        return {name: n for name, n in self.identified.items() if self.kinds.get(name, "database") == kind}

    @property
    def excluded_full_texts(self) -> int:
        return sum(self.excluded_because.values())

    def faults(self) -> tuple[str, ...]:
        """Name the sums that do not hold; empty where all numbers add up."""
        included_by_title = self.screened - self.excluded
        sums = {
            "records": (self.identified_count - self.duplicates, self.screened + self.open + self.unread),
            "sought full texts": (self.sought, included_by_title),
            "full texts": (self.sought, self.not_retrieved + self.awaited + self.assessed),
            "assessed full texts": (self.assessed, self.excluded_full_texts + self.undecided + self.included),
        }
        return tuple(
            f"{name}: {left} is not {right}" for name, (left, right) in sums.items() if left != right
        )


class ReviewReport(Frozen):
    """A report as it was published: keys of its parts."""

    report: str = ""
    """Key of the step that published it."""
    at: str = ""
    flow: Flow
    findings: str = ""
    """Key of the findings on the studies; empty where none was read."""
    notice: str = ""
    """Key of the notice of conclusions that differ from those of the report before."""
    validation: Validation | None = None
    agreement: tuple[Agreement, ...] = ()
    """The agreement at each stage at which both screeners have decided on records."""
