"""Vectors of sentences by their content, in a file that all runs of a home share.

A new file begins with those of the bundled sample library (`python -m benchmarks.sample_vectors`)."""

import hashlib
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from activities.logs import log
from activities.text.minilm import SIZE, Vectors

MODEL = "all-MiniLM-L6-v2-int8"
"""The encoder: vectors of another one have other keys."""
KEY_BYTES = 16
MAX_KEPT = 200_000
"""Texts whose vectors a home keeps: 150 MB. The oldest tenth goes when there are more."""
AT_ONCE = 500
"""Vectors that are asked for with one statement."""
BUNDLED = Path(__file__).parents[1] / "sources" / "sample" / "vectors.npz"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, key BLOB UNIQUE, row BLOB);
"""


class KeptVectors:
    """Vectors by the content of their texts.

    Safe to use from several threads and processes. A file that cannot be read or written keeps nothing, which
    costs time only."""

    def __init__(self, place: Path) -> None:
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            new = not place.exists()
            self._database = sqlite3.connect(place, timeout=5, isolation_level=None, check_same_thread=False)
            # It can be computed again: it need not survive a power failure.
            self._database.executescript(f"PRAGMA synchronous = OFF; {_SCHEMA}")
            if new and (sample := bundled()):
                self._add(sample.by_sentence())
        except (OSError, sqlite3.Error) as error:
            log.warning("vectors_not_kept", path=str(place), error=str(error))
            self._database = None
            if not isinstance(error, (OSError, sqlite3.OperationalError)):  # it is damaged
                place.unlink(missing_ok=True)

    def recall(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of those texts that have one."""
        if self._database is None:
            return {}
        keys = {key_of(text): text for text in texts}
        named = list(keys)
        rows: list[tuple[bytes, bytes]] = []
        with self._lock, suppress(sqlite3.Error):
            for start in range(0, len(named), AT_ONCE):
                some = named[start : start + AT_ONCE]
                marks = ", ".join("?" * len(some))
                query = f"SELECT key, row FROM vectors WHERE key IN ({marks})"  # noqa: S608 - only marks
                rows += self._database.execute(query, some).fetchall()
        return {
            keys[bytes(key)]: np.frombuffer(row, np.float16).astype(np.float32)
            for key, row in rows
            if len(row) == 2 * SIZE
        }

    def keep(self, computed: Mapping[str, Vectors]) -> None:
        """Add vectors, and forget the oldest ones where there are too many."""
        if self._database is None:
            return
        self._add([(key_of(text), row.astype(np.float16).tobytes()) for text, row in computed.items()])

    def _add(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        if self._database is None or not rows:
            return
        with self._lock, suppress(sqlite3.Error):
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany("INSERT OR IGNORE INTO vectors (key, row) VALUES (?, ?)", rows)
            ((first, last),) = self._database.execute("SELECT min(number), max(number) FROM vectors")
            if last - first >= MAX_KEPT:
                self._database.execute("DELETE FROM vectors WHERE number < ?", (last - MAX_KEPT * 9 // 10,))
            self._database.execute("COMMIT")


def key_of(text: str) -> bytes:
    return hashlib.blake2b(f"{MODEL}\n{text}".encode(errors="surrogatepass"), digest_size=KEY_BYTES).digest()


def text_digest(text: str) -> bytes:
    """Return the digest by which a library tells texts apart."""
    return hashlib.blake2b(text.encode(), digest_size=KEY_BYTES).digest()


class Bundled(NamedTuple):
    """The vectors of the sample library, those of one document after those of another."""

    documents: NDArray[np.uint8]
    """Digests of the documents' texts (`text_digest`)."""
    counts: NDArray[np.int32]
    """Vectors of each document."""
    keys: NDArray[np.uint8]
    rows: NDArray[np.int8]
    scales: NDArray[np.float16]
    """By which each row is multiplied."""

    def by_text(self) -> dict[bytes, Vectors]:
        """Return the vectors of each document, by the digest of its text."""
        rows = np.split(self.rows * self.scales, np.cumsum(self.counts)[:-1])
        return {key.tobytes(): some for key, some in zip(self.documents, rows, strict=True)}

    def by_sentence(self) -> list[tuple[bytes, bytes]]:
        """Each key with its vector."""
        rows = self.rows * self.scales
        return [(key.tobytes(), row.tobytes()) for key, row in zip(self.keys, rows, strict=True)]


def bundled() -> Bundled | None:
    """Return what the package holds; None where the file cannot be read, which costs time only."""
    try:
        with np.load(BUNDLED) as file:
            return Bundled(*(file[name] for name in Bundled._fields))
    except (OSError, ValueError, KeyError) as error:
        log.warning("bundled_vectors_not_read", path=str(BUNDLED), error=str(error))
        return None
