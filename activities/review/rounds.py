"""Rounds of screening: what was decided in a round, how well each screener decided, and what is read next.

Between two rounds nothing is decided but here: the records that are settled feed the learnt order and the
rule for stopping.
"""

import random
from collections.abc import Callable, Mapping, Sequence

from activities.review.decisions import OPEN, Marks
from activities.review.state import Course, Sample, ScreenerAccuracy
from activities.review.stopping import (
    ERROR,
    missed,
    mistaken,
    planned,
    probability_below,
    share,
    stated_recall,
)

MIN_ROUND = 10
ROUND_SHARE = 20
"""A round is this part of all records."""
QUIET_SHARE = 0.05
"""Share of all records that have to follow each other without an included one before a sample is drawn."""
MIN_QUIET = 20
"""Records of such a row at least."""

Order = Callable[[Mapping[int, bool], Sequence[int]], list[int]]
"""(record -> included, unread records) -> the unread ones, the most promising first."""
Measured = tuple[bool, bool]
"""Whether the labels say how well each screener decides, which they do not where that person made them."""


def next_round(
    now: Course,
    marks: Marks,
    order: Order,
    seed: str,
    measured: Measured = (True, True),
    *,
    read_all: bool = False,
) -> tuple[Course, list[int]]:
    """Take in a settled round and choose the next; also the whole order of what is unread.

    `read_all`: nothing is left unread.
    """
    course, settled = _counted(now, marks)
    if now.batch or not course.left:
        included = [settled[record] for record in now.batch]
        course = after_batch(course, included, _missed(course, marks, settled, measured), read_all=read_all)
    unread = [record for record in range(now.first, marks.total) if record not in settled]
    ordered = order(settled, unread)
    chosen: Sequence[int] = ()
    drawn = now.drawn
    if course.phase == "ranked":
        chosen = ordered[: max(MIN_ROUND, course.total // ROUND_SHARE)]
    elif course.phase == "sample":
        chosen = random.Random(f"{seed}/{now.number}").sample(unread, min(course.until_look, len(unread)))
        drawn = (*drawn, *chosen)
    return course.replace(batch=tuple(chosen), drawn=drawn, number=now.number + 1), ordered


def after_batch(
    course: Course, included: Sequence[bool], missed: Sequence[float], *, read_all: bool = False
) -> Course:
    """Decide what follows the decisions on a batch, which the course counts already.

    `included`: in the order of reading; `missed`: the probabilities that screeners missed 0, 1, 2, ...
    """
    quiet = course.quiet
    for one in included:
        quiet = 0 if one else quiet + 1
    course = course.replace(quiet=quiet)
    if (sample := course.sample) is not None:
        sample = sample.replace(drawn=sample.drawn + len(included), relevant=sample.relevant + sum(included))
        course = course.replace(sample=sample)
        if course.until_look > 0:
            return course
        _, error = sample.looks[sample.passed]
        if course.left == 0 or probability_below(course.relevant, sample, missed) <= error:
            return _ended(course, sample, missed, error)
        return course.replace(sample=sample.replace(passed=sample.passed + 1))
    if course.left == 0:
        return _ended(course, Sample(left=0), missed)
    if not read_all and quiet >= max(MIN_QUIET, QUIET_SHARE * course.total):
        return course.replace(sample=planned(course.left, course.relevant, missed), phase="sample")
    return course


def restated(now: Course, marks: Marks, measured: Measured = (True, True)) -> Course:
    """State the recall of screening that has ended again, after a decision was overruled."""
    course, settled = _counted(now, marks)
    sample = Sample(left=0)
    if course.left:
        relevant = sum(settled.get(record, False) for record in now.drawn)
        sample = Sample(left=course.left + len(now.drawn), drawn=len(now.drawn), relevant=relevant)
    return _ended(course, sample, _missed(course, marks, settled, measured))


def _ended(course: Course, sample: Sample, missed: Sequence[float], error: float = ERROR) -> Course:
    return course.replace(
        phase="done", recall=stated_recall(course.relevant, sample, missed, min(error, ERROR))
    )


def sample_size(total: int, half_width: float) -> int:
    """Compute how many records of `total` are labelled, for intervals of at most twice `half_width`."""
    low, high = 1, max(total, 1)
    while low < high:
        middle = (low + high) // 2
        widest = share(middle // 2, middle)
        if (widest.high - widest.low) / 2 <= half_width:
            high = middle
        else:
            low = middle + 1
    return min(low, total)


def draw_sample(total: int, size: int, seed: str) -> tuple[int, ...]:
    """Draw the records that a person labels."""
    return tuple(random.Random(f"{seed}/labels").sample(range(total), min(size, total)))


def accuracy_of(name: str, own: str, labels: str) -> ScreenerAccuracy:
    """Compare a screener's letters with a person's labels; a record counts where both have decided."""
    pairs = [
        (letter != "e", label == "i")
        for letter, label in zip(own, labels, strict=True)
        if letter != OPEN and label in "ie"
    ]
    relevant = [decided for decided, true in pairs if true]
    others = [decided for decided, true in pairs if not true]
    return ScreenerAccuracy(
        name=name,
        sensitivity=share(sum(relevant), len(relevant)),
        specificity=share(len(others) - sum(others), len(others)),
    )


def _counted(now: Course, marks: Marks) -> tuple[Course, dict[int, bool]]:
    """Count what is settled; also which of these records are included."""
    pool = range(now.first, marks.total)
    states = ((record, marks.state(record)) for record in pool)
    settled = {record: state == "included" for record, state in states if state in ("included", "excluded")}
    found = sum(settled.values())
    pairs = [
        marks.first[record] + marks.second[record]
        for record, included in settled.items()
        if not included and marks.labels[record] == OPEN
    ]
    wrong = min(mistaken(pairs.count("ie"), pairs.count("ei"), pairs.count("ee")), found)
    return now.replace(total=len(pool), read=len(settled), found=found, mistaken=wrong), settled


def _missed(course: Course, marks: Marks, settled: Mapping[int, bool], measured: Measured) -> list[float]:
    """Compute what both screeners missed, from each one's sensitivity on what is known without them.

    That is what a person labelled as included, and what the other one included and stands.
    """
    screened = [record for record in settled if marks.labels[record] == OPEN]
    shares = []
    for place, counts in enumerate(measured):
        own, other = marks.of_screener(place), marks.of_screener(1 - place)
        known = {record for record in screened if settled[record] and other[record] == "i"}
        if counts:
            known |= {record for record in settled if marks.labels[record] == "i" and own[record] != OPEN}
        shares.append(share(sum(own[record] != "e" for record in known), len(known)))
    found = sum(settled[record] for record in screened)
    return missed(max(0, found - course.mistaken), shares)
