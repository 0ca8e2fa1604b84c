"""Screening stops only where few relevant records can be left, and the recall that is stated is true."""

import random

import pytest

from activities.review.rounds import after_batch
from activities.review.state import Course, Sample
from activities.review.stopping import (
    ERROR,
    missed,
    mistaken,
    planned,
    probability_below,
    share,
    stated_recall,
)


def test_an_interval_is_that_of_clopper_and_pearson() -> None:
    # Clopper and Pearson's limits for 10 of 10 and 4 of 20, from tables
    assert (round(share(10, 10).low, 4), share(10, 10).high) == (0.6915, 1.0)
    assert [round(value, 4) for value in (share(4, 20).low, share(4, 20).high)] == [0.0573, 0.4366]
    assert (share(0, 0).low, share(0, 0).high) == (0.0, 1.0)
    with pytest.raises(ValueError, match="no share"):
        share(3, 2)


def test_what_screeners_miss_together_grows_with_what_each_misses() -> None:
    good, poor = missed(90, [share(88, 91)] * 2), missed(90, [share(73, 89)] * 2)
    assert sum(good) == pytest.approx(1, abs=1e-5)
    assert good[0] > 0.7 > 0.2 > poor[0]
    assert mistaken(86, 86, 755) == 10
    assert mistaken(3, 2, 0) == 0


def drawn_of_700(drawn: int) -> Sample:
    return Sample(left=700, drawn=drawn)


def test_a_sample_that_holds_no_relevant_record_shows_recall_only_when_it_is_large() -> None:
    chances = [probability_below(93, drawn_of_700(drawn)) for drawn in (100, 300, 500, 700)]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 0.4
    assert chances[-1] == 0.0
    assert stated_recall(93, drawn_of_700(500)) > stated_recall(93, drawn_of_700(100))
    assert probability_below(93, drawn_of_700(690), missed(90, [share(73, 89)] * 2)) > ERROR


def test_looks_are_fixed_beforehand_and_end_with_all_records() -> None:
    looks = planned(700, 93).looks
    assert looks[-1][0] == 700
    assert sum(error for _, error in looks[:-1]) <= ERROR
    assert [drawn for drawn, _ in looks] == sorted({drawn for drawn, _ in looks})


def after(course: Course, included: list[bool]) -> Course:
    read, found = course.read + len(included), course.found + sum(included)
    return after_batch(course.replace(read=read, found=found), included, [1.0])


@pytest.mark.parametrize("share_relevant", [0.02, 0.1])
def test_the_stated_recall_is_true_in_nineteen_of_twenty_reviews(share_relevant: float) -> None:
    draw, total, right, saved = random.Random(7), 600, 0, 0
    for _ in range(100):
        relevant = int(total * share_relevant)
        # a good order with a tail: most relevant records early, some anywhere
        weights = [draw.betavariate(1, 8) if i < relevant else draw.random() for i in range(total)]
        order = sorted(range(total), key=weights.__getitem__)
        course, read = Course(total=total), 0
        while course.phase == "ranked":
            batch = order[read : read + 20]
            read += len(batch)
            course = after(course, [place < relevant for place in batch])
        left = order[read:]
        draw.shuffle(left)
        while course.phase == "sample":
            size = course.until_look
            batch, left = left[:size], left[size:]
            course = after(course, [place < relevant for place in batch])
        assert course.recall is not None
        right += course.found / relevant >= course.recall
        saved += course.left > 0
    assert right >= 95
    assert saved > 10
