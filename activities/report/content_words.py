"""Words of content as they are compared: whether one text says what another does, word by word."""

import re

from activities.text.tokens import is_function
from activities.verification.quote_check import normalise

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
MIN_CHARS = 4
"""Shorter words carry no content of their own, unless they hold a digit or are written in capitals."""
STEM_CHARS = 5
"""Characters of a stem by which words match: `inhibits`, `inhibition`."""


def stems(text: str) -> set[str]:
    """The stems of a text's words of content; words with digits as they are."""
    return {
        word.casefold()[:STEM_CHARS] if not any(map(str.isdigit, word)) else word.casefold()
        for word in _WORD.findall(normalise(text))
        if _has_content(word)
    }


def _has_content(word: str) -> bool:
    if any(map(str.isdigit, word)) or (word.isupper() and len(word) > 1):
        return True
    return len(word) >= MIN_CHARS and not is_function(word)
