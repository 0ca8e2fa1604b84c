"""Rounds of screening: what was decided in a round, how well each screener decided, and what is read next.

Between two rounds nothing is decided but here: the records that are settled feed the learnt order and the
rule for stopping.
"""

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from activities.review.decisions import OPEN, Marks
from activities.review.results import ScreenerAccuracy
from activities.review.state import Course, Phase, Sample
from activities.review.stopping import (
    ERROR,
    NO_ERRORS,
    Counts,
    Errors,
    error_of,
    errors_of,
    miss_limit,
    plan_sample,
    probability_below,
    share,
    stated_recall,
)

MIN_ROUND = 10
MAX_TERMS = 50_000
ROUND_SHARE = 20
"""A round is this part of all records."""
QUIET_SHARE = 0.1
"""A sample is drawn after a round with this part of the relevant records that may be missing, at most.

Where fewer than ten may be missing, that is none. To wait for none in a large review is to read on for
records that need not be found: of 0.05, 0.1, 0.15, 0.2, 0.35 and 0.5 this part left most records unread.
"""

Order = Callable[[Mapping[int, bool], Sequence[int]], list[int]]
"""(record -> included, unread records) -> the unread ones, the most promising first."""
LabelsApply = tuple[bool, bool]
"""For each screener, whether the labels measure them, which they do not where that person made them."""


class _SettledRound:
    """The decisions of a round that has ended, and what follows from them."""

    def __init__(self, course: Course, marks: Marks, labels_apply: LabelsApply) -> None:
        self.marks, self.labels_apply, self.drawn = marks, labels_apply, course.drawn
        states = enumerate(marks.states()[course.first :], course.first)
        self.included = {
            record: state == "included" for record, state in states if state in ("included", "excluded")
        }
        """Settled record -> whether it is included."""
        total, count = marks.total - course.first, self.count(self.included)
        mistaken = min(round(self.ranked_counts.mistaken), count)
        self.course = course.replace(total=total, read=len(self.included), found=count, mistaken=mistaken)

    def count(self, records: Iterable[int]) -> int:
        """Count the included ones among records."""
        return sum(self.included.get(record, False) for record in records)

    def counts(self, records: Iterable[int]) -> Counts:
        """Count what two screeners decided on settled records that nobody labelled."""
        marks = self.marks
        screened = (n for n in records if not marks.is_labelled(n))
        pairs = Counter((marks.first[n] + marks.second[n], self.included[n]) for n in screened)
        return Counts(
            agreed=pairs["ii", True],
            only=(pairs["ie", False], pairs["ei", False]),
            neither=pairs["ee", False],
        )

    @cached_property
    def ranked_counts(self) -> Counts:
        """Count what was decided beside the random sample, of which a person confirms what both include."""
        return self.counts(self.included.keys() - set(self.drawn))

    @cached_property
    def errors(self) -> Errors:
        """Compute what both screeners missed and included by mistake.

        The sensitivity of each is measured on what is known without it to be relevant: what a person labelled
        as included, and what the other one included and stands. Where a person labelled all there are none.
        """
        if all(map(self.marks.is_labelled, self.included)):
            return NO_ERRORS
        marks, relevant = self.marks, [record for record, included in self.included.items() if included]
        screened = [record for record in relevant if not marks.is_labelled(record)]
        shares = []
        for place, applies in enumerate(self.labels_apply):
            letters, other = marks.of_screener(place), marks.of_screener(1 - place)
            reference = {record for record in screened if other[record] == "i"}
            if applies:
                positives = (record for record in self.included if marks.labels[record] == "i")
                reference |= {record for record in positives if letters[record] != OPEN}
            shares.append(share(sum(letters[record] != "e" for record in reference), len(reference)))
        return errors_of(len(screened), (shares[0], shares[1]), self.ranked_counts)

    def after_round(self, *, read_all: bool) -> Course:
        """Decide what follows a round, whose decisions the course counts already."""
        course = self.course
        if course.phase == "sample" and course.sample is not None:
            sample = self.settle_sample(course.sample)
            course = course.replace(sample=sample)
            if course.until_look > 0:
                return course
            if course.left == 0 or probability_below(course.found, sample, self.errors) <= error_of(sample):
                return self.end(course, sample)
            phase: Phase = "ranked" if sample.fails and not sample.start else "sample"
            return course.replace(sample=sample.replace(passed=sample.passed + 1), phase=phase)
        if course.left == 0:
            return self.end(course, Sample(left=0))
        expected = self.counts(course.batch).mistaken
        limit = round(expected) + QUIET_SHARE * miss_limit(course.found, self.errors)
        if course.batch and not read_all and self.count(course.batch) <= limit:
            sample = plan_sample(course.left, course.found, self.errors, len(course.drawn))
            return course.replace(sample=sample, phase="sample")
        return course

    def settle_sample(self, sample: Sample) -> Sample:
        """Return a sample with what was drawn of it, and how much of that is relevant."""
        records = self.drawn[sample.start :]
        return sample.replace(drawn=len(records), relevant=self.count(records))

    def end(self, course: Course, sample: Sample, error: float = ERROR) -> Course:
        """End screening with the recall that holds of all records, but for the probability `error`.

        None is stated where all was read and nobody labelled a record: nothing was drawn, no screener
        measured. Later records that were read to the last are part of the screening before them; of two
        screenings that left some unread the lower recall holds, each with half of the error.
        """
        before = course.before
        if before is not None and not course.left:
            return restate(before, self.marks, self.labels_apply, error).replace(number=course.number)
        recall = None
        if before is not None:
            error /= 2
            before = restate(before, self.marks.up_to(course.first), self.labels_apply, error)
        if course.left or any(map(self.marks.is_labelled, range(self.marks.total))):
            sample = sample if course.left else Sample(left=0)
            recall = stated_recall(course.found, sample, self.errors, error * error_of(sample) / ERROR)
        if before is not None and recall is not None:
            recall = None if before.recall is None else min(recall, before.recall)
        return course.replace(phase="done", recall=recall)


def next_round(
    course: Course,
    marks: Marks,
    order: Order,
    seed: str,
    labels_apply: LabelsApply = (True, True),
    *,
    read_all: bool = False,
) -> tuple[Course, list[int]]:
    """Take in a settled round and choose the next; also the order of all that is unread, where it is read so.

    `read_all`: nothing is left unread.
    """
    settled_round = _SettledRound(course, marks, labels_apply)
    after = settled_round.course
    if course.batch or not after.left:
        after = settled_round.after_round(read_all=read_all)
    unread = [record for record in range(course.first, marks.total) if record not in settled_round.included]
    ranking: list[int] = []
    batch: Sequence[int] = ()
    drawn = after.drawn
    if after.phase == "ranked":
        ranking = order(settled_round.included, unread)
        batch = ranking[: max(MIN_ROUND, after.total // ROUND_SHARE)]
    elif after.phase == "sample":
        batch = random.Random(f"{seed}/{course.number}").sample(unread, min(after.until_look, len(unread)))
        drawn = (*drawn, *batch)
    return after.replace(batch=tuple(batch), drawn=drawn, number=course.number + 1), ranking


def restate(
    course: Course, marks: Marks, labels_apply: LabelsApply = (True, True), error: float = ERROR
) -> Course:
    """State the recall of screening that has ended again, by the decisions of today."""
    settled_round = _SettledRound(course, marks, labels_apply)
    sample = settled_round.settle_sample(course.sample or Sample(left=0))
    sample = sample.replace(left=settled_round.course.left + sample.drawn)
    return settled_round.end(settled_round.course, sample, error)


def sample_size(total: int, half_width: float) -> int:
    """Compute how many records of `total` are labelled, for intervals of at most twice `half_width`."""

    def is_enough(size: int) -> bool:
        widest = share(size // 2, size)
        return (widest.high - widest.low) / 2 <= half_width

    return min(1 + bisect_left(range(1, total + 1), True, key=is_enough), total)


def draw_sample(total: int, size: int, seed: str) -> tuple[int, ...]:
    """Draw the records that a person labels."""
    return tuple(random.Random(f"{seed}/labels").sample(range(total), min(size, total)))


def accuracy_of(name: str, verdicts: str, labels: str) -> ScreenerAccuracy:
    """Compare a screener's letters with a person's labels; a record counts where both have decided."""
    pairs = [
        (letter != "e", label == "i")
        for letter, label in zip(verdicts, labels, strict=True)
        if letter != OPEN and label in "ie"
    ]
    relevant = [is_hit for is_hit, is_relevant in pairs if is_relevant]
    irrelevant = [is_hit for is_hit, is_relevant in pairs if not is_relevant]
    return ScreenerAccuracy(
        name=name,
        sensitivity=share(sum(relevant), len(relevant)),
        specificity=share(len(irrelevant) - sum(irrelevant), len(irrelevant)),
    )


class Ranker:
    """The records of a review as features, and their order by what was decided.

    Features are words and pairs of words (TF-IDF); the classifier is a logistic regression whose classes
    weigh alike, since few records are included. The same records and decisions give the same order.
    Vectors of the encoder beside the words were measured on three reviews: records read for 95 % of those
    included were 18 points more, 1 more and 5 fewer, at some 0.2 s of processor a record, so that words serve
    alone.
    """

    def __init__(self, texts: Sequence[str], protocol: str) -> None:
        """`texts`: title and abstract of each record; `protocol`: its question and criteria as text."""
        from sklearn.feature_extraction.text import TfidfVectorizer  # in a thread: it takes a second

        words = TfidfVectorizer(ngram_range=(1, 2), max_features=MAX_TERMS, sublinear_tf=True)
        features = csr_matrix(words.fit_transform([*texts, protocol]))
        self._features, self._protocol = features[:-1], features[-1]

    def scores(self, decisions: Mapping[int, bool]) -> NDArray[np.float64]:
        """Score each record, higher for what is likelier to be included; `decisions`: place -> included."""
        included = sum(decisions.values())
        if included in (0, len(decisions)):
            return np.asarray((self._features @ self._protocol.T).todense()).ravel()
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        places = sorted(decisions)
        model = LogisticRegression(class_weight="balanced", C=1.0, max_iter=200, solver="liblinear")
        with threadpool_limits(limits=1):  # threads wait for each other longer than they work
            model.fit(self._features[places], [decisions[place] for place in places])
        return np.asarray(model.decision_function(self._features), dtype=np.float64)

    def order(self, decisions: Mapping[int, bool], unread: Sequence[int]) -> list[int]:
        """Order the unread records, the most promising first; records of equal score stay in place."""
        scores = self.scores(decisions)
        return sorted(unread, key=lambda place: (-scores[place], place))
