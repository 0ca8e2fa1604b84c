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
AT_ONCE = 2_000_000
"""Occurrences that are sorted at once."""


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
        cls, numbers: NDArray[np.int32], rows: NDArray[np.int32], size: int, vocabulary: Sequence[str]
    ) -> "Postings":
        """Of each occurrence, the number of its word in the vocabulary and its row."""
        words = marisa_trie.Trie(vocabulary)
        place = np.fromiter((words[word] for word in vocabulary), np.int32, len(vocabulary))
        numbers = place[numbers]
        lengths = np.bincount(rows, minlength=size)
        norm = K1 * (1 - B + B * lengths / (lengths.mean() or 1.0)) if size else np.zeros(0)
        totals = np.bincount(numbers, minlength=len(vocabulary))
        starts = np.zeros(len(vocabulary) + 1, np.int64)
        found_rows: list[NDArray[np.int32]] = []
        found_values: list[NDArray[np.float32]] = []
        for first, last in _ranges(totals):
            chosen = (numbers >= first) & (numbers < last)
            keys = (numbers[chosen].astype(np.int64) - first) * size + rows[chosen]
            pairs, counts = np.unique(keys, return_counts=True)
            word, row = np.divmod(pairs, size)
            frequency = np.bincount(word, minlength=last - first)
            starts[first + 1 : last + 1] = frequency
            weight = np.log(1 + (size - frequency + 0.5) / (frequency + 0.5))
            found_rows.append(row.astype(np.int32))
            found_values.append((weight[word] * counts / (counts + norm[row])).astype(np.float32))
        return cls(
            words,
            np.cumsum(starts),
            np.concatenate([np.zeros(0, np.int32), *found_rows]),
            np.concatenate([np.zeros(0, np.float32), *found_values]),
            size,
        )

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


def _ranges(totals: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Ranges of words which occur some `AT_ONCE` times together."""
    part = np.cumsum(totals) // AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(totals)]
    return [(first, last) for first, last in pairwise(edges) if last > first]
