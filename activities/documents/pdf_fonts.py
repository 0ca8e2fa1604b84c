"""The kinds of fonts of a PDF, by their names and the widths of their letters."""

import ctypes
import re
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import pypdfium2.raw as pdfium

from activities.documents.pdf_characters import Piece, Raw

MIN_MEASURED = 4
"""Letters of one width that tell a font of fixed width."""
_MATH = re.compile(
    r"CM(MI|SY|EX)|MSBM|MSAM|(?<!DejaVu)Math|Symbol|EUFM|MTMI|MTSY|rtxmi|txsy|NewTXMI|LibertineMath",
    re.IGNORECASE,
)
_LARGE = re.compile(r"^(?:CM|LM|EU|TX|PX|N?TX|Esint|Fourier-?Math)\w{0,12}?EX|Extension", re.IGNORECASE)
_FIXED = re.compile(
    r"Mon[oL]|Courier|CM\w{0,3}TT|Typewriter|Consol|Inconsolata|SF(?:\w{0,2}TT|[SI]T\d)|LM\w{0,4}TT|Menlo|TXTT|ZI4",
    re.IGNORECASE,
)
_BOLD = re.compile(
    r"Bold|Black|Heavy|Semibold|CMBX|CMSSBX|SFBX|LMB|-Demi|\bMedi|-B\b|(?<=\w)TB$", re.IGNORECASE
)


class Font(NamedTuple):
    math: bool
    fixed: bool
    bold: bool
    large: bool
    """Its symbols hang below the line, and are named by letters."""


def fixed_fonts(raw: Raw, text: str, piece_of: Callable[..., Piece]) -> frozenset[int]:
    """Return the fonts of a page whose letters are all of one width, as bitmaps of TeX do not say."""
    widths: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for number, letter in enumerate(text):
        if letter.isalpha() and (piece := piece_of(number, number + 1)).size > 0:
            widths[font_of(raw, number)].setdefault(letter, (piece.right - piece.left) / piece.size)
    return frozenset(
        font
        for font, row in widths.items()
        if len(row) >= MIN_MEASURED and max(row.values()) < 1.1 * min(row.values())
    )


def font_of(raw: Raw, number: int) -> int:
    """Return what tells the font of a character from the others of its page."""
    item = pdfium.FPDFText_GetTextObject(raw, number)
    font = pdfium.FPDFTextObj_GetFont(item) if item else None
    return ctypes.addressof(font.contents) if font else 0


@lru_cache(maxsize=1024)
def kind_of_font(name: bytes) -> Font:
    """Return the kind of a font by its name, without the letters that mark a part of it."""
    plain = re.sub(r"^[A-Z]{6}\+", "", name.decode(errors="replace"))
    return Font(*(bool(kind.search(plain)) for kind in (_MATH, _FIXED, _BOLD, _LARGE)))
