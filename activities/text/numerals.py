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
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
"""What a number before such a word is multiplied by."""
_UNIT = "|".join(_SMALL[1:10])
_ALONE = "|".join((*reversed(_SMALL[10:]), *_SMALL[2:10]))
"""Up to nineteen; `one` alone is more often a pronoun than a number, `zero` is none that is counted."""
_TO_99 = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{_UNIT}))?|{_ALONE})"
_AFTER = rf"(?:,?[\s-](?:and[\s-])?(?:{_TO_99}|one)(?![\s-](?:hundred|thousand)\b))"
_TO_999 = rf"(?:(?:(?:an?|one|{_ALONE})[\s-])?hundred{_AFTER}?|{_TO_99})"
_THOUSANDS = rf"(?:(?:an?|one|{_TO_999})[\s-])?thousand(?:,?[\s-](?:and[\s-])?(?:{_TO_999}|one))?"
SPELLED = rf"(?<![\w-])(?:{_THOUSANDS}|{_TO_999})(?!\w)"
"""A regular expression for a number from two on in words, `seventy six` and `one hundred and ninety` as one
number, `twenty and thirty` as two; to be used without regard to case."""


def number_of(text: str) -> int | None:
    """The value of a number in digits or English words; None when it is neither."""
    plain = text.replace(",", "").strip()
    if plain.isdecimal():
        return int(plain)
    total = part = 0
    words = [word for word in re.split(r"[\s-]+", plain.casefold()) if word not in ("", "and", "a", "an")]
    for word in words:
        if word in _VALUES:
            part += _VALUES[word]
        elif word == "hundred":
            part = max(part, 1) * SCALES[word]
        elif word in SCALES:
            total, part = total + max(part, 1) * SCALES[word], 0
        else:
            return None
    return total + part if words else None
