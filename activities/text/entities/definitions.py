"""Abbreviations with their definitions in a text: `chronic kidney disease (CKD)`.

The algorithm of A. S. Schwartz and M. A. Hearst, "A simple algorithm for identifying abbreviation definitions
in biomedical text", Pacific Symposium on Biocomputing 2003, 451-462; with its limits: an abbreviation has 2
to 10 characters and at most 2 words, its definition at most min(n + 5, 2 n) words for n characters.
"""

import re

from activities.text.tokens import GREEK

_PARENTHESIS = re.compile(r"(?<=[\s])[(\[]([^()\[\]]{2,200})[)\]]")
_BOUNDARY = re.compile(r"[.;:!?]\s|\n")
_LONGEST = 10


def _is_short_form(text: str) -> bool:
    return (
        2 <= len(text) <= _LONGEST
        and len(text.split()) <= 2
        and text[0].isalnum()
        and any(c.isalpha() for c in text)
        and (any(c.isupper() for c in text) or any(c.isdigit() for c in text) or len(text) <= 5)
    )


def _latin(letter: str) -> str:
    """A Greek letter as the first letter of its name, which is how a definition spells it."""
    return GREEK.get(letter, letter)[0]


def long_form(short: str, before: str) -> str | None:
    """The shortest end of `before` whose letters spell `short` in order, beginning a word with its first."""
    at = len(before) - 1
    for index in range(len(short) - 1, -1, -1):
        wanted = _latin(short[index].lower())
        if not wanted.isalnum():
            continue
        while at >= 0 and (
            _latin(before[at].lower()) != wanted or (index == 0 and at > 0 and before[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return None
        at -= 1
    return before[at + 1 :]


def _definition(short: str, before: str) -> str | None:
    limit = min(len(short) + 5, len(short) * 2)
    window = " ".join(before.split()[-limit:])
    long = long_form(short, window)
    if long is None:
        return None
    long = long.strip(" -,")
    words = long.split()
    if len(long) <= len(short) or short in words or len(words) > limit or long.count("(") != long.count(")"):
        return None
    return long


def abbreviations(text: str) -> dict[str, str]:
    """Each abbreviation that the text defines, with its long form as written. The first definition counts.

    Both orders are read: `long form (SF)` and `SF (long form)`.
    """
    forms: dict[str, str] = {}
    for match in _PARENTHESIS.finditer(text):
        start = match.start()
        sentence = _BOUNDARY.split(text[max(0, start - 200) : start])[-1].rstrip()
        inner = re.split(r"[,;]", match.group(1))[0].strip()
        if _is_short_form(inner):
            long = _definition(inner, sentence)
            if long:
                forms.setdefault(inner, long)
        elif sentence:
            short = sentence.split()[-1]
            if _is_short_form(short) and any(c.isupper() for c in short):
                long = long_form(short, inner)
                if long == inner and len(inner) > len(short):
                    forms.setdefault(short, inner)
    return forms
