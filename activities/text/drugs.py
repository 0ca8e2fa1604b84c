"""Drugs that a text or a document names, by the vocabularies (`activities.text.entities`)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from activities.contracts.evidence import Evidence
from activities.text.entities import Entity, key, of_kind, resolve

_FACTS = re.compile(r"mesh|drug|generic|interven|substance", re.IGNORECASE)
_DASHES = ("-", "\u2010", "\u2011", "\u2013")
"""What joins a word to a longer name: `iron-sulfur`, `[11C]-raclopride`."""
_LONGEST = 60_000
"""Characters of a document that are read for names."""


def drug(word: str) -> str:
    """Return the preferred name of a drug in lower case: `acetaminophen` for `Paracetamol`.

    Empty for no drug."""
    entity = resolve(word)
    return entity.name.casefold() if entity is not None and entity.kind == "drug" else ""


@lru_cache(maxsize=2048)
def drugs_named(text: str) -> tuple[tuple[str, int], ...]:
    """List the drugs that a text names, each once under its preferred name in lower case, with how often."""
    return tuple(Counter(entity.name.casefold() for entity in _named(text)).items())


def _named(text: str) -> Iterator[Entity]:
    """Find the drugs of a text that are no part of a compound (`penicillin-resistant`)."""
    for entity in of_kind(text, ("drug",)):
        if not (
            text[entity.end : entity.end + 1] in _DASHES or text[entity.start - 1 : entity.start] in _DASHES
        ):
            yield entity


def as_written(name: str, documents: Iterable[Evidence]) -> str:
    """Return how works write the name of a drug most often, given by its preferred name.

    Salbutamol for albuterol. In small letters, unless it has a capital or a digit within."""
    written = Counter(
        entity.surface.casefold() if entity.surface[1:].islower() else entity.surface
        for document in documents
        for entity in _named(f"{document.title}\n{document.text[:_LONGEST]}")
        if entity.name.casefold() == name
    )
    return max(written, key=lambda text: (written[text], text == name, text), default=name)


def names_drug(text: str, name: str) -> bool:
    """Tell whether a text names a drug.

    By the name as it is given, or by any other of its names when the vocabularies know it (rifampicin for
    rifampin)."""
    if f" {key(name)} " in f" {key(text)} ":
        return True
    preferred = drug(name)
    return bool(preferred) and preferred in dict(drugs_named(text))


def drugs_in(document: Evidence) -> Counter[str]:
    """Count the drugs named in a document, its title and its facts."""
    facts = " ".join(value for key, value in document.facts.items() if _FACTS.search(key))
    return Counter(dict(drugs_named(f"{document.title}\n{document.text[:_LONGEST]}\n{facts}")))
