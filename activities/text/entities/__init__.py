"""Names of drugs, classes, substances, proteins, diseases and symptoms, from well-kept vocabularies.

Importing this loads no data; the first call opens the index (`index`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from activities.text.entities.index import CAPITAL, CAPITALS, Entry, Names, Piece, names, pieces
from activities.text.entities.index import Kind as Kind
from activities.text.entities.index import key as key

_LONGEST_KEY = 120
_DASHES = ("-", "\u2010", "\u2011", "\u2013")
"""What joins a word to a longer name: `iron-sulfur`, `[11C]-raclopride`."""
_SUBSTANCES = ("drug", "chemical", "drug_class")
_PREFERENCE: tuple[Kind, ...] = ("drug", "disease", "drug_class", "phenotype", "protein", "chemical")
_BETWEEN = 3
"""How many short pieces may stand between a name and the head it belongs to: dopamine D2 receptor."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A name in a text and what it stands for.

    `id` is the same for all names of one entity (`drugbank:DB00331`); `name` is the preferred name; `surface`
    is what stands at `text[start:end]`; `synonyms` are other names, the most used first.
    """

    kind: Kind
    id: str
    name: str
    surface: str
    start: int
    end: int
    synonyms: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def link(text: str) -> tuple[Entity, ...]:
    """Return the entities a text names, in order, none within another: the longest name counts.

    A substance inside a longer name of another kind (insulin receptor, dopamine antagonist) is not reported.
    About a millisecond for an abstract; the first call of a process opens the index.
    """
    lexicon = names()
    parts = pieces(text)
    runs = _runs(parts)
    entities: list[Entity] = []
    at = 0
    while at < len(parts):
        match = _longest(lexicon, text, parts, at, runs[at])
        if match is None:
            at += 1
            continue
        last, entry = match
        head = _head(lexicon, parts, last) if entry.kind in _SUBSTANCES else 0
        # after `anti-` stands what is worked against
        is_opposed = at > 0 and parts[at].joined and parts[at - 1].key == "anti"
        if not head and not (entry.kind in _SUBSTANCES and is_opposed):
            start, end = parts[at].start, parts[last - 1].end
            entities.append(
                Entity(entry.kind, entry.id, entry.name, text[start:end], start, end, entry.names[1:])
            )
        at = head or last
    return tuple(entities)


def _runs(parts: list[Piece]) -> list[str]:
    """Return the keys from each piece on that one name may span, joined by spaces."""
    runs: list[str] = []
    run = ""
    for index in range(len(parts) - 1, -1, -1):
        follows = index + 1 < len(parts) and parts[index + 1].joined
        run = f"{parts[index].key} {run}"[:_LONGEST_KEY] if follows else parts[index].key
        runs.append(run)
    runs.reverse()
    return runs


def _longest(lexicon: Names, text: str, parts: list[Piece], at: int, run: str) -> tuple[int, Entry] | None:
    """Return the longest name that begins with piece `at`: the piece after it, and its entity."""
    if at and parts[at].start == parts[at - 1].end:
        return None  # the middle of a code: CD4
    for name in reversed(lexicon.prefixes(run)):
        if name != run and run[len(name) : len(name) + 1] != " ":
            continue  # it ends within a word
        last = at + 1 + name.count(" ")
        if last < len(parts) and parts[last].start == parts[last - 1].end:
            continue  # it ends in the middle of a code
        entries = [
            lexicon.entry(offset)
            for offset, rule in lexicon.occurrences(name)
            if _is_written(rule, text, parts[at].start, parts[last - 1].end)
        ]
        if entries:
            return last, min(entries, key=lambda e: _PREFERENCE.index(e.kind))
    return None


def _is_written(rule: int, text: str, start: int, end: int) -> bool:
    """Tell whether the name is written as its rule asks (see `index`)."""
    surface = text[start:end]
    if rule == CAPITALS:
        return sum(c.isupper() for c in surface) * 2 > len(surface)
    if rule != CAPITAL:
        return True
    before = text[:start].rstrip()  # a capital at the beginning of a sentence says nothing
    return surface[:1].isupper() and bool(before) and before[-1] not in ".:?!"


def _head(lexicon: Names, parts: list[Piece], at: int) -> int:
    """Tell where the head ends that the name before piece `at` belongs to; 0 where there is none."""
    for index, piece in enumerate(parts[at : at + _BETWEEN], at):
        if piece.joined and piece.key in lexicon.heads:
            return index + 1
        if not piece.joined or (len(piece.key) > 2 and not piece.key.isdigit()):
            break
    return 0


def _entries(name: str) -> tuple[Entry, ...]:
    """Return the entities of a name that stands alone, however it is written; of its base for a salt."""
    lexicon = names()
    key_of_name = key(name)
    matches = lexicon.occurrences(key_of_name) or lexicon.occurrences(lexicon.without_salts(key_of_name))
    entries = [lexicon.entry(offset) for offset, _ in matches]
    return tuple(sorted(entries, key=lambda e: _PREFERENCE.index(e.kind)))


def resolve(name: str) -> Entity | None:
    """Return the entity of a name that stands alone (a table's cell, a user's word), or None."""
    best = next(iter(_entries(name)), None)
    return best and Entity(best.kind, best.id, best.name, name, 0, len(name), best.names[1:])


def same(a: str, b: str) -> bool:
    """Tell whether two names are one entity's: spellings, synonyms, brands and salts of it."""
    if key(a) == key(b):
        return bool(key(a))
    return bool({e.id for e in _entries(a)} & {e.id for e in _entries(b)})


def of_kind(text: str, kinds: Iterable[Kind]) -> tuple[Entity, ...]:
    wanted = frozenset(kinds)
    return tuple(entity for entity in link(text) if entity.kind in wanted)


def drug(word: str) -> str:
    """Return the preferred name of a drug in lower case: `acetaminophen` for `Paracetamol`.

    Empty for no drug."""
    entity = resolve(word)
    return entity.name.casefold() if entity is not None and entity.kind == "drug" else ""


def drugs(text: str) -> Iterator[Entity]:
    """Find the drugs of a text that are no part of a compound (`penicillin-resistant`)."""
    for entity in of_kind(text, ("drug",)):
        around = {text[entity.end : entity.end + 1], text[entity.start - 1 : entity.start]}
        if around.isdisjoint(_DASHES):
            yield entity


@lru_cache(maxsize=2048)
def drugs_named(text: str) -> tuple[tuple[str, int], ...]:
    """List the drugs that a text names, each once under its preferred name in lower case, with how often."""
    return tuple(Counter(entity.name.casefold() for entity in drugs(text)).items())


def names_drug(text: str, name: str) -> bool:
    """Tell whether a text names a drug.

    By the name as it is given, or by any other of its names when the vocabularies know it (rifampicin for
    rifampin)."""
    if f" {key(name)} " in f" {key(text)} ":
        return True
    preferred = drug(name)
    return bool(preferred) and preferred in dict(drugs_named(text))
