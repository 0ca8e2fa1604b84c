"""What a sentence finds of a drug: a gain for those who have the disease asked about, none, or harm.

Forms of English grammar and the words of change that any trial reports with; no names of drugs or diseases.
"""

import re
from collections.abc import Iterable
from typing import Literal

from activities.text.concessions import main_clauses
from activities.text.evidence_strength import direction
from activities.text.parts import Part

Finding = Literal["for", "against", "mixed", "none"]
"""`mixed`: of several sentences, some speak for it and some against."""

_GAIN = re.compile(
    r"\b(?:treat\w*|therap\w*|effica\w*|effective\w*|improv\w*|reduc\w*|benefi\w*|approv\w*|indicated|inhibit\w*"
    r"|attenuat\w*|protect\w*|prevent\w*|alleviat\w*|ameliorat\w*|promising|candidate\w*|respon[ds]\w*|surviv\w*"
    r"|remission\w*|suppress\w*|slow\w*|delay\w*|restor\w*|trials?|safe\w*|tolerat\w*|superior|used|option\w*"
    r"|antagoni\w*|agoni\w*|block\w*|(?:positive|favou?rable|neuroprotective) effects?|fewer|less|lower"
    r"|better|decreas\w*|support\w*)\b",
    re.IGNORECASE,
)
"""What relates a drug to a disease; a sentence without any only mentions the drug."""
_CHANGED_FOR_GOOD = re.compile(
    r"\b(?:improv\w*|reduc\w*|decreas\w*|slow\w*|prevent\w*|benefi\w*|lower|fewer|effective|protect\w*|less)\b",
    re.IGNORECASE,
)
_HARM = re.compile(
    r"\b(?:worse\w*|futil\w*|deteriorat\w*|harmful|detriment\w*|argues? against|confound\w*"
    r"|(?:higher|greater|increased|excess|elevated) (?:\w+ ){0,6}?(?:risks?|mortality|deaths?|events?"
    r"|progression|recurrence|incidence))\b",
    re.IGNORECASE,
)
_THOSE_WITHOUT = re.compile(
    r"\b(?:than|versus|vs\.?|compared (?:with|to)|and)\s[^,;.]*?\b(?:who|those)\b[^,;.]*?\bnot\b[^,;.]*",
    re.IGNORECASE,
)
"""Those who did not get the drug: `slower than 293 men who did not`."""
_EFFECT = re.compile(
    r"\b(?:effects?|effectiv\w*|effica\w*|benefi\w*|improv\w*|reduc\w*|decreas\w*|slow\w*|prevent\w*|protect\w*"
    r"|associat\w*|differ\w*|influenc\w*|affect\w*|surviv\w*|respon[ds]\w*|progress\w*|superior|better|fewer|less"
    r"|lower|safe\w*|tolerat\w*|useful|support\w*|recommend\w*|delay\w*|impact\w*|chang\w*|correlat\w*|help\w*"
    r"|indicated|role|activity|increas\w*|treat\w*|cur(?:e[sd]?|ative))\b",
    re.IGNORECASE,
)
"""What a denial must be of to speak against a drug: that a duration is not based on something does not."""
_NO_DIFFERENCE = re.compile(r"\b(?:no|not)\b[^.;]{0,40}\bdiffer\w*", re.IGNORECASE)
_UNDER_STUDY = re.compile(
    r"\b(?:is|are|was|were|being|been|currently|now) (?:\w+ly )?(?:being )?(?:evaluated|investigated|studied"
    r"|tested|explored|examined)\b|\bunder (?:\w+ )?(?:investigation|evaluation|study)\b",
    re.IGNORECASE,
)
"""That a drug is studied finds nothing of it."""
_BUT = re.compile(
    r",?\s+but\s+(?=(?:did|was|were|had|has|have|does|do|is|are|no|not|without)\b)", re.IGNORECASE
)
_AGAINST_NOTHING = re.compile(
    r"\b(?:placebo|sham|untreated|controls?|usual care|no treatment|rate of|progression)\b", re.IGNORECASE
)


def finding(sentence: str) -> Finding:
    """What a sentence finds of a drug that it names. That two treatments did not differ says nothing of
    either, unless the other is none."""
    stated = _THOSE_WITHOUT.sub(" ", main_clauses(sentence))
    first, *rest = _BUT.split(stated, maxsplit=1)
    if rest and direction(stated) == "mixed":  # what was gained, before what was not: the quote has both
        return finding(first)
    if _UNDER_STUDY.search(stated):
        return "none"
    way = direction(stated)
    if way == "no" and _NO_DIFFERENCE.search(stated) and not _AGAINST_NOTHING.search(stated):
        return "none"
    if way == "no" and not _EFFECT.search(stated):
        return "none"
    if way == "no" or (_HARM.search(stated) and not _CHANGED_FOR_GOOD.search(stated)):
        return "against"
    return "for" if way in ("yes", "none") and _GAIN.search(stated) else "none"


_CONCLUDES: tuple[tuple[Part, ...], ...] = (("conclusion",), ("results", "plain"))


def together(said: Iterable[tuple[Part, str]]) -> Finding:
    """What sentences that name a drug find of it: the conclusions, or the results where none concludes. What
    a work says before its results is not found by it."""
    sentences = list(said)
    for parts in _CONCLUDES:
        found = {finding(text) for part, text in sentences if part in parts} - {"none"}
        if found:
            return "mixed" if len(found) > 1 else "for" if "for" in found else "against"
    return "none"
