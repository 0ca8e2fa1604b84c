"""Names of drugs, classes, substances, proteins, diseases and symptoms, from well-kept vocabularies.

A name is found by its key: its words and numbers, folded, in American spelling, without possessives and
plurals. `IL-6`, `IL6` and `il 6` have one key; so have `Crohn's disease` and `Crohn disease`.

`names.zip` holds the index of keys ready made (`benchmarks/names_index.py` makes it from published
vocabularies; `docs/vocabularies.md` has provenance and licences). Importing this loads no data; the first
call opens it, in some 20 ms and 6 MB.
"""

import json
import re
import struct
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from itertools import takewhile
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
_MAX_PIECES = 16
"""Pieces of the longest name."""
_DASHES = ("-", "\u2010", "\u2011", "\u2013")
"""What joins a word to a longer name: `iron-sulfur`, `[11C]-raclopride`."""
_PREFERENCE: tuple[Kind, ...] = ("drug", "disease", "drug_class", "phenotype", "protein", "chemical")


@dataclass(frozen=True, slots=True)
class Entity:
    """What a name stands for, and where a text has it."""

    kind: Kind
    id: str
    """The same for all names of one entity (`drugbank:DB00331`)."""
    name: str
    """The preferred name."""
    synonyms: tuple[str, ...] = ()
    """Its other names, the most used first."""
    surface: str = ""
    """What stands at `text[start:end]`."""
    start: int = 0
    end: int = 0


class Names(NamedTuple):
    """An open index: keys to entities. Safe to use from several threads: nothing in it changes."""

    trie: marisa_trie.Trie
    places: bytes
    lines: bytes
    salts: frozenset[str]
    """Words that a drug's name may have without naming another drug (`hydrochloride`)."""

    def occurrences(self, name_key: str) -> list[tuple[int, int]]:
        """Return where the entities of a key lie, each with how its name must be written (`ANY_CASE` ...)."""
        if (number := self.trie.get(name_key)) is None:
            return []
        values = PLACE.unpack_from(self.places, number * PLACE.size)  # of a substance, and of a disease
        return [(offset, rule) for offset, rule in (values[:2], values[2:]) if offset != NOTHING]


@cache
def names() -> Names:
    """Return the index of this process, opened at the first call."""
    archive = resources.files(__package__).joinpath(FILE)
    with archive.open("rb") as file, zipfile.ZipFile(file) as members:
        trie = marisa_trie.Trie()
        trie.frombytes(members.read(TRIE))
        salts = frozenset(json.loads(members.read(WORDS))["salts"])
        return Names(trie, members.read(PLACES), members.read(LINES), salts)


@lru_cache(maxsize=16_384)
def entity_at(offset: int) -> Entity:
    """Return the entity that lies at a place of the index."""
    lines = names().lines
    kind, identifier, name, (_, *synonyms) = json.loads(lines[offset : lines.find(b"\n", offset)])
    return Entity(kind, identifier, name, tuple(synonyms))


class Piece(NamedTuple):
    """One word or number of a text."""

    key: str
    start: int
    end: int
    is_joined: bool
    """Only a space, a hyphen or the like stands before it, so that one name may span it and the last one."""


def singular(word: str) -> str:
    """Return a folded word without its plural ending, by the S-stemmer of Harman, JASIS 42(1), 1991."""
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
    for match in _PIECE.finditer(text):
        start, end = match.span()
        if match[0] in ("s", "S") and text.endswith(("'", "\u2019"), 0, start):
            continue
        is_joined = bool(items) and _GAP.fullmatch(text, items[-1].end, start) is not None
        items.append(Piece(word_key(match[0]), start, end, is_joined))
    return items


def key(name: str) -> str:
    """Return the comparison form of a whole name; empty for one without a letter or digit."""
    return " ".join(piece.key for piece in pieces(name))


@lru_cache(maxsize=4096)
def link(text: str) -> tuple[Entity, ...]:
    """Return the entities a text names, in order, none within another: the longest name counts."""
    parts, entities, place = pieces(text), list[Entity](), 0
    while place < len(parts):
        start = parts[place].start
        place, entry = _longest(text, parts, place) or (place + 1, None)
        if entry is not None:
            end = parts[place - 1].end
            entities.append(replace(entry, surface=text[start:end], start=start, end=end))
    return tuple(entities)


def _longest(text: str, parts: list[Piece], place: int) -> tuple[int, Entity] | None:
    """Return the longest name that begins with the piece at `place`: the piece after it, and its entity."""
    if place and parts[place].start == parts[place - 1].end:
        return None  # the middle of a code: CD4
    followers = takewhile(lambda piece: piece.is_joined, parts[place + 1 : place + _MAX_PIECES])
    run = " ".join((parts[place].key, *(piece.key for piece in followers)))
    for name in reversed(cast("list[str]", names().trie.prefixes(run))):
        after = place + 1 + name.count(" ")
        in_code = after < len(parts) and parts[after].start == parts[after - 1].end
        if in_code or not f"{run} ".startswith(f"{name} "):
            continue  # it ends in the middle of a code or of a word
        span = parts[place].start, parts[after - 1].end
        offsets = [place for place, rule in names().occurrences(name) if _is_written(rule, text, *span)]
        if offsets:
            return after, min(map(entity_at, offsets), key=_preference)
    return None


def _preference(entity: Entity) -> int:
    return _PREFERENCE.index(entity.kind)


def _is_written(rule: int, text: str, start: int, end: int) -> bool:
    """Tell whether the name is written as its rule asks."""
    surface = text[start:end]
    if rule == CAPITALS:
        return sum(c.isupper() for c in surface) * 2 > len(surface)
    before = text[:start].rstrip()  # a capital at the beginning of a sentence says nothing
    return rule != CAPITAL or (surface[:1].isupper() and before[-1:] not in ("", ".", ":", "?", "!"))


def _entities(name: str) -> list[Entity]:
    """Return the entities of a name that stands alone, however it is written; of its base for a salt."""
    words = key(name).split()
    places = [n for n, word in enumerate(words) if word not in names().salts]
    base = words[places[0] : places[-1] + 1] if places else []
    matches = names().occurrences(" ".join(words)) or names().occurrences(" ".join(base))
    entities = [replace(entity_at(offset), surface=name, end=len(name)) for offset, _ in matches]
    return sorted(entities, key=_preference)


def resolve(name: str) -> Entity | None:
    """Return the entity of a name that stands alone (a table's cell, a user's word), or None."""
    return next(iter(_entities(name)), None)


def is_same_entity(a: str, b: str) -> bool:
    """Tell whether two names are one entity's: spellings, synonyms, brands and salts of it."""
    ids, other_ids = ({key(name), *(entity.id for entity in _entities(name))} for name in (a, b))
    return bool((ids & other_ids) - {""})


def entities_of_kind(text: str, kinds: Sequence[Kind]) -> tuple[Entity, ...]:
    return tuple(entity for entity in link(text) if entity.kind in kinds)


def drug(word: str) -> str:
    """Return a drug's preferred name in lower case (`acetaminophen` for `Paracetamol`); empty for no drug."""
    entity = resolve(word)
    return entity.name.casefold() if entity is not None and entity.kind == "drug" else ""


def drugs(text: str) -> Iterator[Entity]:
    """Find the drugs of a text that are no part of a compound (`penicillin-resistant`)."""
    for entity in entities_of_kind(text, ("drug",)):
        neighbours = {text[entity.end : entity.end + 1], text[entity.start - 1 : entity.start]}
        if neighbours.isdisjoint(_DASHES):
            yield entity


@lru_cache(maxsize=2048)
def drug_counts(text: str) -> tuple[tuple[str, int], ...]:
    """List the drugs that a text names, each once under its preferred name in lower case, with how often."""
    return tuple(Counter(entity.name.casefold() for entity in drugs(text)).items())


def names_drug(text: str, name: str) -> bool:
    """Tell whether a text names a drug, by this name or by another that the vocabularies know."""
    return f" {key(name)} " in f" {key(text)} " or drug(name) in dict(drug_counts(text))
