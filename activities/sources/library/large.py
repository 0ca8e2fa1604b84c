"""The index of a large library on disk: documents and words in SQLite, ranked in two steps.

Held in memory, 100,000 records with their words need gigabytes. Here a full-text index (FTS5) finds the
`CANDIDATES` that match best by plain BM25, and only those are loaded and ranked as in a small library. It is
kept in the cache under a name made from the state of the folder, and written beside its place and moved into
it, so several processes may share it.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from activities.sources.library.reading import SetAside
from activities.text.bm25 import Fields, Lexical, words
from activities.types import Evidence

ToFields = Callable[[Evidence], Fields]
"""What of a document is searched by words."""
CANDIDATES = 300
"""Documents that are ranked in full for one search."""
_SCHEMA = """
CREATE TABLE documents (number INTEGER PRIMARY KEY, evidence_id TEXT UNIQUE, body TEXT NOT NULL);
CREATE TABLE set_aside (name TEXT NOT NULL, reason TEXT NOT NULL);
CREATE VIRTUAL TABLE terms USING fts5 (words, content = '', tokenize = 'unicode61');
"""


class LargeIndex:
    """The documents of one state of one large folder. Safe to search from several threads."""

    learning = False
    """There are no vectors: documents are ranked by words only."""

    def __init__(self, place: Path) -> None:
        """Open an index that `build` made. Raises sqlite3.Error."""
        self._place = place
        with self._open() as database:
            self.count = int(database.execute("SELECT count(*) FROM documents").fetchone()[0])
            rows = database.execute("SELECT name, reason FROM set_aside").fetchall()
        self.set_aside = tuple(SetAside(name, reason) for name, reason in rows)

    def search(
        self, query: str, limit: int, fields: Callable[[Evidence], Fields]
    ) -> tuple[list[Evidence], int]:
        """The best documents, and how many match at all."""
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(words(query)))
        if not asked:
            return [], 0
        with self._open() as database:
            hits = int(
                database.execute("SELECT count(*) FROM terms WHERE terms MATCH ?", (asked,)).fetchone()[0]
            )
            rows = database.execute(
                "SELECT body FROM (SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT ?) "
                "AS best JOIN documents ON documents.number = best.rowid",
                (asked, CANDIDATES),
            ).fetchall()
        found = [Evidence.model_validate_json(body) for (body,) in rows]
        scores = Lexical([fields(document) for document in found]).scores(query)
        order = sorted(range(len(found)), key=lambda place: -scores[place])
        return [found[place] for place in order[:limit]], hits

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(f"file:{self._place}?mode=ro", uri=True)
        try:
            yield database
        finally:
            database.close()


def build(place: Path, items: Iterator[Evidence | SetAside], most: int, fields: ToFields) -> None:
    """Write the index of documents into a file that does not exist yet; of two with the same evidence id the
    first stays. Raises sqlite3.Error."""
    database = sqlite3.connect(place)
    try:
        database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCHEMA}")
        count = 0
        for item in items:
            if isinstance(item, SetAside):
                database.execute("INSERT INTO set_aside VALUES (?, ?)", (item.name, item.reason))
                continue
            if count >= most:
                reason = f"a library holds at most {most} documents"
                database.execute("INSERT INTO set_aside VALUES (?, ?)", (item.facts.get("file", ""), reason))
                break
            body = item.model_dump_json()
            added = database.execute(
                "INSERT OR IGNORE INTO documents (evidence_id, body) VALUES (?, ?)", (item.evidence_id, body)
            )
            if added.rowcount:
                count += 1
                searched = fields(item)
                text = f"{searched.title} {searched.title} {searched.text} {' '.join(searched.terms)}"
                database.execute(
                    "INSERT INTO terms (rowid, words) VALUES (?, ?)", (added.lastrowid, " ".join(words(text)))
                )
        database.commit()
    finally:
        database.close()
