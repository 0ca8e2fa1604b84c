"""Numbers as a text prints them."""

import re
import unicodedata
from decimal import Decimal

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w.]*\d)|-?\d+(?:\.\d+)?|-?\.\d+")
_POINTS = str.maketrans({"\u00b7": ".", "\u2027": ".", "\u2212": "-", "\u2010": "-", "\u2011": "-"})


def numbers_in(text: str) -> frozenset[Decimal]:
    """Every number of a text by its value: `0·84`, `1,204`, `.05`. A minus sign counts where no digit or
    letter stands before it; both readings of `5-7` are kept."""
    plain = unicodedata.normalize("NFKC", text.translate(_POINTS)).translate(_POINTS)
    found: set[Decimal] = set()
    for match in _NUMBER.finditer(plain):
        value = Decimal(match.group().replace(",", ""))
        found.add(value)
        before = plain[match.start() - 1 : match.start()]
        if value < 0 and (before.isalnum() or before in ")]%"):
            found.add(-value)
    return frozenset(found)


def one_number(text: str) -> Decimal | None:
    """The number of a text that has exactly one; else None."""
    found = numbers_in(text)
    return next(iter(found)) if len(found) == 1 else None
