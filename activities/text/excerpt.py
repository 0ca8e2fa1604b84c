"""What is read of a long text: the stretches that mention most of a question.

A text is divided into sentences and words for each question, which for a thick book takes seconds. Of a text
beyond `LONGEST_TEXT` its beginning is read, which says what it is about, and those stretches that mention
most of what the question names.
"""

import math
import re
from collections import Counter
from functools import lru_cache

from activities.text.abbreviations import Abbreviations
from activities.text.concepts import Concepts
from activities.text.sentences import LONGEST_TEXT
from activities.types import Evidence

STRETCH = 4_000
"""Characters of a stretch at least: it ends with its paragraph."""
LONGEST_PARAGRAPH = 4 * STRETCH
"""Characters after which a stretch ends within a paragraph, at a space."""
BEGINNING = 3
"""Stretches at the beginning that are always read."""
LEAST_STEM = 3
"""Letters of a word's stem by which words are found."""


def excerpt(question: str, document: Evidence) -> Evidence:
    """The document with no more of its text than is read for a question; the same one where it is short."""
    if len(document.text) <= LONGEST_TEXT:
        return document
    return document.model_copy(update={"text": telling(question, document.text)})


@lru_cache(maxsize=4)
def telling(question: str, text: str, most: int = LONGEST_TEXT) -> str:
    """At most `most` characters of a text: its beginning and the stretches that mention most of a question,
    in their order, with a blank line between stretches that do not follow each other."""
    spans = list(_stretches(text))
    stems = sorted({t for word in Concepts(question, Abbreviations(())).words for t in word.terms})
    wanted = re.compile("|".join(rf"\b{re.escape(s)}" for s in stems if len(s) >= LEAST_STEM) or r"$^")
    said = [set(wanted.findall(text[start:end].casefold())) for start, end in spans]
    holders = Counter(stem for held in said for stem in held)
    worth = [sum(math.log(1 + len(spans) / holders[stem]) for stem in held) for held in said]
    order = sorted(range(len(spans)), key=lambda n: (n >= BEGINNING, -worth[n], n))
    chosen: list[int] = []
    room = most
    for place in order:
        start, end = spans[place]
        if end - start > room:
            break
        room -= end - start + 2
        chosen.append(place)
    pieces: list[str] = []
    for place in sorted(chosen):
        start, end = spans[place]
        pieces.append(text[start:end] if place - 1 in chosen else f"\n\n{text[start:end]}")
    return "".join(pieces).strip()


def _stretches(text: str) -> "list[tuple[int, int]]":
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = text.find("\n\n", start + STRETCH)
        if end < 0 or end - start > LONGEST_PARAGRAPH:
            space = text.find(" ", min(start + LONGEST_PARAGRAPH, len(text)))
            end = space if space >= 0 and (end < 0 or space < end) else end if end >= 0 else len(text)
        found.append((start, end))
        start = end
    return found
