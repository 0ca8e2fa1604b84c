"""Ranking a large library in two steps.

The matrices of `activities.text.bm25` for 100,000 records need gigabytes while they are built. Here a
full-text index (SQLite's FTS5) finds the `CANDIDATES` that match best by plain BM25, and only those are
loaded and ranked as in a small library.
"""

from collections.abc import Callable, Sequence

from activities.sources.library.store import Store
from activities.text.bm25 import Fields, Lexical, words
from activities.types import Evidence

ToFields = Callable[[Evidence], Fields]
"""What of a document is searched by words."""
CANDIDATES = 300
"""Documents that are ranked in full for one search."""


def update_terms(store: Store, numbers: Sequence[int], fields: ToFields) -> None:
    """Make the full-text index that of these documents, by what has changed. Raises sqlite3.Error."""
    known = {number for (number,) in store.rows("SELECT rowid FROM terms")}
    wanted = set(numbers)
    with store.writing() as database:
        for number in sorted(known - wanted):
            database.execute("DELETE FROM terms WHERE rowid = ?", (number,))
        new = sorted(wanted - known)
        for number, document in zip(new, store.documents(new), strict=True):
            searched = fields(document)
            text = f"{searched.title} {searched.title} {searched.text} {' '.join(searched.terms)}"
            database.execute(
                "INSERT INTO terms (rowid, words) VALUES (?, ?)", (number, " ".join(words(text)))
            )


def search_terms(store: Store, query: str, fields: ToFields) -> tuple[list[tuple[int, float]], int]:
    """The best documents with their scores, the best first, and how many match at all. Raises
    sqlite3.Error."""
    asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(words(query)))
    if not asked:
        return [], 0
    ((hits,),) = store.rows("SELECT count(*) FROM terms WHERE terms MATCH ?", (asked,))
    numbers = [
        number
        for (number,) in store.rows(
            "SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT ?", (asked, CANDIDATES)
        )
    ]
    scores = Lexical(fields(document) for document in store.documents(numbers)).scores(query)
    ranked = sorted(zip(numbers, scores.tolist(), strict=True), key=lambda pair: -pair[1])
    return ranked, int(hits)
