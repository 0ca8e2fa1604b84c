"""The index on disk: built once for the installed vocabularies, then mapped into memory in milliseconds.

It lies in the user's cache folder (`DETERMINATOR_CACHE`, else the platform's), in a folder named by the
versions of the packages and of the code that built it. A folder appears whole (built beside it and renamed)
or not at all, so that processes may build at the same time. Where nothing can be written, the index lives
in memory.
"""

import hashlib
import json
import mmap
import os
import shutil
import tempfile
import threading
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, cast

import marisa_trie
from platformdirs import user_cache_path

from activities.text.entities.build import Index, build
from activities.text.entities.vocabularies import Kind, versions

_RECORD = "<IB"
_OPENING = threading.Lock()
_TRIE, _LINES, _WORDS = "names.marisa", "entities.jsonl", "words.json"


class Entry(NamedTuple):
    """One entity as stored: kind, identifier, preferred name, names with the most used first."""

    kind: Kind
    id: str
    name: str
    names: tuple[str, ...]


class Names:
    """An open index: keys to entities. Safe to use from several threads: nothing in it changes."""

    def __init__(
        self, trie: marisa_trie.RecordTrie, lines: bytes | mmap.mmap, salts: list[str], heads: dict[str, Kind]
    ) -> None:
        self._trie = trie
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
        return cast("list[tuple[int, int]]", self._trie.get(name_key, []))


def default_folder() -> Path:
    """The folder that holds the indexes: `DETERMINATOR_CACHE`, else the platform's cache folder."""
    named = os.environ.get("DETERMINATOR_CACHE")
    return (Path(named).expanduser() if named else user_cache_path("determinator")) / "names"


def _digest() -> str:
    """A name for what an index is made of: the versions of the data and the code that reads it."""
    state = hashlib.sha256(json.dumps(versions(), sort_keys=True).encode())
    for module in ("build", "definitions", "keys", "vocabularies"):
        state.update(Path(__file__).with_name(f"{module}.py").read_bytes())
    return state.hexdigest()[:16]


def _store(index: Index, place: Path) -> None:
    """Write an index beside its place and rename it. Raises OSError when the folder cannot be written."""
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=place.parent, prefix=".building-"))
    try:
        marisa_trie.RecordTrie(_RECORD, index.names).save(str(draft / _TRIE))
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


def _open(place: Path) -> Names:
    words = json.loads((place / _WORDS).read_text(encoding="utf-8"))
    trie = marisa_trie.RecordTrie(_RECORD)
    trie.mmap(str(place / _TRIE))
    with (place / _LINES).open("rb") as file:
        lines = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return Names(trie, lines, words["salts"], words["heads"])


def open_names(folder: Path) -> Names:
    """The index in `folder`, built when it is missing or damaged (seconds, once for each set of versions)."""
    place = folder / _digest()
    try:
        return _open(place)
    except (OSError, ValueError, KeyError):
        index = build()
    try:
        if place.exists():  # damaged: a file is missing or cut short
            shutil.rmtree(place)
        _store(index, place)
        return _open(place)
    except OSError:
        trie = marisa_trie.RecordTrie(_RECORD, index.names)
        return Names(trie, index.lines, list(index.salts), index.heads)


@lru_cache(maxsize=1)
def _names() -> Names:
    return open_names(default_folder())


def names() -> Names:
    """The index of this process, opened at the first call; other threads wait for it."""
    with _OPENING:
        return _names()
