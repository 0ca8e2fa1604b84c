"""Where works say a field of a candidate: every word of content of it stands in one passage, or among the
facts of a record."""

import re
from collections.abc import Sequence

from activities.contracts.evidence import Evidence
from activities.text.normal_form import normalise
from activities.text.tokens import is_function

Passage = tuple[Evidence, str, frozenset[str]]
"""A work, a passage of it, and the stems of its words of content."""
_PASSAGE = re.compile(r"(?<=[.;!?])\s+")
_LINK = re.compile(r"(?:(?<!\s)\s+)?(?:->|[;|\u2192])\s*")
"""Between the links of a chain of effects."""
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
MIN_CHARS = 4
"""Shorter words carry no content of their own, unless they hold a digit or are written in capitals."""
STEM_CHARS = 5
"""Characters of a stem by which words match: `inhibits`, `inhibition`."""


def passages_of(works: Sequence[Evidence]) -> list[Passage]:
    """The sentences of each work, each with the one after it, its title, and its facts with their names."""
    return [(work, text, stems(text)) for work in works for text in _passages(work)]


def place_of(text: str, passages: Sequence[Passage], name_stems: frozenset[str]) -> list[Passage] | None:
    """The passages that say a field, one for each part of it (a chain's links, a list's entries). None where
    a part is said nowhere. `name_stems`: those of the candidate's own names, which need no support."""
    places: list[Passage] = []
    for part in _LINK.split(text):
        words = stems(part) - name_stems
        if not words:
            continue
        place = next((passage for passage in passages if words <= passage[2]), None)
        if place is None:
            return None
        places.append(place)
    return places


def _passages(work: Evidence) -> list[str]:
    sentences = _PASSAGE.split(normalise(work.text))
    pairs = [f"{one} {other}" for one, other in zip(sentences, [*sentences[1:], ""], strict=True)]
    facts = [f"{name} {value}" for name, value in work.facts.items()]
    return [*sentences, *pairs, work.title, *facts, " ".join(facts)]


def stems(text: str) -> frozenset[str]:
    """The stems of a text's words of content; words with digits as they are."""
    return frozenset(
        word.casefold()[:STEM_CHARS] if not any(map(str.isdigit, word)) else word.casefold()
        for word in _WORD.findall(normalise(text))
        if _has_content(word)
    )


def _has_content(word: str) -> bool:
    if any(map(str.isdigit, word)) or (word.isupper() and len(word) > 1):
        return True
    return len(word) >= MIN_CHARS and not is_function(word)
