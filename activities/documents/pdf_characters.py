"""The characters of a page as PDFium gives them and as they are shown: accents, brackets, struck signs."""

import ctypes
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from statistics import median_low
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from activities.documents.pdf_page import HYPHEN

Raw = Any
"""A page of letters of PDFium, for which pypdfium2 ships no types."""
MAX_LETTERS = 100_000
"""Letters of one page that are read: a page of small print has 20,000."""
NO_LETTER = "\u00ad"
"""A soft hyphen, and what stands in the place of an accent that is on its letter."""
_ACCENTS = dict(
    zip(
        "`\u00b4^\u02c6~\u02dc\u00af\u02d8\u02d9\u00a8\u02da\u02dd\u02c7\u00b8",
        "\u0300\u0301\u0302\u0302\u0303\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327",
        strict=True,
    )
)
"""Accents that stand by themselves -> those that are part of a letter."""
_ACCENT = re.compile(f"[{re.escape(''.join(_ACCENTS))}]")
_CODES = {
    **dict.fromkeys((2, 0xFFFE), HYPHEN),
    **dict.fromkeys((0x88, 0xF0B7, 0xF0A7, 0xF0D8), "\u2022"),
    **dict(zip(range(0x0B, 0x10), "\ufb00\ufb01\r\ufb03\ufb04", strict=True)),
    **dict(zip(range(0x10, 0x17), "\u201c\u201d\u201e\u00ab\u00bb\u2013\u2014", strict=True)),
    **dict(zip(range(0x1B, 0x20), "\ufb00\ufb01\ufb02\ufb03\ufb04", strict=True)),
}
"""Hyphens at the ends of lines; bullets of Word; ligatures and quotation marks of TeX's fonts."""
_WIDE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\U0001d400-\U0001d7ff]")
"""A character beyond the first 65,536 in two halves, as PDFium has most; a letter of formulas."""
_CODED = re.compile(f"[{re.escape(''.join(map(chr, (0, *_CODES))))}\ud800-\udfff]")
"""Characters that stand for others, and those that are none."""
_FIRST_H = re.compile(r"(?<![^\W\d_])h(?=\S)")
MAX_BRACKETED = 40
"""Characters between brackets that are letters by their place in a font."""
_STRUCK = re.compile("6\\s?[=\u2208\u2261\u2282\u2286\u223c]")
"""A stroke, whose place in a font of TeX is that of the 6, and the sign through which it goes."""
_SPACED = re.compile(r"(?<!\S)[^\W\d_](?: [^\W\d_]){3,}(?!\S)")
MAX_SPACING = 0.6
"""Space between the letters of a word that is set wide at most, in heights of a letter."""
_LONE_RETURN = re.compile(r"\r(?=[a-z]{2})")
"""The ligature whose place is that of the character with which PDFium ends lines, within a word."""


class Piece(NamedTuple):
    """Letters of a word that are of one size and stand on one line."""

    text: str
    left: float
    right: float
    base: float
    size: float


def characters(raw: Raw) -> str:
    """Return the characters of a page, one for each that PDFium counts."""
    count = min(pdfium.FPDFText_CountChars(raw), MAX_LETTERS)
    codes: Sequence[int] = (ctypes.c_ushort * (count + 1))()
    if pdfium.FPDFText_GetText(raw, 0, count, codes) != count + 1:  # it leaves out what is no character
        values = map(partial(pdfium.FPDFText_GetUnicode, raw), range(count))
        codes = [*(code if code < 0x110000 else 0 for code in values), 0]
    text = "".join(map(chr, codes[:-1]))
    text = _CODED.sub(_character, _WIDE.sub(_join_halves, text))
    return _LONE_RETURN.sub("\ufb02", text)


def mend(text: str, raw: Raw, piece_of: Callable[..., Piece]) -> str:
    """Return a text with characters as they are shown that are drawn as others or in several strokes."""
    for mend_part in (_with_accents, _with_negations, _with_spaced_words):
        text = mend_part(text, piece_of)
    return _with_angle_brackets(text, raw)


def _with_accents(text: str, piece_of: Callable[..., Piece]) -> str:
    """Return a text with its accents on the letters that they are drawn over, wherever they stand in it."""
    accents = [match.start() for match in _ACCENT.finditer(text)]
    if not accents:
        return text
    letters = list(text)
    places = [(piece_of(n, n + 1), n) for n, letter in enumerate(text) if _is_base(letter)]
    for number in accents:
        accent = piece_of(number, number + 1)
        middle, reach = accent.left + accent.right, 0.2 * accent.size
        nearest = min(
            (
                (abs(place.left + place.right - middle), n)
                for place, n in places
                if abs(place.left + place.right - middle) < 2 * reach
                and abs(place.base - accent.base) < 2 * reach
            ),
            default=None,
        )
        if nearest is None:
            continue
        letter = letters[nearest[1]].replace("\u0131", "i")
        character = unicodedata.normalize("NFC", letter + _ACCENTS[text[number]])
        if len(character) > 1:
            continue
        letters[nearest[1]], letters[number] = character, NO_LETTER
        # blanks around an accent are those of its own place
        before = next((n for n in range(number - 1, -1, -1) if not text[n].isspace()), number)
        after = next((n for n in range(number + 1, len(text)) if not text[n].isspace()), number)
        gap = piece_of(after, after + 1).left - piece_of(before, before + 1).right
        if -reach < gap < reach:
            letters[before + 1 : after] = [NO_LETTER] * (after - before - 1)
    return "".join(letters)


def _is_base(character: str) -> bool:
    """Tell whether an accent may stand over a character; some accents are letters by their category."""
    return character.isalpha() and character not in _ACCENTS


def _with_negations(text: str, piece_of: Callable[..., Piece]) -> str:
    """Return a text whose signs that are struck through are one character."""
    letters = list(text)
    for match in _STRUCK.finditer(text):
        stroke, sign = match.start(), match.end() - 1
        if abs(piece_of(stroke, stroke + 1).left - piece_of(sign, sign + 1).left) < 1:
            letters[stroke] = unicodedata.normalize("NFC", f"{text[sign]}\u0338")
            letters[stroke + 1 : sign + 1] = NO_LETTER * (sign - stroke)
    return "".join(letters)


def _with_spaced_words(text: str, piece_of: Callable[..., Piece]) -> str:
    """Return a text without the blanks between the letters of words that are set wide."""
    letters = list(text)
    for match in _SPACED.finditer(text):
        places = range(match.start(), match.end(), 2)
        pieces = [piece_of(place, place + 1) for place in places]
        gaps = [after.left - before.right for before, after in pairwise(pieces)]
        usual_gap = median_low(gaps)
        if 0 < usual_gap < MAX_SPACING * pieces[0].size:
            for place, gap in zip(places, gaps, strict=False):
                letters[place + 1] = NO_LETTER if gap < 1.5 * usual_gap else text[place + 1]
    return "".join(letters)


def _with_angle_brackets(text: str, raw: Raw) -> str:
    """Return a text with the brackets of TeX's font of symbols, whose names tell PDFium no character."""
    letters = list(text)
    name = ctypes.create_string_buffer(128)

    def is_symbol(number: int) -> bool:
        pdfium.FPDFText_GetFontInfo(raw, number, name, len(name), None)
        return b"CMSY" in name.value or b"LMMathSymbols" in name.value

    for opening in filter(is_symbol, (match.start() for match in _FIRST_H.finditer(text))):
        letters[opening] = "\u27e8"
        ends = (n for n in range(opening, min(opening + MAX_BRACKETED, len(text))) if text[n] == "i")
        if (closing := next(filter(is_symbol, ends), None)) is not None:
            letters[closing] = "\u27e9"
    return "".join(letters)


def _join_halves(halves: re.Match[str]) -> str:
    """Return a character in the place of its first half; a letter of a formula as a plain one."""
    character = halves[0].encode("utf-16", "surrogatepass").decode("utf-16")
    plain = unicodedata.normalize("NFKC", character)
    return (plain if len(plain) == 1 else character) + NO_LETTER * (len(halves[0]) - 1)


def _character(match: re.Match[str]) -> str:
    """Return what a character stands for; a blank for what is none."""
    return _CODES.get(ord(match[0]), " ")
