"""The index of names: which key stands for which entity, and how it must be written.

`names.zip` holds it ready made (`benchmarks/names_index.py` makes it from published vocabularies;
`docs/vocabularies.md` has provenance and licences). It is opened at first use, in some 20 ms and 6 MB.
"""

import json
import struct
import threading
import zipfile
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources
from typing import Literal, NamedTuple, cast

import marisa_trie

Kind = Literal["drug", "drug_class", "chemical", "protein", "disease", "phenotype"]
"""What a name stands for: a drug; a class of drugs by what they do; another substance; a protein, receptor,
enzyme, gene product or nucleic acid; a disease; a sign or symptom."""

ANY_CASE, CAPITAL, CAPITALS = 0, 1, 2
"""How a name must be written to count as the entity: in any case, with a first capital, in capitals."""
PLACE = struct.Struct("<IBIB")
"""For each key by its number in the trie: where its substance lies and how it is written, and its disease."""
NOTHING = 0xFFFFFFFF
"""The place of no entity."""
FILE = "names.zip"
TRIE, PLACES, LINES, WORDS = "names.marisa", "places.bin", "entities.jsonl", "words.json"
"""Members of the file."""
_OPENING = threading.Lock()


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
        lines: bytes,
        salts: Iterable[str],
        heads: dict[str, Kind],
    ) -> None:
        self._trie = trie
        self._places = places
        self._lines = lines
        self.salts = frozenset(salts)
        """Words that a drug's name may have without naming another drug (`hydrochloride`)."""
        self.heads = heads
        """Words that make another thing of the substance before them (`receptor`)."""
        self.entry = lru_cache(maxsize=16_384)(self._entry)

    def _entry(self, offset: int) -> Entry:
        end = self._lines.find(b"\n", offset)
        kind, identifier, name, names = json.loads(self._lines[offset:end])
        return Entry(kind, identifier, name, tuple(names))

    def prefixes(self, text: str) -> list[str]:
        """Return the keys that `text` begins with, the shortest first.

        `text` is made of piece keys and spaces."""
        return cast("list[str]", self._trie.prefixes(text))

    def found(self, name_key: str) -> list[tuple[int, int]]:
        """Where the entities of a key lie, each with how its name must be written (`ANY_CASE` ...)."""
        number = self._trie.get(name_key)
        if number is None:
            return []
        first, rule, second, other = PLACE.unpack_from(self._places, number * PLACE.size)
        return [(at, how) for at, how in ((first, rule), (second, other)) if at != NOTHING]

    def without_salts(self, name_key: str) -> str:
        """Return a key without salts and forms at its ends.

        Empty when nothing else is there."""
        words = name_key.split()
        while words and words[-1] in self.salts:
            words.pop()
        while words and words[0] in self.salts:
            words.pop(0)
        return " ".join(words)


@cache
def _read() -> Names:
    packed = resources.files(__package__).joinpath(FILE)
    with packed.open("rb") as file, zipfile.ZipFile(file) as members:
        trie = marisa_trie.Trie()
        trie.frombytes(members.read(TRIE))
        words = json.loads(members.read(WORDS))
        return Names(trie, members.read(PLACES), members.read(LINES), words["salts"], words["heads"])


def names() -> Names:
    """Return the index of this process, opened at the first call; other threads wait for it."""
    with _OPENING:
        return _read()
