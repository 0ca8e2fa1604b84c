"""The course of screening titles and abstracts: what is read next, and when it ends."""

from collections.abc import Sequence

from activities.review.course import Course, Drawn
from activities.review.stopping import ERROR, Look, Sample, looks, probability_below, stated_recall

QUIET_SHARE = 0.05
"""Share of all records that have to follow each other without an included one before a sample is drawn."""
MIN_QUIET = 20
"""Records of such a row at least."""


def after_batch(
    course: Course, included: Sequence[bool], missed: Sequence[float], mistaken: int = 0
) -> Course:
    """Take in the decisions on a batch in the order of reading, and decide what follows.

    `missed`: the probabilities that screeners missed 0, 1, 2, ... records; `mistaken`: how many of the
    included are so by a mistake of all screeners (`activities.review.accuracy`).
    """
    course = course.replace(mistaken=min(mistaken, course.found + sum(included)))
    quiet = course.quiet
    for one in included:
        quiet = 0 if one else quiet + 1
    course = course.replace(read=course.read + len(included), found=course.found + sum(included), quiet=quiet)
    if course.sample is not None:
        drawn = course.sample
        drawn = drawn.replace(drawn=drawn.drawn + len(included), relevant=drawn.relevant + sum(included))
        return _look(course.replace(sample=drawn), missed)
    if course.left == 0:
        return _ended(course, Sample(0, 0, 0), missed, 1.0)
    if quiet >= max(MIN_QUIET, QUIET_SHARE * course.total):
        planned = tuple((look.drawn, look.error) for look in looks(course.left, course.relevant, missed))
        return course.replace(sample=Drawn(left=course.left, looks=planned), phase="sample")
    return course


def _look(course: Course, missed: Sequence[float]) -> Course:
    """Make the test where the sample has reached a look."""
    drawn = course.sample
    assert drawn is not None
    if course.until_look > 0:
        return course
    look = Look(*drawn.looks[drawn.passed])
    sample = Sample(drawn.left, drawn.drawn, drawn.relevant)
    if course.left == 0 or probability_below(course.relevant, sample, missed) <= look.error:
        return _ended(course, sample, missed, look.error)
    return course.replace(sample=drawn.replace(passed=drawn.passed + 1))


def _ended(course: Course, sample: Sample, missed: Sequence[float], error: float) -> Course:
    return course.replace(
        phase="done", recall=stated_recall(course.relevant, sample, missed, min(error, ERROR))
    )
