"""The one rule by which a quote is in a text: a normal form of both, and whole words.

The quote check, `determinator verify` and the `check.py` of a bundle hold to it; the last has the text of
this module, which therefore imports nothing but the standard library.
"""

import unicodedata

MIN_QUOTE_CHARS = 25
"""Shorter runs match by chance."""
MIN_DENSE_CHARS = 10
"""Characters of a quote in scripts without blanks and in Korean, where one says as much as two or three
letters."""
_UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
"""Thai and Lao, Burmese, Khmer; those of East Asia are wide."""
_IN_NUMBERS = ".,\u00b7"
"""The sign between the digits of one number: 1,204; 0.8."""
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
        before, after = text[max(start - 2, 0) : start], text[end : end + 2][::-1]
        if not _cuts_word(before, quote[:2]) and not _cuts_word(after, quote[-2:][::-1]):
            return True
        start = text.find(quote, start + 1)
    return False


def _cuts_word(outside: str, inside: str) -> bool:
    """Tell whether a word or a number goes on beyond the edge of a run.

    `outside` is the two characters beyond, the nearer one last, `inside` the two within, the nearer one
    first. Scripts without spaces between words have no such edges."""
    if not outside:
        return False
    beyond, far = outside[-1], outside[0] if len(outside) > 1 else " "
    edge, inner = inside[0], inside[1]
    if edge == "-":
        return _joins(beyond)
    if edge in _IN_NUMBERS:
        return beyond.isdigit() and inner.isdigit()
    if not _joins(edge):
        return False
    if _joins(beyond):
        return True
    if edge.isdigit() and beyond in "-%<>=\u2264\u2265\u00b1":
        return True
    return _joins(far) and (beyond == "-" or (beyond in _IN_NUMBERS and edge.isdigit() and far.isdigit()))


def _joins(character: str) -> bool:
    return character.isalnum() and not is_unspaced(character)


def is_unspaced(character: str) -> bool:
    """Tell whether a character is of a script that has no blanks between words."""
    if character.isascii():
        return False
    code = ord(character)
    return any(first <= code <= last for first, last in _UNSPACED) or (
        character.isalnum() and unicodedata.east_asian_width(character) in "WF" and not is_hangul(character)
    )


def is_hangul(character: str) -> bool:
    """Tell whether a character is a syllable of Korean, which joins particles to its words."""
    return "\uac00" <= character <= "\ud7a3"


def min_chars(text: str) -> int:
    """Return the characters of a quote at least: fewer where most letters are syllables or words."""
    if text.isascii():
        return MIN_QUOTE_CHARS
    letters = [character for character in text if character.isalnum()]
    dense_count = sum(is_unspaced(letter) or is_hangul(letter) for letter in letters)
    return MIN_DENSE_CHARS if 2 * dense_count > len(letters) else MIN_QUOTE_CHARS
