"""Names that a number sets apart from their neighbours: type 2 diabetes, stage III, herpes simplex virus 1.

A text that gives such a name only with other numbers is about a neighbour; one that gives no number may be
about either.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from activities.text import thesaurus
from activities.text.technical import TECHNICAL, technical
from activities.text.tokens import fold, is_function

_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_NUMBER = rf"(?:\d{{1,2}}|{'|'.join(sorted(_ROMAN, key=len, reverse=True))})"
_SEVERAL = rf"{_NUMBER}[a-c]?(?:\s?(?:,|/|-|to|and|or|&)\s?{_NUMBER}[a-c]?)*"
_EACH = re.compile(rf"(?P<first>{_NUMBER})[a-c]?(?:\s?(?:-|to)\s?(?P<last>{_NUMBER})[a-c]?)?(?![a-z\d])")
_MEASURES = frozenset({"23", "28"})
"""WordNet's files of quantities and of times: `12 weeks` is a measure and no name."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A word with the number behind it."""

    word: str
    number: int
    following: str = ""
    """First letter of the word behind the number, as abbreviations have it (T2DM)."""

    def numbers(self, text: str) -> frozenset[int]:
        """The numbers that a folded text gives the word."""
        pattern, short = _patterns(self.word, self.following)
        found = {n for given in pattern.finditer(text) for n in _each(given.group("numbers"))}
        found |= {int(given.group("number")) for given in short.finditer(text)} if short else set()
        return frozenset(found)


def numbered(
    shown: str, tokens: Sequence[tuple[str, int, int]], entities: Collection[tuple[int, int]]
) -> Iterator[tuple[int, Numbered]]:
    """(place of the number among the tokens, what it sets apart) of a question. A number sets the noun before
    it apart within the name of an entity, behind a technical word, and before another noun, if that is no
    measure."""
    for at in range(1, len(tokens)):
        (word, begin, end), (_, start, stop) = tokens[at - 1], tokens[at]
        if start != end + 1 or not _is_number(shown[start:stop]) or is_function(word) or len(word) < 2:
            continue
        behind = tokens[at + 1][0] if at + 1 < len(tokens) and tokens[at + 1][1] == stop + 1 else ""
        named = any(first <= begin and stop <= last for first, last in entities)
        if named or (
            not _is_measure(behind) and (technical(shown[begin:end]) >= TECHNICAL or _are_nouns(word, behind))
        ):
            yield at, Numbered(word, _value(fold(shown[start:stop])), behind[:1])


def _is_number(token: str) -> bool:
    return (token.isdigit() and 1 <= len(token) <= 2) or (token.isupper() and fold(token) in _ROMAN)


def _is_measure(word: str) -> bool:
    return thesaurus.mostly_noun(word) and thesaurus.files(word)[0] in _MEASURES


def _are_nouns(word: str, behind: str) -> bool:
    if not behind or is_function(behind) or behind.isdigit() or "n" not in thesaurus.parts_of_speech(word):
        return False
    return thesaurus.mostly_noun(behind) or not thesaurus.parts_of_speech(behind)


def _each(given: str) -> Iterator[int]:
    """The numbers of a list (`1 and 2`) and of a range (`I to III`)."""
    for match in _EACH.finditer(given):
        first = _value(match.group("first"))
        yield from range(first, _value(match.group("last") or match.group("first")) + 1) or (first,)


def _value(number: str) -> int:
    return int(number) if number.isdigit() else _ROMAN.index(number) + 1


@lru_cache(maxsize=256)
def _patterns(word: str, following: str) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    whole = re.compile(rf"\b{re.escape(word)}s?[\s-]?(?P<numbers>{_SEVERAL})(?![\da-z])")
    if not following:
        return whole, None
    return whole, re.compile(rf"\b{re.escape(word[0])}(?P<number>\d{{1,2}}){re.escape(following)}[a-z]*\b")
