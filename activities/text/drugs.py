"""Drugs that a text or a document names, by the vocabularies (`activities.text.entities`)."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from activities.contracts.evidence import Evidence
from activities.text.entities import Entity, of_kind, resolve

_FACTS = re.compile(r"mesh|drug|generic|interven|substance", re.IGNORECASE)
_MEASURED = re.compile(
    r"[\s-]+(?:bio)?(?:synthesis|production|secretion|release|levels?|concentrations?|content|expression"
    r"|signal(?:l)?ing|pathways?)\b",
    re.IGNORECASE,
)
"""What follows a substance that the body makes or that was measured: no treatment, whatever its name."""
_MOVED = re.compile(
    r"\b(?:(?:increas|decreas|elevat|rais)(?:es|ed|ing)|lower(?:s|ed|ing))\s+"
    r"(?:(?:the|serum|plasma|blood|circulating)\s+)*$",
    re.IGNORECASE,
)
"""What stands before a substance that something else moves: `increases haemoglobin`."""
_AMOUNT_BEFORE = re.compile(
    r"\b(?:levels?|concentrations?|amounts?|excretion) of\s+(?:\w+\s+){0,2}$", re.IGNORECASE
)
_GIVEN_BEFORE = re.compile(
    r"\b(?:recombinant|pegylated|given|received?|receiving|(?:treat\w*|therapy|administ\w+|injections?|infusions?"
    r"|doses?|trials?) (?:with|of|using))\s+(?:[\w-]+\s+){0,3}$",
    re.IGNORECASE,
)
_GIVEN_AFTER = re.compile(
    r"\s+(?:therapy|treatment|administration|injections?|infusions?|was given|were given|arm|group)\b",
    re.IGNORECASE,
)
"""What shows that a protein of the body was given as a drug."""
_TRACER_BEFORE = re.compile(r"(?:\[\(?|\(|\b)\d{1,3}\)?[A-Z][a-z]?\]?[-\s]?$")
"""The isotope before a substance that is a tracer: `[11C]-raclopride`."""
_COMPOUND_BEFORE = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}[-\u2010-\u2013]$")
_COMPOUND_AFTER = re.compile(
    r"[-\u2010-\u2013](?:induced|dependent|independent|resistant|refractory|producing|related|associated|sensitive"
    r"|deficient|like|na[i\u00ef]ve|exposed|intolerant|binding|containing|free|rich|positive|negative|[a-z]*receptor\w*|[a-z]*ergic)\b"
    r"|\s+(?:clusters?|an(?:a?)esthesia|resistance|deficiency|toxicity|poisoning|overdose|abuse|metabolism|transporters?"
    r"|channels?)\b",
    re.IGNORECASE,
)
"""What makes a substance part of another name (`penicillin-resistant`, `desflurane anaesthesia`)."""
_LONGEST = 60_000
"""Characters of a document that are read for names."""


def drug(word: str) -> str:
    """The preferred name of a drug in lower case: `acetaminophen` for `Paracetamol`. Empty for no drug."""
    entity = resolve(word)
    return entity.name.casefold() if entity is not None and entity.kind == "drug" else ""


@lru_cache(maxsize=2048)
def drugs_named(text: str) -> tuple[tuple[str, int], ...]:
    """Drugs that a text names, each once under its preferred name in lower case, with how often. A substance
    that was measured or moved, as in `prostaglandin E2 synthesis` and `raised haemoglobin`, is none."""
    drugs = (e for e in of_kind(text, ("drug", "protein")) if is_given(text, e))
    return tuple(Counter(entity.name.casefold() for entity in drugs).items())


def is_given(text: str, entity: Entity) -> bool:
    """Whether an entity of a text is a drug that is given: no substance that was measured or moved, and no
    part of another name."""
    before = text[: entity.start]
    if _MEASURED.match(text, entity.end) or _MOVED.search(before) or _AMOUNT_BEFORE.search(before):
        return False
    if _COMPOUND_AFTER.match(text, entity.end) or _TRACER_BEFORE.search(before):
        return False
    compound = _COMPOUND_BEFORE.search(before)
    if compound is not None and _is_no_drug(compound.group()[:-1]):
        return False
    if entity.kind == "drug":
        return True
    if not entity.id.startswith("drugbank:"):
        return False
    return bool(_GIVEN_BEFORE.search(before) or _GIVEN_AFTER.match(text, entity.end))


def _is_no_drug(word: str) -> bool:
    """Whether the first half of a compound names another substance (`iron-sulfur`)."""
    entity = resolve(word)
    return entity is not None and entity.kind != "drug"


def as_written(name: str, documents: Iterable[Evidence]) -> str:
    """How works write the name of a drug most often, given by its preferred name: salbutamol for albuterol.
    In small letters, unless it has a capital or a digit within."""
    written = Counter(
        entity.surface.casefold() if entity.surface[1:].islower() else entity.surface
        for document in documents
        for entity in of_kind(f"{document.title}\n{document.text[:_LONGEST]}", ("drug", "protein"))
        if entity.name.casefold() == name
    )
    return max(written, key=lambda text: (written[text], text == name, text), default=name)


def names_drug(text: str, name: str) -> bool:
    """Whether a text names a drug: by the name as it is given, or by any other of its names when the
    vocabularies know it (rifampicin for rifampin)."""
    if re.search(rf"(?<!\w){re.escape(name.casefold())}", text.casefold()):
        return True
    preferred = drug(name)
    return bool(preferred) and preferred in dict(drugs_named(text))


def drugs_in(document: Evidence) -> Counter[str]:
    """Drugs named in a document, its title and its facts, with how often."""
    facts = " ".join(value for key, value in document.facts.items() if _FACTS.search(key))
    return Counter(dict(drugs_named(f"{document.title}\n{document.text[:_LONGEST]}\n{facts}")))
