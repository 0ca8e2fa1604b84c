"""Two scores into one: words and meaning."""

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

MEANING = 0.35
"""Weight of meaning against words; measured by `benchmarks/retrieval.py`."""


def fuse(lexical: Scores, likeness: Scores, meaning: float = MEANING) -> Scores:
    """A weighted sum of both, each brought to the range from 0 to 1 over the documents at hand.

    The sum rather than reciprocal ranks: it keeps how far ahead the first answer is (Bruch, Gai and Ingber,
    "An analysis of fusion functions for hybrid retrieval", TOIS 2023).
    """
    return (1 - meaning) * _unit(lexical) + meaning * _unit(likeness)


def _unit(scores: Scores) -> Scores:
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)
