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
from activities.messages import counted

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
_TRIED = (
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
MAX_LOOKED_AT = 100_000
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
class Decoded:
    text: str
    encoding: str = UTF8
    """The encoding of Python by which it was read; that of most lines where they differ."""
    replaced: int = 0
    """How many places of it are no text in any encoding, and stand as U+FFFD."""
    guessed: bool = False
    """Its encoding was not declared, and is the most likely one."""
    mixed: bool = False
    """Some of its lines are UTF-8, others are of the encoding that was guessed."""

    @property
    def note(self) -> str:
        """What a person should know of the reading: empty for UTF-8 without a fault."""
        parts = []
        if self.guessed:
            some = "partly UTF-8, partly " if self.mixed else ""
            name = self.encoding.replace("cp125", "Windows-125")
            parts.append(f"read as {some}{name}; if letters are wrong, save it as UTF-8")
        if self.replaced:
            places = counted(self.replaced, "place is not", "places are not")
            parts.append(f"{places} valid text: {REPLACEMENT}")
        return "; ".join(parts)


def decode(data: bytes, charset: str = "") -> str:
    """Return bytes of a text as a string. `charset`: an encoding that came with them. Raises Unreadable."""
    return decoded(data, _codec_name(charset)).text


def decoded(data: bytes, declared: str = "") -> Decoded:
    """Return bytes of a text with how they were read; `declared` holds where it fits. Raises Unreadable."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            if encoding == UTF8:
                return decoded(data.removeprefix(mark), UTF8)
            text = data.decode(encoding, errors="replace")
            return Decoded(text, encoding, text.count(REPLACEMENT))
    if b"\0" in data:
        rest = data.replace(b"\0", b"")
        if (len(data) - len(rest)) * 50 > len(data) or _CONTROL.search(rest, 0, MAX_LOOKED_AT):
            raise Unreadable("it is binary, not text; if it is text, save it as UTF-8")
        return decoded(rest, declared)
    if b"\x1b$" in data and data.isascii():
        for shifted in _SHIFTED:
            with suppress(UnicodeDecodeError):
                return Decoded(data.decode(shifted), shifted)
    try:
        return Decoded(data.decode(UTF8))
    except UnicodeDecodeError:
        pass
    if declared:
        try:
            return Decoded(data.decode(declared), declared)
        except (LookupError, UnicodeError, ValueError):
            pass  # a character set that does not exist, is no text (`idna`, `zlib`), or is not the document's
    return _of_lines(data)


def decoded_page(data: bytes, charset: str = "") -> Decoded:
    """Return the same for HTML and XML, which may declare an encoding; `charset` goes before it."""
    match = _DECLARED.search(data[:4096])
    name = next(filter(None, match.groups()), b"").decode("ascii", errors="replace") if match else ""
    return decoded(data, _codec_name(charset) or _codec_name(name))


def _codec_name(name: str) -> str:
    """Return the encoding of Python that a declared name stands for; empty for none."""
    try:
        codec = codecs.lookup(name.lower().removeprefix("x-")).name
    except (LookupError, ValueError):
        return ""
    return "" if codec == UTF8 else _READ_BY_BROWSERS_AS.get(codec, codec)


def _of_lines(data: bytes) -> Decoded:
    """Return a text that is not UTF-8 as a whole. Raises Unreadable."""
    lines = data.split(b"\n")
    high = [place for place, line in enumerate(lines) if not line.isascii()]
    sound = sum(not _utf8_characters(lines[place])[1] for place in high)
    foreign = [place for place in high if not _mostly_utf8(lines[place], among_others=sound * 2 > len(high))]
    if not foreign:
        return _replacing(data, UTF8)
    encoding = _likely([lines[place] for place in foreign])
    # in an encoding of two bytes a character some short lines are UTF-8 by chance
    by_chance = encoding in _OF_TWO_BYTES and len(foreign) * 2 > len(high)
    if encoding is not None and (by_chance or len(foreign) == len(high)):
        whole = _replacing(data, encoding)
        if _share_odd(whole.text) <= MAX_ODD:
            return whole
    texts = [line.decode(UTF8, errors="replace") for line in lines]
    unread, read = 0, ""
    for place in foreign:
        for name in filter(None, (encoding, _likely([lines[place]]))):
            text = lines[place].decode(name, errors="replace")
            if _share_odd(text) <= MAX_ODD_LINE:
                texts[place], read = text, read or name
                break
        else:
            unread += 1
    if unread * 2 > len(high):
        raise Unreadable("its encoding is not known; save it as UTF-8")
    whole = _read_as("\n".join(texts), read or UTF8, data)
    return replace(whole, mixed=len(foreign) < len(high))


def _replacing(data: bytes, encoding: str) -> Decoded:
    return _read_as(data.decode(encoding, errors="replace"), encoding, data)


def _read_as(text: str, encoding: str, data: bytes) -> Decoded:
    replaced = text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
    return Decoded(text, encoding, max(replaced, 0), guessed=encoding != UTF8)


def _utf8_characters(line: bytes) -> tuple[int, int]:
    """How many characters beyond ASCII a line has in UTF-8, and how many places of it are not UTF-8."""
    text = line.decode(UTF8, errors="replace")
    other = text.count(REPLACEMENT)
    return sum(character > "\x7f" for character in text) - other, other


def _mostly_utf8(line: bytes, *, among_others: bool) -> bool:
    """Tell whether a line is UTF-8 but for a few bytes, and more of them among others that are UTF-8."""
    valid, other = _utf8_characters(line)
    return valid * 2 >= other * (1 if among_others else 4) and (valid > 0 or not other)


def _likely(lines: Sequence[bytes]) -> str | None:
    """Return the encoding in which words make most sense; None where they make none in any.

    Only words beyond ASCII are looked at: among many English words a detector would take any encoding in
    which those few can be read.
    """
    import chardet

    words = b" ".join(chain.from_iterable(map(_HIGH_WORD.findall, lines)))[:MAX_LOOKED_AT]
    signs = words.decode(_MOST_COMMON, errors="replace")
    if not _LETTER.search(signs) and not _share_odd(signs):
        return _MOST_COMMON  # `5 \u00b5m \u00b1 2`, too little for a detector
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it warns where none fits
        guesses = chardet.detect_all(
            words,
            ignore_threshold=True,
            include_encodings=_TRIED,
            no_match_encoding=_MOST_COMMON,
            compat_names=False,
        )
    best, best_score = None, -math.inf
    for guess in guesses:
        name = guess["encoding"]
        if name is None:
            continue
        share = _share_odd(words.decode(name, errors="replace"))
        score = math.log(guess["confidence"] + 0.005) - _ODD_COST * share
        score += _MORE_COMMON if name == _MOST_COMMON else 0.0
        if share <= MAX_ODD and score > best_score:
            best, best_score = name, score
    return best


def _share_odd(text: str) -> float:
    """Return the share of odd ones among the characters beyond ASCII."""
    beyond, odd, before = 0, 0, " "
    for place, character in enumerate(text):
        if character > "\x7f":
            beyond += 1
            odd += _is_odd(before, character, text[place + 1 : place + 2] or " ")
        before = character
    return odd / beyond if beyond else 0.0


def _is_odd(before: str, character: str, after: str) -> bool:
    """Tell whether no text would have a character between its neighbours, as a capital within a word."""
    kind, amid = unicodedata.category(character), before.isalpha() and after.isalpha()
    if kind[0] == "C":
        return character not in "\xad\u200b\u200c\u200d\u200e\u200f\ufeff"
    if kind[0] == "L" and character not in _SIGNS:
        capital_within = kind == "Lu" and (before.islower() or (before.isalpha() and after.islower()))
        return capital_within or any(_mixed(character, other) for other in (before, after))
    if kind[0] == "M" or kind == "Zs":
        return False
    return character not in _JOINS if amid else kind[0] != "P" and character not in _SIGNS


def _mixed(letter: str, other: str) -> bool:
    """Tell whether two letters are of scripts that do not stand in one word."""
    scripts = {_script(letter), _script(other)} if other.isalpha() else set()
    return len(scripts) > 1 and not scripts.isdisjoint(("LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW"))


@lru_cache(4096)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "NONE").split()[0]
