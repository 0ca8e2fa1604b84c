"""The accuracy of screeners: sensitivity and specificity with intervals, and what they miss together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.stats import beta, nbinom

CONFIDENCE = 0.95
"""Confidence of every interval."""
GRID = 40
"""Quantiles of each screener's sensitivity over which the missed records are averaged."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of records with its exact interval (Clopper and Pearson 1934)."""

    hits: int
    of: int
    low: float
    high: float

    @property
    def estimate(self) -> float | None:
        """The share itself; None where no record counts."""
        return self.hits / self.of if self.of else None


def share(hits: int, of: int, confidence: float = CONFIDENCE) -> Share:
    """Compute a share and its two-sided interval. Raises ValueError for counts that are no share."""
    if not 0 <= hits <= of:
        raise ValueError(f"{hits} of {of} is no share")
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, hits, of - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, of - hits)) if hits < of else 1.0
    return Share(hits, of, low, high)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How a screener decided where the truth is known."""

    sensitivity: Share
    specificity: Share


def accuracy(decisions: Mapping[str, bool], truth: Mapping[str, bool]) -> Accuracy:
    """Compare a screener's decisions (record -> included) with the truth, over the records that have both."""
    both = [(decisions[name], truth[name]) for name in truth if name in decisions]
    relevant = [decided for decided, true in both if true]
    others = [decided for decided, true in both if not true]
    return Accuracy(share(sum(relevant), len(relevant)), share(len(others) - sum(others), len(others)))


def mistaken(only_first: int, only_second: int, neither: int) -> int:
    """Compute how many records two independent screeners both included by mistake, rounded up: as often as
    one of them included by mistake what the other excluded, so often both did (Lincoln and Petersen's
    estimate).

    `only_first`, `only_second`: records that only this screener included and a person excluded; `neither`:
    records that both excluded.
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
