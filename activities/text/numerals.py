"""Whole numbers as texts write them: in digits (`1,640`) or in words (`three hundred fifty-three`)."""

import re

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES: dict[str, int] = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: 10 * place for place, word in enumerate(_TENS, start=2)},
}
_SCALES = {"hundred": 100, "thousand": 1000}
_WORD = rf"(?:{'|'.join([*reversed(_SMALL), *_TENS, *_SCALES])})"
COUNT = rf"\d{{1,3}}(?:,\d{{3}})+|\d+(?![.,%]\d|%)|{_WORD}(?:[\s-]+(?:and[\s-]+)?{_WORD}){{0,7}}\b"
"""A regular expression for a whole number; to be used without regard to case."""


def number_of(text: str) -> int | None:
    """The value of a number in digits or English words; None when it is neither."""
    plain = text.replace(",", "").strip()
    if plain.isdecimal():
        return int(plain)
    total = part = 0
    words = [word for word in re.split(r"[\s-]+", text.casefold()) if word and word != "and"]
    for word in words:
        if word in _VALUES:
            part += _VALUES[word]
        elif word == "hundred":
            part = max(part, 1) * 100
        elif word == "thousand":
            total, part = total + max(part, 1) * 1000, 0
        else:
            return None
    return total + part if words else None
