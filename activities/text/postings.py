"""BM25 as a sparse matrix: the score of every word in every row, computed once, mapped from disk.

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


def numbered(vocabulary: Sequence[str]) -> tuple[marisa_trie.Trie, NDArray[np.int32]]:
    """A trie of the words, and the number it gives to each of them."""
    words = marisa_trie.Trie(vocabulary)
    return words, np.fromiter((words[word] for word in vocabulary), np.int32, len(vocabulary))


class Postings:
    """The scores of words in rows. Safe to read from several threads."""

    def __init__(
        self,
        words: marisa_trie.Trie,
        starts: NDArray[np.int64],
        rows: NDArray[np.int32],
        values: NDArray[np.float32],
        size: int,
    ) -> None:
        """`starts[n]` is where the rows and values of word `n` of the trie begin; `size` counts the rows."""
        self._words = words
        self._starts = starts
        self._rows = rows
        self._values = values
        self._size = size

    @classmethod
    def build(
        cls,
        words: marisa_trie.Trie,
        numbers: NDArray[np.int32],
        rows: NDArray[np.int32],
        size: int,
        times: NDArray[np.uint16] | None = None,
    ) -> "Postings":
        """Of each occurrence, the number of its word and its row, and how many times it counts (once)."""
        lengths = _totals(rows, size, times)
        norm = K1 * (1 - B + B * lengths / (lengths.mean() or 1.0)) if size else np.zeros(0)
        starts = np.zeros(len(words) + 1, np.int64)
        found_rows = np.empty(len(numbers), np.int32)
        values = np.empty(len(numbers), np.float32)
        end = 0
        for first, last in _ranges(_totals(numbers, len(words))):
            chosen = (numbers >= first) & (numbers < last)
            keys = (numbers[chosen].astype(np.int64) - first) * size + rows[chosen]
            pairs, counts = _counted(keys, None if times is None else times[chosen])
            word, row = np.divmod(pairs, size)
            frequency = np.bincount(word, minlength=last - first)
            starts[first + 1 : last + 1] = frequency
            weight = np.log(1 + (size - frequency + 0.5) / (frequency + 0.5))
            here = slice(end, end + len(pairs))
            found_rows[here] = row
            values[here] = weight[word] * counts / (counts + norm[row])
            end += len(pairs)
        return cls(words, np.cumsum(starts), found_rows[:end], values[:end], size)

    def __len__(self) -> int:
        """How many rows there are."""
        return self._size

    def scores(self, query: Sequence[str]) -> Scores:
        """One score a row; a word that is asked for twice counts twice, an unknown one not at all."""
        found = np.zeros(self._size)
        for word in query:
            number = self._words.get(word)
            if number is not None:
                here = slice(int(self._starts[number]), int(self._starts[number + 1]))
                found[self._rows[here]] += self._values[here]  # a row stands once for each word
        return found

    def save(self, folder: Path, name: str) -> None:
        """Write the matrix into a folder. Raises OSError."""
        self._words.save(str(folder / f"{name}.words"))
        np.save(folder / f"{name}.starts.npy", np.append(self._starts, self._size), allow_pickle=False)
        np.save(folder / f"{name}.rows.npy", self._rows, allow_pickle=False)
        np.save(folder / f"{name}.values.npy", self._values, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path, name: str) -> "Postings":
        """A matrix that was saved, mapped into memory. Raises OSError, ValueError."""
        words = marisa_trie.Trie()
        words.mmap(str(folder / f"{name}.words"))
        starts = np.load(folder / f"{name}.starts.npy", allow_pickle=False)
        rows = _mapped(folder / f"{name}.rows.npy")
        values = _mapped(folder / f"{name}.values.npy")
        if len(starts) != len(words) + 2 or not len(rows) == len(values) == starts[-2]:
            raise ValueError("the files of the index do not belong together")
        return cls(words, starts[:-1], rows, values, int(starts[-1]))


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
