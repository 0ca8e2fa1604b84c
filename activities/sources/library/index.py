"""The index of a library folder: documents read once, ranked by words and by meaning.

Words choose `MAX_RANKED` documents of any folder, of which the encoder reads the nearest sentences
(`activities.text.ranking`). After its first question a folder is encoded whole in the background
(`encoding`), and from then on all its sentences are searched by meaning as well.

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
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from activities.contracts.errors import Refused
from activities.contracts.evidence import AbsentWord, Evidence
from activities.documents.readers import Stop
from activities.logs import log
from activities.private_files import user_cache
from activities.sources.base import Report
from activities.sources.library.encoding import MIN_LIKENESS, Encoding, Passages
from activities.sources.library.files import BUNDLED, Listing, list_folder
from activities.sources.library.store import Contents, FolderChanged, Store
from activities.text.absence import absent_words, pattern
from activities.text.embeddings import MULTILINGUAL, embedder, encoder_name
from activities.text.language import ENGLISH, language_of_question
from activities.text.ranking import (
    OTHER_NAMES,
    TITLE_TIMES,
    Item,
    best_first,
    other_names,
    question_words,
    rank,
    words,
)
from activities.text.sentences import language_in

CANDIDATES = 300
"""Documents, best first by words, that a search counts."""
MAX_RANKED = 60
"""Documents, best first by words, and by meaning where it is known, that a search ranks by both."""
FOLDERS_IN_MEMORY = 4
KEPT_DAYS = 30
"""After which an index that nobody has used is removed."""
ATTEMPTS = 3
"""To open a folder whose index is damaged."""
MAX_PROBES, MIN_PROBE_BYTES, MAX_PROBE_BYTES = 8, 200, 2_000_000
"""Files by which the languages of a folder are told before it is indexed, and their bytes."""
MAX_LOGGED = 100
"""Items set aside that are logged one by one."""


class LibraryIndex:
    """The documents of one state of one folder. Safe to search from several threads."""

    def __init__(
        self, store: Store, contents: Contents, languages: Sequence[str] = (), *, is_sample: bool = False
    ) -> None:
        """`languages`: those of the documents. `is_sample`: the folder is the bundled one."""
        self.store = store
        self.numbers = contents.numbers
        self.set_aside = contents.set_aside
        self.languages = tuple(languages)
        self._is_sample = is_sample
        self._encodings: dict[str, Encoding] = {}
        self._passages = Passages(store)
        self._place = {number: place for place, number in enumerate(contents.numbers)}

    def encoding_of(self, query: str) -> Encoding | None:
        """Return the vectors by the encoder of these languages; None where documents are ranked by words."""
        model = embedder((*self.languages, language_of_question(query)))
        if model is None:
            return None
        if model.name not in self._encodings:
            self._encodings[model.name] = Encoding(self.store, self.numbers, model, is_sample=self._is_sample)
        return self._encodings[model.name]

    def count_waiting(self, query: str = "") -> int:
        """Count the documents that the encoder of these languages has not read. Raises sqlite3.Error."""
        name = encoder_name((*self.languages, language_of_question(query)))
        rows = self.store.rows("SELECT number FROM vectors WHERE model = ?", (name,))
        return len(set(self.numbers).difference(number for (number,) in rows)) if name else 0

    def languages_not_encoded(self, query: str) -> list[str]:
        """List the languages of the documents and of a query that no encoder knows."""
        return sorted({*self.languages, language_of_question(query)} - {"", ENGLISH, *MULTILINGUAL})

    @property
    def count(self) -> int:
        return len(self.numbers)

    @property
    def documents(self) -> tuple[Evidence, ...]:
        return tuple(self.store.documents(self.numbers))

    def search(
        self,
        query: str,
        limit: int,
        passes: Callable[[Evidence], bool] = lambda _: True,
        *,
        max_whole: int = 0,
    ) -> tuple[list[Item], int]:
        """Return the best documents, and how many match. `max_whole`: size of a folder returned whole."""
        scores = np.zeros(len(self.numbers))
        hits = self._score_words(question_words(query, self.languages), scores)
        other_scores = np.zeros(len(self.numbers))
        hits = max(hits, self._score_words([" ".join(form) for form in other_names(query)], other_scores))
        scores += OTHER_NAMES * other_scores
        likeness = None
        encoding = self.encoding_of(query)
        if encoding is not None:
            encoding.prepare()
            likeness = encoding.likeness(query)
        best = np.argsort(-scores, kind="stable")[: max(MAX_RANKED, limit)]
        order = [int(n) for n in best if scores[n] > 0]
        if likeness is not None:
            nearest = np.argsort(-likeness, kind="stable")[:MAX_RANKED]
            order = list(dict.fromkeys([*order, *(int(n) for n in nearest if likeness[n] >= MIN_LIKENESS)]))
            hits = max(hits, int(((scores > 0) | (likeness >= MIN_LIKENESS)).sum()))
        if order and len(self.numbers) <= max_whole:
            limit = max(limit, max_whole)
            order = list(dict.fromkeys([*order, *range(len(self.numbers))]))
        documents = self.store.documents([self.numbers[n] for n in order])
        pairs = [(n, document) for n, document in zip(order, documents, strict=True) if passes(document)]
        if encoding is not None:
            encoding.remember([self.numbers[n] for n, _ in pairs])
        items = rank(
            query,
            [document for _, document in pairs],
            [float(scores[n]) for n, _ in pairs],
            self._passages.encode,
        )
        if encoding is not None:
            encoding.start()
        return best_first(items)[:limit], hits

    def absent_words(self, query: str) -> tuple[AbsentWord, ...]:
        """List the words of a query that no document has. Raises sqlite3.Error."""
        return absent_words(query, self.languages, self.holds, self.has) if self.numbers else ()

    def holds(self, row: Sequence[str], language: str) -> bool:
        """See `activities.text.absence.TermsOf`. Raises sqlite3.Error."""
        if len(row) > 1:
            phrase = '"{}"'.format(" ".join(row))
            return bool(self.store.rows("SELECT 1 FROM terms WHERE terms MATCH ? LIMIT 1", (phrase,)))
        return pattern(row, language, "\n") in self._every_term

    def has(self, text: str) -> bool:
        """See `TermsOf`. Raises sqlite3.Error."""
        return bool(
            self.store.rows("SELECT 1 FROM documents WHERE instr(lower(body), lower(?)) LIMIT 1", (text,))
        )

    @cached_property
    def _every_term(self) -> str:
        return "\n".join(("", *(term for (term,) in self.store.rows("SELECT term FROM every_term")), ""))

    def _score_words(self, phrases: Iterable[str], scores: NDArray[np.float64]) -> int:
        """Write the BM25 of the best documents into `scores`; return how many match. Raises FolderChanged."""
        match = " OR ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases))
        if not match:
            return 0
        for number, score in self.store.rows(
            "SELECT rowid, rank FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT ?", (match, CANDIDATES)
        ):
            if number not in self._place:
                raise FolderChanged("another process has read a changed file since the folder was listed")
            scores[self._place[number]] = max(-float(score), 1e-9)  # of a word that most have it may be 0
        ((hits,),) = self.store.rows("SELECT count(*) FROM terms WHERE terms MATCH ?", (match,))
        return int(hits)


class Libraries:
    """The indexes of the folders a process searches, the latest few kept open."""

    def __init__(self, cache: Path, speech_model: Path | None = None) -> None:
        """`cache`: the folder of indexes but the sample's. `speech_model`: the folder for recordings."""
        self._cache = cache
        self._speech_model = str(speech_model or "")
        self._ready: OrderedDict[Path, tuple[Listing, LibraryIndex]] = OrderedDict()
        self._lock = threading.Lock()
        self._building: dict[Path, threading.Lock] = {}

    def open(self, folder: Path, stop: Stop | None = None, report: Report | None = None) -> LibraryIndex:
        """Return the index of a folder as it is now; built at most once for one state of it.

        Raises Refused when the folder cannot be read, Stopped.
        """
        key = folder.expanduser().absolute()
        with self._lock:
            lock = self._building.setdefault(key, threading.Lock())
        with lock:
            listing = list_folder(folder)
            with self._lock:
                entry = self._ready.get(key)
                if entry and entry[0] == listing:
                    self._ready.move_to_end(key)
                    return entry[1]
            index = self._build(key, listing, stop, report)
            with self._lock:
                self._ready[key] = (listing, index)
                self._ready.move_to_end(key)
                while len(self._ready) > FOLDERS_IN_MEMORY:
                    self._ready.popitem(last=False)
            return index

    def forget(self, index: LibraryIndex) -> None:
        """Open the folder of an index from its file when it is searched next."""
        with self._lock:
            for key, (_, entry) in tuple(self._ready.items()):
                if entry is index:
                    del self._ready[key]

    def languages(self, folder: Path) -> tuple[str, ...]:
        """List the languages of a folder as it was indexed last; before that those of its smallest texts."""
        key = folder.expanduser().absolute()
        try:
            store = Store(self._place(key), self._speech_model)
            if not store.rows("SELECT 1 FROM documents LIMIT 1"):
                listing = list_folder(key)
                texts = [file for file in listing.files if MIN_PROBE_BYTES <= file.size <= MAX_PROBE_BYTES]
                store.read(sorted(texts, key=lambda file: file.size)[:MAX_PROBES])
            return store.languages()
        except (OSError, sqlite3.Error, Refused):
            return ()

    def _place(self, key: Path) -> Path:
        """Return the path of the index of a folder."""
        bundled = key.resolve().is_relative_to(BUNDLED)
        cache = user_cache("library") if bundled else self._cache
        name = hashlib.sha256(
            f"{code_digest()}|{os.fsdecode(key)}".encode(errors="surrogateescape")
        ).hexdigest()
        return cache / f"{name[:32]}.sqlite"

    def _build(self, key: Path, listing: Listing, stop: Stop | None, report: Report | None) -> LibraryIndex:
        place = self._place(key)
        for _ in range(ATTEMPTS):
            try:
                index = self._open(Store(place, self._speech_model), listing, stop, report)
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
        with store.transaction() as database:  # no process may read a file between the two
            contents = store.contents()
            _update_words(store, database, contents.numbers)
        contents = replace(contents, set_aside=listing.set_aside + contents.set_aside)
        for item in contents.set_aside[:MAX_LOGGED]:
            log.warning("library_item_set_aside", item=item.name, reason=item.reason)
        is_sample = all(file.path.resolve().is_relative_to(BUNDLED) for file in listing.files)
        return LibraryIndex(store, contents, store.languages(), is_sample=is_sample)


def _update_words(store: Store, database: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Bring the full-text index to these documents. Raises sqlite3.Error."""
    indexed = {number for (number,) in database.execute("SELECT rowid FROM terms")}
    database.executemany("DELETE FROM terms WHERE rowid = ?", ((n,) for n in sorted(indexed - set(numbers))))
    missing = sorted(set(numbers) - indexed)
    for number, document in zip(missing, store.documents(missing), strict=True):
        language = language_in(document)
        tokens = words(document.title, language) * TITLE_TIMES + words(document.text, language)
        tokens += words(document.facts.get("mesh", ""))
        database.execute("INSERT INTO terms (rowid, words) VALUES (?, ?)", (number, " ".join(tokens)))


def _touch(place: Path) -> None:
    """Mark an index as used, and remove those that nobody has used for `KEPT_DAYS`."""
    with suppress(OSError):
        os.utime(place)
        for file in place.parent.glob("*.sqlite"):
            if file.stat().st_mtime < time.time() - KEPT_DAYS * 86_400:
                _remove(file)


def _remove(place: Path) -> None:
    with suppress(OSError):
        for ending in ("", "-journal"):
            place.with_name(place.name + ending).unlink(missing_ok=True)


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return a digest of the code that reads documents, divides them and makes the index."""
    package = Path(__file__).resolve().parent
    root = package.parents[1]
    files = [*package.glob("*.py"), *(root / "documents").glob("*.py"), *(root / "text").glob("*.py")]
    files.append(root / "contracts" / "evidence.py")
    state = hashlib.sha256()
    for file in sorted(files):
        state.update(file.read_bytes())
    return state.hexdigest()
