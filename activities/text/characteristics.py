"""Sentences that describe who took part and answer nothing: ages, shares of each sex, length of follow-up,
who was left and what was counted (STROBE 2007, items 13 and 14)."""

import re

_DESCRIBES = re.compile(
    r"\b(?:mean|median|average) (?:patient )?age\b|\bages? (?:was|were|ranged|range)\b"
    r"|\b(?:fe)?male[- ]to[- ](?:fe)?male ratio\b"
    r"|\b\d[\d.]*\s?%?\)? (?:\([^()]{1,20}\) )?(?:(?:of \w+ |patients |subjects )?were )?(?:fe)?males?\b"
    r"|\b\d+ (?:\([^()]{1,20}\) )?(?:women|men|boys|girls)(?:,| and) \d+ (?:\([^()]{1,20}\) )?"
    r"(?:women|men|boys|girls)\b"
    r"|\b(?:mean|median|average) (?:duration of |length of )?follow[- ]?up\b"
    r"|^(?:overall,? |in total,? |a total of |on matching,? |of (?:the |these )?)?"
    r"(?:\d[\d,]*|[a-z]+(?:[ -][a-z]+){0,3}) (?:(?!and\b)[^\s,;]+ ){0,6}?"
    r"(?:patients|participants|subjects|individuals|women|men|children|people|cases|persons)\b[^,;.]{0,80}"
    r"\b(?:were|was) (?:identified|included|enrolled|recruited|eligible|available|selected)\b"
    r"|^participants (?:were|included) \d"
    r"|\bhad (?:adequate|complete|sufficient|usable|available|full) (?:[\w-]+ ){0,2}"
    r"(?:information|data|records)\b|^the remaining (?:[\w-]+ ){1,3}"
    r"(?:patients|participants|subjects|individuals|women|men|children|cases)\b"
    r"|^a total of \d[\d,]* (?:patients|participants|subjects|women|men) reported \d"
    r"|^(?:in (?:all|total),? |overall,? |a total of )\d[\d,]* (?:[\w-]+ ){1,4}"
    r"were (?:removed|performed|done|analy[sz]ed|studied|reviewed|examined|collected|obtained)\b"
    r"|(?:\(n ?= ?\d+(?:[;,][^()]{1,20})?\)[^()]{1,60}){2,}\(n ?=",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"\bp\s?(?:[<>=]|value)|\bCI\b|confidence interval|\bsignifican|\bassociat|\bpredict|\bcomplicat"
    r"|\badverse",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:ages?|aged|old(?:er)?|young(?:er)?|sex|gender|males?|females?|wom[ae]n|m[ae]n|boys|girls|elderly|onset"
    r"|follow[- ]?up|how (?:many|long|old))\b",
    re.IGNORECASE,
)


def describes_participants(sentence: str, question: str) -> bool:
    """Whether a sentence describes the participants, where the question asks for no such thing. One that
    tests a difference or an association is a finding."""
    if _ASKED.search(question) or _FOUND.search(sentence):
        return False
    return bool(_DESCRIBES.search(sentence))
