"""The works that earlier runs of this home have collected, as a source.

No network, no key; a new question begins with what was found before. A blob of the store never changes, so
each is read once. The index (SQLite) lies in the home's cache: words of the works, which choose those that
are ranked by words and meaning (`activities.text.ranking`). A work keeps the source that found it first. Of
several records of a work the one with the longest text is searched.

On a shared store (`s3://` ...) works of libraries are left out: they are private to those who may read the
folder.
"""

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Collection
from pathlib import Path

from pydantic import ValidationError

from activities.contracts.errors import StoreError
from activities.contracts.evidence import Evidence, Filters, Provenance, Query
from activities.contracts.identifiers import fingerprint
from activities.evidence_store import EvidenceStore
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.filters import passes
from activities.sources.http.client import Http
from activities.sources.names import info_of

CANDIDATES = 300
"""Works, best first by words, that a search counts."""
MAX_RANKED = 40
"""Works that a search ranks by meaning as well, among the candidates."""
READ_AT_ONCE = 32
_SCHEMA = """
CREATE TABLE IF NOT EXISTS blobs (key TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS works (
    number INTEGER PRIMARY KEY, work TEXT UNIQUE, evidence_id TEXT, key TEXT, letters INTEGER
);
CREATE VIRTUAL TABLE IF NOT EXISTS terms USING fts5 (words, tokenize = 'unicode61');
"""
_VERSION = "3"


class EvidenceIndex:
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
        ids: Collection[str] | None = None,
    ) -> list[tuple[Evidence, float]]:
        """Return the best works, each with how well it matches: higher is better within one search.

        `ids`: those among which they are chosen. Raises StoreError.
        """
        async with self._lock:
            try:
                return await self._search(text, limit, filters or Filters(), ids)
            except sqlite3.DatabaseError as error:
                self._place.unlink(missing_ok=True)
                raise StoreError(
                    f"the index of collected evidence was damaged and is made again: {error}"
                ) from error

    async def _search(
        self, text: str, limit: int, filters: Filters, ids: Collection[str] | None
    ) -> list[tuple[Evidence, float]]:
        from activities.text.ranking import best_first, rank

        self._place.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._place, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            database.executescript(f"PRAGMA synchronous = OFF; {_SCHEMA}")
            await self._read_new(database)
            scores = await asyncio.to_thread(_best_keys, database, text, max(MAX_RANKED, limit), ids)
        finally:
            database.close()
        works = await asyncio.gather(*map(self._store.get, scores))
        pairs = [(w, score) for w, score in zip(works, scores.values(), strict=True) if passes(w, filters)]
        items = await asyncio.to_thread(rank, text, [w for w, _ in pairs], [score for _, score in pairs])
        return [(item.document, round(item.score, 4)) for item in best_first(items)[:limit]]

    async def _read_new(self, database: sqlite3.Connection) -> None:
        stored_keys = {key for (key,) in database.execute("SELECT key FROM blobs")}
        new_keys = [key for key in await self._store.blob_keys() if key not in stored_keys]
        for start in range(0, len(new_keys), READ_AT_ONCE):
            keys = new_keys[start : start + READ_AT_ONCE]
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
        name = work.evidence_id
        if name.startswith("doi:"):  # the abstracts of a conference may share the DOI of their supplement
            name += f" {fingerprint(work.title, None)}"
        previous = database.execute("SELECT number, letters FROM works WHERE work = ?", (name,)).fetchone()
        if previous is not None and previous[1] >= len(work.text):
            return
        if previous is not None:
            for table, column in (("works", "number"), ("terms", "rowid")):
                database.execute(f"DELETE FROM {table} WHERE {column} = ?", (previous[0],))  # noqa: S608 - our own names
        cursor = database.execute(
            "INSERT INTO works (work, evidence_id, key, letters) VALUES (?, ?, ?, ?)",
            (name, work.evidence_id, key, len(work.text)),
        )
        from activities.text.ranking import words

        text = f"{work.title} {work.title} {work.text} {work.facts.get('mesh', '')}"
        database.execute(
            "INSERT INTO terms (rowid, words) VALUES (?, ?)", (cursor.lastrowid, " ".join(words(text)))
        )


def _best_keys(
    database: sqlite3.Connection, text: str, limit: int, ids: Collection[str] | None
) -> dict[str, float]:
    """Return keys and scores of the works that match best by their words and other names of them."""
    from activities.text.ranking import OTHER_NAMES, other_words, words

    scores: dict[str, float] = {}
    for terms, weight in ((words(text), 1.0), (other_words(text), OTHER_NAMES)):
        if not terms:
            continue  # FTS5 refuses an empty expression
        rows = database.execute(
            "SELECT evidence_id, key, -rank FROM terms JOIN works ON number = terms.rowid "
            "WHERE terms MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(f'"{word}"' for word in dict.fromkeys(terms)), CANDIDATES if ids is None else -1),
        )
        for name, key, score in rows:
            if ids is None or name in ids:
                scores[str(key)] = scores.get(str(key), 0.0) + weight * float(score)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1])[:limit])


def index_of(settings: Settings) -> EvidenceIndex:
    """Return the index of a home's evidence store. Raises StoreError when the store cannot be opened."""
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

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        if self._index is None:
            self._index = index_of(self._settings)
        matches = await self._index.search(query.text, query.limit, query.filters)
        origin = Provenance(source="evidence", query=query.text)
        records = tuple(work.replace(provenance=(origin,)) for work, _ in matches)
        yield Exchange(records=records, hits=len(records), sent=query.text)
