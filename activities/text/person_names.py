"""Names of people as works have them: `Given Family`, and `FamilyGiven` in Chinese, Japanese and Korean."""

import re

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_COMMA = re.compile("[,\uff0c]")
_GROUP = re.compile(
    r"\b(?:Group|Team|Consortium|Collaborators|Society|Institute|for|of|the|and)\b", re.IGNORECASE
)
_OTHERS = ("et al", "et al.", "others")
MAX_INITIALS = 3


def is_cjk(name: str) -> bool:
    """Tell whether a name is in a script that writes the family first and no blank behind it."""
    return bool(_CJK.search(name))


def is_group(name: str) -> bool:
    """Tell whether a name is one of a group, as far as its words show it."""
    return bool(_GROUP.search(name))


def is_initials(text: str) -> bool:
    """Tell whether a text is `JA`, `J. A.` or `J.-P.`."""
    letters = [sign for sign in text if sign.isalpha()]
    return 0 < len(letters) <= MAX_INITIALS and text.isupper() and set(text) <= {*letters, *". -"}


def person_name(family: str, given: str, suffix: str = "") -> str:
    """Join the parts of a name in the order in which its script writes them."""
    if is_cjk(family):
        return f"{family}{given}"
    return " ".join(filter(None, (given, family, suffix)))


def read_name(text: str) -> str:
    """Read `Family, Given` and `Family, Given, Jr.`; another name stays as it is."""
    if is_group(text):
        return text.strip(" ,")
    family, *parts = [part.strip() for part in _COMMA.split(text)]
    return person_name(family, parts[0] if parts else "", " ".join(parts[1:]))


def read_names(text: str) -> list[str]:
    """Read the people of one field, whom semicolons, `and`, or commas separate."""
    parts = [part.strip() for part in re.split(r"[;\uff1b\u3001]|\band\b", text) if part.strip()]
    names = parts if len(parts) > 1 else _at_commas(text.strip(" ;"))
    return [read_name(name) for name in names if name.casefold() not in _OTHERS]


def _at_commas(text: str) -> list[str]:
    """Take `Doe J, Roe R` and `Jane Doe, Richard Roe` apart; `Doe, J., Roe, R.` into pairs."""
    text = text.removesuffix(".") if text.count(".") == 1 else text
    parts = [part.strip() for part in _COMMA.split(text) if part.strip()]
    if len(parts) > 1 and all(len(part.split()) > 1 or (is_cjk(part) and len(part) > 1) for part in parts):
        return parts
    if len(parts) > 2 and all(map(is_initials, parts[1::2])):
        return [", ".join(parts[place : place + 2]) for place in range(0, len(parts), 2)]
    return [text]
