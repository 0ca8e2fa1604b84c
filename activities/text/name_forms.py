"""What the form of a name says of its kind, where no vocabulary holds it."""

import re
from collections.abc import Collection

from activities.text import thesaurus
from activities.text.answer_phrases import noun_phrases
from activities.text.entities import Kind, link
from activities.text.tokens import fold

_GENUS_AND_SPECIES = r"\b[A-Z][a-z]{2,}[a-z] [a-z]{3,}(?:is|us|um|ae|ii?|a|ens|ans|ax|es)\b"
"""Latin names, by the endings of Latin genitives and adjectives."""
_ORGANISMS = re.compile(
    r"bacteri(?:a|um)|virus(?:es)?|parasites?|protozo(?:a|an|on)|fung(?:i|us)|yeasts?|worms?|ticks?|(?:micro)?organisms?"
    r"|microbes?|pathogens?|species|genus|genera|plants?|insects?|vectors?"
)
"""Kinds of living things, which the thesaurus leaves out."""


def particular(heads: Collection[str]) -> re.Pattern[str]:
    """Names that the vocabularies do not hold, by the noun that is asked for: numbered ones (`chromosome 21`)
    and organisms by genus and species."""
    nouns = "|".join(re.escape(head) for head in sorted(heads)) or r"$^"
    numbered = rf"\b(?i:{nouns}) (?:\d{{1,3}}|[XY]|[IVX]{{1,4}})(?:[pq][\d.]*\d)?\b(?! of\b)"
    organism = any(_ORGANISMS.fullmatch(head) for head in heads)
    return re.compile(f"{numbered}|{_GENUS_AND_SPECIES}" if organism else numbered)


def is_phrase(name: str) -> bool:
    """Whether a name is one noun phrase."""
    return [phrase for phrase, _ in noun_phrases(name)] == [name]


def is_other(name: str, kinds: frozenset[Kind]) -> bool:
    """Whether the vocabularies hold what a name ends with as another kind of thing."""
    return any(e.end == len(name) and e.kind not in kinds for e in link(name))


def describes(name: str) -> bool:
    """Whether a name of a class is no noun by itself: disease-modifying drugs."""
    kinds = thesaurus.parts_of_speech(re.split(r"[\s-]", fold(name))[-1])
    return bool(kinds) and "n" not in kinds


def is_everyday(name: str) -> bool:
    """Whether the dictionary has every word of a name; that of a drug has one that it does not."""
    return all(thesaurus.parts_of_speech(fold(word)) for word in re.findall(r"[^\W\d_]{2,}", name))
