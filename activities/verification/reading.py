"""A sentence as clauses of words and numbers in comparison form, for comparing it with its quotes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from activities.text.tokens import fold, is_function, stem

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*%?|[^\W\d_]+(?:'[^\W_]+)*")
_CLAUSE = re.compile(
    r"[;:]\s|(?<=[.!?])\s+(?![a-z])|,?\s\b(?i:but|however|whereas|although|though|while|yet)\b"
)


@dataclass(frozen=True)
class Token:
    shown: str
    stem: str
    """Comparison form; of a number the number."""
    light: bool
    """A word of grammar."""

    @property
    def number(self) -> bool:
        return self.shown[0].isdigit()


@dataclass(frozen=True)
class Clause:
    text: str
    tokens: tuple[Token, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(token.stem for token in self.tokens)

    @cached_property
    def content(self) -> frozenset[str]:
        """Comparison forms of the words that are no words of grammar, and no numbers."""
        return frozenset(token.stem for token in self.tokens if not token.light and not token.number)


def clauses(text: str) -> list[Clause]:
    """The clauses of a normalised text that have a word."""
    parts = ((part, tokens(part)) for part in _CLAUSE.split(text))
    return [Clause(part, words) for part, words in parts if words]


def tokens(text: str) -> tuple[Token, ...]:
    return tuple(_token(match) for match in _TOKEN.findall(text))


def _token(shown: str) -> Token:
    plain = fold(shown)
    if plain[0].isdigit():
        return Token(shown, plain.rstrip("%").replace(",", ""), light=False)
    return Token(shown, stem(plain.removesuffix("'s")), is_function(plain))


def nearest(clause: Clause, others: Sequence[Clause], least: int) -> Clause | None:
    """The clause that shares most content words with this one; None where none shares `least`, or all of its
    own where it has fewer."""
    best = max(others, key=lambda other: len(clause.content & other.content), default=None)
    shared = len(clause.content & best.content) if best else 0
    return best if best and shared >= max(1, min(least, len(clause.content))) else None
