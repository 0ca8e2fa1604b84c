"""How much a word says: its information content in general English."""

import math
import threading
from functools import cache, lru_cache

from activities.text import thesaurus
from activities.text.entities.vocabularies import word_counts
from activities.text.tokens import fold

_COMMON, _RARE = 2.6, 6.0
"""Negative decimal logarithms of the share of print between which information content runs from 0 to 1: one
word in 400 (`time`), one in a million (`villein`)."""
_SEEN = 20_000
"""Occurrences that are added to each word's: rarer ones are rare alike."""


_READING = threading.Lock()


def _counts() -> tuple[dict[str, int], int]:
    """Read at the first call; other threads wait for it. Each of the sections that were ranked at the same
    time read it for itself once: 13 MB for each."""
    with _READING:
        return _read()


@cache
def _read() -> tuple[dict[str, int], int]:
    counts = word_counts()
    return counts, sum(counts.values())


@lru_cache(maxsize=16_384)
def information(word: str) -> float:
    """0 (any text has it) to 1 (hardly any has it, or no dictionary knows it): how surprising a word is in
    print (Google Books, from `symspellpy`), in its most frequent form; of a compound, its rarest part."""
    counts, total = _counts()
    parts = [part for part in fold(word).replace("/", "-").split("-") if part]
    return max((_of_part(part, counts, total) for part in parts), default=0.0)


def _of_part(part: str, counts: dict[str, int], total: int) -> float:
    met = max(counts.get(form, 0) for form in thesaurus.singulars(part.removesuffix("'s")))
    surprise = -math.log10((met + _SEEN) / total)
    return min(max((surprise - _COMMON) / (_RARE - _COMMON), 0.0), 1.0)
