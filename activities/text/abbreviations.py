"""The abbreviations that the texts at hand define, in both directions."""

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from activities.text.entities import abbreviations
from activities.text.tokens import fold


@lru_cache(maxsize=1024)
def _defined(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(abbreviations(text).items())


class Abbreviations:
    """Short and long forms, from the definitions in some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._others: dict[str, set[str]] = defaultdict(set)
        self._pairs: dict[tuple[str, str], None] = {}
        for text in texts:
            for short, long in _defined(text):
                self._pairs[short, long] = None
                self._others[fold(short)].add(long)
                self._others[fold(long)].add(short)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Abbreviations) and self.pairs() == other.pairs()

    def __hash__(self) -> int:
        return hash(self.pairs())

    def of(self, name: str) -> tuple[str, ...]:
        """The long forms of an abbreviation, the abbreviations of a long form."""
        plain = fold(name)
        found = self._others.get(plain) or self._others.get(plain.removesuffix("s"), set())
        return tuple(sorted(found))

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Each abbreviation with its long form, as written."""
        return tuple(self._pairs)
