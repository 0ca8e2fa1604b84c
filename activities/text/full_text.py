"""Full texts of works, told from abstracts and from other pages."""

import re

MIN_CHARS = 4_000
"""Characters of a full text: a page with the abstract alone is shorter."""
HEAD_CHARS = 6_000
"""Characters within which the title of the work must stand."""
MIN_TITLE_SHARE = 0.8
"""Share of the words of the title that must stand there."""
_WORD = re.compile(r"[^\W_]{3,}")


def is_whole(text: str, title: str, abstract: str = "") -> bool:
    """Tell whether a text is more than the abstract of a work, and of that work."""
    return len(text) >= max(MIN_CHARS, 2 * len(abstract)) and has_title(text, title)


def has_title(text: str, title: str) -> bool:
    """Tell whether a title stands near the beginning of a text."""
    head, wanted = set(_words(text[:HEAD_CHARS])), set(_words(title))
    return bool(wanted) and len(wanted & head) >= MIN_TITLE_SHARE * len(wanted)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
