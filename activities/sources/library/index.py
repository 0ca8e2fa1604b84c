"""The index of a library folder: documents read once, ranked by words and, where a model is installed, by
meaning.

What was read from a file, and its vectors, is kept in the cache under a name made from the file's path, size
and time of change, so a library is read once and a changed file is read again. The word index lives in
memory: it is built in a moment. Files of the cache are written beside their place and moved into it, so
several processes may share it.
"""

import hashlib
import io
import os
import threading
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import structlog
from pydantic import TypeAdapter, ValidationError

from activities.embeddings import Embedder, Vectors, embedder, passages
from activities.fusion import fuse
from activities.lexical import Fields, Lexical
from activities.sources.library.documents import (
    Collection,
    FileStamp,
    Listing,
    SetAside,
    list_folder,
    read_files,
)
from activities.types import Evidence

log = structlog.get_logger()

READER_VERSION = "1"
"""Goes into every cache name: raise it when what is read from a file changes."""
FOLDERS_IN_MEMORY = 4

_CACHED = TypeAdapter(tuple[tuple[Evidence, ...], tuple[tuple[str, str], ...]])


@dataclass(frozen=True, slots=True)
class Found:
    """A document and how well it matches: higher is better, comparable within one search."""

    document: Evidence
    score: float


class LibraryIndex:
    """The documents of one state of one folder. Safe to search from several threads."""

    def __init__(
        self, collection: Collection, vectors: Vectors | None = None, model: Embedder | None = None
    ) -> None:
        self.documents = collection.documents
        self.set_aside = collection.set_aside
        self._lexical = Lexical([fields(d) for d in self.documents])
        self._model = model
        self._vectors = vectors
        self._owner = np.repeat(
            np.arange(len(self.documents)), [len(passages(d.title, d.text)) for d in self.documents]
        )

    @property
    def hybrid(self) -> bool:
        """Whether meaning counts, or words only."""
        return self._vectors is not None

    def search(self, query: str, limit: int) -> tuple[list[Found], int]:
        """The best documents, and how many share a word with the query."""
        lexical = self._lexical.scores(query)
        hits = int((lexical > 0).sum())
        scores = lexical
        if self._model is not None and self._vectors is not None and len(self._vectors):
            likeness = self._vectors @ self._model.encode([query])[0]
            best = np.full(len(self.documents), -1.0)
            np.maximum.at(best, self._owner, likeness.astype(np.float64))
            scores = fuse(lexical, best)
        order = np.argsort(-scores, kind="stable")[:limit]
        return [Found(self.documents[i], float(scores[i])) for i in order if scores[i] > 0], hits


def fields(document: Evidence) -> Fields:
    """What of a document is searched by words."""
    terms = tuple(term.strip() for term in document.facts.get("mesh", "").split(";") if term.strip())
    return Fields(document.text, document.title, terms)


class Libraries:
    """The indexes of the folders a process searches, the latest few kept in memory."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._ready: OrderedDict[Path, tuple[Listing, LibraryIndex]] = OrderedDict()
        self._lock = threading.Lock()
        self._building: dict[Path, threading.Lock] = {}

    def open(self, folder: Path) -> LibraryIndex:
        """The index of a folder as it is now; built at most once for one state of it.

        Raises Refused when the folder cannot be read.
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
            index = self._build(listing)
            with self._lock:
                self._ready[key] = (listing, index)
                self._ready.move_to_end(key)
                while len(self._ready) > FOLDERS_IN_MEMORY:
                    self._ready.popitem(last=False)
            return index

    def _build(self, listing: Listing) -> LibraryIndex:
        model = embedder()
        documents: dict[str, Evidence] = {}
        vectors: dict[str, Vectors] = {}
        aside = list(listing.set_aside)
        for file in listing.files:
            part = self._read(file)
            aside += part.set_aside
            new = [d for d in part.documents if d.evidence_id not in documents]
            documents.update((d.evidence_id, d) for d in new)
            if model is not None:
                vectors.update(self._embed(file, part.documents, model))
        for item in aside:
            log.warning("library_item_set_aside", item=item.name, reason=item.reason)
        matrix = None
        if model is not None and documents:
            matrix = np.concatenate([vectors[name] for name in documents])
        collection = Collection(tuple(documents.values()), tuple(aside))
        return LibraryIndex(collection, matrix, model)

    def _read(self, file: FileStamp) -> Collection:
        place = self._place(file, "documents.json")
        try:
            documents, aside = _CACHED.validate_json(place.read_bytes())
            return Collection(documents, tuple(SetAside(*item) for item in aside))
        except (OSError, ValidationError):
            pass  # not read yet, or written by another version
        part = read_files(Listing((file,), ()))
        self._keep(
            place, _CACHED.dump_json((part.documents, tuple((a.name, a.reason) for a in part.set_aside)))
        )
        return part

    def _embed(self, file: FileStamp, documents: Sequence[Evidence], model: Embedder) -> dict[str, Vectors]:
        """The passages' vectors of every document of a file."""
        rows = [passages(d.title, d.text) for d in documents]
        total = sum(len(p) for p in rows)
        place = self._place(file, f"{model.name}.npy")
        matrix: Vectors | None = None
        with suppress(OSError, ValueError, EOFError):  # not embedded yet, or cut short
            matrix = np.load(io.BytesIO(place.read_bytes()), allow_pickle=False)
        if matrix is None or len(matrix) != total:
            matrix = (
                model.encode([p for row in rows for p in row]) if total else np.zeros((0, 384), np.float32)
            )
            buffer = io.BytesIO()
            np.save(buffer, matrix, allow_pickle=False)
            self._keep(place, buffer.getvalue())
        ends = np.cumsum([len(p) for p in rows])
        starts = ends - [len(p) for p in rows]
        return {d.evidence_id: matrix[a:b] for d, a, b in zip(documents, starts, ends, strict=True)}

    def _place(self, file: FileStamp, ending: str) -> Path:
        stamp = f"{READER_VERSION}|{file.path}|{file.name}|{file.size}|{file.mtime_ns}"
        name = hashlib.sha256(stamp.encode("utf-8", errors="surrogateescape")).hexdigest()
        return self._cache / name[:2] / f"{name}.{ending}"

    def _keep(self, place: Path, data: bytes) -> None:
        """Write whole or not at all. A cache that cannot be written slows a search down and fails none."""
        beside = place.with_name(f"{place.name}.{os.getpid()}.{uuid.uuid4().hex}")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data)
            beside.replace(place)
        except OSError as error:
            log.warning("library_cache_not_written", path=str(place), error=str(error))
            with suppress(OSError):
                beside.unlink()
