"""BM25 from sparse matrices: how many times every word occurs in every row, counted once, mapped from disk.

Scores are computed for the words that are asked for, from the rows of all matrices: a row that is added or
removed changes the weight of every word, and no matrix has to be made again.

The formula is Lucene's, as in `bm25s` (Lù, "BM25S: Orders of magnitude faster lexical search via eager sparse
scoring", 2024), to whose scores a test compares these. That package builds its matrix from a Python list of
words for each row, which takes 1.6 GB for 3,000 documents and their passages; here words are numbers in one
array, and the matrix can be mapped into memory.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import marisa_trie
import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

K1 = 1.0
B = 0.75
AT_ONCE = 500_000
"""Occurrences that are counted at once."""
MOST_TIMES = 65_535
"""Occurrences of a word in a row that are told apart; BM25 hardly counts those after the first ten."""


def numbered(vocabulary: Sequence[str]) -> tuple[marisa_trie.Trie, NDArray[np.int32]]:
    """A trie of the words, and the number it gives to each of them."""
    words = marisa_trie.Trie(vocabulary)
    return words, np.fromiter((words[word] for word in vocabulary), np.int32, len(vocabulary))


class Postings:
    """How many times words occur in rows. Safe to read from several threads."""

    def __init__(
        self,
        words: marisa_trie.Trie,
        starts: NDArray[np.int64],
        rows: NDArray[np.int32],
        times: NDArray[np.uint16],
        lengths: NDArray[np.float64],
    ) -> None:
        """`starts[n]` is where the rows and times of word `n` of the trie begin; `lengths` are those of the
        rows, in words."""
        self._words = words
        self._starts = starts
        self._rows = rows
        self._times = times
        self.lengths = lengths

    @classmethod
    def build(
        cls,
        words: marisa_trie.Trie,
        numbers: NDArray[np.int32],
        rows: NDArray[np.int32],
        size: int,
        times: NDArray[np.uint16] | None = None,
    ) -> "Postings":
        """Of each occurrence, the number of its word and its row (of `size`), and how many times it counts
        (once)."""
        starts = np.zeros(len(words) + 1, np.int64)
        found_rows = np.empty(len(numbers), np.int32)
        found_times = np.empty(len(numbers), np.uint16)
        end = 0
        for first, last in _ranges(_totals(numbers, len(words))):
            chosen = (numbers >= first) & (numbers < last)
            keys = (numbers[chosen].astype(np.int64) - first) * size + rows[chosen]
            pairs, counts = _counted(keys, None if times is None else times[chosen])
            word, row = np.divmod(pairs, size)
            starts[first + 1 : last + 1] = np.bincount(word, minlength=last - first)
            here = slice(end, end + len(pairs))
            found_rows[here] = row
            found_times[here] = np.minimum(counts, MOST_TIMES)
            end += len(pairs)
        lengths = _totals(rows, size, times)
        return cls(words, np.cumsum(starts), found_rows[:end], found_times[:end], lengths)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.lengths)

    def occurrences(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.uint16]] | None:
        """The rows in which a word occurs, each once, and how many times; None for an unknown word."""
        number = self._words.get(word)
        if number is None:
            return None
        here = slice(int(self._starts[number]), int(self._starts[number + 1]))
        return self._rows[here], self._times[here]

    def save(self, folder: Path, name: str) -> None:
        """Write the matrix into a folder. Raises OSError."""
        self._words.save(str(folder / f"{name}.words"))
        np.save(folder / f"{name}.starts.npy", self._starts, allow_pickle=False)
        np.save(folder / f"{name}.rows.npy", self._rows, allow_pickle=False)
        np.save(folder / f"{name}.times.npy", self._times, allow_pickle=False)
        np.save(folder / f"{name}.lengths.npy", self.lengths, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path, name: str) -> "Postings":
        """A matrix that was saved, mapped into memory. Raises OSError, ValueError."""
        words = marisa_trie.Trie()
        words.mmap(str(folder / f"{name}.words"))
        starts = np.load(folder / f"{name}.starts.npy", allow_pickle=False)
        lengths = np.load(folder / f"{name}.lengths.npy", allow_pickle=False)
        rows = _mapped(folder / f"{name}.rows.npy")
        times = _mapped(folder / f"{name}.times.npy")
        if len(starts) != len(words) + 1 or not len(rows) == len(times) == starts[-1]:
            raise ValueError("the files of the index do not belong together")
        return cls(words, starts, rows, times, lengths)


class Ranking:
    """BM25 over the rows of several matrices as if they were one. Rows that are not `kept` count for nothing,
    neither in the scores nor in how frequent words are."""

    def __init__(self, parts: Sequence[tuple[Postings, NDArray[np.bool_]]]) -> None:
        self._parts = parts
        self._size = sum(int(kept.sum()) for _, kept in parts)
        total = sum(float(postings.lengths[kept].sum()) for postings, kept in parts)
        self._mean = total / self._size if total else 1.0

    def scores(self, query: Sequence[str]) -> list[Scores]:
        """One score a row, for each matrix; a word that is asked for twice counts twice, an unknown one not
        at all."""
        found = [np.zeros(len(postings)) for postings, _ in self._parts]
        for word in query:
            several = [postings.occurrences(word) for postings, _ in self._parts]
            frequency = sum(
                int(kept[occurring[0]].sum())
                for occurring, (_, kept) in zip(several, self._parts, strict=True)
                if occurring
            )
            weight = np.log(1 + (self._size - frequency + 0.5) / (frequency + 0.5))
            for scores, occurring, (postings, _) in zip(found, several, self._parts, strict=True):
                if occurring:
                    rows, times = occurring
                    norm = K1 * (1 - B + B * postings.lengths[rows] / self._mean)
                    scores[rows] += weight * times / (times + norm)  # a row stands once for each word
        for scores, (_, kept) in zip(found, self._parts, strict=True):
            scores[~kept] = 0.0
        return found


def _mapped(place: Path) -> NDArray[Any]:
    try:
        return cast("NDArray[Any]", np.load(place, mmap_mode="r", allow_pickle=False))
    except ValueError:  # an empty array cannot be mapped
        return cast("NDArray[Any]", np.load(place, allow_pickle=False))


def _totals(
    values: NDArray[np.int32], size: int, times: NDArray[np.uint16] | None = None
) -> NDArray[np.float64]:
    """How many times each value counts. In parts: `bincount` makes copies in 64 bits."""
    totals = np.zeros(size)
    for start in range(0, len(values), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        totals += np.bincount(values[part], None if times is None else times[part], minlength=size)
    return totals


def _counted(
    keys: NDArray[np.int64], times: NDArray[np.uint16] | None
) -> tuple[NDArray[np.int64], NDArray[np.intp] | NDArray[np.float64]]:
    """The distinct keys in order, and how many times each counts."""
    if times is None:
        return np.unique(keys, return_counts=True)
    pairs, place = np.unique(keys, return_inverse=True)
    return pairs, np.bincount(place, times)


def _ranges(totals: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Ranges of words which occur some `AT_ONCE` times together."""
    part = np.cumsum(totals) // AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(totals)]
    return [(first, last) for first, last in pairwise(edges) if last > first]
