"""Untrusted text on a terminal: shown without control characters.

Control characters move the cursor, change the title or the clipboard and hide what was printed before; marks
of direction (Unicode TR 36, 3.1) make a line appear in another order. Files and pipes get every character.
"""

import sys
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Bidirectional controls (UAX 9). Joiners and the like are left: scripts need them."""
SEPARATORS = frozenset("\u2028\u2029")


WIDE = 240
"""Columns of a table that goes into a pipe or a file."""


def harmless(text: str) -> str:
    """The text without control and direction characters; lines and tabs stay."""
    return "".join(c for c in text if c in "\n\t" or not _acts(c))


def shown(text: str) -> str:
    """`harmless` when stdout is a terminal, else the text as it is."""
    return harmless(text) if sys.stdout.isatty() else text


def _acts(c: str) -> bool:
    return c in DIRECTIONS or c in SEPARATORS or unicodedata.category(c) in ("Cc", "Cs")


def plain(text: str) -> str:
    """Text on one line that cannot move the cursor, change colours or hide what follows."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def to_stdout() -> "Console":
    """A console for tables: as wide as the terminal, and wide enough for whole lines where there is none."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=WIDE)
