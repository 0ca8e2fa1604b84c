"""How often is an answer right at the confidence that a report states? A table of reliability.

    python -m benchmarks.confidence --corpus pqal.json [--works 1 2 3 6]

The labels are those of PubMedQA (yes, no or maybe for each question), the reader is drawn: where the answer
is yes or no it reads a direction rightly with the measured probability (`READ`), where it is neither it takes
the same one of both from every work, as one model does that does not see "maybe". Each question is read from
one or several works of the strongest kind. An answer is right when the side with more works is the label. The
second table is the same sum without the ceiling of what all works share (`JudgeAssessment.carried`).

What it cannot show: how much less other kinds of study carry (`WEIGHT`) and works that answer in part
(`IN_PART`) are our own settings, and readings of one question are drawn independently of each other.
"""

import argparse
import gzip
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

from activities.contracts.evidence import EvidenceRef
from activities.contracts.judge import Direction, WorkJudgement
from activities.roles.assessment import DEFINITE, READ, confidence

BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 1.0)
DRAWS = 20
"""Draws for each question and number of works."""


def labels(path: Path) -> list[str]:
    """The label of each question of a file of PubMedQA's distribution."""
    raw = path.read_bytes()
    rows = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    return [row["final_decision"] for row in rows.values()]


def readings(label: str, works: int, chooser: random.Random) -> list[Direction]:
    """The directions that are read from the works of a question."""
    if label not in ("yes", "no"):
        return [chooser.choice(("yes", "no"))] * works
    right = [chooser.random() < READ for _ in range(works)]
    return ["yes" if one == (label == "yes") else "no" for one in right]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--works", type=int, nargs="+", default=[1, 2, 3, 6])
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chooser = random.Random(given.seed)
    every = labels(given.corpus)
    known = Counter(label in ("yes", "no") for label in every)
    print(f"{len(every)} questions, answer yes or no: {known[True] / len(every):.3f} (DEFINITE {DEFINITE})")
    refs = {
        str(n): EvidenceRef(
            evidence_id=str(n), blob=str(n), source="", title=str(n), evidence_type="meta_analysis", chars=0
        )
        for n in range(max(given.works))
    }
    stated: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    summed: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for label in every:
        for works in given.works * DRAWS:
            sides = readings(label, works, chooser)
            judged = [WorkJudgement(evidence_id=str(n), answers=3, direction=s) for n, s in enumerate(sides)]
            value, carried, _ = confidence(judged, refs)
            right = Counter(sides).most_common(1)[0][0] == label
            for rows, one in ((stated, value), (summed, carried)):
                rows[next(n for n, bound in enumerate(BINS[1:]) if one <= bound)].append((one, right))
    for name, rows in (("stated", stated), ("without the ceiling", summed)):
        print(f"| {name} | answers | mean confidence | right |\n|---|---|---|---|")
        for place in sorted(rows):
            own = rows[place]
            mean, share = sum(v for v, _ in own) / len(own), sum(r for _, r in own) / len(own)
            print(f"| {BINS[place]:.0%} to {BINS[place + 1]:.0%} | {len(own)} | {mean:.0%} | {share:.0%} |")


if __name__ == "__main__":
    main()
