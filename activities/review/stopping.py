"""The rule by which screening stops: how many relevant records may be missing, from a random sample.

Callaghan and Müller-Hansen (2020, doi:10.1186/s13643-020-01521-4): of the records that are left, some are
drawn at random and screened. If recall were below its target, at least so many relevant ones would be left;
how probable it is to draw as few as were drawn follows a hypergeometric distribution. The test is made at
looks that are fixed beforehand, and the error probability is divided among them, so that looking often is
no way to stop early by chance. Records that screeners miss are added to those that were not read.

Assumptions: the sample is random among the records left, a person decides where screeners disagree and is
right, and screeners miss independently of each other.
"""

from collections.abc import Sequence
from math import ceil, floor

import numpy as np
from scipy.stats import beta, hypergeom, nbinom

from activities.review.state import Sample, Share

CONFIDENCE = 0.95
"""Confidence of every interval."""
TARGET = 0.95
"""Recall that is asked for."""
ERROR = 0.05
"""Probability with which the stated recall may be wrong."""
PARTS = (0.85, 0.1, 0.05)
"""Parts of the error probability that the looks may use, in order: most samples end at the first."""
GRID = 40
"""Quantiles of each screener's sensitivity over which the missed records are averaged."""


def share(hits: int, of: int, confidence: float = CONFIDENCE) -> Share:
    """Compute a share and its two-sided interval. Raises ValueError for counts that are no share."""
    if not 0 <= hits <= of:
        raise ValueError(f"{hits} of {of} is no share")
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, hits, of - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, of - hits)) if hits < of else 1.0
    return Share(hits=hits, of=of, low=low, high=high)


def mistaken(only_first: int, only_second: int, neither: int) -> int:
    """Compute how many records two independent screeners both included by mistake, rounded up.

    As often as one of them included by mistake what the other excluded, so often both did (Lincoln and
    Petersen's estimate). `only_first`, `only_second`: records that only this screener included and a person
    excluded; `neither`: records that both excluded.
    """
    return ceil(only_first * only_second / neither) if neither else 0


def missed(found: int, sensitivities: Sequence[Share]) -> list[float]:
    """Compute how probable it is that all screeners missed 0, 1, 2, ... relevant records beside `found`.

    Each sensitivity is uncertain (a Beta distribution with Jeffreys' prior over its counts), screeners miss
    independently of each other, and the number missed before `found` were found follows a negative binomial
    distribution. Where screeners are alike and miss the same records, more are missed than this says. The
    list ends where the rest is less probable than 1e-6.
    """
    quantiles = (np.arange(GRID) + 0.5) / GRID
    by_all = np.ones(1)
    for one in sensitivities:
        misses = 1 - (beta.ppf(quantiles, one.hits, one.of - one.hits + 1) if one.hits else 0 * quantiles)
        by_all = np.outer(by_all, misses).ravel()
        if by_all.size > GRID * GRID:
            by_all = np.sort(by_all).reshape(-1, GRID).mean(axis=1)
    probabilities: list[float] = []
    left = 1.0
    while left > 1e-6 and len(probabilities) < 10_000:
        at = float(np.mean(nbinom.pmf(len(probabilities), max(found, 1), 1 - by_all)))
        probabilities.append(at)
        left -= at
    return probabilities


def probability_below(
    found: int, sample: Sample, missed: Sequence[float] = (1.0,), recall: float = TARGET
) -> float:
    """Compute an upper bound of the probability of such a sample where recall is below `recall`.

    `found`: relevant records known by now, those of the sample among them. `missed`: the probabilities that
    screeners missed 0, 1, 2, ... of what they read.
    """
    allowed = floor(found * (1 - recall) / recall + 1e-9)
    """Relevant records that may be missing at this recall."""
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


def planned(left: int, found: int, missed: Sequence[float] = (1.0,)) -> Sample:
    """Plan a sample and the sizes at which the test is made.

    Each is the least that succeeds where at most 0, 1, 2, ... of those drawn are relevant. The last look is
    at all records left, and needs no test.
    """
    looks: list[tuple[int, float]] = []
    drawn = 0
    for relevant, part in enumerate(PARTS):
        error = ERROR * part
        low, high = drawn + 1, left
        while low < high:
            middle = (low + high) // 2
            sample = Sample(left=left, drawn=middle, relevant=relevant)
            if probability_below(found + relevant, sample, missed) <= error:
                high = middle
            else:
                low = middle + 1
        drawn = low
        if drawn >= left:
            break
        looks.append((drawn, error))
    return Sample(left=left, looks=(*looks, (left, ERROR)))
