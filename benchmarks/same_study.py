"""Precision and recall of the matcher that joins reports of one study by meaning.

    python -m benchmarks.same_study [--floor 0.80]

The works are those of the bundled sample, all taken as of one year and without identifiers, so that every
pair is compared and each that is joined is wrong. What is to be joined: each work beside itself with another
title (the last sentence of its text) and without its last sentence, as another source has it. One line a
threshold: wrong pairs of how many, works joined with their other form of how many.
"""

import argparse
import gzip
import json

import numpy as np

from activities.contracts.evidence import Evidence
from activities.report.works import MIN_COSINE, opening
from activities.text.embeddings import embedder
from benchmarks.corpus import SAMPLE


def sample() -> list[Evidence]:
    """The works of the bundled sample."""
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [
        Evidence(
            evidence_id=f"pmid:{record['pmid']}",
            source="library",
            title=record["title"],
            text=" ".join(record["abstract"].split()),
        )
        for record in records
    ]


def other_form(item: Evidence) -> Evidence:
    """The work with its last sentence as its title."""
    *most, last = item.text.rstrip(". ").split(". ")
    return item.replace(title=last, text=". ".join(most) or item.text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--floor", type=float, default=0.80)
    floor = parser.parse_args().floor
    encoder = embedder()
    assert encoder is not None, "the encoder is not installed"
    works = sample()
    own = encoder.encode([opening(item) for item in works])
    reworded = encoder.encode([opening(other_form(item)) for item in works])
    between = (own @ own.T)[np.triu_indices(len(works), 1)]
    same = (own * reworded).sum(axis=1)
    for threshold in sorted({*np.arange(floor, 1.0, 0.02).round(2), MIN_COSINE}):
        wrong, found = int((between >= threshold).sum()), int((same >= threshold).sum())
        chosen = "  <- MIN_COSINE" if threshold == MIN_COSINE else ""
        print(f"{threshold:.2f}: {wrong} of {len(between)} wrong, {found} of {len(same)} found{chosen}")


if __name__ == "__main__":
    main()
