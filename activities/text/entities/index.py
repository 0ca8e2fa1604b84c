"""The index on disk: built once for the installed vocabularies, then mapped into memory in milliseconds.

It lies in the user's cache folder (`DETERMINATOR_CACHE`, else the platform's), in a folder named by the
versions of the packages and of the code that built it. A folder appears whole (built beside it and renamed)
or not at all, so that processes may build at the same time. Where nothing can be written, the index is kept
in memory.
"""

import gc
import hashlib
import json
import mmap
import shutil
import struct
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, cast

import marisa_trie

from activities.text.entities.build import Index, build
from activities.text.entities.vocabularies import Kind, versions
from activities.user_cache import user_cache

_PLACE = struct.Struct("<IBIB")
"""For each key by its number in the trie: where its substance lies and how it is written, and its disease."""
_NOTHING = 0xFFFFFFFF
_KEPT_DAYS = 7
_OPENING = threading.Lock()
_TRIE, _PLACES, _LINES, _WORDS = "names.marisa", "places.bin", "entities.jsonl", "words.json"


class Entry(NamedTuple):
    """One entity as stored: kind, identifier, preferred name, names with the most used first."""

    kind: Kind
    id: str
    name: str
    names: tuple[str, ...]


class Names:
    """An open index: keys to entities. Safe to use from several threads: nothing in it changes."""

    def __init__(
        self,
        trie: marisa_trie.Trie,
        places: bytes,
        lines: bytes | mmap.mmap,
        salts: Iterable[str],
        heads: dict[str, Kind],
    ) -> None:
        if len(places) != len(trie) * _PLACE.size:
            raise ValueError("the files of an index do not belong together")
        self._trie = trie
        self._places = places
        self._lines = lines
        self.salts = frozenset(salts)
        self.heads = heads
        self.entry = lru_cache(maxsize=16_384)(self._entry)

    def _entry(self, offset: int) -> Entry:
        end = self._lines.find(b"\n", offset)
        kind, identifier, name, names = json.loads(self._lines[offset:end])
        return Entry(kind, identifier, name, tuple(names))

    def prefixes(self, text: str) -> list[str]:
        """The keys that `text` begins with, the shortest first. `text` is made of piece keys and spaces."""
        return cast("list[str]", self._trie.prefixes(text))

    def found(self, name_key: str) -> list[tuple[int, int]]:
        """Where the entities of a key lie, each with how its name must be written (`build.ANY_CASE` ...)."""
        number = self._trie.get(name_key)
        if number is None:
            return []
        first, rule, second, other = _PLACE.unpack_from(self._places, number * _PLACE.size)
        return [(at, how) for at, how in ((first, rule), (second, other)) if at != _NOTHING]


def default_folder() -> Path:
    """The folder that holds the indexes: `DETERMINATOR_CACHE`, else the platform's cache folder."""
    return user_cache("names")


def _digest() -> str:
    """A name for what an index is made of: the versions of the data and the code that reads it."""
    state = hashlib.sha256(json.dumps(versions(), sort_keys=True).encode())
    for module in ("build", "definitions", "index", "keys", "vocabularies"):
        state.update(Path(__file__).with_name(f"{module}.py").read_bytes())
    return state.hexdigest()[:16]


def _packed(index: Index) -> tuple[marisa_trie.Trie, bytes]:
    """The trie of the keys, and for each key where its entities lie."""
    trie = marisa_trie.Trie([name for name, _ in index.names])
    places = bytearray(_PLACE.pack(_NOTHING, 0, _NOTHING, 0) * len(trie))
    for name, (offset, rule) in index.names:
        at = trie[name] * _PLACE.size
        first, how, _, _ = _PLACE.unpack_from(places, at)
        if first == _NOTHING:
            _PLACE.pack_into(places, at, offset, rule, _NOTHING, 0)
        else:
            _PLACE.pack_into(places, at, first, how, offset, rule)
    return trie, bytes(places)


def _store(index: Index, place: Path) -> None:
    """Write an index beside its place and rename it. Raises OSError when the folder cannot be written."""
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=place.parent, prefix=".building-"))
    try:
        trie, places = _packed(index)
        trie.save(str(draft / _TRIE))
        (draft / _PLACES).write_bytes(places)
        (draft / _LINES).write_bytes(index.lines)
        words = {"salts": index.salts, "heads": index.heads}
        (draft / _WORDS).write_text(json.dumps(words), encoding="utf-8")
        try:
            draft.rename(place)
        except OSError:
            if not (place / _WORDS).is_file():  # another process was not faster: the folder is unusable
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _remove_old(place: Path) -> None:
    """Remove the indexes of other versions that are older than `_KEPT_DAYS`, and interrupted builds."""
    for other in place.parent.iterdir():
        if other != place and time.time() - other.stat().st_mtime > _KEPT_DAYS * 86_400:
            shutil.rmtree(other, ignore_errors=True)


def _open(place: Path) -> Names:
    words = json.loads((place / _WORDS).read_text(encoding="utf-8"))
    trie = marisa_trie.Trie()
    trie.mmap(str(place / _TRIE))
    places = (place / _PLACES).read_bytes()
    with (place / _LINES).open("rb") as file:
        lines = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return Names(trie, places, lines, words["salts"], words["heads"])


@contextmanager
def _without_collector() -> Iterator[None]:
    """Without Python's collector of cyclic garbage: a build makes half a million objects that stay, and
    looking through them again and again is a quarter of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def open_names(folder: Path) -> Names:
    """The index in `folder`, built when it is missing or damaged (seconds, once for each set of versions)."""
    place = folder / _digest()
    try:
        return _open(place)
    except (OSError, ValueError, KeyError):  # missing, or damaged
        with _without_collector():
            index = build()
    try:
        if place.exists():  # damaged: a file is missing or cut short
            shutil.rmtree(place)
        _store(index, place)
        _remove_old(place)
        return _open(place)
    except OSError:
        return Names(*_packed(index), index.lines, index.salts, index.heads)


@lru_cache(maxsize=1)
def _names() -> Names:
    return open_names(default_folder())


def names() -> Names:
    """The index of this process, opened at the first call; other threads wait for it."""
    with _OPENING:
        return _names()
