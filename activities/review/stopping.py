"""The rule by which screening stops: how many relevant records may be missing, from a random sample.

Callaghan and Müller-Hansen (2020, doi:10.1186/s13643-020-01521-4): of the records that are left, some are
drawn at random and screened. If recall were below its target, at least so many relevant ones would be left;
how probable it is to draw as few as were drawn follows a hypergeometric distribution. The test is made at
looks that are fixed beforehand, and the error probability is divided among them, so that looking often is
no way to stop early by chance.

Screeners err, and the counts show how often: records that both missed are added to those that were not read,
and records that both included by mistake are taken from those that were found, each as a distribution and
not as its mean.

Assumptions: the sample is random among the records left, a person decides where screeners disagree and is
right, and screeners err independently of each other.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln, softmax, xlog1py, xlogy
from scipy.stats import beta, hypergeom, poisson

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
NEGLIGIBLE = 1e-5
Numbers = NDArray[np.float64]
Counted = NDArray[np.int_]


def share(hits: int, of: int, confidence: float = CONFIDENCE) -> Share:
    """Compute a share and its two-sided interval. Raises ValueError for counts that are no share."""
    if not 0 <= hits <= of:
        raise ValueError(f"{hits} of {of} is no share")
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, hits, of - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, of - hits)) if hits < of else 1.0
    return Share(hits=hits, of=of, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Counts:
    """The decisions of two screeners on records that nobody labelled."""

    agreed: int = 0
    """Records that both included, some of them by mistake."""
    only: tuple[int, int] = (0, 0)
    """Irrelevant records that the first, and the second, alone included."""
    neither: int = 0
    """Records that both excluded."""

    @property
    def mistaken(self) -> float:
        """Compute how many records both may be expected to include by mistake.

        As often as one of them included by mistake what the other excluded, so often both did (Lincoln and
        Petersen's estimate).
        """
        return self.only[0] * self.only[1] / self.neither if self.neither else 0.0

    def mistakes(self) -> Numbers:
        """Compute how probable 0, 1, 2, ... mistaken records are among those that both included."""
        most = min(self.agreed, int(poisson.ppf(1 - NEGLIGIBLE, self.mistaken)))
        return _up_to(most, self.mistaken)


def _up_to(most: int, expected: float) -> Numbers:
    """Compute a Poisson distribution of which it is known that there are no more than `most`."""
    return np.asarray(softmax(poisson.logpmf(np.arange(most + 1), expected)))


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of both screeners together, as probabilities."""

    mistaken: Numbers
    """Of 0, 1, 2, ... records included by mistake before the sample."""
    in_sample: Numbers
    """The same in the sample."""
    missed: Numbers
    """A row for each number of mistaken records in all: of 0, 1, 2, ... records missed."""


NO_ERRORS = Errors(np.ones(1), np.ones(1), np.ones((1, 1)))


def errors(found: int, hits: tuple[Share, Share], before: Counts, sample: Counts = Counts()) -> Errors:
    """Compute the errors of two screeners.

    `found`: records they included that stand; `hits`: of those that are known without a screener to be
    relevant, the ones which that screener did not exclude.
    """
    mistaken, in_sample = before.mistakes(), sample.mistakes()
    wrong = np.arange(1 + min(found, len(mistaken) + len(in_sample) - 2))
    return Errors(mistaken, in_sample, _missed(np.maximum(found - wrong, 1), hits, wrong, found // 2 + 30))


def _missed(included: Counted, hits: tuple[Share, Share], wrong: Counted, numbers: int) -> Numbers:
    """Compute how probable it is that both screeners missed 0, 1, 2, ... relevant records beside `included`.

    A row for each of `wrong`, which both included by mistake. Each sensitivity is uncertain: it is
    distributed as the lower ends of Clopper and Pearson's intervals, which holds for few records as well.
    Screeners miss independently of each other, and the number missed before `included` were found follows a
    negative binomial distribution. Where screeners are alike and miss the same records, more are missed than
    this says.
    """
    quantiles = (np.arange(GRID) + 0.5) / GRID
    first, second = (
        1
        - np.where(
            true[:, None], betaincinv(np.maximum(true, 1)[:, None], hit.of - hit.hits + 1, quantiles), 0
        )
        for hit in hits
        for true in (np.maximum(hit.hits - wrong, 0),)
    )
    products = np.sort((first[:, :, None] * second[:, None, :]).reshape(len(wrong), -1), axis=1)
    by_both = products.reshape(len(wrong), 2 * GRID, -1).mean(axis=2)[:, None, :]
    missed, included = np.arange(numbers)[None, :, None], included[:, None, None]
    ways = gammaln(missed + included) - gammaln(missed + 1) - gammaln(included)
    chances = np.exp(ways + xlog1py(included, -by_both) + xlogy(missed, by_both))
    return np.asarray(chances.mean(axis=2))


def probability_below(found: int, sample: Sample, known: Errors = NO_ERRORS, recall: float = TARGET) -> float:
    """Compute an upper bound of the probability of such a sample where recall is below `recall`.

    `found`: included records, those of the sample among them.
    """
    rest = sample.left - sample.drawn
    most = int(found * (1 - recall) / recall + 1e-9) + 1 if recall else rest
    bound = 0.0
    for wrong, chance in enumerate(known.in_sample[: sample.relevant + 1]):
        relevant = sample.relevant - wrong
        few = np.ones(min(rest, most) + 1)
        few[1:] = hypergeom.cdf(relevant, sample.left, np.arange(1, len(few)) + relevant, sample.drawn)
        for others, other_chance in enumerate(known.mistaken):
            row = known.missed[min(wrong + others, len(known.missed) - 1)]
            true = max(0, found - wrong - others)
            allowed = int(true * (1 - recall) / recall + 1e-9) if recall else rest
            part = row[: allowed + 1]
            left = allowed + 1 - np.arange(len(part))
            fits = left <= rest
            below = max(0.0, 1.0 - part.sum()) + (part[fits] * few[left[fits]]).sum()
            bound += chance * other_chance * below
    return min(1.0, float(bound))


def stated_recall(found: int, sample: Sample, known: Errors = NO_ERRORS, error: float = ERROR) -> float:
    """Compute the highest recall, to a thousandth, that holds but for the probability `error`."""
    fails = partial(probability_below, found, sample, known)
    return bisect_left(range(1, 1001), True, key=lambda recall: fails(recall / 1000) > error) / 1000


def planned(left: int, found: int, known: Errors = NO_ERRORS, rate: float = 0.0) -> Sample:
    """Plan a sample and the sizes at which the test is made.

    Each is the least that succeeds where at most 0, 1, 2, ... of those drawn are relevant beside those that
    both screeners include by mistake, which is the share `rate`. The last look is at all records left, and
    needs no test.
    """

    def succeeds(size: int, relevant: int, error: float) -> bool:
        expected = round(size * rate)
        sample = Sample(left=left, drawn=size, relevant=relevant + expected)
        drawn = replace(known, in_sample=_up_to(relevant + expected, size * rate))
        return probability_below(found + relevant + expected, sample, drawn) <= error

    looks: list[tuple[int, float]] = []
    size = 0
    for relevant, part in enumerate(PARTS):
        sizes = range(size + 1, left)
        size += 1 + bisect_left(
            sizes, True, key=lambda trial_size: succeeds(trial_size, relevant, ERROR * part)
        )
        if size >= left:
            break
        looks.append((size, ERROR * part))
    return Sample(left=left, looks=(*looks, (left, ERROR)))
