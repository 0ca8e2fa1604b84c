"""Whether a sentence speaks of another thing of the kind that a question names: of a day ticket where the
price of a season ticket is asked for, of bus routes where it is that of a bus ticket.

What is asked for is a noun behind an adjective or a noun (`season ticket`). A sentence is on another one
where it has the one word, never the other in any form or by a synonym, and the one always beside another word
that makes another name of it. A word that stands by itself may be short for the whole name.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from activities.text import thesaurus
from activities.text.amounts import asks_for_money, of_paying
from activities.text.concepts import Word
from activities.text.numerals import number_of
from activities.text.tokens import fold, is_function, terms

_TOKEN = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*")
_BETWEEN = re.compile(r"\s*$")
_ARTICLES = frozenset({"the", "a", "an"})
_SAME = 4
"""Letters at the beginning that two forms of one word share at least: yearly, year's."""


@dataclass(frozen=True, slots=True)
class Modified:
    """A noun of a question with the word before it that says which one is meant."""

    modifier: str
    noun: str


@lru_cache(maxsize=512)
def modified(question: str) -> tuple[Modified, ...]:
    """The nouns of a question that stand behind an adjective or a noun, in lower case. Of `season ticket
    office` only the last two words."""
    tokens = _neighbours(question)
    if tokens and asks_for_money(question):
        tokens = [token for token in tokens if not of_paying(token)]
    found: list[Modified] = []
    for place in range(1, len(tokens)):
        modifier, noun = tokens[place - 1], tokens[place]
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if _is_noun(noun) and _modifies(tokens, place - 1) and not _is_noun(following):
            found.append(Modified(modifier, noun))
    return tuple(found)


def on_another(question: str, words: Sequence[Word], spoken: Collection[int], text: str) -> bool:
    """Whether a sentence speaks of another thing of the same kind. `words`: those of the question; `spoken`:
    the places of those that the sentence or its heading mentions."""
    pairs = modified(question)
    if not pairs:
        return False
    said = {fold(words[place].shown) for place in spoken}
    return any(_another(pair, said, text) for pair in pairs)


def whole_names(question: str, text: str) -> list[int]:
    """Where a text has a noun of the question behind its own modifier."""
    tokens = list(_TOKEN.finditer(text))
    return [
        tokens[place - 1].start()
        for pair in modified(question)
        for place in range(1, len(tokens))
        if _same(tokens[place].group(), pair.noun) and _same(tokens[place - 1].group(), pair.modifier)
    ]


def _another(pair: Modified, said: Collection[str], text: str) -> bool:
    """Whether exactly one word of the two is said, and each time beside another word in the other's place."""
    tokens = _neighbours(text)
    if pair.modifier not in said and pair.noun in said:
        places = [place for place, token in enumerate(tokens) if _same(token, pair.noun)]
        return bool(places) and all(
            _modifies(tokens, place - 1) and not _same(tokens[place - 1], pair.modifier) for place in places
        )
    if pair.noun not in said and pair.modifier in said and thesaurus.mostly_noun(pair.modifier):
        ends = [*tokens[1:], ""]
        behind = [ends[place] for place, t in enumerate(tokens) if _same(t, pair.modifier)]
        return bool(behind) and all(_is_noun(word) for word in behind)
    return False


def _neighbours(text: str) -> list[str]:
    """The words of a text in lower case, with an empty one wherever more than a space stands between two."""
    found: list[str] = []
    end = 0
    for match in _TOKEN.finditer(text):
        if found and not _BETWEEN.match(text[end : match.start()]):
            found.append("")
        found.append(fold(match.group()))
        end = match.end()
    return found


def _is_noun(word: str) -> bool:
    if not word or is_function(word):
        return False
    return any(thesaurus.mostly_noun(form) for form in (word, *thesaurus.singulars(word)))


def _modifies(tokens: Sequence[str], place: int) -> bool:
    """Whether a word before a noun says which one is meant: an adjective or a noun, but for numerals and
    possessives. What may be a verb as well is none behind an article (`a return ticket`)."""
    word = tokens[place] if place >= 0 else ""
    if not word or is_function(word) or "'" in word or word[0].isdigit() or number_of(word) is not None:
        return False
    if thesaurus.mostly_noun(word):
        return True
    kinds = thesaurus.parts_of_speech(word)
    if place > 0 and tokens[place - 1] in _ARTICLES:
        return bool(kinds & {"a", "n"})
    return "a" in kinds and "v" not in kinds


def _same(one: str, other: str) -> bool:
    """Whether two words are forms of one."""
    one, other = fold(one), fold(other)
    return bool(one and other) and (
        terms(one) == terms(other) or (one[:_SAME] == other[:_SAME] and min(len(one), len(other)) >= _SAME)
    )
