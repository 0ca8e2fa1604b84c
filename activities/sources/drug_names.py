"""The name that a search of a database of drugs is for: it answers to names, not to questions."""

import re

from activities.contracts.errors import Refused
from activities.text.entities import drug_counts, is_same_entity

_SYNTAX = re.compile(r"\b(?:AND|OR|NOT)\b|[\"()\[\]]")


def drug_of_query(text: str) -> str:
    """Return the drug that a query names first, by its preferred name.

    The query without its syntax when the vocabularies know none of its words. Raises Refused for a query
    without a word.
    """
    drugs = drug_counts(text)
    if drugs:
        return drugs[0][0]
    plain = " ".join(_SYNTAX.sub(" ", text).split())
    if not re.search(r"\w", plain):
        raise Refused("a database of drugs needs a name to look for; name a drug")
    return plain


def is_name_of(drug: str, names: tuple[str, ...]) -> bool:
    """Tell whether one of a record's names is the name asked for.

    These databases search by similarity, and a similar name is another drug.
    """
    plain = drug.casefold()
    return any(name.casefold() == plain or is_same_entity(drug, name) for name in names if name)
