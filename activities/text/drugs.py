"""Drugs that a text or a document names, by the vocabularies (`activities.text.entities`)."""

import re
from collections import Counter
from functools import lru_cache

from activities.text.entities import Entity, link, of_kind, resolve
from activities.types import Evidence

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
_COMPOUND_BEFORE = re.compile(r"(?:[^\W\d_]{2,})[-\u2010-\u2013]$")
_COMPOUND_AFTER = re.compile(
    r"[-\u2010-\u2013](?:induced|dependent|independent|resistant|refractory|producing|related|associated|sensitive"
    r"|deficient|like|na[i\u00ef]ve|exposed|intolerant|binding|containing|free|rich|positive|negative)\b"
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
    given = (e for e in of_kind(text, ("drug", "protein")) if _is_given(text, e))
    return tuple(Counter(entity.name.casefold() for entity in given).items())


def _is_given(text: str, entity: Entity) -> bool:
    if _MEASURED.match(text, entity.end) or _MOVED.search(text, 0, entity.start):
        return False
    if _COMPOUND_AFTER.match(text, entity.end):
        return False
    before = _COMPOUND_BEFORE.search(text, 0, entity.start)
    if before is not None and _is_no_drug(before.group()[:-1]):
        return False
    if entity.kind == "drug":
        return True
    if not entity.id.startswith("drugbank:"):
        return False
    return bool(_GIVEN_BEFORE.search(text, 0, entity.start) or _GIVEN_AFTER.match(text, entity.end))


def _is_no_drug(word: str) -> bool:
    """Whether the first half of a compound names another substance (`iron-sulfur`)."""
    entity = resolve(word)
    return entity is not None and entity.kind != "drug"


def names_drug(text: str, name: str) -> bool:
    """Whether a text names a drug: by the name as it is given, or by any other of its names when the
    vocabularies know it (rifampicin for rifampin)."""
    if re.search(rf"(?<!\w){re.escape(name.casefold())}", text.casefold()):
        return True
    preferred = drug(name)
    return bool(preferred) and preferred in dict(drugs_named(text))


def names_a_treatment(text: str) -> bool:
    """True for a text that names a drug or a class of drugs."""
    return bool(of_kind(text, ("drug", "drug_class")))


def spellings(text: str) -> tuple[str, ...]:
    """Each drug and class that a text names, as written there and by its other names, most used first."""
    found: dict[str, None] = {}
    for entity in link(text):
        if entity.kind in ("drug", "drug_class"):
            found.update(dict.fromkeys((entity.surface, entity.name, *entity.synonyms)))
    return tuple(found)


def drugs_in(document: Evidence) -> Counter[str]:
    """Drugs named in a document, its title and its facts, with how often."""
    facts = " ".join(value for key, value in document.facts.items() if _FACTS.search(key))
    return Counter(dict(drugs_named(f"{document.title}\n{document.text[:_LONGEST]}\n{facts}")))
