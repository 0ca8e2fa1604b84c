"""How much a word says: its information content in general English."""

import math
import threading
from collections.abc import Mapping
from functools import cache, lru_cache

import numpy as np

from activities.text import thesaurus
from activities.text.entities.vocabularies import word_counts
from activities.text.tokens import fold

_COMMON, _RARE = 2.6, 6.0
"""Negative decimal logarithms of the share of print between which information content runs from 0 to 1: one
word in 400 (`time`), one in a million (`villein`)."""
_SEEN = 20_000
"""Occurrences that are added to each word's: rarer ones are rare alike."""


_READING = threading.Lock()


class _Counts:
    """How often each word occurs in print. Two arrays take a quarter of the memory of a dictionary."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        words = np.array([word.encode() for word in counts], dtype=np.bytes_)
        order = np.argsort(words)
        self._words = words[order]
        self._counts = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))[order]
        self.total = int(self._counts.sum())

    def of(self, word: str) -> int:
        """0 for a word that was never met."""
        key = word.encode()
        at = int(np.searchsorted(self._words, np.bytes_(key)))
        return int(self._counts[at]) if at < len(self._words) and self._words[at] == key else 0


def _counts() -> _Counts:
    """Read at the first call; other threads wait for it. Each of the sections that were ranked at the same
    time read it for itself once."""
    with _READING:
        return _read()


@cache
def _read() -> _Counts:
    return _Counts(word_counts())


@lru_cache(maxsize=16_384)
def information(word: str) -> float:
    """0 (any text has it) to 1 (hardly any has it, or no dictionary knows it): how surprising a word is in
    print (Google Books, from `symspellpy`), in its most frequent form; of a compound, its rarest part."""
    counts = _counts()
    parts = [part for part in fold(word).replace("/", "-").split("-") if part]
    return max((_of_part(part, counts) for part in parts), default=0.0)


def _of_part(part: str, counts: _Counts) -> float:
    met = max(counts.of(form) for form in thesaurus.singulars(part.removesuffix("'s")))
    surprise = -math.log10((met + _SEEN) / counts.total)
    return min(max((surprise - _COMMON) / (_RARE - _COMMON), 0.0), 1.0)
