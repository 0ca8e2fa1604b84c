"""The index of a library folder: documents read once, ranked by words and, where a model is installed, by
meaning.

A file's text and its vectors are kept in the cache under a name made from the file's path, size and time of
change, so a library is read once and a changed file is read again. The word index is kept in memory, since it
is built quickly. Files of the cache are written beside their place and moved into it, so several processes
may share it.
"""

import hashlib
import io
import os
import sqlite3
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from activities.documents.readers import Stop, Stopped
from activities.sources.library.files import (
    MAX_DOCUMENTS,
    Collection,
    FileStamp,
    Listing,
    Repeats,
    documents_of,
    list_folder,
    read_files,
)
from activities.sources.library.large import LargeIndex
from activities.sources.library.large import build as build_large
from activities.sources.library.reading import SetAside
from activities.text.bm25 import Fields, Lexical
from activities.text.embeddings import Embedder, Vectors, embedder, passages
from activities.text.fusion import fuse
from activities.types import Evidence

log = structlog.get_logger()

MIN_LIKENESS = 0.3
"""Cosine from which a document that shares no word with the query still counts as found."""
EMBED_AT_ONCE = 64
"""Seconds of embedding that a search waits for; with more to embed, a library is ranked by words
meanwhile."""
READER_VERSION = "5"
"""Part of every cache name: increase it when the way files are read changes."""
FOLDERS_IN_MEMORY = 4
LARGE_BYTES = 24 * 1024 * 1024
"""Of the plain files and records of a folder together, from which its index is kept on disk."""

_CACHED = TypeAdapter(tuple[tuple[Evidence, ...], tuple[tuple[str, str], ...]])


@dataclass(frozen=True, slots=True)
class Found:
    """A document and how well it matches: higher is better, comparable within one search."""

    document: Evidence
    score: float


class LibraryIndex:
    """The documents of one state of one folder. Safe to search from several threads."""

    def __init__(self, collection: Collection, model: Embedder | None = None) -> None:
        self.documents = collection.documents
        self.set_aside = collection.set_aside
        self._lexical = Lexical([fields(d) for d in self.documents])
        self._model = model
        self._meaning: tuple[Vectors, NDArray[np.intp]] | None = None

    @property
    def count(self) -> int:
        """How many documents there are."""
        return len(self.documents)

    @property
    def learning(self) -> bool:
        """Whether a model is installed and the documents' vectors are not ready yet."""
        return self._model is not None and self._meaning is None and bool(self.documents)

    def learn(self, vectors: Mapping[str, Vectors]) -> None:
        """Add the vectors of every document, by evidence id."""
        rows = [vectors[document.evidence_id] for document in self.documents]
        if rows:
            owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
            self._meaning = (np.concatenate(rows), owner)

    def search(self, query: str, limit: int) -> tuple[list[Found], int]:
        """The best documents, and how many match at all."""
        scores = self._lexical.scores(query)
        matching = scores > 0
        if self._model is not None and self._meaning is not None:
            vectors, owner = self._meaning
            likeness = np.full(len(self.documents), -1.0)
            np.maximum.at(likeness, owner, (vectors @ self._model.encode([query])[0]).astype(np.float64))
            matching |= likeness >= MIN_LIKENESS
            scores = fuse(scores, likeness)
        order = [int(i) for i in np.argsort(-scores, kind="stable") if matching[i]]
        return [Found(self.documents[i], float(scores[i])) for i in order[:limit]], len(order)


def fields(document: Evidence) -> Fields:
    """What of a document is searched by words."""
    terms = tuple(term.strip() for term in document.facts.get("mesh", "").split(";") if term.strip())
    return Fields(document.text, document.title, terms)


Index = LibraryIndex | LargeIndex
LOGGED = 100
"""Items set aside of a large library that are logged one by one."""


def is_large(listing: Listing) -> bool:
    """Whether a folder's documents are too many to be held in memory with their words."""
    plain = (
        file.size for file in listing.files if not file.name.casefold().endswith((".pdf", ".html", ".htm"))
    )
    return sum(plain) > LARGE_BYTES


def _items(listing: Listing, stop: Stop | None) -> Iterator[Evidence | SetAside]:
    yield from listing.set_aside
    repeats = Repeats()
    for file in listing.files:
        if stop is not None and stop.asked:
            raise Stopped
        for item in documents_of(file, stop):
            if isinstance(item, SetAside) or not repeats.is_one(file, item):
                yield item


class Libraries:
    """The indexes of the folders a process searches, the latest few kept in memory."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._ready: OrderedDict[Path, tuple[Listing, Index]] = OrderedDict()
        self._lock = threading.Lock()
        self._building: dict[Path, threading.Lock] = {}

    def open(self, folder: Path, stop: Stop | None = None) -> Index:
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
            index: Index = self._large(listing, stop) if is_large(listing) else self._build(listing, stop)
            with self._lock:
                self._ready[key] = (listing, index)
                self._ready.move_to_end(key)
                while len(self._ready) > FOLDERS_IN_MEMORY:
                    self._ready.popitem(last=False)
            return index

    def _large(self, listing: Listing, stop: Stop | None) -> LargeIndex:
        """The index on disk, written when there is none of this state of the folder."""
        stamp = "|".join(f"{READER_VERSION}|{file}" for file in listing.files)
        name = hashlib.sha256(stamp.encode("utf-8", errors="surrogateescape")).hexdigest()
        place = self._cache / name[:2] / f"{name}.sqlite"
        with suppress(sqlite3.Error):
            return LargeIndex(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_name(f"{place.name}.{os.getpid()}.{uuid.uuid4().hex}")
        try:
            build_large(beside, _items(listing, stop), MAX_DOCUMENTS, fields)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
        index = LargeIndex(place)
        for item in index.set_aside[:LOGGED]:
            log.warning("library_item_set_aside", item=item.name, reason=item.reason)
        return index

    def _build(self, listing: Listing, stop: Stop | None) -> LibraryIndex:
        documents: dict[str, Evidence] = {}
        parts: list[tuple[FileStamp, Collection]] = []
        aside = list(listing.set_aside)
        repeats = Repeats()
        for file in listing.files:
            if stop is not None and stop.asked:
                raise Stopped
            part = self._read(file, stop)
            parts.append((file, part))
            aside += part.set_aside
            for document in part.documents:
                if repeats.is_one(file, document):
                    continue
                documents.setdefault(document.evidence_id, document)
        for item in aside:
            log.warning("library_item_set_aside", item=item.name, reason=item.reason)
        model = embedder()
        index = LibraryIndex(Collection(tuple(documents.values()), tuple(aside)), model)
        if model is not None:
            self._add_vectors(index, parts, model)
        return index

    def _add_vectors(
        self, index: LibraryIndex, parts: Sequence[tuple[FileStamp, Collection]], model: Embedder
    ) -> None:
        """Give the index its vectors: now when few are missing, else in the background."""
        stored = [self._stored_vectors(file, part.documents, model) for file, part in parts]
        missing = sum(
            len(passages(d.title, d.text))
            for (_, part), known in zip(parts, stored, strict=True)
            if known is None
            for d in part.documents
        )

        def add_vectors() -> None:
            vectors: dict[str, Vectors] = {}
            for (file, part), known in zip(parts, stored, strict=True):
                found = self._embed(file, part.documents, model) if known is None else known
                for document, rows in zip(part.documents, found, strict=True):
                    vectors.setdefault(document.evidence_id, rows)
            index.learn(vectors)

        if missing <= EMBED_AT_ONCE:
            add_vectors()
        else:
            log.info("library_embedding", passages=missing)
            threading.Thread(target=add_vectors, name="library-embedding", daemon=True).start()

    def _read(self, file: FileStamp, stop: Stop | None) -> Collection:
        place = self._place(file, "documents.json")
        try:
            documents, aside = _CACHED.validate_json(place.read_bytes())
            return Collection(documents, tuple(SetAside(*item) for item in aside))
        except (OSError, ValidationError):
            pass  # not read yet, or written by another version
        part = read_files(Listing((file,), ()), stop)
        self._keep(
            place, _CACHED.dump_json((part.documents, tuple((a.name, a.reason) for a in part.set_aside)))
        )
        return part

    def _stored_vectors(
        self, file: FileStamp, documents: Sequence[Evidence], model: Embedder
    ) -> list[Vectors] | None:
        """The vectors of a file's documents, one array a document, from the cache; None when not there."""
        with suppress(OSError, ValueError, EOFError):  # not embedded yet, or cut short
            data = self._place(file, f"{model.name}.npy").read_bytes()
            return _by_document(np.load(io.BytesIO(data), allow_pickle=False), documents)
        return None

    def _embed(self, file: FileStamp, documents: Sequence[Evidence], model: Embedder) -> list[Vectors]:
        matrix = model.encode([p for d in documents for p in passages(d.title, d.text)])
        buffer = io.BytesIO()
        np.save(buffer, matrix, allow_pickle=False)
        self._keep(self._place(file, f"{model.name}.npy"), buffer.getvalue())
        return _by_document(matrix, documents)

    def _place(self, file: FileStamp, ending: str) -> Path:
        stamp = f"{READER_VERSION}|{file.path}|{file.name}|{file.size}|{file.mtime_ns}"
        name = hashlib.sha256(stamp.encode("utf-8", errors="surrogateescape")).hexdigest()
        return self._cache / name[:2] / f"{name}.{ending}"

    def _keep(self, place: Path, data: bytes) -> None:
        """Write whole or not at all. A cache that cannot be written makes a search slower and does not fail
        it."""
        beside = place.with_name(f"{place.name}.{os.getpid()}.{uuid.uuid4().hex}")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data)
            beside.replace(place)
        except OSError as error:
            log.warning("library_cache_not_written", path=str(place), error=str(error))
            with suppress(OSError):
                beside.unlink()


def _by_document(matrix: Vectors, documents: Sequence[Evidence]) -> list[Vectors]:
    """Raises ValueError when the rows are not those of the documents."""
    counts = [len(passages(d.title, d.text)) for d in documents]
    if len(matrix) != sum(counts):
        raise ValueError("the vectors belong to other documents")
    ends = np.cumsum(counts, dtype=np.intp)
    return [matrix[end - count : end] for end, count in zip(ends, counts, strict=True)]
