"""Keeping what crosses a boundary under the payload limit: a value that is too large ends a run.

`activities.payloads` refuses more than 256 KiB. Everything a workflow sends that can grow with a run
(references, the search ledger, events) is cut to a share of that here, the least important part first.
"""

from collections.abc import Iterable
from typing import TypeVar

from activities.types import EvidenceRef, Frozen, SearchRecord

T = TypeVar("T", bound=Frozen)

ROOM = 200 * 1024
"""Bytes of JSON a single growing value may take, with room for what stands beside it."""
REFS_ROOM = 120 * 1024
"""Bytes of JSON the references in a step's input may take."""
ROWS_ROOM = 80 * 1024
"""Bytes of JSON the rows of the search ledger may take in a result."""


def size(value: Frozen) -> int:
    """Bytes of a value as it travels."""
    return len(value.model_dump_json().encode())


def within(items: Iterable[T], room: int) -> tuple[T, ...]:
    """The items from the first on that fit into so many bytes."""
    kept: list[T] = []
    for item in items:
        room -= size(item) + 1
        if room < 0:
            break
        kept.append(item)
    return tuple(kept)


def bare(ref: EvidenceRef) -> EvidenceRef:
    """A reference without its history: what a step needs that reads the body from the store."""
    return ref.model_copy(update={"queries": (), "sections": (), "fingerprint": "", "url": None})


def shown(refs: Iterable[EvidenceRef], most: int) -> tuple[EvidenceRef, ...]:
    """References as a step's input carries them: the first so many, as far as there is room."""
    return within((bare(ref) for ref in tuple(refs)[:most]), REFS_ROOM)


def rows(searches: Iterable[SearchRecord], room: int = ROWS_ROOM) -> tuple[SearchRecord, ...]:
    """The search ledger as it travels; of one that is too long the oldest rows are missing."""
    brief = [row.model_copy(update={"asked": "", "detail": row.detail[:160]}) for row in searches]
    return tuple(reversed(within(reversed(brief), room)))
