"""Vectors of sentences by their content, in a file that all runs of a home share."""

import hashlib
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from activities.logs import log

Vectors = NDArray[np.float32]
KEY_BYTES = 16
MAX_KEPT = 150_000
"""Texts whose vectors a home keeps: 150 MB at most. The oldest tenth goes when there are more."""
AT_ONCE = 500
"""Vectors that are asked for with one statement."""


class KeptVectors:
    """Vectors by encoder and text.

    Safe to use from several threads and processes. A file that cannot be read or written keeps nothing, which
    costs time only."""

    def __init__(self, place: Path) -> None:
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(place, timeout=5, isolation_level=None, check_same_thread=False)
            # It can be computed again: it need not survive a power failure.
            self._database.executescript(
                "PRAGMA synchronous = OFF; CREATE TABLE IF NOT EXISTS vectors"
                " (number INTEGER PRIMARY KEY, key BLOB UNIQUE, row BLOB);"
            )
        except (OSError, sqlite3.Error) as error:
            log.warning("vectors_not_kept", path=str(place), error=str(error))
            self._database = None
            if not isinstance(error, (OSError, sqlite3.OperationalError)):  # it is damaged
                place.unlink(missing_ok=True)

    def recall(self, model: str, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of those texts that have one."""
        if self._database is None:
            return {}
        keys = {_key(model, text): text for text in texts}
        every = list(keys)
        rows: list[tuple[bytes, bytes]] = []
        with self._lock, suppress(sqlite3.Error):
            for start in range(0, len(every), AT_ONCE):
                some = every[start : start + AT_ONCE]
                marks = ", ".join("?" * len(some))
                query = f"SELECT key, row FROM vectors WHERE key IN ({marks})"  # noqa: S608 - only marks
                rows += self._database.execute(query, some).fetchall()
        return {keys[key]: np.frombuffer(row, np.float16).astype(np.float32) for key, row in rows}

    def keep(self, model: str, vectors: Mapping[str, Vectors]) -> None:
        """Add vectors, and forget the oldest ones where there are too many."""
        if self._database is None or not vectors:
            return
        rows = [(_key(model, text), row.astype(np.float16).tobytes()) for text, row in vectors.items()]
        with self._lock, suppress(sqlite3.Error):
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany("INSERT OR IGNORE INTO vectors (key, row) VALUES (?, ?)", rows)
            ((first, last),) = self._database.execute("SELECT min(number), max(number) FROM vectors")
            if last - first >= MAX_KEPT:
                self._database.execute("DELETE FROM vectors WHERE number < ?", (last - MAX_KEPT * 9 // 10,))
            self._database.execute("COMMIT")


def _key(model: str, text: str) -> bytes:
    return hashlib.blake2b(f"{model}\n{text}".encode(errors="surrogatepass"), digest_size=KEY_BYTES).digest()
