"""Which design a study has, where its title or one of its own sentences says so by the name of a design.

Only unmistakable wordings count (the terms of CONSORT 2010 item 1a, STROBE items 1a and 4, PRISMA 2020 item
1); everything else is left open: an empty field is better than a wrong one."""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from activities.contracts.evidence import EvidenceType
from activities.text import thesaurus

Design = Literal[
    "randomized trial",
    "non-randomized trial",
    "cohort study",
    "case-control study",
    "cross-sectional study",
    "case report",
    "systematic review",
    "meta-analysis",
]

EVIDENCE: dict[Design, EvidenceType] = {
    "randomized trial": "randomized_trial",
    "non-randomized trial": "clinical_trial",
    "cohort study": "observational",
    "case-control study": "observational",
    "cross-sectional study": "observational",
    "case report": "case_report",
    "systematic review": "systematic_review",
    "meta-analysis": "meta_analysis",
}
"""The type of evidence that a study of each design is."""
MAX_READ = 6_000
"""Characters that are read: the abstract of a paper; later text is often about other people's work."""

_NAMES: tuple[tuple[Design, str], ...] = (
    ("meta-analysis", r"meta-?\s?analys[ie]s"),
    ("systematic review", r"systematic (?:literature )?review"),
    ("non-randomized trial", r"(?:non-?randomi[sz]ed|quasi-experimental) (?:[\w-]+ ){0,3}?(?:trial|study)"),
    ("randomized trial", r"randomi[sz]ed(?:,? (?!to\b)[\w/-]+){0,5}?,? (?:trial|study)"),
    ("case-control study", r"case[- ]control (?:[\w-]+ )?(?:study|analysis|design)"),
    ("cross-sectional study", r"cross-?sectional (?:[\w-]+ )?(?:study|survey|analysis|design)"),
    ("cohort study", r"cohort (?:study|analysis)|(?:prospective|retrospective|birth|inception) cohort"),
    ("case report", r"case report|report of (?:a|one|two) cases?"),
)
_TITLES = [(design, re.compile(rf"\b(?:{name})\b", re.IGNORECASE)) for design, name in _NAMES]
_OWN = (
    r"\b(?:we (?:\w+ )?(?:performed|conducted|undertook|carried out|did|report)"
    r"|(?:this|the (?:present|current)|our) (?:study )?(?:was|is)"
    r"|(?:study design|design|type of study)\s*:)"
)
_OF_ITSELF = re.compile(_OWN, re.IGNORECASE)
_BETWEEN = r"\s+(?:an?\s+|the\s+)?(?:[\w-]+,?\s+){0,5}?"
_SENTENCES = [
    (design, re.compile(rf"{_OWN}{_BETWEEN}(?:{name})\b", re.IGNORECASE)) for design, name in _NAMES
]
_UNLIKE = re.compile(
    r"\bprotocol (?:of|for) (?:an? |the )?(?:[\w-]+ ){0,4}(?:trial|study|review|(?:meta-?)?analysis)\b"
    r"|\b(?:study|trial|review|analysis|research) protocol\b|[:.\u2013-]\s*(?:an? |the )?(?:\w+ )?protocol\b"
    r"|\b(?:letter|reply|comment|response) to\b|\bnot randomi[sz]ed\b|\bsub-?study\b"
    r"|\bfollow-?up of\b"
    r"|(?<!\bresults )\b(?:for|of|in|from) (?:\w+ ){0,2}(?:randomi[sz]ed|cohort|case[- ]control)",
    re.IGNORECASE,
)
"""Titles that name a design and are of another one: a protocol, a letter, the methodology of trials."""
_BY_CHANCE = re.compile(
    r"\b(?:was|were|we)\s(?:\w+\s)?(?:randomi[sz]ed|randomly (?:assigned|allocated|divided))\b", re.IGNORECASE
)
"""A work that says of its people that they were allocated by chance is a randomised trial."""
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_WORD = re.compile(r"[^\W\d_]+")
_PEOPLE = frozenset({"14", "18"})
"""WordNet's files of nouns for groups of people and for persons
(https://wordnet.princeton.edu/documentation/lexnames5wn)."""


class Stated(NamedTuple):
    """A design and the words that say so."""

    design: Design
    words: str


@lru_cache(maxsize=512)
def own_design(title: str, text: str, *, named_only: bool = False) -> Stated | None:
    """The design that a work names of itself; None where it names none. `named_only`: by its title alone, for
    a text that need not be a study."""
    if _UNLIKE.search(title):
        return None
    for design, pattern in _TITLES:
        if match := pattern.search(title):
            return Stated(design, _short(match))
    if named_only:
        return None
    text = text[:MAX_READ]
    for design, pattern in _SENTENCES if _OF_ITSELF.search(text) else ():
        if match := pattern.search(text):
            return Stated(design, _short(match))
    for sentence in _SENTENCE.split(text):
        match = _BY_CHANCE.search(sentence)
        if match and any(_PEOPLE.intersection(thesaurus.files(word)[:1]) for word in _WORD.findall(sentence)):
            return Stated("randomized trial", _short(match))
    return None


def _short(match: re.Match[str]) -> str:
    return " ".join(match.group().split())[:80]
