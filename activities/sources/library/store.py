"""The documents of one folder on disk, in SQLite: each file is read once, and again when it has changed.

Every file is committed when it is read, so a search that is cancelled or killed while a large folder is read
leaves what it has read, and several processes may share the work: a file that another one has read is not
read again.
"""

import contextlib
import hashlib
import itertools
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from activities.contracts.evidence import Evidence
from activities.dates import date_of_head
from activities.documents.readers import Stop, Stopped
from activities.retractions.rules import worst
from activities.sources.base import Report
from activities.sources.library.files import MAX_DOCUMENTS, FileStamp, Listing, documents_of
from activities.sources.library.reading import WHOLE, SetAside, kind_of
from activities.text.language import ENGLISH, language_of, main_languages

BUSY_SECONDS = 60.0
"""A file of records is written in one transaction, for which other processes wait."""
NEVER = -1
"""Time of change that no file has."""
AT_ONCE = 50
"""Documents that are loaded with one statement."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    path BLOB PRIMARY KEY, name TEXT, size INTEGER, mtime INTEGER, place INTEGER
);
CREATE TABLE IF NOT EXISTS set_aside (path BLOB, name TEXT, reason TEXT);
CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB, evidence_id TEXT, whole INTEGER, full_text INTEGER,
    digest BLOB, letters INTEGER, language TEXT, body TEXT
);
CREATE INDEX IF NOT EXISTS documents_of_file ON documents (path);
CREATE INDEX IF NOT EXISTS set_aside_of_file ON set_aside (path);
CREATE TABLE IF NOT EXISTS vectors (
    number INTEGER, model TEXT, count INTEGER, rows BLOB, PRIMARY KEY (number, model)
);
CREATE TABLE IF NOT EXISTS passages (
    number INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT, digest BLOB, vector BLOB, UNIQUE (model, digest)
);
CREATE VIRTUAL TABLE IF NOT EXISTS terms USING fts5 (words, tokenize = 'unicode61');
CREATE VIRTUAL TABLE IF NOT EXISTS every_term USING fts5vocab (terms, row);
"""


@dataclass(frozen=True, slots=True)
class Contents:
    numbers: tuple[int, ...]
    set_aside: tuple[SetAside, ...]


class FolderChanged(Exception):
    """Another process has read a changed file meanwhile: open the folder again."""


class Store:
    """The documents of a folder. Safe to use from several threads."""

    def __init__(self, place: Path | None, speech_model: str = "") -> None:
        """Open or create the file at `place`, or a store in memory. Raises OSError, sqlite3.Error."""
        self.place = place
        self._other_records: dict[int, list[int]] = {}
        """Number of a document that is searched -> those of other records of the work."""
        self._speech_model = speech_model
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(
            place or ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._lock = threading.RLock()
        weakref.finalize(self, self._database.close)
        try:
            # The file can be made again from the folder: it need not survive a power failure. No WAL: it maps
            # a file into memory, which fails on network drives and kills the process when the file is cut.
            self._database.executescript(
                f"PRAGMA synchronous = OFF; PRAGMA journal_mode = PERSIST; {_SCHEMA}"
            )
        except sqlite3.Error:
            self._database.close()
            raise

    def update(self, listing: Listing, stop: Stop | None = None, report: Report | None = None) -> None:
        """Read the files that are new or have changed, and forget those that are gone.

        Raises Stopped, sqlite3.Error.
        """
        places = {_key(file): place for place, file in enumerate(listing.files)}
        with self.transaction():
            for path in self._stamps().keys() - places.keys():
                self._forget(path)
        self.read(listing.files, stop, report)
        with self.transaction():
            self._database.executemany(
                "UPDATE files SET place = ?2 WHERE path = ?1 AND place IS NOT ?2", places.items()
            )

    def read(
        self, files: Sequence[FileStamp], stop: Stop | None = None, report: Report | None = None
    ) -> None:
        """Read those of these files that are new or have changed. Raises Stopped, sqlite3.Error."""
        stamps = self._stamps()
        missing = [file for file in files if stamps.get(_key(file)) != _stamp(file)]
        for count, file in enumerate(missing, start=len(files) - len(missing)):
            if stop is not None and stop.is_asked:
                raise Stopped
            if report is not None:
                report(count, len(files))
            if not self._has(file):  # another process may have read it
                self._read(file, stop)

    def _has(self, file: FileStamp) -> bool:
        """Tell whether the documents of this state of a file are stored."""
        rows = self.rows("SELECT name, size, mtime FROM files WHERE path = ?", (_key(file),))
        return rows == [_stamp(file)]

    def _stamps(self) -> dict[bytes, tuple[str, int, int]]:
        rows = self.rows("SELECT path, name, size, mtime FROM files")
        return {bytes(path): (name, size, mtime) for path, name, size, mtime in rows}

    def _read(self, file: FileStamp, stop: Stop | None) -> None:
        path = _key(file)
        is_whole = kind_of(file.name) in WHOLE
        items = documents_of(file, stop, self._speech_model)
        beginning = list(itertools.islice(items, AT_ONCE))  # reads a whole file: others need not wait yet
        with self.transaction():
            if self._has(file):  # another process was faster; its documents are searched by their numbers
                return
            self._forget(path)
            is_lacking = is_cut = False
            for item in itertools.islice(itertools.chain(beginning, items), MAX_DOCUMENTS + 1):
                if isinstance(item, SetAside):
                    is_lacking = is_lacking or item.lacking
                    self._set_aside(path, item.name, item.reason)
                    continue
                if is_whole and not is_cut and (note := item.facts.get("cut")):
                    self._set_aside(path, file.name, note)
                    is_cut = True
                item = _with_date(item.replace(language=item.language or language_of(item.text)))
                digest = hashlib.blake2b(item.text.encode(), digest_size=16).digest()
                self._database.execute(
                    "INSERT INTO documents"
                    " (path, evidence_id, whole, full_text, digest, letters, language, body)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        *(path, item.evidence_id, is_whole, item.full_text, digest, len(item.text)),
                        *(item.language, item.model_dump_json()),
                    ),
                )
            name, size, mtime = _stamp(file)
            # what lacks a library is tried again when the folder is next opened
            stamp = (name, size, NEVER if is_lacking else mtime)
            self._database.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?)", (path, *stamp, None))

    def _set_aside(self, path: bytes, name: str, reason: str) -> None:
        self._database.execute("INSERT INTO set_aside VALUES (?, ?, ?)", (path, name, reason))

    def _forget(self, path: bytes) -> None:
        self._database.execute(
            "DELETE FROM vectors WHERE number IN (SELECT number FROM documents WHERE path = ?)", (path,)
        )
        for table in ("documents", "set_aside", "files"):
            self._database.execute(f"DELETE FROM {table} WHERE path = ?", (path,))  # noqa: S608 - our own names

    def contents(self) -> Contents:
        """Return the documents that are searched, in the order of the folder's files.

        Of those with the same evidence id the fullest text is, described by what the others know of it, and
        of a file and a record with the same text, as an entry of a bibliography and its attachment, the
        record, whatever the names of their files. Records with the same text are different works.
        """
        columns = "d.number, d.evidence_id, d.whole, d.full_text, d.letters, d.digest, f.name"
        rows = self.rows(f"SELECT {columns} {_IN_ORDER.format('documents d')}, d.number")
        best: dict[str, tuple[int, int, int]] = {}
        """Evidence id -> whether it is a full text, its letters, its number."""
        for number, evidence_id, _, full_text, letters, *_ in rows:
            if (full_text, letters) > best.get(evidence_id, (-1, -1, 0))[:2]:
                best[evidence_id] = (full_text, letters, number)
        works = {number for *_, number in best.values()}
        texts = {digest for number, _, is_whole, *_, digest, _ in rows if not is_whole and number in works}
        by_file: dict[str, list[int]] = {}
        other_records: dict[int, list[int]] = {}
        for number, evidence_id, is_whole, _, _, digest, name in rows:
            if number not in works:
                other_records.setdefault(best[evidence_id][2], []).append(number)
            elif not is_whole or digest not in texts:
                by_file.setdefault(name, []).append(number)
                texts.add(digest)
        self._other_records = other_records
        set_aside = [
            SetAside(*row) for row in self.rows(f"SELECT s.name, s.reason {_IN_ORDER.format('set_aside s')}")
        ]
        numbers: list[int] = []
        for name, file_numbers in by_file.items():
            places = MAX_DOCUMENTS - len(numbers)
            if places < len(file_numbers):
                reason = (
                    f"the first {places:,} of its {len(file_numbers):,} documents are searched: "
                    f"a library holds at most {MAX_DOCUMENTS:,}; part the folder"
                )
                set_aside.append(SetAside(name, reason))
            numbers += file_numbers[:places]
        return Contents(tuple(numbers), tuple(set_aside))

    def languages(self) -> tuple[str, ...]:
        """List the languages of the documents, without those of next to none of them."""
        return main_languages(dict(self.rows("SELECT language, count(*) FROM documents GROUP BY language")))

    def documents(self, numbers: Sequence[int]) -> Iterator[Evidence]:
        """Yield the documents with these numbers, in this order. Raises FolderChanged."""
        for start in range(0, len(numbers), AT_ONCE):
            batch = numbers[start : start + AT_ONCE]
            marks = ", ".join("?" * len(batch))
            bodies = dict(
                self.rows(f"SELECT number, body FROM documents WHERE number IN ({marks})", batch)  # noqa: S608 - only marks
            )
            if len(bodies) < len(batch):
                raise FolderChanged("the folder has changed since it was listed")
            for number in batch:
                document = Evidence.model_validate_json(bodies[number])
                for other in self._other_records.get(number, ()):
                    for (body,) in self.rows("SELECT body FROM documents WHERE number = ?", (other,)):
                        document = _with_fields_of(document, Evidence.model_validate_json(body))
                yield document

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement. Raises sqlite3.Error."""
        with self._lock:
            return self._database.execute(statement, values).fetchall()

    @contextlib.contextmanager
    def transaction(self, *, at_once: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield a transaction that is taken back when the body fails. Raises sqlite3.Error.

        `at_once` fails where another process writes."""
        with self._lock:
            self._database.execute(f"PRAGMA busy_timeout = {0 if at_once else BUSY_SECONDS * 1000:.0f}")
            try:
                self._database.execute("BEGIN IMMEDIATE")
            finally:
                self._database.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")


def _with_fields_of(document: Evidence, other: Evidence) -> Evidence:
    """Return a document with what another record of the work knows and it does not name itself."""
    changes: dict[str, object] = {}
    if document.facts.get("title_from") == "file name" and other.title:
        changes["title"] = other.title
        changes["facts"] = {key: fact for key, fact in document.facts.items() if key != "title_from"}
    if document.venue == document.facts.get("file") and other.venue:
        changes["venue"] = other.venue
    changes |= {field: getattr(other, field) for field in ("authors", "year") if not getattr(document, field)}
    return document.replace(**changes, standing=worst(document.standing, other.standing))


_IN_ORDER = "FROM {} JOIN files f USING (path) ORDER BY f.place"


def _key(file: FileStamp) -> bytes:
    return os.fsencode(file.path)


def _stamp(file: FileStamp) -> tuple[str, int, int]:
    return file.name, file.size, file.mtime_ns


def _with_date(document: Evidence) -> Evidence:
    """Return the document with the date in its head, which says more than its file does."""
    if document.evidence_type != "document" or document.facts.get("date_from") == "header":
        return document
    date = date_of_head(document.text, document.language or ENGLISH)
    facts = {**document.facts, "date": date, "date_from": "text"}
    return document.replace(facts=facts, year=int(date[:4])) if date else document
