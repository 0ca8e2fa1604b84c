"""The matrices of words of a library folder: a segment for most documents, and small ones for those that came
later.

A segment never changes, and several processes may make some at the same time. What is no longer searched
stays in its segment and counts for nothing; when that or the number of segments grows, segments are made
again.
"""

import os
import shutil
import time
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray

from activities.sources.library.store import Contents, Store
from activities.text.bm25 import NOWHERE, Fields, Lexical, Segment
from activities.types import Evidence

log = structlog.get_logger()

MOST_SEGMENTS = 8
MOST_CHANGED = 0.25
"""Share of the documents that may be new or gone before all are counted again. Documents that are gone are
only passed over, so this bounds what they cost in a search."""
KEPT_DAYS = 30
"""After which what other versions of this package left in the cache is removed."""
BUILDING_SECONDS = 600
"""Segments younger than this may be those another process is about to open."""
_MARKS = "marks.npy"

Made = tuple[Segment, NDArray[np.uint64]]
"""A segment and the marks of its documents (`Contents.marks`)."""


def fields(document: Evidence) -> Fields:
    """What of a document is searched by words."""
    terms = tuple(term.strip() for term in document.facts.get("mesh", "").split(";") if term.strip())
    return Fields(document.text, document.title, terms)


def lexical_of(store: Store, contents: Contents, place: Path | None) -> Lexical:
    """The index of what is searched, from the segments in the folder `place` as far as they go; for the other
    documents one is made and kept there. None keeps nothing. Raises Changed, sqlite3.Error."""
    if place is None:
        return Lexical(map(fields, store.documents(contents.numbers)))
    found = _useful(place, contents.marks)
    placed, missing = _placed(found, contents.marks)
    if _too_many(found, placed, missing):
        found = [pair for pair in found[:1] if not _worn(pair[1], contents.marks)]
        placed, missing = _placed(found, contents.marks)
    if missing:
        numbers = [contents.numbers[at] for at in missing]
        marks = contents.marks[missing]
        try:
            name, segment = _make(place, map(fields, store.documents(numbers)), marks)
        except (OSError, ValueError, RuntimeError) as error:
            log.warning("library_cache_not_written", path=str(place), error=str(error))
            name, segment = "", Segment.build(map(fields, store.documents(numbers)))
        placed.append((segment, np.array(missing, np.intp)))
        _remove_old(place, {*(kept for kept, _ in found), name})
    return Lexical.of(placed, len(contents.numbers))


def _useful(place: Path, marks: NDArray[np.uint64]) -> list[tuple[str, Made]]:
    """The segments that hold something that is searched, by name, the largest first."""
    found: list[tuple[str, Made]] = []
    for folder in sorted(place.glob("[!.]*")) if place.is_dir() else ():
        with suppress(OSError, ValueError, RuntimeError, EOFError):  # being removed, or damaged
            own = np.load(folder / _MARKS, allow_pickle=False)
            if np.isin(own, marks).any():
                segment = Segment.load(folder)
                if len(segment) == len(own):
                    found.append((folder.name, (segment, own)))
    return sorted(found, key=lambda pair: (-len(pair[1][1]), pair[0]))


def _placed(
    found: Sequence[tuple[str, Made]], marks: NDArray[np.uint64]
) -> tuple[list[tuple[Segment, NDArray[np.intp]]], list[int]]:
    """The segments with the places of their documents, each place once, and the places that none has."""
    open_places = {int(mark): place for place, mark in enumerate(marks)}
    placed: list[tuple[Segment, NDArray[np.intp]]] = []
    for _, (segment, own) in found:
        places = [open_places.pop(int(mark), NOWHERE) for mark in own]
        if any(place != NOWHERE for place in places):
            placed.append((segment, np.array(places, np.intp)))
    return placed, sorted(open_places.values())


def _too_many(
    found: Sequence[tuple[str, Made]],
    placed: Sequence[tuple[Segment, NDArray[np.intp]]],
    missing: Sequence[int],
) -> bool:
    """Whether another small segment would make searching slow."""
    gone = sum(int((places == NOWHERE).sum()) for _, places in placed)
    held = sum(len(segment) for segment, _ in placed)
    return len(found) >= MOST_SEGMENTS or gone + len(missing) > MOST_CHANGED * max(held, 1)


def _worn(made: Made, marks: NDArray[np.uint64]) -> bool:
    """Whether so much of a segment is gone, or so much is not in it, that all documents are counted again."""
    _, own = made
    kept = int(np.isin(own, marks).sum())
    return (len(own) - kept) + (len(marks) - kept) > MOST_CHANGED * len(own)


def _make(place: Path, documents: Iterable[Fields], marks: NDArray[np.uint64]) -> tuple[str, Segment]:
    """A segment in the folder, with its name. Raises OSError, ValueError, RuntimeError."""
    name = uuid.uuid4().hex
    draft = place / f".{os.getpid()}.{name}"
    try:
        draft.mkdir(parents=True)
        Segment.write(documents, draft)
        np.save(draft / _MARKS, marks, allow_pickle=False)
        draft.rename(place / name)
        return name, Segment.load(place / name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _remove_old(place: Path, used: set[str]) -> None:
    """Remove segments that are not used, and what other versions have left. A process that still uses them
    keeps its own hold on the files."""
    for other in place.iterdir():
        with suppress(FileNotFoundError):  # another process removes it, too
            if other.name not in used and time.time() - other.stat().st_mtime > BUILDING_SECONDS:
                shutil.rmtree(other, ignore_errors=True)
    for other in place.parent.iterdir():
        with suppress(FileNotFoundError):
            if other.stat().st_mtime < time.time() - KEPT_DAYS * 86_400 and other.stem != place.name:
                shutil.rmtree(other, ignore_errors=True) if other.is_dir() else other.unlink(missing_ok=True)
