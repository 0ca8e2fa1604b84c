"""The rule by which screening stops: how many relevant records may be left unread, from a random sample.

Callaghan and Müller-Hansen (2020, doi:10.1186/s13643-020-01521-4): of the records that are left, some are
drawn at random and screened. If recall were below its target, at least so many relevant ones would be left;
how probable it is to draw as few as were drawn follows a hypergeometric distribution. The test is made at
looks that are fixed beforehand, and the error probability is divided among them, so that looking often is
no way to stop early by chance. What screeners miss is added to what was not read
(`activities.review.accuracy.missed`).

Assumptions: the sample is random among the records left, a person decides where screeners disagree and is
right, and screeners miss independently of each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from scipy.stats import hypergeom

TARGET = 0.95
"""Recall that is asked for."""
ERROR = 0.05
"""Probability with which the stated recall may be wrong."""


PARTS = (0.85, 0.1, 0.05)
"""Parts of the error probability that the looks may use, in order: most samples end at the first."""


@dataclass(frozen=True, slots=True)
class Look:
    """A size of the sample at which the test is made, and the error probability that it may use."""

    drawn: int
    error: float


@dataclass(frozen=True, slots=True)
class Sample:
    """A random sample of the records that were left when it began."""

    left: int
    """Records that were not read when the sample began."""
    drawn: int
    relevant: int
    """Relevant ones among those drawn."""


def largest_miss(found: int, recall: float) -> int:
    """Compute how many relevant records may be missing beside `found` at this recall."""
    return floor(found * (1 - recall) / recall + 1e-9)


def probability_below(
    found: int, sample: Sample, missed: Sequence[float] = (1.0,), recall: float = TARGET
) -> float:
    """Compute an upper bound of the probability of such a sample where recall is below `recall`.

    `found`: relevant records known by now, those of the sample among them. `missed`: the probabilities that
    screeners missed 0, 1, 2, ... of what they read.
    """
    allowed = largest_miss(found, recall)
    rest = sample.left - sample.drawn
    bound = max(0.0, 1.0 - sum(missed[: allowed + 1]))
    for number, probability in enumerate(missed[: allowed + 1]):
        unread = allowed - number + 1
        if unread > rest:
            continue  # so many are not left
        among = unread + sample.relevant
        bound += probability * float(hypergeom.cdf(sample.relevant, sample.left, among, sample.drawn))
    return min(1.0, bound)


def stated_recall(
    found: int, sample: Sample, missed: Sequence[float] = (1.0,), error: float = ERROR
) -> float:
    """Compute the highest recall, to a thousandth, that holds but for the probability `error`."""
    low, high = 0, 1000
    while low < high:
        middle = (low + high + 1) // 2
        if probability_below(found, sample, missed, middle / 1000) <= error:
            low = middle
        else:
            high = middle - 1
    return low / 1000


def looks(left: int, found: int, missed: Sequence[float] = (1.0,)) -> list[Look]:
    """Choose at which sizes of the sample the test is made: each is the least that succeeds where at most
    0, 1, 2, ... of those drawn are relevant. The last look is at all records left, and needs no test."""
    chosen: list[Look] = []
    drawn = 0
    for relevant, part in enumerate(PARTS):
        error = ERROR * part
        low, high = drawn + 1, left
        while low < high:
            middle = (low + high) // 2
            if probability_below(found + relevant, Sample(left, middle, relevant), missed) <= error:
                high = middle
            else:
                low = middle + 1
        drawn = low
        if drawn >= left:
            break
        chosen.append(Look(drawn, error))
    return [*chosen, Look(left, ERROR)]
