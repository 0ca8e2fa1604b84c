"""The index of a library folder: documents read once, ranked by words and, where a folder is small, by
meaning.

Each folder has a file in the cache with its documents, a full-text index of their words (SQLite's FTS5) and
their vectors (`store`): a new process opens it without reading a document, and a changed file alone is read
again. The file's name holds a digest of the code that makes it, so another version of this package makes its
own."""

import hashlib
import os
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray
from platformdirs import user_cache_path

from activities.documents.readers import Stop
from activities.sources.library.files import BUNDLED, Listing, list_folder
from activities.sources.library.store import Changed, Contents, Store
from activities.sources.progress import Report
from activities.text.coverage import wordings
from activities.text.embeddings import Embedder, embedder
from activities.text.minilm import Vectors
from activities.text.ranking import TITLE_TIMES, encoded_texts, fuse, words
from activities.types import Evidence

log = structlog.get_logger()

CANDIDATES = 300
"""Documents, best first by words, that a search ranks."""
MIN_LIKENESS = 0.3
"""Cosine from which a document that shares no word with the query still counts as found."""
EMBED_AT_ONCE = 300
"""Sentences that a search embeds before it answers, some three seconds of one processor; with more, a library
is ranked by words meanwhile."""
MAX_EMBEDDED, MAX_EMBEDDED_LETTERS = 500, 500_000
"""Documents of a folder and letters of all their texts up to which it is ranked by meaning as well: half a
minute of one processor, once. In a larger one some text mostly has the question's words."""
FOLDERS_IN_MEMORY = 4
KEPT_DAYS = 30
"""After which an index that nobody has used is removed."""
ATTEMPTS = 3
"""To open a folder that another process reads at the same time."""
LOGGED = 100
"""Items set aside that are logged one by one."""


@dataclass(frozen=True, slots=True)
class Found:
    """A document and how well it matches: higher is better, comparable within one search."""

    document: Evidence
    score: float


class LibraryIndex:
    """The documents of one state of one folder. Safe to search from several threads."""

    def __init__(self, store: Store, contents: Contents, model: Embedder | None = None) -> None:
        """Without a model documents are ranked by words only."""
        self.store = store
        self.numbers = contents.numbers
        self.set_aside = contents.set_aside
        self._place = {number: place for place, number in enumerate(contents.numbers)}
        self._model = model
        self._rows: list[Vectors] = []
        self._meaning: tuple[Vectors, NDArray[np.intp]] | None = None

    @property
    def count(self) -> int:
        """How many documents there are."""
        return len(self.numbers)

    @property
    def documents(self) -> tuple[Evidence, ...]:
        """Every document, read from the cache."""
        return tuple(self.store.documents(self.numbers))

    @property
    def learning(self) -> bool:
        """Whether a model is installed and the documents' vectors are not ready yet."""
        return self._model is not None and self._meaning is None and bool(self.numbers)

    def learn(self, rows: Sequence[Vectors]) -> None:
        """Add the vectors of every document."""
        if rows:
            owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
            self._rows, self._meaning = list(rows), (np.concatenate(rows), owner)

    def search(
        self, query: str, limit: int, passes: Callable[[Evidence], bool] = lambda _: True
    ) -> tuple[list[Found], int]:
        """The best documents that pass, and how many match at all. Raises sqlite3.Error, Changed."""
        ranked, hits = self._ranked(query)
        documents = self.store.documents([number for number, _ in ranked])
        found: list[Found] = []
        for (number, score), document in zip(ranked, documents, strict=True):
            if len(found) >= limit:
                break
            if passes(document):
                found.append(Found(document, score))
                if self._model is not None and self._meaning is not None:
                    self._model.remember(encoded_texts(document), self._rows[self._place[number]])
        return found, hits

    def _ranked(self, query: str) -> tuple[list[tuple[int, float]], int]:
        scores = np.zeros(len(self.numbers))
        hits = self._by_words(query, scores)
        rankings = [scores]
        if self._model is not None and self._meaning is not None:
            vectors, owner = self._meaning
            likeness = np.full(len(self.numbers), -1.0)
            np.maximum.at(likeness, owner, (vectors @ self._model.encode([query])[0]).astype(np.float64))
            likeness[likeness < MIN_LIKENESS] = 0.0
            hits = max(hits, int(((scores > 0) | (likeness > 0)).sum()))
            rankings.append(likeness)
        fused = fuse(rankings)
        order = [int(i) for i in np.argsort(-fused, kind="stable")[:CANDIDATES] if fused[i] > 0]
        return [(self.numbers[i], float(fused[i])) for i in order], hits

    def _by_words(self, query: str, scores: NDArray[np.float64]) -> int:
        """Write the BM25 of the best documents into `scores`; how many match at all. Raises Changed."""
        phrases = (*words(query), *(" ".join(form) for form in wordings(query)))
        asked = " OR ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases))
        if not asked:
            return 0
        for number, rank in self.store.rows(
            "SELECT rowid, rank FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT ?", (asked, CANDIDATES)
        ):
            if number not in self._place:
                raise Changed("another process has read a changed file since the folder was listed")
            scores[self._place[number]] = max(-float(rank), 1e-9)  # of a word that most have it may be 0
        ((hits,),) = self.store.rows("SELECT count(*) FROM terms WHERE terms MATCH ?", (asked,))
        return int(hits)


class Libraries:
    """The indexes of the folders a process searches, the latest few kept open."""

    def __init__(self, cache: Path, speech_model: Path | None = None) -> None:
        """`cache`: the folder of the indexes. That of the bundled sample lies in the user's cache, for all
        homes. `speech_model`: the folder of the model for recordings."""
        self._cache = cache
        self._speech_model = str(speech_model or "")
        self._ready: OrderedDict[Path, tuple[Listing, LibraryIndex]] = OrderedDict()
        self._lock = threading.Lock()
        self._building: dict[Path, threading.Lock] = {}

    def open(self, folder: Path, stop: Stop | None = None, report: Report | None = None) -> LibraryIndex:
        """The index of a folder as it is now; built at most once for one state of it.

        Raises Refused when the folder cannot be read, Stopped.
        """
        key = folder.expanduser().absolute()
        with self._lock:
            building = self._building.setdefault(key, threading.Lock())
        with building:
            listing = list_folder(folder)
            with self._lock:
                ready = self._ready.get(key)
                if ready and ready[0] == listing:
                    self._ready.move_to_end(key)
                    return ready[1]
            index = self._build(key, listing, stop, report)
            with self._lock:
                self._ready[key] = (listing, index)
                self._ready.move_to_end(key)
                while len(self._ready) > FOLDERS_IN_MEMORY:
                    self._ready.popitem(last=False)
            return index

    def forget(self, folder: Path) -> None:
        """Open the index of a folder from its file when it is searched next."""
        with self._lock:
            self._ready.pop(folder.expanduser().absolute(), None)

    def _build(self, key: Path, listing: Listing, stop: Stop | None, report: Report | None) -> LibraryIndex:
        bundled = key.resolve().is_relative_to(BUNDLED)
        cache = user_cache("library") if bundled else self._cache
        name = hashlib.sha256(
            f"{code_digest()}|{os.fsdecode(key)}".encode(errors="surrogateescape")
        ).hexdigest()
        place = cache / f"{name[:32]}.sqlite"
        for _ in range(ATTEMPTS):
            try:
                index = self._open(Store(place, self._speech_model), listing, stop, report)
            except Changed:
                listing = list_folder(key)
            except (OSError, sqlite3.OperationalError) as error:  # full, not writable, or locked for a minute
                log.warning("library_cache_not_written", path=str(place), error=str(error))
                break
            except sqlite3.DatabaseError as error:
                log.warning("library_cache_damaged", path=str(place), error=str(error))
                _remove(place)
            else:
                _touch(place)
                return index
        return self._open(Store(None, self._speech_model), listing, stop, report)

    def _open(self, store: Store, listing: Listing, stop: Stop | None, report: Report | None) -> LibraryIndex:
        store.update(listing, stop, report)
        contents = store.contents()
        contents = replace(contents, set_aside=listing.set_aside + contents.set_aside)
        for item in contents.set_aside[:LOGGED]:
            log.warning("library_item_set_aside", item=item.name, reason=item.reason)
        _update_words(store, contents.numbers)
        small = len(contents.numbers) <= MAX_EMBEDDED and contents.letters <= MAX_EMBEDDED_LETTERS
        model = embedder() if small else None
        index = LibraryIndex(store, contents, model)
        if model is not None:
            _add_vectors(index, store, contents.numbers, model)
        return index


def _update_words(store: Store, numbers: Sequence[int]) -> None:
    """Make the full-text index that of these documents, by what has changed. Raises sqlite3.Error,
    Changed."""
    known = {number for (number,) in store.rows("SELECT rowid FROM terms")}
    if known == set(numbers):
        return
    with store.writing() as database:
        database.executemany(
            "DELETE FROM terms WHERE rowid = ?", ((n,) for n in sorted(known - set(numbers)))
        )
        new = sorted(set(numbers) - known)
        for number, document in zip(new, store.documents(new), strict=True):
            found = words(document.title) * TITLE_TIMES + words(document.text)
            found += words(document.facts.get("mesh", ""))
            database.execute("INSERT INTO terms (rowid, words) VALUES (?, ?)", (number, " ".join(found)))


def _touch(place: Path) -> None:
    """Mark an index as used, and remove those that nobody has used for `KEPT_DAYS`."""
    with suppress(OSError):
        os.utime(place)
        for other in place.parent.glob("*.sqlite"):
            if other.stat().st_mtime < time.time() - KEPT_DAYS * 86_400:
                _remove(other)


def _remove(place: Path) -> None:
    with suppress(OSError):
        for ending in ("", "-journal"):
            place.with_name(place.name + ending).unlink(missing_ok=True)


@lru_cache(maxsize=1)
def code_digest() -> str:
    """A digest of the code that reads documents and makes the index."""
    here = Path(__file__).resolve()
    root = here.parents[2]
    files = sorted(here.parent.glob("*.py")) + sorted((root / "documents").glob("*.py"))
    files += [root / "text" / name for name in ("ranking.py", "sentences.py", "tokens.py")]
    files.append(root / "types.py")
    state = hashlib.sha256()
    for file in files:
        state.update(file.read_bytes())
    return state.hexdigest()


def _add_vectors(index: LibraryIndex, store: Store, numbers: Sequence[int], model: Embedder) -> None:
    """Give the index its vectors: now when few are missing, else in the background."""
    known = {
        int(number): np.frombuffer(rows, np.float16).reshape(int(count), -1).astype(np.float32)
        for number, rows, count in store.rows(
            "SELECT number, rows, count FROM vectors WHERE model = ?", (model.name,)
        )
    }
    missing = [number for number in numbers if number not in known]
    texts = list(_texts(store, missing))
    count = sum(len(parts) for _, parts in texts)

    def add_vectors() -> None:
        for number, parts in texts:
            rows = model.encode(parts)
            known[number] = rows
            with suppress(sqlite3.Error), store.writing() as database:
                values = (number, model.name, len(rows), rows.astype(np.float16).tobytes())
                database.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", values)
        index.learn([known[number] for number in numbers])

    def add_later() -> None:
        with suppress(Changed):  # another index is made of the changed folder
            add_vectors()

    if count <= EMBED_AT_ONCE:
        add_vectors()
    else:
        log.info("library_embedding", sentences=count)
        threading.Thread(target=add_later, name="library-embedding", daemon=True).start()


def _texts(store: Store, numbers: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
    for number, document in zip(numbers, store.documents(numbers), strict=True):
        yield number, encoded_texts(document)


def user_cache(name: str) -> Path:
    """The folder of one kind of cached data that is the same for every home: in `DETERMINATOR_CACHE`, else in
    the platform's cache folder."""
    named = os.environ.get("DETERMINATOR_CACHE")
    return (Path(named).expanduser() if named else user_cache_path("determinator")) / name
