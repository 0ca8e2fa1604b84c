"""Older people in a question: `in older adults`, `the elderly`. Other age groups are single words that the
thesaurus knows (children, infants, adolescents)."""

import re
from collections.abc import Iterator

from activities.text import thesaurus

_PEOPLE = frozenset({"14", "18"})
"""WordNet's files of groups of people and of persons."""
_OLDER = re.compile(r"\b(?:older|elderly|aged|geriatric) (?P<who>[a-z]+)\b|\b(?:elderly|seniors|old age)\b")
_HEADS = ("adults", "people", "persons", "patients", "individuals", "men", "women")
AGED = (
    *("elderly", "geriatric", "seniors", "late life", "octogenarians", "nonagenarians", "centenarians"),
    *(f"{how} {who}" for how in ("older", "elderly") for who in _HEADS),
)
"""What the age group is called (MeSH, check tags `Aged` and `Aged, 80 and over` with their entry terms). Not
`aged` and `old age`, whose words stand wherever an age is given."""


def spans(plain: str) -> Iterator[tuple[int, int]]:
    """Where a folded text names older people."""
    for match in _OLDER.finditer(plain):
        who = match["who"]
        if who is None or _PEOPLE.intersection(thesaurus.files(who)[:1]):
            yield match.start(), match.end()


def other_names(text: str) -> tuple[str, ...]:
    """What older people are also called, if that is what a phrase names as a whole; else nothing."""
    return AGED if text == "older" or any(span == (0, len(text)) for span in spans(text)) else ()
