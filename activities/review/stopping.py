"""The rule by which screening stops: how many relevant records may be missing, from a random sample.

Callaghan and Müller-Hansen (2020, doi:10.1186/s13643-020-01521-4): of the records that are left, some are
drawn at random and screened. If recall were below its target, at least so many relevant ones would be left;
how probable it is to draw as few as were drawn follows a hypergeometric distribution. The test is made at
looks that are fixed beforehand. For each number of relevant records that may be left, the probabilities to
stop wrongly at the looks add up to the error at most, so that looking often is no way to stop early by
chance. A later look costs little by that: with the records that it allows to have been drawn, recall is below
its target only where more were left, of which so few are hardly ever drawn. Where a sample has more than any
look allows, the order has learnt from it what it had missed: records are read in that order again, and a
second sample is drawn, which has a small part of the error.

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
REMAINDER = 0.3
"""Part of the error probability that a look leaves to those behind it: most samples end at the first."""
SECOND_SHARE = 0.02
"""Part of the error probability that is left to a second sample, where the first one finds too much."""
MAX_LOOKS = 8
"""Looks at a sample before all records left are read."""
MAX_INCLUDED = 60
"""Included records of a sample that is tested; with more, all records left are read."""
GRID = 40
"""Quantiles of each screener's sensitivity over which the missed records are averaged."""
NEGLIGIBLE = 1e-5
Numbers = NDArray[np.float64]
Integers = NDArray[np.int_]


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
        limit = min(self.agreed, int(scipy.stats.poisson.ppf(1 - NEGLIGIBLE, self.mistaken)))
        return _truncated_poisson(limit, self.mistaken)


def _truncated_poisson(limit: int, expected: float) -> Numbers:
    """Compute a Poisson distribution of which it is known that there are no more than `limit`."""
    return np.asarray(softmax(scipy.stats.poisson.logpmf(np.arange(limit + 1), expected)))


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of both screeners together."""

    mistaken: Numbers
    """Probabilities of 0, 1, 2, ... records included by mistake beside the sample."""
    missed: Numbers
    """A row for each of these numbers: of 0, 1, 2, ... records missed."""


NO_ERRORS = Errors(np.ones(1), np.ones((1, 1)))


def errors_of(included: int, hits: tuple[Share, Share], counts: Counts) -> Errors:
    """Compute the errors of two screeners.

    `included`: records they included that stand; `hits`: of those that are known without a screener
    to be relevant, the ones which that screener did not exclude; `counts`: their decisions beside the sample.
    """
    probabilities = counts.mistakes()
    mistakes = np.arange(len(probabilities))
    right = np.maximum(included - mistakes, 1)
    return Errors(probabilities, _misses(right, hits, mistakes, included // 2 + 30))


def _misses(included: Integers, hits: tuple[Share, Share], mistakes: Integers, numbers: int) -> Numbers:
    """Compute how probable it is that both screeners missed 0, 1, 2, ... relevant records beside `included`.

    A row for each of `mistakes`, which both included by mistake. Each sensitivity is uncertain: it is
    distributed as the lower ends of Clopper and Pearson's intervals, which holds for few records as well.
    Screeners miss independently of each other, and the number missed before `included` were found follows a
    negative binomial distribution. Where screeners are alike and miss the same records, more are missed than
    this says.
    """
    quantiles = (np.arange(GRID) + 0.5) / GRID
    first, second = (
        1 - np.nan_to_num(scipy.stats.beta.ppf(quantiles, right[:, None], row.of - row.hits + 1))
        for row in hits
        for right in (np.maximum(row.hits - mistakes, 0),)
    )
    products = np.sort((first[:, :, None] * second[:, None, :]).reshape(len(mistakes), -1), axis=1)
    by_both = products.reshape(len(mistakes), 2 * GRID, -1).mean(axis=2)[:, None, :]
    missed, included = np.arange(numbers)[None, :, None], included[:, None, None]
    ways = gammaln(missed + included) - gammaln(missed + 1) - gammaln(included)
    chances = np.exp(ways + xlog1py(included, -by_both) + xlogy(missed, by_both))
    return np.asarray(chances.mean(axis=2))


class _Test:
    """The probability to state a recall that is not reached, for each number of relevant records left."""

    def __init__(self, included: int, unread: int, errors: Errors, recall: float, most: int) -> None:
        """`included`: records included before the sample; `most`: those of the sample, at most."""
        self._unread = unread
        in_sample = np.arange(most + 1)
        top = int(_miss_limits(included + in_sample, recall)[-1]) + most + 1
        self._relevant = np.arange(min(unread, top) + 1)
        """Relevant records that may be left; with more than these, a sample with few is rarer still."""
        tails = np.hstack((np.ones((len(errors.missed), 1)), 1 - errors.missed.cumsum(axis=1)))
        self._below = np.zeros((most + 1, len(self._relevant)))
        """Relevant records of the sample, relevant ones left -> probability that recall is lower."""
        for number in np.flatnonzero(errors.mistaken > NEGLIGIBLE):
            right = np.maximum(included - number + in_sample, 0)
            margin = _miss_limits(right, recall)[:, None] - (self._relevant - in_sample[:, None])
            places = np.clip(margin + 1, 0, tails.shape[1] - 1)
            self._below += errors.mistaken[number] * tails[number, places]

    def at(self, size: int, included: int) -> Numbers:
        """Compute it for a sample of a size of which so many, or fewer, are included."""
        hits = np.arange(included + 1)
        few = np.ones((1, 1))
        if self._unread:
            few = np.exp(scipy.stats.hypergeom.logpmf(hits[:, None], self._unread, self._relevant, size))
        return np.asarray((few * self._below[: included + 1]).sum(axis=0))


def _miss_limits(included: Integers, recall: float) -> Integers:
    """Compute how many relevant records may be missing beside those found."""
    return np.asarray(np.floor(included * ((1 - recall) / recall) + 1e-9), dtype=int)


def miss_limit(included: int, errors: Errors) -> float:
    """Compute how many relevant records may be left beside those found and those that screeners missed."""
    missed = errors.mistaken @ errors.missed @ np.arange(errors.missed.shape[1])
    return max(0.0, included * (1 - TARGET) / TARGET - float(missed))


def probability_below(
    included: int, sample: Sample, errors: Errors = NO_ERRORS, recall: float = TARGET
) -> float:
    """Compute the probability, at most, to state `recall` by such a sample where it is not reached.

    `included`: included records, those of the sample among them. How many relevant records were left when the
    sample began is one number, however the screeners err: the sum over the looks so far and over all errors
    is computed for each, and the highest counts.
    """
    if sample.relevant > MAX_INCLUDED:
        return 1.0
    past_looks = sample.looks[: sample.passed]
    most = max(sample.relevant, *(count for _, count in past_looks), 0)
    test = _Test(included - sample.relevant, sample.left, errors, recall, most)
    looks = (*past_looks, (sample.drawn, sample.relevant))
    return min(1.0, float(np.sum([test.at(size, count) for size, count in looks], axis=0).max()))


def stated_recall(included: int, sample: Sample, errors: Errors = NO_ERRORS, error: float = ERROR) -> float:
    """Compute the highest recall, to a thousandth, that holds but for the probability `error`."""
    probability = partial(probability_below, included, sample, errors)
    return bisect_left(range(1, 1001), True, key=lambda recall: probability(recall / 1000) > error) / 1000


def error_of(sample: Sample) -> float:
    """Return the probability with which a recall may be stated wrongly by a sample."""
    return ERROR * (SECOND_SHARE if sample.start else 1 - SECOND_SHARE)


def plan_sample(unread: int, included: int, errors: Errors = NO_ERRORS, start: int = 0) -> Sample:
    """Plan a sample, and the sizes at which it may end.

    Each is the least that shows the recall where at most 0, 1, 2, ... of those drawn are relevant. The last
    look is at all records left, and needs no test. `start`: records of an earlier sample that failed.
    """
    sample = Sample(left=unread, start=start)
    looks: list[tuple[int, int]] = []
    test = _Test(included, unread, errors, TARGET, MAX_LOOKS)
    size, spent = 0, np.zeros(1)
    while len(looks) < MAX_LOOKS:
        count, most = len(looks), error_of(sample) * (1 - REMAINDER ** (len(looks) + 1))
        size += 1 + bisect_left(
            range(size + 1, unread), True, key=lambda look: (spent + test.at(look, count)).max() <= most
        )
        if size >= unread:
            break
        spent = spent + test.at(size, count)
        looks.append((size, count))
    return sample.replace(looks=(*looks, (unread, unread)))
