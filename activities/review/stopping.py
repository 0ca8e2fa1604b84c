"""The rule by which screening stops: how many relevant records may be missing, from a random sample.

Callaghan and Müller-Hansen (2020, doi:10.1186/s13643-020-01521-4): of the records that are left, some are
drawn at random and screened. If recall were below its target, at least so many relevant ones would be left;
how probable it is to draw as few as were drawn follows a hypergeometric distribution. The test is made at
looks that are fixed beforehand. For each number of relevant records that may be left, the probabilities to
stop wrongly at the looks add up to the error at most, so that looking often is no way to stop early by
chance. A later look costs little by that: with the records that it allows to have been drawn, recall is below
its target only where more were left, of which so few are hardly ever drawn.

Screeners err, and the counts show how often: records that both missed are added to those that were not read,
and records that both included by mistake are taken from those that were found, each as a distribution and
not as its mean. How many relevant records were left does not depend on these errors: it is one number, and
not the worst one for each number of missed records. Of the sample a person confirms what both include, which
are few: a mistake there would look like a relevant record that was left.

Assumptions: the sample is random among the records left, a person decides where screeners disagree, confirms
what both include of the sample and is right, and screeners err independently of each other.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy  # its `stats` take 1.7 s to import, on their first use
from numpy.typing import NDArray
from scipy.special import gammaln, softmax, xlog1py, xlogy

from activities.review.results import Share
from activities.review.state import Sample

CONFIDENCE = 0.95
"""Confidence of every interval."""
TARGET = 0.95
"""Recall that is asked for."""
ERROR = 0.05
"""Probability with which the stated recall may be wrong."""
KEPT = 0.3
"""Part of the error probability that a look leaves to those behind it: most samples end at the first."""
MAX_LOOKS = 8
"""Looks at a sample before all records left are read."""
MAX_INCLUDED = 60
"""Included records of a sample that is tested; with more, all records left are read."""
GRID = 40
"""Quantiles of each screener's sensitivity over which the missed records are averaged."""
NEGLIGIBLE = 1e-5
Numbers = NDArray[np.float64]
Counted = NDArray[np.int_]


def share(hits: int, of: int, confidence: float = CONFIDENCE) -> Share:
    """Compute a share and its two-sided interval. Raises ValueError for counts that are no share."""
    interval = scipy.stats.binomtest(hits, of).proportion_ci(confidence) if of else (0.0, 1.0)
    return Share(hits=hits, of=of, low=float(interval[0]), high=float(interval[1]))


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
        most = min(self.agreed, int(scipy.stats.poisson.ppf(1 - NEGLIGIBLE, self.mistaken)))
        return _up_to(most, self.mistaken)


def _up_to(most: int, expected: float) -> Numbers:
    """Compute a Poisson distribution of which it is known that there are no more than `most`."""
    return np.asarray(softmax(scipy.stats.poisson.logpmf(np.arange(most + 1), expected)))


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of both screeners together."""

    mistaken: Numbers
    """Probabilities of 0, 1, 2, ... records included by mistake beside the sample."""
    missed: Numbers
    """A row for each of these numbers: of 0, 1, 2, ... records missed."""


NO_ERRORS = Errors(np.ones(1), np.ones((1, 1)))


def errors(found: int, hits: tuple[Share, Share], before: Counts) -> Errors:
    """Compute the errors of two screeners.

    `found`: records they included that stand; `hits`: of those that are known without a screener to be
    relevant, the ones which that screener did not exclude; `before`: their decisions beside the sample.
    """
    mistaken = before.mistakes()
    wrong = np.arange(len(mistaken))
    return Errors(mistaken, _missed(np.maximum(found - wrong, 1), hits, wrong, found // 2 + 30))


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
        1 - np.nan_to_num(scipy.stats.beta.ppf(quantiles, true[:, None], hit.of - hit.hits + 1))
        for hit in hits
        for true in (np.maximum(hit.hits - wrong, 0),)
    )
    products = np.sort((first[:, :, None] * second[:, None, :]).reshape(len(wrong), -1), axis=1)
    by_both = products.reshape(len(wrong), 2 * GRID, -1).mean(axis=2)[:, None, :]
    missed, included = np.arange(numbers)[None, :, None], included[:, None, None]
    ways = gammaln(missed + included) - gammaln(missed + 1) - gammaln(included)
    chances = np.exp(ways + xlog1py(included, -by_both) + xlogy(missed, by_both))
    return np.asarray(chances.mean(axis=2))


class _Test:
    """The probability to state a recall that is not reached, for each number of relevant records left."""

    def __init__(self, found: int, left: int, known: Errors, recall: float, most: int) -> None:
        """`found`: included records before the sample; `most`: those of the sample, at most."""
        self.left, self.known = left, known
        drawn = np.arange(most + 1)
        top = int(_allowed(found + drawn, recall)[-1]) + most + 1
        self._relevant = np.arange(min(left, top) + 1)
        """Relevant records that may be left; with more than these, a sample with few is rarer still."""
        tails = np.hstack((np.ones((len(known.missed), 1)), 1 - known.missed.cumsum(axis=1)))
        self._below = np.zeros((most + 1, len(self._relevant)))
        """Relevant records of the sample, relevant ones left -> probability that recall is lower."""
        for wrong in np.flatnonzero(known.mistaken > NEGLIGIBLE):
            true = np.maximum(found - wrong + drawn, 0)
            may_miss = _allowed(true, recall)[:, None] - (self._relevant - drawn[:, None])
            places = np.clip(may_miss + 1, 0, tails.shape[1] - 1)
            self._below += known.mistaken[wrong] * tails[wrong, places]

    def at(self, size: int, included: int) -> Numbers:
        """Compute it for a sample of a size of which so many, or fewer, are included."""
        drawn = np.arange(included + 1)
        few = np.ones((1, 1))
        if self.left:
            few = np.exp(scipy.stats.hypergeom.logpmf(drawn[:, None], self.left, self._relevant, size))
        return np.asarray((few * self._below[: included + 1]).sum(axis=0))


def _allowed(found: Counted, recall: float) -> Counted:
    """Compute how many relevant records may be missing beside those found."""
    return np.asarray(np.floor(found * ((1 - recall) / recall) + 1e-9), dtype=int)


def may_miss(found: int, known: Errors = NO_ERRORS, recall: float = TARGET) -> float:
    """Compute how many relevant records may be left beside those found and those that screeners missed."""
    missed = known.mistaken @ known.missed @ np.arange(known.missed.shape[1])
    return max(0.0, found * (1 - recall) / recall - float(missed))


def probability_below(found: int, sample: Sample, known: Errors = NO_ERRORS, recall: float = TARGET) -> float:
    """Compute the probability, at most, to state `recall` by such a sample where it is not reached.

    `found`: included records, those of the sample among them. How many relevant records were left when the
    sample began is one number, however the screeners err: the sum over the looks so far and over all errors
    is computed for each, and the highest counts.
    """
    if sample.relevant > MAX_INCLUDED:
        return 1.0
    passed = sample.looks[: sample.passed]
    most = max(sample.relevant, *(included for _, included in passed), 0)
    test = _Test(found - sample.relevant, sample.left, known, recall, most)
    looks = (*passed, (sample.drawn, sample.relevant))
    return min(1.0, float(np.sum([test.at(size, included) for size, included in looks], axis=0).max()))


def stated_recall(found: int, sample: Sample, known: Errors = NO_ERRORS, error: float = ERROR) -> float:
    """Compute the highest recall, to a thousandth, that holds but for the probability `error`."""
    fails = partial(probability_below, found, sample, known)
    return bisect_left(range(1, 1001), True, key=lambda recall: fails(recall / 1000) > error) / 1000


def planned(left: int, found: int, known: Errors = NO_ERRORS) -> Sample:
    """Plan a sample, and the sizes at which it may end.

    Each is the least that shows the recall where at most 0, 1, 2, ... of those drawn are relevant. The last
    look is at all records left, and needs no test.
    """
    looks: list[tuple[int, int]] = []
    test = _Test(found, left, known, TARGET, MAX_LOOKS)
    size, spent = 0, np.zeros(1)
    while len(looks) < MAX_LOOKS:
        included, most = len(looks), ERROR * (1 - KEPT ** (len(looks) + 1))
        size += 1 + bisect_left(
            range(size + 1, left), True, key=lambda wanted: (spent + test.at(wanted, included)).max() <= most
        )
        if size >= left:
            break
        spent = spent + test.at(size, included)
        looks.append((size, included))
    return Sample(left=left, looks=(*looks, (left, left)))
