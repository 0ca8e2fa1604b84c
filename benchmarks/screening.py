"""Is the recall that a review states true, and how much reading does stopping save?

    python -m benchmarks.screening FOLDER [--orders 200] [--sample 100] [--review NAME ...] [--seed TEXT]

FOLDER holds `NAME.jsonl.gz` (records with `title`, `abstract`, `included`) and `NAME.review.json` (`title`,
`criteria`). Each order is one simulated review: a person labels a random sample, two independent screeners
of a given sensitivity and specificity read in the learnt order, a person who is right decides where they
disagree, and the rule of `activities.review.stopping` stops. Printed: the share of reviews whose stated
recall is true, the records that were not read, and, for the order alone, the share of records read for 95 %
of those included beside the order by BM25 and a random one.
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import bm25s

from activities.review.accuracy import missed, mistaken, share
from activities.review.course import Course
from activities.review.ranking import Ranker
from activities.review.screening import after_batch

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


def load(folder: Path, names: Sequence[str]) -> Iterator[Review]:
    for path in sorted(folder.glob("*.review.json")):
        about = json.loads(path.read_text("utf-8"))
        name = path.name.removesuffix(".review.json")
        if names and name not in names:
            continue
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        yield Review(
            name,
            f"{about['title']}. {about['criteria']}",
            tuple(f"{row['title']}. {row['abstract']}" for row in rows),
            tuple(bool(row["included"]) for row in rows),
        )


class Pair:
    """Two screeners who err independently, and a person who decides where they differ."""

    def __init__(
        self, truth: Sequence[bool], sensitivity: float, specificity: float, draw: random.Random
    ) -> None:
        self._truth = truth
        self._decisions = [
            [draw.random() < (sensitivity if true else 1 - specificity) for true in truth] for _ in range(2)
        ]

    def decide(self, place: int) -> bool:
        """Decide on a record: what both say, else what the person says."""
        first, second = (own[place] for own in self._decisions)
        return first if first == second else self._truth[place]

    def missed(self, labelled: Sequence[int], read: Sequence[int], found: int) -> list[float]:
        """Compute what both missed, from each one's sensitivity on what is known without it: the records
        that a person labelled, and those that the other one included and that stand."""
        shares = []
        for own, other in (self._decisions, self._decisions[::-1]):
            known = {place for place in labelled if self._truth[place]}
            known |= {place for place in read if other[place] and self.decide(place)}
            shares.append(share(sum(own[place] for place in known), len(known)))
        return missed(found, shares)

    def mistaken(self, read: Sequence[int]) -> int:
        """Compute how many records both included by mistake."""
        first, second = self._decisions
        only_first = sum(first[place] and not second[place] and not self._truth[place] for place in read)
        only_second = sum(second[place] and not first[place] and not self._truth[place] for place in read)
        return mistaken(
            only_first, only_second, sum(not first[place] and not second[place] for place in read)
        )


@dataclass(frozen=True, slots=True)
class Simulated:
    stated: float
    reached: float
    saved: float
    stopped: bool


def simulate(
    review: Review, ranker: Ranker, screeners: tuple[float, float], sample: int, seed: str
) -> Simulated:
    """Screen a review once."""
    draw = random.Random(seed)
    truth = review.included
    total = len(truth)
    labelled = draw.sample(range(total), min(sample, total))
    pair = Pair(truth, *screeners, draw)
    decisions = {place: truth[place] for place in labelled}
    found = sum(decisions.values())
    course = Course(total=total, read=len(labelled), found=found)
    batch = max(10, total // 20)
    screened: list[int] = []
    while course.phase != "done":
        unread = [place for place in range(total) if place not in decisions]
        if course.phase == "ranked":
            chosen = ranker.order(decisions, unread)[:batch]
        else:
            chosen = draw.sample(unread, course.until_look)
        decided = [pair.decide(place) for place in chosen]
        decisions |= dict(zip(chosen, decided, strict=True))
        screened += chosen
        wrong = pair.mistaken(screened)
        relevant = max(0, sum(decisions[place] for place in screened) - wrong)
        course = after_batch(course, decided, pair.missed(labelled, screened, relevant), wrong)
    reached = sum(decisions[place] and truth[place] for place in decisions) / sum(truth)
    assert course.recall is not None
    return Simulated(course.recall, reached, course.left / total, course.left > 0)


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
    options = parser.parse_args()
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
            runs = [
                simulate(review, ranker, screeners, options.sample, f"{options.seed}/{number}")
                for number in range(options.orders)
            ]
            total += runs
            print(f"  screeners {screeners[0]:.3f}/{screeners[1]:.3f}: {summary(runs)}", flush=True)
    print(f"all: {summary(total)}")
    if sum(run.reached >= run.stated for run in total) < PROMISED * len(total):
        raise SystemExit(1)


def summary(runs: Sequence[Simulated]) -> str:
    """Describe runs: how often the stated recall is true, what it is on average, what was not read."""
    true = sum(run.reached >= run.stated for run in runs) / len(runs)
    stopped = [run for run in runs if run.stopped]
    saved = sum(run.saved for run in stopped) / len(stopped) if stopped else 0.0
    return (
        f"stated recall true {true:6.1%}, stated {sum(r.stated for r in runs) / len(runs):.3f}, reached "
        f"{sum(r.reached for r in runs) / len(runs):.3f}, stopped early {len(stopped) / len(runs):4.0%}, "
        f"saved then {saved:5.1%}, in all {sum(r.saved for r in runs) / len(runs):5.1%}"
    )


if __name__ == "__main__":
    main()
