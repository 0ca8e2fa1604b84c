"""How near two texts are in meaning, by vectors of their words: a question in a user's own words (`jobless`)
and the sentence that answers it (`unemployed`).

The vectors are made by `build.py` from the word vectors of all-MiniLM-L6-v2 and WordNet's definitions
(licences beside this file). They are mapped into memory: 8 MB at most, of which a process holds what it has
looked up. Words that are near each other need not mean the same (vitamin C, vitamin E), so this is one sign
among others, and names are never compared by it.
"""

import threading
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZE = 128
"""Numbers of a vector."""
LONGEST = 20
"""Letters of the longest word that has one."""
ROW = np.dtype([("term", f"S{LONGEST}"), ("scale", "<f2"), ("vector", "i1", (SIZE,))])
"""A row of `vectors.npy`; rows are in the order of their terms."""
_MOST_ROWS = 200
"""Sentences of a text that are compared: longer texts are read to here."""

Vectors = NDArray[np.float32]


class _Table(NamedTuple):
    terms: NDArray[np.bytes_]
    scales: NDArray[np.float16]
    vectors: NDArray[np.int8]


_OPENING = threading.Lock()


def _table() -> _Table:
    with _OPENING:
        return _open()


@cache
def _open() -> _Table:
    rows = np.asarray(np.load(Path(str(resources.files(__package__))) / "vectors.npy", mmap_mode="r"))
    return _Table(np.ascontiguousarray(rows["term"]), rows["scale"], rows["vector"])


def _places(terms: Sequence[str]) -> NDArray[np.intp]:
    """The row of each word; -1 for one that has none."""
    known = _table().terms
    sought = np.array(
        [t.encode("ascii", "replace") if len(t) <= LONGEST else b"" for t in terms], known.dtype
    )
    places = np.minimum(np.searchsorted(known, sought), len(known) - 1)
    return np.where(known[places] == sought, places, -1)


def unit(rows: Sequence[Sequence[str]]) -> Vectors:
    """One unit vector for each row of comparison forms, the mean of those of its words; 0 for a row of which
    no word has one."""
    found = np.zeros((len(rows), SIZE), np.float32)
    lengths = [len(row) for row in rows]
    places = _places([term for row in rows for term in row])
    held = places >= 0
    if held.any():
        of = np.repeat(np.arange(len(rows)), lengths)[held]
        table = _table()
        words = table.vectors[places[held]] * table.scales[places[held], None].astype(np.float32)
        numbers, starts = np.unique(of, return_index=True)
        found[numbers] = np.add.reduceat(words, starts)
        found /= np.maximum(np.sqrt((found * found).sum(axis=1, keepdims=True)), 1e-6)
    return found


def of_text(rows: Sequence[Sequence[str]], title: Sequence[str] = ()) -> Vectors:
    """The vectors of a text's sentences, each read with its work's title. All are comparison forms."""
    return unit([(*title, *row) for row in rows[:_MOST_ROWS]])


def likeness(question: Vectors, text: Vectors) -> float:
    """The highest cosine (-1 to 1) between the one vector of a question and those of a text; 0 where there is
    nothing to compare. Without BLAS, whose first product takes 20 MB for its buffers."""
    return round(float((text * question).sum(axis=1).max()), 4) if len(text) else 0.0
