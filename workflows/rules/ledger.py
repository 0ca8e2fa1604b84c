"""Rows of the search ledger as the pages of a search come in. Pure."""

from activities.steps import Hits
from activities.types import SearchRecord

MAX_PAGES = 20
"""Requests that one search makes at most, whatever cursor its source returns."""


def with_page(row: SearchRecord, hits: Hits, kept: int) -> SearchRecord:
    """The row after another page, with which the search has kept so many works in all."""
    return row.model_copy(
        update={
            "query": hits.query or row.query,
            "status": "ok" if kept else "empty",
            "hits": max(row.hits, hits.hits),
            "kept": kept,
            "set_aside": row.set_aside + hits.set_aside,
            "seconds": round(row.seconds + hits.seconds, 3),
            "attempts": max(row.attempts, hits.attempts),
            "detail": hits.detail or row.detail,
        }
    )
