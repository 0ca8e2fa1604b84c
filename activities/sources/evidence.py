"""What earlier runs have collected, as a source: every work in the evidence store of this home, searched by
words and by meaning. No network, no key; a new question begins with what was already found.

A blob of the store never changes, so each is read once. The index (SQLite) lies in the home's cache: words in
a full-text index, and the meaning of a title with the beginning of its text as a vector of the encoder. A
work keeps the source that found it first. Of several records of a work the one with the longest text is
searched.

On a shared store (`s3://` ...) works of libraries are left out: they are private to those who may read the
folder.
"""

import asyncio
import hashlib
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from activities.contracts.errors import StoreError
from activities.contracts.evidence import Evidence, Filters, Provenance, Query
from activities.evidence_store import EvidenceStore
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.filters import passes
from activities.sources.http.client import Http
from activities.sources.names import info_of

if TYPE_CHECKING:
    from activities.text.embeddings import Embedder

CANDIDATES = 300
"""Works that are ranked in full for one search."""
MAX_EMBEDDED_AT_ONCE = 200
"""Works whose meaning is computed during one search, some five seconds of one processor; the others follow in
the next ones and are found by their words meanwhile."""
READ_AT_ONCE = 32
MIN_LIKENESS = 0.35
"""Cosine from which a work that shares no word with the query counts as found."""
EMBEDDED_CHARS = 1_200
"""Of a text, from its beginning, after the title."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS blobs (key TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS works (
    number INTEGER PRIMARY KEY, evidence_id TEXT UNIQUE, key TEXT, letters INTEGER
);
CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, model TEXT, row BLOB);
CREATE VIRTUAL TABLE IF NOT EXISTS terms USING fts5 (words, tokenize = 'unicode61');
"""
_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Found:
    """A work and how well it matches, higher is better within one search."""

    work: Evidence
    score: float


class EvidenceIndex:
    """The works of one evidence store."""

    def __init__(self, store: EvidenceStore, place: Path, *, shared: bool) -> None:
        """`place`: the file of the index. `shared`: whether others use the store as well."""
        self._store = store
        self._place = place
        self._shared = shared
        self._lock = asyncio.Lock()

    async def search(
        self,
        text: str,
        limit: int,
        filters: Filters | None = None,
        *,
        only: Collection[str] | None = None,
    ) -> tuple[list[Found], str]:
        """The best works, of those whose ids are in `only` where it is given, and what is still missing from
        the index. Raises StoreError."""
        async with self._lock:
            try:
                return await self._search(text, limit, filters or Filters(), only)
            except sqlite3.DatabaseError as error:
                self._place.unlink(missing_ok=True)
                raise StoreError(
                    f"the index of collected evidence was damaged and is made again: {error}"
                ) from error

    async def _search(
        self, text: str, limit: int, filters: Filters, only: Collection[str] | None
    ) -> tuple[list[Found], str]:
        self._place.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._place, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            database.executescript(f"PRAGMA synchronous = OFF; {_SCHEMA}")
            await self._read_new(database)
            waiting = await self._embed_new(database)
            ranked = await asyncio.to_thread(_ranked, database, text)
            found: list[Found] = []
            for name, key, score in ranked:
                if len(found) >= limit:
                    break
                if only is not None and name not in only:
                    continue
                work = await self._store.get(key)
                if passes(work, filters):
                    found.append(Found(work, score))
        finally:
            database.close()
        return found, f"{waiting} works are searched by words only so far" if waiting else ""

    async def _read_new(self, database: sqlite3.Connection) -> None:
        known = {key for (key,) in database.execute("SELECT key FROM blobs")}
        new = [key for key in await self._store.blob_keys() if key not in known]
        for start in range(0, len(new), READ_AT_ONCE):
            keys = new[start : start + READ_AT_ONCE]
            bodies = await asyncio.gather(*map(self._store.get_bytes, keys), return_exceptions=True)
            database.execute("BEGIN")
            for key, body in zip(keys, bodies, strict=True):
                if isinstance(body, bytes):
                    self._add(database, key, body)
            database.execute("COMMIT")

    def _add(self, database: sqlite3.Connection, key: str, body: bytes) -> None:
        database.execute("INSERT OR IGNORE INTO blobs VALUES (?)", (key,))
        try:
            work = Evidence.model_validate_json(body)
        except ValidationError:
            return  # an answer, a report, a page
        if not work.text.strip() or (self._shared and work.source == "library"):
            return
        earlier = database.execute(
            "SELECT number, letters FROM works WHERE evidence_id = ?", (work.evidence_id,)
        ).fetchone()
        if earlier is not None and earlier[1] >= len(work.text):
            return
        if earlier is not None:
            for table, column in (("works", "number"), ("vectors", "number"), ("terms", "rowid")):
                database.execute(f"DELETE FROM {table} WHERE {column} = ?", (earlier[0],))  # noqa: S608 - our own names
        cursor = database.execute(
            "INSERT INTO works (evidence_id, key, letters) VALUES (?, ?, ?)",
            (work.evidence_id, key, len(work.text)),
        )
        from activities.text.ranking import words

        searched = f"{work.title} {work.title} {work.text} {work.facts.get('mesh', '')}"
        database.execute(
            "INSERT INTO terms (rowid, words) VALUES (?, ?)", (cursor.lastrowid, " ".join(words(searched)))
        )

    async def _embed_new(self, database: sqlite3.Connection) -> int:
        """Compute the meaning of works that have none yet, the newest first, and return how many still
        wait."""
        model = await asyncio.to_thread(_embedder)
        if model is None:
            return 0
        new = database.execute(
            "SELECT number, key FROM works WHERE number NOT IN (SELECT number FROM vectors WHERE model = ?) "
            "ORDER BY number DESC",
            (model.name,),
        ).fetchall()
        now = new[:MAX_EMBEDDED_AT_ONCE]
        works = await asyncio.gather(*(self._store.get(str(key)) for _, key in now))
        texts = [f"{work.title}. {work.text[:EMBEDDED_CHARS]}" for work in works]
        rows = await asyncio.to_thread(model.encode, texts) if texts else ()
        database.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
            [(number, model.name, row.tobytes()) for (number, _), row in zip(now, rows, strict=True)],
        )
        return len(new) - len(now)


def _embedder() -> "Embedder | None":
    from activities.text.embeddings import embedder

    return embedder()


def _ranked(database: sqlite3.Connection, text: str) -> list[tuple[str, str, float]]:
    """Ids and keys of the works that match, the best first: words and meaning together."""
    import numpy as np

    from activities.text.ranking import fuse, words

    asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(words(text)))
    by_words: dict[int, float] = {}
    if asked:
        rows = database.execute(
            "SELECT rowid, -rank FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT ?", (asked, CANDIDATES)
        )
        by_words = {int(number): float(score) for number, score in rows}
    by_meaning = _likeness(database, text)
    numbers = [
        *by_words,
        *(n for n, like in by_meaning.items() if like >= MIN_LIKENESS and n not in by_words),
    ]
    if not numbers:
        return []
    scores = fuse(
        (
            np.array([by_words.get(number, 0.0) for number in numbers]),
            np.array([by_meaning.get(number, 0.0) for number in numbers]),
        )
    )
    order = np.argsort(-scores, kind="stable")
    works = {number: row for number, *row in database.execute("SELECT number, evidence_id, key FROM works")}
    found = [(*works[numbers[place]], round(float(scores[place]), 4)) for place in order]
    return [(str(name), str(key), score) for name, key, score in found]


def _likeness(database: sqlite3.Connection, text: str) -> dict[int, float]:
    """Cosine of each work's meaning with the query's."""
    import numpy as np

    model = _embedder()
    rows = database.execute(
        "SELECT number, row FROM vectors WHERE model = ?", (model.name if model else "",)
    ).fetchall()
    if model is None or not rows:
        return {}
    matrix = np.stack([np.frombuffer(row, np.float32) for _, row in rows])
    likeness = matrix @ model.encode([text])[0]
    return {int(number): float(like) for (number, _), like in zip(rows, likeness, strict=True)}


def index_of(settings: Settings) -> EvidenceIndex:
    """The index of a home's evidence store. Raises StoreError when the store cannot be opened."""
    url = settings.evidence_url
    name = hashlib.sha256(f"{_VERSION}|{url}".encode()).hexdigest()[:32]
    place = settings.home / "cache" / "evidence" / f"{name}.sqlite"
    return EvidenceIndex(EvidenceStore.at(url), place, shared="://" in url)


class EvidenceSource:
    """The works that earlier runs of this home have found; one exchange a search."""

    info = info_of("evidence")

    def __init__(self, settings: Settings, _: Http | None = None) -> None:
        self._settings = settings
        self._index: EvidenceIndex | None = None

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """Search what has been collected. Raises StoreError."""
        if self._index is None:
            self._index = index_of(self._settings)
        found, detail = await self._index.search(query.text, query.limit, query.filters)
        origin = Provenance(source="evidence", query=query.text)
        records = tuple(item.work.model_copy(update={"provenance": (origin,)}) for item in found)
        return Exchange(records=records, hits=len(records), sent=query.text, detail=detail)
