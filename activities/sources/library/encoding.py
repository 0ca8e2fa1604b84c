"""Vectors of a folder's sentences, computed in the background, and the search of all of them.

A folder is encoded after its first question, by a thread of the lowest priority that waits while anybody asks
the encoder; each document is kept in the folder's file when it is done, from which each search reads the
vectors: a tenth of a second for a hundred thousand sentences. Until all are encoded the titles of a small
folder are compared, and what a search has encoded is kept as well (`Passages`); a folder of a few pages is
encoded before its first answer, and of the bundled sample the package holds the vectors.
"""

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from activities.logs import log
from activities.sources.library.store import FolderChanged, Store
from activities.text.embeddings import Embedder, Vectors
from activities.text.ranking import encoded_texts

MIN_LIKENESS = 0.3
"""Cosine from which a document that shares no word with the query still counts as found."""
ENCODED_AT_ONCE = 16
"""Texts between two looks whether somebody waits for the encoder."""
QUIET_SECONDS = 3.0
"""How long nobody has asked the encoder before it goes on in the background."""
MAX_SENTENCES = 1_000_000
"""Vectors of one folder that are searched: 770 MB. Of a larger folder words choose."""
MAX_PASSAGES = 20_000
"""Texts that searches had encoded whose vectors are kept in the file of a folder: 30 MB."""
DOCUMENTS_AT_ONCE = 500
"""Documents whose vectors are in memory at a time."""
MAX_TITLES = 600
"""Documents of a folder whose titles are compared until all is encoded: three seconds, once."""
MAX_LETTERS_BEFORE, MAX_LETTERS_MULTILINGUAL = 40_000, 150_000
"""Letters of the texts that are encoded before an answer, by the encoder of English and by that of many
languages: four seconds of a processor."""
SAMPLE_VECTORS = Path(__file__).parents[1] / "sample" / "vectors"
"""Vectors of the bundled sample by each encoder (`python -m benchmarks.sample_vectors`)."""
LOWEST = 19
"""Priority of the thread, where a thread has one (Linux)."""


class Encoding:
    """The vectors of the documents of one state of a folder. Safe to use from several threads."""

    def __init__(
        self, store: Store, numbers: Sequence[int], model: Embedder, *, is_sample: bool = False
    ) -> None:
        """`is_sample`: the folder is the bundled one, whose vectors the package holds."""
        self._is_sample = is_sample
        self._store = store
        self._numbers = tuple(numbers)
        self._model = model
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def prepare(self) -> None:
        """Encode what is missing where that is little. Raises sqlite3.Error, FolderChanged."""
        with self._lock:
            missing = set(self._missing() if self._thread is None else ())
            rows = self._store.rows("SELECT number, letters, digest FROM documents") if missing else []
            if missing and self._is_sample:
                vectors = sample_vectors(self._model)
                self._keep(
                    {n: vectors[digest] for n, _, digest in rows if n in missing and digest in vectors}
                )
                missing = set(self._missing())
            most = MAX_LETTERS_MULTILINGUAL if self._model.context else MAX_LETTERS_BEFORE
            if missing and sum(letters for n, letters, _ in rows if n in missing) <= most:
                self._encode_missing(self._model.encode)

    def start(self) -> None:
        """Encode what is missing in the background, unless that is under way or done."""
        with self._lock:
            if self._thread is None and self._missing():
                self._thread = threading.Thread(target=self._encode, name="library-encoding", daemon=True)
                self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait for the thread, and tell whether all is encoded."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self._missing()

    def likeness(self, query: str) -> NDArray[np.float64] | None:
        """Return the cosine of each document's nearest sentence, or title at first; None where slow.

        Raises sqlite3.Error, FolderChanged.
        """
        counts = self._counts()
        if len(counts) < len(self._numbers):
            if len(self._numbers) > MAX_TITLES:
                return None
            titles = [document.title for document in self._store.documents(self._numbers)]
            vectors = Passages(self._store).encode(self._model, titles)
            nearness = vectors @ self._model.encode([query])[0]
            return self._model.scale * np.asarray(nearness, np.float64)
        if sum(counts.values()) > MAX_SENTENCES:
            return None
        vector = self._model.encode([query])[0]
        nearest: list[float] = []
        for start in range(0, len(self._numbers), DOCUMENTS_AT_ONCE):
            batch = self._stored_vectors(self._numbers[start : start + DOCUMENTS_AT_ONCE])
            nearest += [float((rows @ vector).max(initial=-1.0)) for rows in batch.values()]
        return self._model.scale * np.array(nearest)

    def remember(self, numbers: Sequence[int]) -> None:
        """Let the encoder know the vectors of these documents. Raises sqlite3.Error, FolderChanged."""
        counts = self._stored_vectors(numbers)
        documents = self._store.documents(list(counts))
        for rows, document in zip(counts.values(), documents, strict=True):
            self._model.remember(dict(zip(encoded_texts(document, self._model), rows, strict=True)))

    def _stored_vectors(self, numbers: Sequence[int]) -> dict[int, Vectors]:
        """Return the vectors of documents that have theirs, in this order. Raises sqlite3.Error."""
        marks = ", ".join("?" * len(numbers))
        vectors = {
            int(number): np.frombuffer(rows, np.float16).reshape(int(count), -1).astype(np.float32)
            for number, rows, count in self._store.rows(
                f"SELECT number, rows, count FROM vectors WHERE model = ? AND number IN ({marks})",  # noqa: S608 - only marks
                (self._model.name, *numbers),
            )
        }
        return {number: vectors[number] for number in numbers if number in vectors}

    def _missing(self) -> list[int]:
        counts = self._counts()
        return [number for number in self._numbers if number not in counts]

    def _encode(self) -> None:
        with suppress(AttributeError, OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST)
        try:
            self._encode_missing(self._encode_in_quiet)
        except (FolderChanged, sqlite3.ProgrammingError):
            pass  # another index is made of the changed folder; the process ends
        except (OSError, sqlite3.Error) as error:
            log.warning("library_not_encoded", error=str(error))

    def _encode_missing(self, encode: Callable[[Sequence[str]], Vectors]) -> None:
        """Do it. Raises OSError, sqlite3.Error, FolderChanged."""
        missing = self._missing()
        if missing:
            log.info("library_encoding", documents=len(missing))
        for number in missing:
            (document,) = self._store.documents([number])
            texts = encoded_texts(document, self._model)
            starts = range(0, len(texts), ENCODED_AT_ONCE)
            self._keep({number: np.concatenate([encode(texts[n : n + ENCODED_AT_ONCE]) for n in starts])})

    def _keep(self, vectors: Mapping[int, NDArray[np.floating]]) -> None:
        rows = [
            (number, self._model.name, len(matrix), matrix.astype(np.float16).tobytes())
            for number, matrix in vectors.items()
        ]
        with self._store.transaction() as database:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)

    def _encode_in_quiet(self, texts: Sequence[str]) -> Vectors:
        while (quiet_seconds := time.monotonic() - self._model.last_use) < QUIET_SECONDS:
            time.sleep(QUIET_SECONDS - quiet_seconds)
        return self._model.encode(texts, in_background=True)

    def _counts(self) -> dict[int, int]:
        """Return how many vectors each document has; not of those that are missing."""
        rows = self._store.rows("SELECT number, count FROM vectors WHERE model = ?", (self._model.name,))
        counts = dict(rows)
        return {number: int(counts[number]) for number in self._numbers if number in counts}


class Passages:
    """Vectors of what searches had encoded, kept for other processes. Safe to use from several threads."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def encode(self, model: Embedder, texts: Sequence[str]) -> Vectors:
        """Return one vector a text, as the model does, which reads only what no search had encoded before.

        Raises sqlite3.Error."""
        cached = model.cached_vectors(texts)
        missing = {_digest(text): text for text in texts if text not in cached}
        marks = ", ".join("?" * len(missing))
        rows = self._store.rows(
            f"SELECT digest, vector FROM passages WHERE model = ? AND digest IN ({marks})",  # noqa: S608 - only marks
            (model.name, *missing),
        )
        model.remember({missing.pop(digest): np.frombuffer(vector, np.float32) for digest, vector in rows})
        vectors = model.encode(texts)
        if missing:
            places = {text: place for place, text in enumerate(texts)}
            self._keep(model, {digest: vectors[places[text]] for digest, text in missing.items()})
        return vectors

    def _keep(self, model: Embedder, vectors: Mapping[bytes, Vectors]) -> None:
        """Keep vectors unless another process writes: the next search computes them again."""
        with suppress(sqlite3.OperationalError), self._store.transaction(at_once=True) as database:
            database.executemany(
                "INSERT OR IGNORE INTO passages (model, digest, vector) VALUES (?, ?, ?)",
                ((model.name, digest, vector.tobytes()) for digest, vector in vectors.items()),
            )
            database.execute(
                "DELETE FROM passages WHERE number <= (SELECT max(number) FROM passages) - ?", (MAX_PASSAGES,)
            )


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def sample_vectors(model: Embedder) -> Mapping[bytes, Vectors]:
    """Return the vectors of each document of the bundled sample, by the digest of its text.

    Empty without a file of this encoder, and where it cannot be read, which costs time only."""
    path = SAMPLE_VECTORS / f"{model.name}.npz"
    if not path.exists():
        return {}
    try:
        with np.load(path) as file:
            rows = np.split(file["rows"] * file["scales"], np.cumsum(file["counts"])[:-1])
            return dict(zip(map(bytes, file["documents"]), rows, strict=True))
    except (OSError, ValueError, KeyError) as error:
        log.warning("sample_vectors_not_read", path=str(path), error=str(error))
        return {}
