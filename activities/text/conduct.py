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

_NOT = r"(?:(?:not|non|un|never)[- ]?)?"
_ITEMS = (
    (
        r"\brandom(?:ly|i[sz]ed)? (?:assigned|allocated|divided|distributed)"
        r"|\brandomi[sz]ed (?:to|into|between|in a)\b"
        r"|\brandomi[sz]ed(?:,? [\w-]+){0,4}? (?:trial|study)\b|\bblock randomi[sz]ation"
    ),
    (
        rf"\b{_NOT}conceal(?:ed|ment)(?: (?:of )?allocation)?|\ballocation (?:was "
        rf"|were )?{_NOT}conceal(?:ed|ment)"
        r"|\b(?:sealed|opaque)(?:,? (?:sealed|opaque))? envelopes?|\bcentral(?:i[sz]ed)? randomi[sz]ation"
    ),
    r"\b(?:double|triple|single)[- ](?:blind|mask)(?:ed|ing)?\b|\bopen[- ]label(?:led)?\b|\bunblinded\b",
    (
        rf"\b(?:assessors?|observers?|evaluators?|investigators?|radiologists?|readers?"
        rf"|pathologists?|examiners?|raters?"
        rf"|reviewers?|patients|participants|surgeons?)(?: (?:was|were|who"
        rf"|remained)){{0,2}} {_NOT}(?:blind|mask)ed\b"
        r"|\b(?:blinded|masked) (?:assessors?|observers?|evaluators?|investigators?|radiologists?"
        r"|readers?|pathologists?"
        r"|examiners?|raters?|reviewers?|(?:outcome )?assessments?)|\b(?:assessor|observer"
        r"|evaluator|rater)[- ]blind(?:ed)?\b"
    ),
    r"\bplacebo[- ]controlled\b",
    r"\b(?:modified )?intention[- ]to[- ]treat\b|\bintent[- ]to[- ]treat\b|\bper[- ]protocol\b",
    (
        rf"(?<![\w.,-])(?:{COUNT}"
        rf"|\d+(?:\.\d+)?\s?%)(?: (?:\w+ ){{0,3}}?)?(?:\(\d+(?:\.\d+)?\s?%\) )?(?:(?:was|were|had been) )?"
        r"(?:lost to follow[- ]?up|withdrew|dropped out|discontinued)\b|\b(?:no"
        r"|without) (?:patients? (?:was|were) )?"
        r"los(?:t|s(?:es)?) to follow[- ]?up|\b(?:drop-?out|attrition) rate (?:was|of) \d+(?:\.\d+)?\s?%"
    ),
    r"\b(?:a )?priori (?:sample size|power)|\bpower calculation|\bsample size (?:was )?calculat(?:ed|ion)",
    r"\b(?:NCT\d{8}|ISRCTN ?\d{6,8}|ACTRN\d{14}|ChiCTR[\w-]{6,}|EudraCT[: ]+[\d-]{12,}|UMIN\d{9}"
    r"|CRD\d{11})\b",
    (
        r"\b(?:funded|sponsored|supported) by (?!the (?:data|results|findings"
        r"|evidence)\b)(?:an? )?(?:[Gg]rants? from )?"
        r"(?:the )?[A-Z][\w&.' -]{2,60}"
    ),
    r"\b(?:no|declared?) (?:potential )?(?:conflicts? of interests?|competing interests?)",
)
_PATTERNS = tuple(re.compile(item, re.IGNORECASE if "[A-Z]" not in item else 0) for item in _ITEMS)


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
