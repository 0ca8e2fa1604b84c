"""Is the recall that a review states true, and how much reading does stopping save?

    python -m benchmarks.screening FOLDER [--orders 200] [--sample 100] [--review NAME ...] [--seed TEXT]
        [--runs FILE]

FOLDER holds `NAME.jsonl.gz` (records with `title`, `abstract`, `included`) and `NAME.review.json` (`title`,
`criteria`). Each order is one simulated review by `activities.review.rounds`: a person labels a random
sample, two independent screeners of a given sensitivity and specificity read in the learnt order, a person
who is right decides where they differ and confirms what both include of the sample that ends it, and the
product's rule stops. FILE keeps the rounds of each order as a line: they do not depend on the rule, so that
another rule is measured on them in a minute. Printed, the smallest review first: the share of reviews whose
stated recall is true with its exact interval, the records that were not read, of all reviews and of those in
which something could be saved (reading all would show a recall of 95 %), and, for the order alone, the share
of records read for 95 % of those included beside the order by BM25 and a random one.
"""

import argparse
import gzip
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

import bm25s

from activities.review.decisions import Marks
from activities.review.rounds import (
    MIN_ROUND,
    ROUND_SHARE,
    Ranker,
    draw_sample,
    next_round,
    restated,
)
from activities.review.state import Course
from activities.review.stopping import TARGET, share

SCREENERS = ((0.967, 0.979), (0.9, 0.9), (0.82, 0.98))
"""Sensitivity and specificity: a language model and two people (otto-SR), and between them."""
PROMISED = 0.95
"""Share of reviews whose stated recall has to be true."""


@dataclass(frozen=True, slots=True)
class Review:
    name: str
    protocol: str
    texts: tuple[str, ...]
    included: tuple[bool, ...]


def load(folder: Path, names: Sequence[str]) -> list[Review]:
    """Read the reviews of a folder, the smallest first."""
    reviews = []
    for path in folder.glob("*.review.json"):
        about = json.loads(path.read_text("utf-8"))
        name = path.name.removesuffix(".review.json")
        if names and name not in names:
            continue
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        review = Review(
            name,
            f"{about['title']}. {about['criteria']}",
            tuple(f"{row['title']}. {row['abstract']}" for row in rows),
            tuple(bool(row["included"]) for row in rows),
        )
        reviews.append(review)
    return sorted(reviews, key=lambda review: len(review.texts))


@dataclass(frozen=True, slots=True)
class Simulated:
    stated: float
    reached: float
    saved: float
    shows: bool
    """Reading all records would show the recall that is asked for."""


def simulate(
    review: Review,
    ranker: Ranker,
    screeners: tuple[float, float],
    sample: int,
    seed: str,
    rounds: list[list[int]],
) -> Simulated:
    """Screen a review once by the product's own rounds.

    A person labels a random sample; two screeners err independently; a person who is right decides where they
    differ. `rounds`: those that were read before in the learnt order; further ones are added.
    """
    draw = random.Random(seed)
    truth, total = review.included, len(review.included)
    sensitivity, specificity = screeners
    right = ["i" if true else "e" for true in truth]
    letters = [
        "".join("i" if draw.random() < (sensitivity if t else 1 - specificity) else "e" for t in truth)
        for _ in range(2)
    ]
    marks = decided(Marks.of(total), draw_sample(total, sample, seed), letters, right)
    marks = marks.with_labels({place: right[place] for place in draw_sample(total, sample, seed)})
    course = Course(total=total)

    def order(decisions: Mapping[int, bool], unread: Sequence[int]) -> list[int]:
        if course.number == len(rounds):
            size = max(MIN_ROUND, total // ROUND_SHARE)
            rounds.append([int(place) for place in ranker.order(decisions, unread)[:size]])
        return rounds[course.number]

    while course.phase != "done":
        course, _ = next_round(course, marks, order, seed)
        marks = decided(marks.confirming(course.drawn), course.batch, letters, right)
    everything = decided(marks, [n for n in range(total) if marks.state(n) == "open"], letters, right)
    whole = restated(course, everything).recall
    states = marks.states()
    found = sum(true and state == "included" for true, state in zip(truth, states, strict=True))
    assert course.recall is not None
    assert whole is not None
    return Simulated(course.recall, found / sum(truth), course.left / total, whole >= TARGET)


def decided(marks: Marks, batch: Sequence[int], letters: Sequence[str], right: Sequence[str]) -> Marks:
    """Return the marks once both screeners, and where it is asked for the person, have decided on a batch."""
    first, second = letters
    marks = marks.with_screener(0, {place: first[place] for place in batch})
    marks = marks.with_screener(1, {place: second[place] for place in batch})
    return marks.with_words({place: right[place] for place in batch if marks.state(place) == "conflict"})


def read_for(order: Sequence[int], truth: Sequence[bool], recall: float = 0.95) -> float:
    """Compute the share of records that are read in an order until so many of the included are found."""
    found, wanted = 0, recall * sum(truth)
    for number, place in enumerate(order, start=1):
        found += truth[place]
        if found >= wanted:
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
    parser.add_argument("folder", type=Path)
    parser.add_argument("--orders", type=int, default=200)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--review", nargs="*", default=[])
    parser.add_argument("--seed", default="screening")
    parser.add_argument("--runs", type=Path)
    options = parser.parse_args()
    runs = Runs(options.runs)
    total: list[Simulated] = []
    print("read until 95 % of the included are found: learnt order, BM25, random")
    for review in load(options.folder, options.review):
        ranker = Ranker(review.texts, review.protocol)
        by_chance = list(range(len(review.texts)))
        random.Random(options.seed).shuffle(by_chance)
        orders = (learnt_order(review, ranker), words_order(review), by_chance)
        shares = "  ".join(f"{read_for(order, review.included):6.1%}" for order in orders)
        print(
            f"{review.name:<20} {len(review.texts):>5} records, {sum(review.included):>3} included   {shares}"
        )
        for screeners in SCREENERS:
            row = [
                runs.simulate(
                    f"{review.name}/{screeners[0]}/{screeners[1]}/{options.sample}/{seed}",
                    partial(simulate, review, ranker, screeners, options.sample, seed),
                )
                for seed in (f"{options.seed}/{number}" for number in range(options.orders))
            ]
            total += row
            print(f"  screeners {screeners[0]:.3f}/{screeners[1]:.3f}: {summary(row)}", flush=True)
    print(f"all: {summary(total)}")
    if sum(run.reached >= run.stated for run in total) < PROMISED * len(total):
        raise SystemExit(1)


class Runs:
    """The rounds of simulated reviews by their names, kept in a file where one is given."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        kept = path.read_text("utf-8").splitlines() if path and path.exists() else []
        self.by_name: dict[str, list[list[int]]] = dict(map(json.loads, kept))

    def simulate(self, name: str, run: Callable[[list[list[int]]], Simulated]) -> Simulated:
        rounds = self.by_name.setdefault(name, [])
        before = len(rounds)
        made = run(rounds)
        if self.path and len(rounds) > before:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, rounds]) + "\n")
        return made


def summary(runs: Sequence[Simulated]) -> str:
    """Describe runs: how often the stated recall is true, what it is on average, what was not read."""

    def mean(values: Iterable[float]) -> float:
        return fmean([*values] or [0.0])

    true = share(sum(run.reached >= run.stated for run in runs), len(runs))
    return (
        f"{len(runs)} orders, stated recall true {true.hits / len(runs):6.1%} "
        f"({true.low:.1%} to {true.high:.1%}), stated "
        f"{mean(run.stated for run in runs):.3f}, reached {mean(run.reached for run in runs):.3f}, saved "
        f"{mean(run.saved for run in runs):5.1%}; 95 % can be shown {mean(run.shows for run in runs):4.0%}, "
        f"saved then {mean(run.saved for run in runs if run.shows):5.1%}"
    )


if __name__ == "__main__":
    main()
