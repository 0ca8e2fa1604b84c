"""Rounds of screening: what was decided in a round, how well each screener decided, and what is read next.

Between two rounds nothing is decided but here: the records that are settled feed the learnt order and the
rule for stopping (`activities.review.screening`).
"""

import random
from collections.abc import Callable, Mapping, Sequence

from activities.review.accuracy import Accuracy, accuracy, missed, mistaken, share
from activities.review.course import Course, Rate, Round, ScreenerAccuracy
from activities.review.decisions import OPEN, Marks
from activities.review.screening import after_batch
from activities.review.stopping import ERROR, Sample, stated_recall

MIN_ROUND = 10
ROUND_SHARE = 20
"""A round is this part of all records."""

Order = Callable[[Mapping[int, bool], Sequence[int]], list[int]]
"""(record -> included, unread records) -> the unread ones, the most promising first."""


def begin(total: int, first: int = 0) -> Round:
    """The round before the first one."""
    return Round(course=Course(total=total - first), first=first)


def is_settled(marks: Marks, records: Sequence[int]) -> bool:
    return all(marks.state(record) in ("included", "excluded") for record in records)


def next_round(
    now: Round,
    marks: Marks,
    order: Order,
    seed: str,
    measured: tuple[bool, bool] = (True, True),
    *,
    read_all: bool = False,
) -> tuple[Round, list[int]]:
    """Take in a settled round and choose the next; also the whole order of what is unread. `measured`:
    whether the labels say how well a screener decides, which they do not where that person made them.
    `read_all`: nothing is left unread."""
    pool = range(now.first, marks.total)
    settled = {record: marks.state(record) == "included" for record in pool if is_settled(marks, (record,))}
    before = [record for record in settled if record not in set(now.batch)]
    course = now.course.replace(
        total=len(pool), read=len(before), found=sum(settled[record] for record in before)
    )
    if read_all:
        course = course.replace(quiet=-len(pool))  # no row of excluded records is long enough to stop
    unseen = _missed(marks, settled, measured)
    if now.batch or course.read == course.total:
        wrong = _mistaken(marks, settled)
        course = after_batch(course, [settled[record] for record in now.batch], unseen, wrong)
    unread = [record for record in pool if record not in settled]
    ordered = order(settled, unread)
    chosen: Sequence[int] = ()
    drawn = now.drawn
    if course.phase == "ranked":
        chosen = ordered[: max(MIN_ROUND, len(pool) // ROUND_SHARE)]
    elif course.phase == "sample":
        chosen = random.Random(f"{seed}/{now.number}").sample(unread, min(course.until_look, len(unread)))
        drawn = (*drawn, *chosen)
    return now.replace(course=course, batch=tuple(chosen), drawn=drawn, number=now.number + 1), ordered


def restated(now: Round, marks: Marks, measured: tuple[bool, bool] = (True, True)) -> Round:
    """The end of screening after a decision was overruled: the same reading, another stated recall."""
    pool = range(now.first, marks.total)
    settled = {record: marks.state(record) == "included" for record in pool if is_settled(marks, (record,))}
    wrong = min(_mistaken(marks, settled), sum(settled.values()))
    relevant = sum(settled.values()) - wrong
    left = len(pool) - len(settled) + len(now.drawn)
    sample = Sample(left, len(now.drawn), sum(settled.get(record, False) for record in now.drawn))
    if len(settled) == len(pool):
        sample = Sample(0, 0, 0)
    recall = stated_recall(relevant, sample, _missed(marks, settled, measured), ERROR)
    found = sum(settled.values())
    course = now.course.replace(found=found, mistaken=wrong, read=len(settled), recall=recall)
    return now.replace(course=course)


def sample_size(total: int, half_width: float) -> int:
    """Compute how many records of `total` are labelled, so that half of the interval of any share of them is
    at most `half_width`."""
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
    """Compare a screener's letters with a person's labels."""
    truth = {str(n): letter == "i" for n, letter in enumerate(labels) if letter in "ie"}
    decided = {str(n): letter != "e" for n, letter in enumerate(own) if letter != OPEN}
    made: Accuracy = accuracy(decided, truth)
    return ScreenerAccuracy(
        name=name,
        sensitivity=Rate.model_validate(made.sensitivity, from_attributes=True),
        specificity=Rate.model_validate(made.specificity, from_attributes=True),
    )


def _missed(marks: Marks, settled: Mapping[int, bool], measured: tuple[bool, bool]) -> list[float]:
    """Compute what both screeners missed, from each one's sensitivity on what is known without them: what a
    person labelled as included, and what the other one included and stands."""
    screened = {record for record in settled if marks.labels[record] == OPEN}
    shares = []
    for own, other, counts in zip(
        (marks.first, marks.second), (marks.second, marks.first), measured, strict=True
    ):
        known = {record for record in screened if settled[record] and other[record] == "i"}
        if counts:
            known |= {record for record in settled if marks.labels[record] == "i" and own[record] != OPEN}
        shares.append(share(sum(own[record] != "e" for record in known), len(known)))
    found = sum(settled[record] for record in screened)
    return missed(max(0, found - _mistaken(marks, settled)), shares)


def _mistaken(marks: Marks, settled: Mapping[int, bool]) -> int:
    """Compute how many records both included by mistake."""
    pairs = [
        marks.first[record] + marks.second[record]
        for record, included in settled.items()
        if not included and marks.labels[record] == OPEN
    ]
    return mistaken(pairs.count("ie"), pairs.count("ei"), pairs.count("ee"))
