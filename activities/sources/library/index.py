"""The index of a library folder: documents read once, ranked by words and, where a model is installed, by
meaning.

Each folder has a file in the cache with its documents (`store`), and beside it a folder with the matrices of
words (`words`), which are mapped into memory: a new process opens both without reading a document. A changed
file alone is read and counted again. The names hold a digest of the code
that makes them, so another version of this package makes its own.
"""

import hashlib
import os
import shutil
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray

from activities.documents.readers import Stop
from activities.sources.library.files import BUNDLED, Listing, list_folder
from activities.sources.library.large import search_terms, update_terms
from activities.sources.library.store import Changed, Contents, Store
from activities.sources.library.words import fields, lexical_of
from activities.sources.progress import Report
from activities.text.bm25 import Lexical
from activities.text.embeddings import Embedder, embedder, passages
from activities.text.fusion import fuse
from activities.text.minilm import Vectors
from activities.types import Evidence
from activities.user_cache import user_cache

log = structlog.get_logger()

MIN_LIKENESS = 0.3
"""Cosine from which a document that shares no word with the query still counts as found."""
EMBED_AT_ONCE = 100
"""Passages that a search embeds before it answers, some five seconds of one processor; with more, a library
is ranked by words meanwhile."""
MOST_EMBEDDED, MOST_EMBEDDED_LETTERS = 500, 500_000
"""Documents of a folder and letters of all their texts up to which it is ranked by meaning as well: half a
minute of one processor, once. In a larger one some text mostly has the question's words."""
FOLDERS_IN_MEMORY = 4
LARGE_LETTERS = 32 * 1024 * 1024
"""Of all texts of a folder, from which it is ranked in two steps (`large`)."""
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

    def __init__(
        self, store: Store, contents: Contents, lexical: Lexical | None, model: Embedder | None = None
    ) -> None:
        """Without `lexical` documents are ranked in two steps, by words only."""
        self.store = store
        self.numbers = contents.numbers
        self.set_aside = contents.set_aside
        self._lexical = lexical
        self._model = model if lexical is not None else None
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
    def large(self) -> bool:
        """Whether documents are ranked in two steps."""
        return self._lexical is None

    @property
    def learning(self) -> bool:
        """Whether a model is installed and the documents' vectors are not ready yet."""
        return self._model is not None and self._meaning is None and bool(self.numbers)

    def learn(self, rows: Sequence[Vectors]) -> None:
        """Add the vectors of every document."""
        if rows:
            owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
            self._meaning = (np.concatenate(rows), owner)

    def search(
        self, query: str, limit: int, passes: Callable[[Evidence], bool] = lambda _: True
    ) -> tuple[list[Found], int]:
        """The best documents that pass, and how many match at all."""
        ranked, hits = self._ranked(query)
        documents = self.store.documents([number for number, _ in ranked])
        found: list[Found] = []
        for (_, score), document in zip(ranked, documents, strict=True):
            if len(found) >= limit:
                break
            if passes(document):
                found.append(Found(document, score))
        return found, hits

    def _ranked(self, query: str) -> tuple[list[tuple[int, float]], int]:
        if self._lexical is None:
            return search_terms(self.store, query, fields)
        scores = self._lexical.scores(query)
        matching = scores > 0
        if self._model is not None and self._meaning is not None:
            vectors, owner = self._meaning
            likeness = np.full(len(self.numbers), -1.0)
            np.maximum.at(likeness, owner, (vectors @ self._model.encode([query])[0]).astype(np.float64))
            matching |= likeness >= MIN_LIKENESS
            scores = fuse(scores, likeness)
        order = [int(i) for i in np.argsort(-scores, kind="stable") if matching[i]]
        return [(self.numbers[i], float(scores[i])) for i in order], len(order)


class Libraries:
    """The indexes of the folders a process searches, the latest few kept open."""

    def __init__(self, cache: Path) -> None:
        """`cache`: the folder of the indexes. That of the bundled sample lies in the user's cache, for all
        homes."""
        self._cache = cache
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

    def _build(self, key: Path, listing: Listing, stop: Stop | None, report: Report | None) -> LibraryIndex:
        bundled = key.resolve().is_relative_to(BUNDLED)
        cache = user_cache("library") if bundled else self._cache
        name = hashlib.sha256(
            f"{code_digest()}|{os.fsdecode(key)}".encode(errors="surrogateescape")
        ).hexdigest()
        place = cache / f"{name[:32]}.sqlite"
        for _ in range(ATTEMPTS):
            try:
                index = self._open(Store(place), place.with_suffix(""), listing, stop, report)
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
        return self._open(Store(None), None, listing, stop, report)

    def _open(
        self, store: Store, place: Path | None, listing: Listing, stop: Stop | None, report: Report | None
    ) -> LibraryIndex:
        store.update(listing, stop, report)
        contents = store.contents()
        contents = replace(contents, set_aside=listing.set_aside + contents.set_aside)
        for item in contents.set_aside[:LOGGED]:
            log.warning("library_item_set_aside", item=item.name, reason=item.reason)
        if contents.letters > LARGE_LETTERS:
            update_terms(store, contents.numbers, fields)
            return LibraryIndex(store, contents, None)
        small = len(contents.numbers) <= MOST_EMBEDDED and contents.letters <= MOST_EMBEDDED_LETTERS
        model = embedder() if small else None
        index = LibraryIndex(store, contents, lexical_of(store, contents, place), model)
        if model is not None:
            _add_vectors(index, store, contents.numbers, model)
        return index


def _touch(place: Path) -> None:
    """Mark an index as used: what nobody has used for `KEPT_DAYS` is removed."""
    for used in (place, place.with_suffix("")):
        with suppress(OSError):
            os.utime(used)


def _remove(place: Path) -> None:
    with suppress(OSError):
        for ending in ("", "-journal"):
            place.with_name(place.name + ending).unlink(missing_ok=True)
    shutil.rmtree(place.with_suffix(""), ignore_errors=True)


@lru_cache(maxsize=1)
def code_digest() -> str:
    """A digest of the code that reads documents and makes the index."""
    here = Path(__file__).resolve()
    root = here.parents[2]
    files = sorted(here.parent.glob("*.py")) + sorted((root / "documents").glob("*.py"))
    files += [root / "text" / "bm25.py", root / "text" / "postings.py", root / "types.py"]
    state = hashlib.sha256()
    for file in files:
        state.update(file.read_bytes())
    return state.hexdigest()


def _add_vectors(index: LibraryIndex, store: Store, numbers: Sequence[int], model: Embedder) -> None:
    """Give the index its vectors: now when few are missing, else in the background."""
    known = {
        int(number): np.frombuffer(rows, np.float32).reshape(int(count), -1)
        for number, rows, count in store.rows(
            "SELECT number, rows, count FROM vectors WHERE model = ?", (model.name,)
        )
    }
    missing = [number for number in numbers if number not in known]
    texts = _passages(store, missing)
    count = sum(len(parts) for _, parts in _passages(store, missing))

    def add_vectors() -> None:
        for number, parts in texts:
            rows = model.encode(parts)
            known[number] = rows
            with suppress(sqlite3.Error), store.writing() as database:
                values = (number, model.name, len(rows), rows.tobytes())
                database.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", values)
        index.learn([known[number] for number in numbers])

    def add_later() -> None:
        with suppress(Changed):  # another index is made of the changed folder
            add_vectors()

    if count <= EMBED_AT_ONCE:
        add_vectors()
    else:
        log.info("library_embedding", passages=count)
        threading.Thread(target=add_later, name="library-embedding", daemon=True).start()


def _passages(store: Store, numbers: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
    for number, document in zip(numbers, store.documents(numbers), strict=True):
        yield number, passages(document.title, document.text)
