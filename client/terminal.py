"""Text of others on a terminal: it is shown, and can do nothing.

Control characters move the cursor, change the title or the clipboard and hide what was printed before; marks
of direction (Unicode TR 36, 3.1) make a line read otherwise than it is. Files and pipes get every character.
"""

import sys
import unicodedata

DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Bidirectional controls (UAX 9). Joiners and the like are left: scripts need them."""
SEPARATORS = frozenset("\u2028\u2029")


def harmless(text: str) -> str:
    """The text without control and direction characters; lines and tabs stay."""
    return "".join(c for c in text if c in "\n\t" or not _acts(c))


def shown(text: str) -> str:
    """`harmless` when stdout is a terminal, else the text as it is."""
    return harmless(text) if sys.stdout.isatty() else text


def _acts(c: str) -> bool:
    return c in DIRECTIONS or c in SEPARATORS or unicodedata.category(c) in ("Cc", "Cs")
