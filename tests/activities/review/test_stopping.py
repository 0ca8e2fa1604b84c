"""Screening stops only where few relevant records can be left, and the recall that is stated is true."""

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from activities.review.decisions import Marks
from activities.review.results import Share
from activities.review.rounds import next_round, restate
from activities.review.state import Course, Sample
from activities.review.stopping import (
    ERROR,
    TARGET,
    Counts,
    Errors,
    errors_of,
    plan_sample,
    probability_below,
    share,
    stated_recall,
)
from benchmarks.screening import Screeners


def test_an_interval_is_that_of_clopper_and_pearson() -> None:
    # Clopper and Pearson's limits for 10 of 10 and 4 of 20, from tables
    assert (round(share(10, 10).low, 4), share(10, 10).high) == (0.6915, 1.0)
    assert [round(value, 4) for value in (share(4, 20).low, share(4, 20).high)] == [0.0573, 0.4366]
    assert (share(0, 0).low, share(0, 0).high) == (0.0, 1.0)
    with pytest.raises(ValueError, match="greater than"):
        share(3, 2)


GOOD, POOR = (88, 91), (73, 89)
"""Records that a screener did not exclude, of those that are relevant."""


def both(hits: int, of: int) -> tuple[Share, Share]:
    """The shares of two screeners who are alike."""
    return share(hits, of), share(hits, of)


def test_what_screeners_miss_together_grows_with_what_each_misses() -> None:
    good, poor = (errors_of(90, both(*shares), Counts()).missed[0] for shares in (GOOD, POOR))
    assert sum(good) == pytest.approx(1, abs=1e-5)
    assert good[0] > 0.7 > 0.2 > poor[0]


def test_a_screener_who_may_have_met_no_relevant_record_leaves_what_was_missed_open() -> None:
    """Both mistakes may be all that it included: then nobody knows how many it missed."""
    errors = errors_of(17, (share(1, 14), share(2, 18)), Counts(agreed=17, only=(20, 30), neither=300))
    assert np.isfinite(errors.missed).all()
    assert 0.0 <= errors.missed[2].sum() < 0.5
    assert errors.missed[0].sum() > errors.missed[1].sum() > errors.missed[2].sum()


def test_what_screeners_include_by_mistake_is_a_distribution_about_its_estimate() -> None:
    counts = Counts(agreed=29, only=(86, 86), neither=755)
    chances = counts.mistakes()
    assert counts.mistaken == pytest.approx(9.8, abs=0.01)
    assert sum(chances) == pytest.approx(1)
    assert sum(chances[:6]) > 0.05
    assert sum(chances[15:]) > 0.05
    assert list(Counts(agreed=5, only=(3, 2)).mistakes()) == [1.0]
    assert sum(Counts(agreed=2, only=(3000, 3000), neither=5000).mistakes()) == pytest.approx(1)


def test_records_included_by_mistake_lower_the_stated_recall_and_each_sensitivity() -> None:
    counts = Counts(agreed=29, only=(86, 86), neither=755)
    shares = share(27, 29), share(27, 29)
    errors = errors_of(33, shares, counts)
    blind = errors_of(33, shares, Counts())
    assert errors.missed[9][0] < blind.missed[0][0]  # 18 of 20 were included, and not 27 of 29
    assert stated_recall(33, Sample(left=0), errors) < stated_recall(33, Sample(left=0), blind)


def drawn_of_700(drawn: int) -> Sample:
    return Sample(left=700, drawn=drawn)


def test_a_sample_that_holds_no_relevant_record_shows_recall_only_when_it_is_large() -> None:
    chances = [probability_below(93, drawn_of_700(drawn)) for drawn in (100, 300, 500, 700)]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 0.4
    assert chances[-1] == 0.0
    assert stated_recall(93, drawn_of_700(500)) > stated_recall(93, drawn_of_700(100))
    assert probability_below(93, drawn_of_700(690), errors_of(90, both(*POOR), Counts())) > ERROR


def test_looks_are_fixed_beforehand_and_end_with_all_records() -> None:
    looks = plan_sample(700, 93).looks
    assert looks[-1] == (700, 700)
    assert [drawn for drawn, _ in looks] == sorted({drawn for drawn, _ in looks})
    assert [included for _, included in looks[:-1]] == list(range(len(looks) - 1))


@pytest.mark.parametrize("found", [12, 45, 93])
def test_looking_often_states_a_recall_that_is_not_reached_in_one_of_twenty_samples_at_most(
    found: int,
) -> None:
    """However many relevant records were left: the order in which all that are left are drawn is random."""
    left, draws = 700, 4_000
    *looks, _ = plan_sample(left, found).looks
    random_order = np.random.default_rng(found).random((draws, left)).argsort(axis=1)
    for relevant in range(found // 19 + 1, found // 19 + 12):
        places = np.sort(random_order[:, :relevant], axis=1)
        open_, wrong = np.ones(draws, bool), 0
        for size, included in looks:
            drawn = (places < size).sum(axis=1)
            ends = open_ & (drawn <= included)
            wrong += int((ends & ((found + drawn) / (found + relevant) < TARGET)).sum())
            open_ &= ~ends
        assert wrong / draws <= ERROR + 0.01, relevant


def test_a_sample_of_forty_five_thousand_records_is_planned_by_a_few_thousand_of_them() -> None:
    looks = plan_sample(45_000, 2_045).looks
    assert looks[1][0] < 4_500
    assert looks[-1] == (45_000, 45_000)


def test_what_screeners_miss_and_what_is_left_are_held_against_each_number_that_may_be_left() -> None:
    """One relevant record may be missing: it is missed by both, or it is left, which is one number."""
    errors = Errors(np.ones(1), np.array([[0.9, 0.1, 0.0]]))
    sample = Sample(left=100, drawn=80)
    none_left, one_left, two_left = 0.0, 0.1 * 0.2, 0.9 * 0.2 * 19 / 99 + 0.1 * 0.2 * 19 / 99
    assert probability_below(19, sample, errors) == pytest.approx(max(none_left, one_left, two_left))


@pytest.mark.parametrize(
    ("found", "in_round", "begins"), [(100, 0, True), (100, 1, False), (400, 2, True), (400, 3, False)]
)
def test_a_sample_begins_where_a_round_brings_few_of_those_that_may_be_missing(
    found: int, in_round: int, *, begins: bool
) -> None:
    """A tenth of those that may be missing may come in a round: of 400 found two, of 100 none."""
    batch = range(1000 - in_round, 1200 - in_round)
    labels = {number: "i" if 1000 - found <= number < 1000 else "e" for number in range(batch.stop)}
    marks = Marks.of(4000).put("label", labels)
    course, _ = next_round(
        Course(total=4000, batch=tuple(batch), number=3), marks, lambda _, unread: list(unread), "seed"
    )
    assert course.phase == ("sample" if begins else "ranked")


def simulated(
    seed: str, searches: Sequence[tuple[int, int]], rates: tuple[float, float], hidden: int = 0
) -> tuple[Course, Marks, float]:
    """Screen a review with a good order that has a tail: most relevant records early, some anywhere.

    `searches`: the records of each, one after the other, and the relevant ones. `hidden`: relevant ones of
    which the order knows nothing until one of them is included.
    """
    truth = [number < relevant for total, relevant in searches for number in range(total)]
    draw = random.Random(seed)
    weights = [draw.betavariate(1, 8) if true else draw.random() for true in truth]
    totals = [total for total, _ in searches]

    def order(decisions: Mapping[int, bool], unread: Sequence[int]) -> list[int]:
        is_known = any(decisions.get(number) for number in range(hidden))
        return sorted(unread, key=lambda number: weights[number] + (number < hidden and not is_known))

    course, marks = Screeners(truth, rates, seed).screen(totals, order, 60, seed)
    found = sum(true and state == "included" for true, state in zip(truth, marks.states(), strict=True))
    return course, marks, found / sum(truth)


def test_a_sample_that_finds_what_the_order_missed_is_followed_by_a_second_one() -> None:
    runs = [simulated(f"hidden/{n}", [(4000, 400)], (0.967, 0.979), hidden=60) for n in range(20)]
    assert sum(reached >= (course.recall or 0) for course, _, reached in runs) >= 19
    seconds = [(course, marks) for course, marks, _ in runs if course.sample and course.sample.start]
    assert len(seconds) >= 5
    assert sum(course.left > 0 for course, _ in seconds) >= 5
    course, marks = next((course, marks) for course, marks in seconds if course.left)
    assert restate(course, marks).recall == course.recall
    assert course.sample is not None
    assert course.all_drawn == course.sample.drawn < len(course.drawn)


@pytest.mark.parametrize(
    ("relevant", "screeners"), [(20, (1.0, 1.0)), (60, (0.967, 0.979)), (20, (0.9, 0.9))]
)
def test_the_stated_recall_is_true_in_nineteen_of_twenty_reviews(
    relevant: int, screeners: tuple[float, float]
) -> None:
    runs = [simulated(f"{relevant}/{screeners}/{n}", [(600, relevant)], screeners) for n in range(20)]
    assert all(course.recall is not None for course, _, _ in runs)
    assert sum(reached >= (course.recall or 0) for course, _, reached in runs) >= 19
    if screeners[0] > 0.95:
        assert sum(course.left > 0 for course, _, _ in runs) > 3
    course, marks, _ = runs[0]
    again = restate(course, marks).recall
    assert again is not None
    assert again >= (course.recall or 0)


@pytest.mark.parametrize("later", [(30, 0), (30, 3), (400, 20)])
def test_the_recall_that_is_stated_after_a_later_search_is_true_of_all_records(
    later: tuple[int, int],
) -> None:
    runs = [simulated(f"{later}/{n}", [(600, 60), later], (0.967, 0.979)) for n in range(20)]
    assert sum(reached >= (course.recall or 0) for course, _, reached in runs) >= 19
    assert all((course.recall or 0) > 0.8 for course, _, _ in runs), "it is not that of the few new ones"
    assert any(course.left > 0 for course, _, _ in runs)
