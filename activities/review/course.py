"""Where the screening of a review stands, as data: its course, its rounds, how well screeners decide."""

from typing import Literal

from activities.contracts.evidence import Frozen

Phase = Literal["ranked", "sample", "done"]


class Drawn(Frozen):
    """The random sample among the records left, and the looks that were planned when it began."""

    left: int
    looks: tuple[tuple[int, float], ...]
    """Size and error probability of each look."""
    drawn: int = 0
    relevant: int = 0
    passed: int = 0
    """Looks that were made."""


class Course(Frozen):
    """Where screening stands. `found` counts included records, however they were found."""

    total: int
    read: int = 0
    found: int = 0
    mistaken: int = 0
    """Included ones that screeners included by mistake, as far as it can be computed."""
    quiet: int = 0
    """Records since the last included one, in the learnt order."""
    sample: Drawn | None = None
    phase: Phase = "ranked"
    recall: float | None = None
    """The recall that the review may state; None before it ends."""

    @property
    def relevant(self) -> int:
        """Included records less those included by mistake."""
        return self.found - self.mistaken

    @property
    def left(self) -> int:
        """Records that were not read."""
        return self.total - self.read

    @property
    def until_look(self) -> int:
        """How many records of the sample are read before the next look."""
        assert self.sample is not None
        return self.sample.looks[self.sample.passed][0] - self.sample.drawn


class Round(Frozen):
    """Where screening stands, and which records are read now."""

    course: Course
    batch: tuple[int, ...] = ()
    """In the order of reading."""
    drawn: tuple[int, ...] = ()
    """Records of the random sample so far."""
    number: int = 0
    first: int = 0
    """The first record that this screening is about; those before it were screened earlier."""


class Rate(Frozen):
    """A share with its interval, as it is printed."""

    hits: int
    of: int
    low: float
    high: float


class ScreenerAccuracy(Frozen):
    """How a screener decided on the records that a person labelled blind. `unsure` excludes nothing."""

    name: str
    sensitivity: Rate
    specificity: Rate
