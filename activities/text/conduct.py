"""How a study was conducted, as far as its text states it: what a reader needs to judge the risk of bias.

The items are those of the Cochrane tool for randomized trials (RoB 2: Sterne et al., BMJ 2019, 366:l4898) and
of CONSORT that abstracts state: allocation, concealment, blinding, losses, analysis by intention to treat,
sample size, registration, funding. What is not stated is not listed; that is no judgement of the study.
"""

import re
from collections.abc import Iterable, Iterator

from activities.text.numerals import COUNT
from activities.text.sentences import Statement
from activities.text.study_wording import OTHERS_WORK

LONGEST = 90
"""Characters of an item at most."""


def _ignoring_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_NOT = r"(?:(?:not|non|un|never)[- ]?)?"
_WHO = (
    r"(?:assessor|observer|evaluator|investigator|radiologist|reader|pathologist|examiner|rater|reviewer|patient"
    r"|participant|surgeon)"
)
_ASSIGNED = (
    r"\brandom(?:ly|i[sz]ed)? (?:assigned|allocated|divided|distributed)"
    r"|\brandomi[sz]ed (?:to|into|between|in a)\b|\brandomi[sz]ed(?:,? [\w-]+){0,4}? (?:trial|study)\b"
    r"|\bblock randomi[sz]ation"
)
_CONCEALED = (
    rf"\b{_NOT}conceal(?:ed|ment)(?: (?:of )?allocation)?"
    rf"|\ballocation (?:was |were )?{_NOT}conceal(?:ed|ment)"
    r"|\b(?:sealed|opaque)(?:,? (?:sealed|opaque))? envelopes?|\bcentral(?:i[sz]ed)? randomi[sz]ation"
)
_BLIND = r"\b(?:double|triple|single)[- ](?:blind|mask)(?:ed|ing)?\b|\bopen[- ]label(?:led)?\b|\bunblinded\b"
_BLINDED = (
    rf"\b{_WHO}s?(?: (?:was|were|who|remained)){{0,2}} {_NOT}(?:blind|mask)ed\b"
    rf"|\b(?:blinded|masked) (?:{_WHO}s?|(?:outcome )?assessments?)\b|\b{_WHO}[- ]blind(?:ed)?\b"
)
_ANALYSED = r"\b(?:modified )?intention[- ]to[- ]treat\b|\bintent[- ]to[- ]treat\b|\bper[- ]protocol\b"
_LOST = (
    rf"(?<![\w.,-])(?:{COUNT}|\d+(?:\.\d+)?\s?%)(?: (?:\w+ ){{0,3}}?)?(?:\(\d+(?:\.\d+)?\s?%\) )?"
    r"(?:(?:was|were|had been) )?(?:lost to follow[- ]?up|withdrew|dropped out|discontinued)\b"
    r"|\b(?:no|without) (?:patients? (?:was|were) )?los(?:t|s(?:es)?) to follow[- ]?up"
    r"|\b(?:drop-?out|attrition) rate (?:was|of) \d+(?:\.\d+)?\s?%"
)
_SIZED = r"\ba priori (?:sample size|power)|\bpower calculation|\bsample size (?:was )?calculat(?:ed|ion)"
_REGISTERED = (
    r"\b(?:NCT\d{8}|ISRCTN ?\d{6,8}|ACTRN\d{14}|ChiCTR[\w-]{6,}|EudraCT[: ]+[\d-]{12,}|UMIN\d{9}"
    r"|CRD\d{11})\b"
)
_FUNDED = (
    r"\b(?:[Ff]unded|[Ss]ponsored|[Ss]upported) by (?:an? )?(?:[Gg]rants? from )?(?:the )?"
    r"[A-Z][\w&.' -]{2,60}"
)
_CONFLICTS = r"\b(?:no|declared?) (?:potential )?(?:conflicts? of interests?|competing interests?)"
_PATTERNS = (
    *map(_ignoring_case, (_ASSIGNED, _CONCEALED, _BLIND, _BLINDED, r"\bplacebo[- ]controlled\b")),
    *map(_ignoring_case, (_ANALYSED, _LOST, _SIZED, _REGISTERED)),
    re.compile(_FUNDED),  # who paid is a name
    _ignoring_case(_CONFLICTS),
)


def conduct(read: Iterable[Statement]) -> Iterator[tuple[str, str]]:
    """(words of the work, the sentence that contains them), at most one of each item, in the order above."""
    statements, said = list(read), ""
    for pattern in _PATTERNS:
        found = next(_of(pattern, statements), None)
        if found is not None and found[0].casefold() not in said:
            said += f"{found[0].casefold()}; "
            yield found


def _of(pattern: re.Pattern[str], statements: Iterable[Statement]) -> Iterator[tuple[str, str]]:
    for statement in statements:
        for match in pattern.finditer(statement.text):
            text = match.group().strip(" ,.;")
            if len(text) <= LONGEST and not OTHERS_WORK.search(statement.text[: match.start()]):
                yield text, statement.text
