"""Is the recall that a review states true, and how much reading does stopping save?

    python -m benchmarks.screening FOLDER [--orders 200] [--sample 100] [--review NAME ...] [--seed TEXT]
        [--runs FILE] [--later SHARE]
    python -m benchmarks.screening --drawn 10000 450 1.5 [--orders 200] ...

FOLDER holds `NAME.jsonl.gz` (records with `title`, `abstract`, `included`) and `NAME.review.json` (`title`,
`criteria`). Each order is one simulated review by `activities.review.rounds`: a person labels a random
sample, two independent screeners of a given sensitivity and specificity read in the learnt order, a person
who is right decides where they differ and confirms what both include of the sample that ends it, and the
product's rule stops. FILE keeps the rounds of each order as a line: up to the first sample they do not
depend on the rule, so that another rule is measured on them in a minute. SHARE of the records, drawn at
random, come by a later search, when the first ones were screened. `--drawn` makes up a review of so many
records, so many of them included, whose order is drawn in the place of a learnt one: the scores of both
kinds are normal, their means so many standard deviations apart. Printed, the smallest review first: the
share of reviews whose stated recall is true with its exact interval, the records that were not read, of all
reviews and of those in which something could be saved (reading all would show a recall of 95 %), and, for
the order alone, the share of records read for 95 % of those included beside the order by BM25 and a random
one.
"""

import argparse
import gzip
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from statistics import fmean

import bm25s

from activities.review.decisions import Marks
from activities.review.rounds import (
    MIN_ROUND,
    ROUND_SHARE,
    Order,
    Ranker,
    draw_sample,
    next_round,
    restate,
)
from activities.review.state import Course
from activities.review.stopping import TARGET, share

SCREENERS = ((0.967, 0.979), (0.9, 0.9), (0.82, 0.98))
"""Sensitivity and specificity: a language model and two people (otto-SR), and between them."""
PROMISED_SHARE = 0.95
"""Share of reviews whose stated recall has to be true."""


@dataclass(frozen=True, slots=True)
class Review:
    name: str
    protocol: str
    texts: tuple[str, ...]
    included: tuple[bool, ...]


def load(folder: Path, names: Sequence[str], *, shuffled: bool = False) -> list[Review]:
    """Read the reviews of a folder, the smallest first; their records as they stand there, or `shuffled`."""
    reviews = []
    for path in folder.glob("*.review.json"):
        review_data = json.loads(path.read_text("utf-8"))
        name = path.name.removesuffix(".review.json")
        if names and name not in names:
            continue
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        if shuffled:
            random.Random(name).shuffle(rows)
        review = Review(
            name,
            f"{review_data['title']}. {review_data['criteria']}",
            tuple(f"{row['title']}. {row['abstract']}" for row in rows),
            tuple(bool(row["included"]) for row in rows),
        )
        reviews.append(review)
    return sorted(reviews, key=lambda review: len(review.texts))


@dataclass(frozen=True, slots=True)
class Simulation:
    stated: float
    reached: float
    saved: float
    shows: bool
    """Reading all records would show the recall that is asked for."""


class DrawnOrder:
    """The order of a made-up review, which does not depend on what was decided."""

    def __init__(self, included: Sequence[bool], distance: float, seed: str) -> None:
        draw = random.Random(seed)
        self.scores = [draw.gauss(distance * is_relevant) for is_relevant in included]

    def order(self, decisions: Mapping[int, bool], unread: Sequence[int]) -> list[int]:
        return sorted(unread, key=lambda place: -self.scores[place])


class Screeners:
    """Two screeners who err independently, and a person who is right, on the records of a review."""

    def __init__(self, truth: Sequence[bool], rates: tuple[float, float], seed: str) -> None:
        """`rates`: sensitivity and specificity of both."""
        draw, (sensitivity, specificity) = random.Random(seed), rates
        chances = [sensitivity if relevant else 1 - specificity for relevant in truth]
        self.letters = ["i" if relevant else "e" for relevant in truth]
        self.first, self.second = (
            "".join("i" if draw.random() < chance else "e" for chance in chances) for _ in range(2)
        )

    def decide(self, marks: Marks, batch: Sequence[int]) -> Marks:
        """Return the marks once both have decided on a batch, and the person where it is asked for."""
        marks = marks.put("screener", place=0, marks={place: self.first[place] for place in batch})
        marks = marks.put("screener", place=1, marks={place: self.second[place] for place in batch})
        return marks.put("word", {n: self.letters[n] for n in batch if marks.state(n) == "conflict"})

    def screen(self, searches: Sequence[int], order: Order, sample: int, seed: str) -> tuple[Course, Marks]:
        """Screen by the product's own rounds what searches bring one after another, so many records each."""
        total, *later = searches
        sample_records, course = draw_sample(total, sample, seed), Course(total=total)
        marks = self.decide(Marks.of(total), sample_records)
        marks = marks.put("label", {place: self.letters[place] for place in sample_records})
        while True:
            while course.phase != "done":
                course, _ = next_round(course, marks, order, seed)
                marks = self.decide(marks.with_confirmations(course.drawn), course.batch)
            if not later:
                return course, marks
            total, *later = later
            course = Course(total=total, first=marks.total, number=course.number, before=course)
            marks = marks.with_total(marks.total + total)


def simulate(
    review: Review,
    ranker: Ranker | DrawnOrder,
    rates: tuple[float, float],
    sample: int,
    later: int,
    seed: str,
    rounds: list[list[int]],
) -> Simulation:
    """Screen a review once; the last `later` records come by a later search.

    `rounds`: those that were read before in the learnt order; further ones are added.
    """
    truth, total, calls = review.included, len(review.included), count()
    screeners = Screeners(truth, rates, seed)

    def order(decisions: Mapping[int, bool], unread: Sequence[int]) -> list[int]:
        if (number := next(calls)) == len(rounds):
            size = max(MIN_ROUND, total // ROUND_SHARE)
            rounds.append([int(place) for place in ranker.order(decisions, unread)[:size]])
        return rounds[number]

    searches = [total - later, later] if later else [total]
    course, marks = screeners.screen(searches, order, sample, seed)
    states = marks.states()
    hits = sum(is_relevant and state == "included" for is_relevant, state in zip(truth, states, strict=True))
    all_marks = screeners.decide(marks, [n for n, state in enumerate(states) if state == "open"])
    recall = restate(course, all_marks).recall
    assert course.recall is not None
    assert recall is not None
    return Simulation(course.recall, hits / sum(truth), states.count("open") / total, recall >= TARGET)


def share_read(order: Sequence[int], truth: Sequence[bool], recall: float = 0.95) -> float:
    """Compute the share of records that are read in an order until so many of the included are found."""
    hits, target = 0, recall * sum(truth)
    for number, place in enumerate(order, start=1):
        hits += truth[place]
        if hits >= target:
            return number / len(order)
    return 1.0


def learnt_order(review: Review, ranker: Ranker) -> list[int]:
    """Order all records as they are read when every decision is right."""
    decisions: dict[int, bool] = {}
    batch = max(10, len(review.texts) // 40)
    while len(decisions) < len(review.texts):
        unread = [place for place in range(len(review.texts)) if place not in decisions]
        for place in ranker.order(decisions, unread)[:batch]:
            decisions[place] = review.included[place]
    return list(decisions)


def words_order(review: Review) -> list[int]:
    """Order all records by BM25 against the protocol."""
    index = bm25s.BM25()
    index.index(bm25s.tokenize(list(review.texts), stopwords="en", show_progress=False), show_progress=False)
    query = bm25s.tokenize([review.protocol], stopwords="en", show_progress=False, return_ids=False)
    scores = index.get_scores(query[0])
    return sorted(range(len(review.texts)), key=lambda place: (-scores[place], place))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--orders", type=int, default=200)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--review", nargs="*", default=[])
    parser.add_argument("--seed", default="screening")
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--later", type=float, default=0.0)
    parser.add_argument("--drawn", nargs=3, metavar=("RECORDS", "INCLUDED", "APART"))
    options = parser.parse_args()
    runs = Runs(options.runs)
    total: list[Simulation] = []
    print("read until 95 % of the included are found: learnt order, BM25, random")
    if options.drawn:
        records, included = map(int, options.drawn[:2])
        truth = [True] * included + [False] * (records - included)
        random.Random(options.seed).shuffle(truth)
        reviews = [Review(" ".join(options.drawn), "", ("",) * records, tuple(truth))]
    elif options.folder:
        reviews = load(options.folder, options.review, shuffled=options.later > 0)
    else:
        parser.error("Name the folder of the reviews, or draw one by --drawn.")
    for review in reviews:
        later = round(options.later * len(review.texts))
        ranker: Ranker | DrawnOrder
        if options.drawn:
            ranker = DrawnOrder(review.included, float(options.drawn[2]), options.seed)
            orders = [ranker.order({}, range(len(review.texts)))]
        else:
            ranker = Ranker(review.texts, review.protocol)
            random_order = list(range(len(review.texts)))
            random.Random(options.seed).shuffle(random_order)
            orders = [learnt_order(review, ranker), words_order(review), random_order]
        shares = "  ".join(f"{share_read(order, review.included):6.1%}" for order in orders)
        print(
            f"{review.name:<20} {len(review.texts):>5} records, {sum(review.included):>3} included   {shares}"
        )
        for rates in SCREENERS:
            row = [
                runs.simulate(
                    f"{review.name}/{rates[0]}/{rates[1]}/{options.sample}/{seed}{f'/{later}' * bool(later)}",
                    partial(simulate, review, ranker, rates, options.sample, later, seed),
                )
                for seed in (f"{options.seed}/{number}" for number in range(options.orders))
            ]
            total += row
            print(f"  screeners {rates[0]:.3f}/{rates[1]:.3f}: {summary(row)}", flush=True)
    print(f"all: {summary(total)}")
    if sum(run.reached >= run.stated for run in total) < PROMISED_SHARE * len(total):
        raise SystemExit(1)


class Runs:
    """The rounds of simulated reviews by their names, kept in a file where one is given."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text("utf-8").splitlines() if path and path.exists() else []
        self.by_name: dict[str, list[list[int]]] = dict(map(json.loads, lines))

    def simulate(self, name: str, run: Callable[[list[list[int]]], Simulation]) -> Simulation:
        rounds = self.by_name.setdefault(name, [])
        before = len(rounds)
        result = run(rounds)
        if self.path and len(rounds) > before:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, rounds]) + "\n")
        return result


def summary(runs: Sequence[Simulation]) -> str:
    """Describe runs: how often the stated recall is true, what it is on average, what was not read."""

    def mean(values: Iterable[float]) -> float:
        return fmean([*values] or [0.0])

    true_share = share(sum(run.reached >= run.stated for run in runs), len(runs))
    return (
        f"{len(runs)} orders, stated recall true {true_share.hits / len(runs):6.1%} "
        f"({true_share.low:.1%} to {true_share.high:.1%}), stated "
        f"{mean(run.stated for run in runs):.3f}, reached {mean(run.reached for run in runs):.3f}, saved "
        f"{mean(run.saved for run in runs):5.1%}; 95 % can be shown {mean(run.shows for run in runs):4.0%}, "
        f"saved then {mean(run.saved for run in runs if run.shows):5.1%}"
    )


if __name__ == "__main__":
    main()
