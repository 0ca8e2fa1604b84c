"""The comparison form of a name: what makes two spellings of one name equal.

A key is the name's words and numbers in lower case, joined by single spaces: compatibility forms resolved
(NFKC), Greek letters by name, British spellings made American (the word list of `breame`, then `ae` and `oe`
to `e`), possessives and plurals removed. `IL-6`, `IL6` and `il 6` have one key; so have `Crohn's disease` and
`Crohn disease`. Keys are for comparing; text keeps its own form.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from breame.data.spelling_constants import BRITISH_ENGLISH_SPELLINGS

from activities.text.tokens import fold

_PIECE = re.compile(r"[^\W\d_]+|\d+")
_GAP = re.compile(
    r"(?:['\u2019]s\b)?"
    r"(?:[ \t\n\u00a0]{1,3}|[-\u2010-\u2015\u2212/'\u2019]{1,2}|[.,](?=\d)| -(?=\d))?"
)
"""What may stand between two pieces of one name: space, hyphen, apostrophe, the point within a number."""
_PLURAL_LENGTH = 5
"""Shorter words keep their `s`: most short words that end in `s` are acronyms or singular (AIDS, gas)."""


class Piece(NamedTuple):
    """One word or number of a text."""

    key: str
    start: int
    end: int
    joined: bool
    """Only a space, a hyphen or the like stands before it, so that one name may span it and the last one."""


def singular(word: str) -> str:
    """Return a folded word without its plural ending.

    The S-stemmer of Harman, "How effective is suffixing?", JASIS 42(1), 1991.
    """
    if len(word) < _PLURAL_LENGTH or not word.endswith("s"):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word if word.endswith(("us", "ss")) else word[:-1]


@lru_cache(maxsize=65_536)
def word_key(word: str) -> str:
    """Return the comparison form of one word without spaces."""
    folded = fold(word)
    american = BRITISH_ENGLISH_SPELLINGS.get(folded, folded)
    if len(american) >= _PLURAL_LENGTH:
        american = american.replace("ae", "e").replace("oe", "e")
    return singular(american)


def pieces(text: str) -> list[Piece]:
    """Return the words and numbers of a text in order, without possessive endings."""
    items: list[Piece] = []
    end = 0
    for match in _PIECE.finditer(text):
        start = match.start()
        word = match.group()
        if word in ("s", "S") and start and text[start - 1] in "'\u2019":
            continue
        joined = bool(items) and _GAP.fullmatch(text, end, start) is not None
        items.append(Piece(word_key(word), start, match.end(), joined))
        end = match.end()
    return items


def key(name: str) -> str:
    """Return the comparison form of a whole name.

    Empty for a name without a letter or digit."""
    if name.isascii() and "'" not in name:  # nearly every name; without possessive endings
        return " ".join(map(word_key, _PIECE.findall(name)))
    return " ".join(piece.key for piece in pieces(name))
