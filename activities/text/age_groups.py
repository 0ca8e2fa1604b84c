"""Older people in a question: `in older adults`, `the elderly`; other age groups are single words that the
thesaurus knows (children, infants, adolescents). And works on people of another age than a question."""

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


_MINORS = re.compile(
    r"\b(?:child(?:ren|hood)?|p(?:a?e|\u00e6)diatrics?|infan(?:ts?|cy)|neonat(?:es?|al)|newborns?|toddlers?"
    r"|preschool\w*|adolescen(?:ts?|ce)|teenagers?|minors|boys|girls)\b",
    re.IGNORECASE,
)
_ADULTS = re.compile(r"\b(?:adults?|adulthood|elderly|older people|seniors)\b", re.IGNORECASE)
"""What people of these ages are called (MeSH, check tags and their entry terms). Not `women` and `men`, who
are named beside children as their parents."""


def of_another_age(question: str, title: str, text: str) -> bool:
    """Whether a question is on children or on adults, and a work's title on the others, whose text does not
    mention those that are asked about."""
    for own, other in ((_MINORS, _ADULTS), (_ADULTS, _MINORS)):
        if own.search(question) and not other.search(question):
            return bool(other.search(title)) and not own.search(title) and not own.search(text)
    return False


def spans(plain: str) -> Iterator[tuple[int, int]]:
    """Where a folded text names older people."""
    for match in _OLDER.finditer(plain):
        who = match["who"]
        if who is None or _PEOPLE.intersection(thesaurus.files(who)[:1]):
            yield match.start(), match.end()


def other_names(text: str) -> tuple[str, ...]:
    """What older people are also called, if that is what a phrase names as a whole; else nothing."""
    return AGED if text == "older" or any(span == (0, len(text)) for span in spans(text)) else ()
