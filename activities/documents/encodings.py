"""Bytes of a text as characters: by a byte order mark, else UTF-8, else the encoding that is most likely.

A file may mix encodings (records of several programs in one export), so that lines that are UTF-8 stay UTF-8
whatever stands in the others. What fits no encoding is refused, since a text of wrong letters can be neither
found nor quoted.
"""

import codecs
import math
import re
import unicodedata
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from activities.documents.text import Unreadable
from activities.messages import count_of

UTF8 = "utf-8"
REPLACEMENT = "\ufffd"
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SHIFTED = ("iso2022_jp_ext", "iso2022_kr")
"""Encodings of seven bits that change the character set by an escape."""
_CANDIDATES = (
    *("cp1252", "mac-roman", "gb18030", "cp932", "big5hkscs", "cp949", "euc_jis_2004", "cp1250", "cp1251"),
    *("cp1254", "iso8859-2", "iso8859-5", "iso8859-7", "koi8-r", "koi8-u", "cp866", "mac-cyrillic", "cp1253"),
    *("cp1255", "cp1256", "cp850", "cp852", "cp874", "cp1257"),
)
_MOST_COMMON, _MORE_COMMON = "cp1252", 0.3
"""The encoding of most files that are not UTF-8, and how much more likely it is than others (logarithm)."""
_OF_TWO_BYTES = ("gb18030", "big5hkscs", "cp932", "cp949", "euc_jis_2004")
_READ_BY_BROWSERS_AS = {
    **dict.fromkeys(("iso8859-1", "ascii", "iso8859-15"), "cp1252"),
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "euc_jp": "euc_jis_2004",
}
"""Declared encodings that stand for larger ones (WHATWG Encoding Standard); ISO 8859-15 only where it has the
same letters, since what declares it is mostly the other."""
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}charset=[\"']?([\w.:-]+)|^\s*<\?xml[^>]{0,100}encoding=[\"']([\w.:-]+)", re.IGNORECASE
)
_LETTER = re.compile("[^\\W\\d_a-zA-Z\u00aa\u00b2\u00b3\u00b5\u00b9-\u00be]|[a-z][\x80-\uffff][a-z]")
"""A letter beyond ASCII, or what stands for one within a word."""
_HIGH_WORD = re.compile(rb"\S*[\x80-\xff]\S*")
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
MAX_SAMPLE_BYTES = 100_000
"""Bytes of words that the encoding is told by."""
MAX_ODD = 0.25
"""Share of characters that no text would have where they stand, up to which an encoding may be right."""
MAX_ODD_LINE = 0.1
"""The same for a line of a file that is UTF-8 elsewhere."""
_ODD_COST = 12.0
"""How much less likely an encoding is whose characters are all odd (logarithm)."""
_SIGNS = frozenset("°±µ·×÷½¼¾²³¹©®™€£¥§¶†‡•…–—‘’‚“”„‹›«»¡¿ªº≤≥≠≈∞√∂∑∫−№")  # noqa: RUF001 - they are meant
_JOINS = frozenset("’·–—‐‑")  # noqa: RUF001
"""Signs that stand between two letters of a word."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    text: str
    encoding: str = UTF8
    """The encoding of Python by which it was read; that of most lines where they differ."""
    replacements: int = 0
    """How many places of it are no text in any encoding, and stand as U+FFFD."""
    is_guess: bool = False
    """Its encoding was not declared, and is the most likely one."""
    is_mixed: bool = False
    """Some of its lines are UTF-8, others are of the encoding that was guessed."""

    @property
    def note(self) -> str:
        """Return what a person should know of the reading; empty for UTF-8 without a fault."""
        parts = []
        if self.is_guess:
            prefix = "partly UTF-8, partly " if self.is_mixed else ""
            name = self.encoding.replace("cp125", "Windows-125")
            parts.append(f"read as {prefix}{name}; if letters are wrong, save it as UTF-8")
        if self.replacements:
            places = count_of(self.replacements, "place is not", "places are not")
            parts.append(f"{places} valid text: {REPLACEMENT}")
        return "; ".join(parts)


def decode(data: bytes, charset: str = "") -> str:
    """Return bytes of a text as a string. `charset`: an encoding that came with them. Raises Unreadable."""
    return decode_text(data, _codec_name(charset)).text


def decode_text(data: bytes, codec: str = "") -> DecodedText:
    """Return bytes of a text with how they were read; `codec` holds where it fits. Raises Unreadable."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            if encoding == UTF8:
                return decode_text(data.removeprefix(mark), UTF8)
            text = data.decode(encoding, errors="replace")
            return DecodedText(text, encoding, text.count(REPLACEMENT))
    if b"\0" in data:
        plain = data.replace(b"\0", b"")
        if (len(data) - len(plain)) * 50 > len(data) or _CONTROL.search(plain, 0, MAX_SAMPLE_BYTES):
            raise Unreadable("it is binary, not text; if it is text, save it as UTF-8")
        return decode_text(plain, codec)
    if b"\x1b$" in data and data.isascii():
        for name in _SHIFTED:
            with suppress(UnicodeDecodeError):
                return DecodedText(data.decode(name), name)
    try:
        return DecodedText(data.decode(UTF8))
    except UnicodeDecodeError:
        pass
    if codec:
        try:
            return DecodedText(data.decode(codec), codec)
        except (LookupError, UnicodeError, ValueError):
            pass  # a character set that does not exist, is no text (`idna`, `zlib`), or is not the document's
    return _decode_lines(data)


def decode_page(data: bytes, charset: str = "") -> DecodedText:
    """Return the same for HTML and XML, which may declare an encoding; `charset` goes before it."""
    match = _DECLARED.search(data[:4096])
    name = next(filter(None, match.groups()), b"").decode("ascii", errors="replace") if match else ""
    return decode_text(data, _codec_name(charset) or _codec_name(name))


def _codec_name(name: str) -> str:
    """Return the encoding of Python that a declared name stands for; empty for none."""
    try:
        codec = codecs.lookup(name.lower().removeprefix("x-")).name
    except (LookupError, ValueError):
        return ""
    return "" if codec == UTF8 else _READ_BY_BROWSERS_AS.get(codec, codec)


def _decode_lines(data: bytes) -> DecodedText:
    """Return a text that is not UTF-8 as a whole. Raises Unreadable."""
    lines = data.split(b"\n")
    high_places = [place for place, line in enumerate(lines) if not line.isascii()]
    among_utf8 = 2 * sum(not _utf8_characters(lines[place])[1] for place in high_places) > len(high_places)
    foreign_places = [n for n in high_places if not _is_mostly_utf8(lines[n], among_utf8=among_utf8)]
    if not foreign_places:
        return _decode_with_marks(data, UTF8)
    encoding = _likely_encoding([lines[place] for place in foreign_places])
    # in an encoding of two bytes a character some short lines are UTF-8 by chance
    is_by_chance = encoding in _OF_TWO_BYTES and len(foreign_places) * 2 > len(high_places)
    if encoding is not None and (is_by_chance or len(foreign_places) == len(high_places)):
        result = _decode_with_marks(data, encoding)
        if _share_odd(result.text) <= MAX_ODD:
            return result
    texts = [line.decode(UTF8, errors="replace") for line in lines]
    unread_count, codec = 0, ""
    for place in foreign_places:
        for name in filter(None, (encoding, _likely_encoding([lines[place]]))):
            text = lines[place].decode(name, errors="replace")
            if _share_odd(text) <= MAX_ODD_LINE:
                texts[place], codec = text, codec or name
                break
        else:
            unread_count += 1
    if unread_count * 2 > len(high_places):
        raise Unreadable("its encoding is not known; save it as UTF-8")
    result = _decoded_text("\n".join(texts), codec or UTF8, data)
    return replace(result, is_mixed=len(foreign_places) < len(high_places))


def _decode_with_marks(data: bytes, encoding: str) -> DecodedText:
    return _decoded_text(data.decode(encoding, errors="replace"), encoding, data)


def _decoded_text(text: str, encoding: str, data: bytes) -> DecodedText:
    count = text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
    return DecodedText(text, encoding, max(count, 0), is_guess=encoding != UTF8)


def _utf8_characters(line: bytes) -> tuple[int, int]:
    """Return how many characters beyond ASCII a line has in UTF-8, and how many places are not UTF-8."""
    text = line.decode(UTF8, errors="replace")
    faults = text.count(REPLACEMENT)
    return sum(character > "\x7f" for character in text) - faults, faults


def _is_mostly_utf8(line: bytes, *, among_utf8: bool) -> bool:
    """Tell whether a line is UTF-8 but for a few bytes, and more of them among others that are UTF-8."""
    valid, faults = _utf8_characters(line)
    return valid * 2 >= faults * (1 if among_utf8 else 4) and (valid > 0 or not faults)


def _likely_encoding(lines: Sequence[bytes]) -> str | None:
    """Return the encoding in which words make most sense; None where they make none in any.

    Only words beyond ASCII are looked at: among many English words a detector would take any encoding in
    which those few can be read.
    """
    import chardet

    words = b" ".join(chain.from_iterable(map(_HIGH_WORD.findall, lines)))[:MAX_SAMPLE_BYTES]
    signs = words.decode(_MOST_COMMON, errors="replace")
    if not _LETTER.search(signs) and not _share_odd(signs):
        return _MOST_COMMON  # `5 \u00b5m \u00b1 2`, too little for a detector
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it warns where none fits
        guesses = chardet.detect_all(
            words,
            ignore_threshold=True,
            include_encodings=_CANDIDATES,
            no_match_encoding=_MOST_COMMON,
            compat_names=False,
        )
    best_name, best_score = None, -math.inf
    for guess in guesses:
        name = guess["encoding"]
        if name is None:
            continue
        share = _share_odd(words.decode(name, errors="replace"))
        score = math.log(guess["confidence"] + 0.005) - _ODD_COST * share
        score += _MORE_COMMON if name == _MOST_COMMON else 0.0
        if share <= MAX_ODD and score > best_score:
            best_name, best_score = name, score
    return best_name


def _share_odd(text: str) -> float:
    """Return the share of odd ones among the characters beyond ASCII."""
    count, odd_count, before = 0, 0, " "
    for place, character in enumerate(text):
        if character > "\x7f":
            count += 1
            odd_count += _is_odd(before, character, text[place + 1 : place + 2] or " ")
        before = character
    return odd_count / count if count else 0.0


def _is_odd(before: str, character: str, after: str) -> bool:
    """Tell whether no text would have a character between its neighbours, as a capital within a word."""
    kind, is_inside = unicodedata.category(character), before.isalpha() and after.isalpha()
    if kind[0] == "C":
        return character not in "\xad\u200b\u200c\u200d\u200e\u200f\ufeff"
    if kind[0] == "L" and character not in _SIGNS:
        is_capital_within = kind == "Lu" and (before.islower() or (before.isalpha() and after.islower()))
        return is_capital_within or any(_are_mixed(character, other) for other in (before, after))
    if kind[0] == "M" or kind == "Zs":
        return False
    return character not in _JOINS if is_inside else kind[0] != "P" and character not in _SIGNS


def _are_mixed(letter: str, other: str) -> bool:
    """Tell whether two letters are of scripts that do not stand in one word."""
    scripts = {_script(letter), _script(other)} if other.isalpha() else set()
    return len(scripts) > 1 and not scripts.isdisjoint(("LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW"))


@lru_cache(4096)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "NONE").split()[0]
