"""The persons and the places that a sentence names, for questions that ask `who` or `where`.

A person, or a body that acts as one, is a name in capitals, or a noun that WordNet files under persons or
groups (the landlord, the committee). A place is what follows a preposition of place, when it is a name or a
noun for something that has an extent: artefacts, parts of a body, groups (cities are), locations, natural
objects.
"""

import re
from collections.abc import Iterator

from activities.text import thesaurus
from activities.text.answer_phrases import noun_phrases
from activities.text.numerals import COUNT, number_of
from activities.text.tokens import fold, is_function

_TITLE = r"(?:Mr|Mrs|Ms|Mx|Dr|Prof|Sir|Dame|Lord|Lady|Judge|Captain|King|Queen|President|Hr|Herr|Frau|Mme|M)"
_CAPITAL = r"[A-Z\u00c0-\u00de][^\W\d_]+(?:['\u2019-][^\W\d_]+)*"
_NAME = re.compile(
    rf"(?:\b{_TITLE}\.? )?\b{_CAPITAL}"
    rf"(?: (?:(?:de|da|del|la|von|van|der|den|of|the|bin|al) )*(?:[A-Z]\.|{_CAPITAL}))*"
)
_DAY_OR_MONTH = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September"
    r"|October|November|December"
)
_BEGINS = re.compile(r"(?:^|[.!?:;\u201c\"(]\s*)$")
_PERSONS, _GROUPS = "18", "14"
"""WordNet's files of nouns for persons and for groups."""
_EXTENDED = frozenset({"06", "08", "14", "15", "17"})
"""Those of artefacts, parts of a body, groups, locations and natural objects."""
_IN_PLACE = re.compile(
    r"\b(?:in|at|on|near|inside|outside|under|underneath|beneath|above|below|behind|beside|between|within"
    r"|into|onto|from|through|along|across|around|throughout|opposite|to|towards?)"
    r" (?:the |an? |its |their |his |her |our |my )?"
)
_INSIDE = re.compile(r"\b(?:in|at|near|inside|into|through|across|around)(?: the)? $")
"""Prepositions behind which a name is that of a place."""
_SAYS_WHAT = re.compile(r"\b(?:is|are|was|were|becomes?|became) (?:the|an?) $")
"""What stands before a noun that says what a named person is: `Ann is the owner`."""
_COUNTED = re.compile(rf"\b(?:{COUNT}) $", re.IGNORECASE)
_OF_NAME, _OF_NOUN, _OF_GROUP = 1.0, 0.7, 0.5
"""What a name in capitals counts, a noun for a person or a place, one for a group."""


def persons(text: str) -> Iterator[tuple[str, int, float]]:
    """Each person or body that a sentence names, where the name begins, and how surely it is one (0 to 1)."""
    names = list(named(text))
    for name, start in names:
        if not _INSIDE.search(text[:start]):
            yield name, start, _OF_NAME
    for phrase, start in noun_phrases(text):
        if any(begin <= start < begin + len(name) for name, begin in names) or (
            names and _SAYS_WHAT.search(text[:start])
        ):
            continue
        files = thesaurus.files(fold(phrase.rsplit(" ", 1)[-1]))[:2]
        if number_of(phrase.split()[0]) is not None or _COUNTED.search(text[:start]):
            continue  # how many they are says of nobody who it is
        if _PERSONS in files[:1]:
            yield phrase, start, _OF_NOUN
        elif _GROUPS in files:
            yield phrase, start, _OF_GROUP


def places(text: str) -> Iterator[tuple[str, int, float]]:
    """Each place that a sentence names, where the name begins, and how surely it is one."""
    names = list(named(text))
    phrases = [*names, *noun_phrases(text)]
    for found in _IN_PLACE.finditer(text):
        for phrase, start in phrases:
            if start != found.end():
                continue
            if (phrase, start) in names:
                yield phrase, start, _OF_NAME
            elif _EXTENDED.intersection(thesaurus.files(fold(phrase.rsplit(" ", 1)[-1]))[:2]):
                yield phrase, start, _OF_NOUN
            break


def named(text: str) -> Iterator[tuple[str, int]]:
    """Names in capitals. A single word that begins a sentence is one where the dictionary does not have it; a
    day or a month is none."""
    for match in _NAME.finditer(text):
        name, start = match.group(), match.start()
        first, _, rest = name.partition(" ")
        if rest and _BEGINS.search(text[:start]) and is_function(fold(first)):
            name, start = rest, start + len(first) + 1
            rest = name.partition(" ")[2]
        known = start > match.start() or bool(thesaurus.parts_of_speech(fold(name)))
        alone = not rest and known and _BEGINS.search(text[: match.start()])
        if not (alone or is_function(fold(name)) or _DAY_OR_MONTH.fullmatch(name)):
            yield name, start
