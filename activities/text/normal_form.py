"""The one rule by which a quote is in a text: a normal form of both, and whole words.

The quote check, `determinator verify` and the `check.py` of a bundle hold to it; the last has the text of
this module, which therefore imports nothing but the standard library.
"""

import re
import unicodedata

MIN_QUOTE_CHARS = 25
"""Shorter runs match by chance."""
MIN_UNSPACED_CHARS = 10
"""Characters of a quote in scripts without blanks, where one says as much as two or three letters."""
_UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
"""Thai and Lao, Burmese, Khmer; those of East Asia are wide."""
_KINDS = {"-": "-", **dict.fromkeys(".,\u00b7", "."), **dict.fromkeys("%<>=\u2264\u2265\u00b1", "%")}
"""Kinds of signs: hyphens, what stands between the digits of one number (1,204; 0.8), signs of a number."""
_CUTS = re.compile(r".(?:[dw][dw-]|d\.d|[-%]d)|[dw]-[dw]|d\.d")
"""A word or a number that goes on beyond an edge, by the kinds of two characters beyond and two within."""
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58", "-"),
    }
)


def normalise(text: str) -> str:
    """Return the one normal form that quotes and texts are compared in.

    NFKC, typographic quotes and dashes made plain, all white space made one space, case kept."""
    if not text.isascii():  # of ASCII the other steps change nothing
        text = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return " ".join(text.split())


def verbatim(quote: str, text: str) -> bool:
    """Tell whether the quote is a contiguous run of whole words of the text, and long enough."""
    return occurs(normalise(quote), normalise(text))


def occurs(quote: str, text: str) -> bool:
    """`verbatim` for what is normalised already."""
    if len(quote) < min_chars(quote):
        return False
    start = text.find(quote)
    while start >= 0:
        end = start + len(quote)
        before, after = f"  {text[max(start - 2, 0) : start]}"[-2:], f"{text[end : end + 2]}  "[:2]
        if not _cuts_word(before + quote[:2]) and not _cuts_word((quote[-2:] + after)[::-1]):
            return True
        start = text.find(quote, start + 1)
    return False


def _cuts_word(edge: str) -> bool:
    """Tell whether a word or a number goes on beyond an edge: two characters beyond it, then two within.

    Scripts without spaces between words have no such edges."""
    joins = (c.isalnum() and not is_unspaced(c) for c in edge)
    letters = ("w" if joined else _KINDS.get(c, " ") for c, joined in zip(edge, joins, strict=True))
    kinds = ("d" if c.isdigit() else letter for c, letter in zip(edge, letters, strict=True))
    return bool(_CUTS.match("".join(kinds)))


def is_unspaced(character: str) -> bool:
    """Tell whether a character is of a script that has no blanks between words."""
    if character.isascii():
        return False
    code = ord(character)
    return any(first <= code <= last for first, last in _UNSPACED) or (
        character.isalnum()
        and unicodedata.east_asian_width(character) in "WF"
        and not 0xAC00 <= code <= 0xD7A3
    )


def min_chars(text: str) -> int:
    """Return the characters of a quote at least: fewer where most letters are of a script without blanks."""
    if text.isascii():
        return MIN_QUOTE_CHARS
    letters = [character for character in text if character.isalnum()]
    unspaced = sum(map(is_unspaced, letters))
    return MIN_UNSPACED_CHARS if 2 * unspaced > len(letters) else MIN_QUOTE_CHARS
