"""The index of names: which key stands for which entity, and how it must be written.

A key is the name's words and numbers in lower case, joined by single spaces: compatibility forms resolved
(NFKC), Greek letters by name, British spellings made American, possessives and plurals removed. `IL-6`, `IL6`
and `il 6` have one key; so have `Crohn's disease` and `Crohn disease`.

`names.zip` holds it ready made (`benchmarks/names_index.py` makes it from published vocabularies;
`docs/vocabularies.md` has provenance and licences). It is opened at first use, in some 20 ms and 6 MB.
"""

import json
import re
import struct
import zipfile
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources
from typing import Literal, NamedTuple, cast

import marisa_trie

from activities.text.tokens import american, fold

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
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_GAP = re.compile(
    r"(?:['\u2019]s\b)?"
    r"(?:[ \t\n\u00a0]{1,3}|[-\u2010-\u2015\u2212/'\u2019]{1,2}|[.,](?=\d)| -(?=\d))?"
)
"""What may stand between two pieces of one name: space, hyphen, apostrophe, the point within a number."""
_PLURAL_LENGTH = 5
"""Shorter words keep their `s`: most short words that end in `s` are acronyms or singular (AIDS, gas)."""


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

    def occurrences(self, name_key: str) -> list[tuple[int, int]]:
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
def names() -> Names:
    """Return the index of this process, opened at the first call."""
    packed = resources.files(__package__).joinpath(FILE)
    with packed.open("rb") as file, zipfile.ZipFile(file) as members:
        trie = marisa_trie.Trie()
        trie.frombytes(members.read(TRIE))
        words = json.loads(members.read(WORDS))
        return Names(trie, members.read(PLACES), members.read(LINES), words["salts"], words["heads"])


class Piece(NamedTuple):
    """One word or number of a text."""

    key: str
    start: int
    end: int
    joined: bool
    """Only a space, a hyphen or the like stands before it, so that one name may span it and the last one."""


def singular(word: str) -> str:
    """Return a folded word without its plural ending.

    The S-stemmer of Harman, "How effective is suffixing?", JASIS 42(1), 1991.
    """
    if len(word) < _PLURAL_LENGTH or not word.endswith("s"):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word if word.endswith(("us", "ss")) else word[:-1]


@lru_cache(maxsize=65_536)
def word_key(word: str) -> str:
    """Return the comparison form of one word without spaces."""
    return singular(american(fold(word)))


def pieces(text: str) -> list[Piece]:
    """Return the words and numbers of a text in order, without possessive endings."""
    items: list[Piece] = []
    end = 0
    for match in _PIECE.finditer(text):
        start = match.start()
        word = match.group()
        if word in ("s", "S") and start and text[start - 1] in "'\u2019":
            continue
        joined = bool(items) and _GAP.fullmatch(text, end, start) is not None
        items.append(Piece(word_key(word), start, match.end(), joined))
        end = match.end()
    return items


def key(name: str) -> str:
    """Return the comparison form of a whole name.

    Empty for a name without a letter or digit."""
    if name.isascii() and "'" not in name:  # nearly every name; without possessive endings
        return " ".join(map(word_key, _PIECE.findall(name)))
    return " ".join(piece.key for piece in pieces(name))
