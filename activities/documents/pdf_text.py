"""Lines of a paragraph as running text: a word that is parted at the end of a line is whole again."""

import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib import resources

from activities.documents.pdf_layout import Line
from activities.documents.pdf_page import HYPHEN

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_PART = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[-\u2010]$")
_FIRST_PART = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S*[-\u2010/._?=&]$")
"""An address that goes on in the next line."""
_TIES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\xa0": " "}
)


class Hyphens:
    """The hyphens at the ends of lines, by the words of their document and of the bundled vocabulary."""

    def __init__(self, runs: Iterable[str]) -> None:
        self._runs = list(runs)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.lower() for run in self._runs for word in _WORD.findall(run.translate(_TIES)))

    def put_together(self, text: str, more: str) -> str:
        """Two lines as one. A hyphen stays before a digit, a capital and in a word that has one."""
        if _ADDRESS.search(text) and not more[:1].isspace():
            return f"{text.removesuffix(HYPHEN)}{'-' if text.endswith(HYPHEN) else ''}{more}"
        if not text.endswith(("-", HYPHEN)) or text[-2:-1].isspace():
            return f"{text} {more}"
        bare = text[:-1]
        before, after = _LAST_PART.search(text), _FIRST_PART.match(more)
        if before is None or after is None or not more[:1].islower():
            # "IL-" and "6", "anti-" and "PD-1", "12-" and "week"; "5-" and "or 6-year" are two words
            return f"{text} {more}" if re.match(r"(?:and|or|und|oder|to|et|ou)\b", more) else f"{bare}-{more}"
        if re.match(r"(?:and|or|und|oder)\b", more):
            return f"{bare}- {more}"
        first, second = before[1].lower(), after[0].lower().split("-")[0]
        return f"{bare}{more}" if self._is_one_word(first, second) else f"{bare}-{more}"

    def _is_one_word(self, first: str, second: str) -> bool:
        if first + second in self._words:
            return True
        if f"{first}-{second}" in self._words:
            return False
        known = _vocabulary()
        return first + second in known or not (first in known and second in known)


def joined(lines: Sequence[Line], hyphens: Hyphens, *, as_is: bool) -> str:
    """The text of lines, in one where they are a paragraph."""
    texts = [line.text.translate(_TIES) for line in lines]
    if as_is:
        return "\n".join(texts).replace(HYPHEN, "-")
    text = texts[0]
    for more in texts[1:]:
        text = hyphens.put_together(text, more)
    return text[:-1].replace(HYPHEN, "-") + text[-1:]


@cache
def _vocabulary() -> frozenset[str]:
    """Words of English that the encoder knows whole."""
    pieces = resources.files("activities.text") / "pieces.txt"
    words = pieces.read_text(encoding="utf-8").split("\n")
    return frozenset(word for word in words if len(word) > 1 and word.isalpha())
