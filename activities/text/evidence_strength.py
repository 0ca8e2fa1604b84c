"""How much a kind of publication weighs, and whether a sentence reports an effect or its absence."""

import re
from functools import lru_cache
from typing import Literal

from activities.text.negation import denied
from activities.types import Evidence, EvidenceType

WEIGHT: dict[EvidenceType, float] = {
    "meta_analysis": 1.0,
    "systematic_review": 0.95,
    "guideline": 0.9,
    "randomized_trial": 0.9,
    "clinical_trial": 0.75,
    "drug_label": 0.75,
    "regulatory": 0.7,
    "review": 0.65,
    "observational": 0.65,
    "article": 0.55,
    "trial_registration": 0.4,
    "case_report": 0.4,
    "preclinical": 0.4,
    "adverse_events": 0.4,
    "database_record": 0.45,
    "preprint": 0.4,
    "document": 0.45,
    "web_page": 0.3,
}
"""Order after the Oxford Centre for Evidence-Based Medicine's levels of evidence (2011); the distances
between them are our own."""

MOST_SURE = 0.99
"""The highest confidence there is: quotes of a few works make nothing certain."""

TYPE_NAMES: dict[EvidenceType, str] = {
    "meta_analysis": "meta-analysis",
    "systematic_review": "systematic review",
    "randomized_trial": "randomized trial",
    "clinical_trial": "clinical trial",
    "observational": "observational study",
    "case_report": "case report",
    "review": "review",
    "guideline": "guideline",
    "preclinical": "preclinical study",
    "article": "article",
    "preprint": "preprint",
    "trial_registration": "trial registration",
    "drug_label": "drug label",
    "regulatory": "regulatory document",
    "adverse_events": "adverse event report",
    "database_record": "database record",
    "web_page": "web page",
    "document": "document",
}

CLINICAL: frozenset[EvidenceType] = frozenset(
    {"meta_analysis", "systematic_review", "randomized_trial", "clinical_trial", "observational", "guideline"}
)

Direction = Literal["yes", "no", "mixed", "none"]

_ABSENT = re.compile(
    r"\b(?:no|not|without|nor|neither)\b(?: \w+){0,3} (?:significant(?:ly)?|effect\w*|differen\w+|"
    r"associat\w+|benefi\w+|improv\w+|correlat\w+|relat\w+|evidence|increase[ds]?|decrease[ds]?|reduc\w+|"
    r"predict\w*|influence[ds]?|affect\w*|impact|change[ds]?|advantage|superior|recommended|useful|"
    r"necessary|support\w*|"
    r"justif\w+|indicate[ds]?|contribut\w+|role|risk|adequate|appear|seem)|\bineffective|"
    r"\bfail(?:s|ed|ure)? to\b|"
    r"\bunlikely\b|\bnon-?significant|\bunrelated|\bdoes not\b|\bdo not\b|\bdid not\b|\bcannot\b|\black of\b|"
    r"\bshould not\b|\bis not\b|\bare not\b|\bwas not\b|\bwere not\b|\bequivalent\b|"
    r"\bsimilar (?:\w+[- ]){0,3}(?:in|between|to|among|compared|as)\b|\bcomparable (?:in|between|to|"
    r"with|among)\b|"
    r"\bno (?:\w+ )?(?:additional|further|indication|awareness|relationship|relation|gain|value|"
    r"need|reason)\b|"
    r"\blimited (?:role|ability|support|value|evidence|use)\b|\bpoor (?:\w+ )?(?:specificity|"
    r"sensitivity|agreement|"
    r"predictor|correlation|accuracy)\b|\bunable to\b|\binsufficient(?:ly)?\b|\binadequate(?:ly)?\b|"
    r"\bruled? out\b|"
    r"\bnot (?:been )?established\b|\bwithout (?:a |an )?(?:\w+ ){0,2}(?:risk|benefit|advantage)\b",
    re.IGNORECASE,
)
_DENIED = denied(5)
_PRESENT = re.compile(
    r"\b(?:significant(?:ly)?|effective|associated with|improve[ds]?|increase[ds]?|reduce[ds]?|decrease[ds]?|"
    r"predict(?:s|ed|or|ive)?|benefi\w+|superior|higher|lower|correlated|protective|should be|can be|useful|"
    r"reliable|feasible|important|affects?|affected|influence[ds]?|recommended|risk factor|(?:more|"
    r"less) likely|"
    r"better|greater|worse|safe|safely|viable|successful(?:ly)?|accurate(?:ly)?|appropriate(?:ly)?|prevents?|"
    r"prevented|promotes?|promoted|contributes?|contributed|stimulates?|stimulated|modif(?:y|ies|"
    r"ied)|alters?|"
    r"altered|changed?|enhance[ds]?|predispose[ds]?|protects?|helpful|valid|synergistic|necessary|"
    r"may be used|"
    r"be used successfully|relationship between|association between|independently related)\b",
    re.IGNORECASE,
)
_UP = re.compile(
    r"\b(?:increas\w+|higher|elevated|raised|greater|more|worsen\w*|promot\w+|risen?|longer)\b", re.IGNORECASE
)
_DOWN = re.compile(
    r"\b(?:decreas\w+|lower(?:ed|s)?|reduc\w+|less|fewer|declin\w+|diminish\w*|suppress\w+|"
    r"inhibit\w+|shorter|"
    r"attenuat\w+)\b",
    re.IGNORECASE,
)


def weight(document: Evidence) -> float:
    """0 to 1; retracted work weighs nothing, work under concern half."""
    if document.standing == "retracted":
        return 0.0
    return WEIGHT[document.evidence_type] * (0.5 if document.standing == "concern" else 1.0)


@lru_cache(maxsize=8192)
def direction(sentence: str) -> Direction:
    """Whether a sentence reports an effect, its absence, both or neither, by cue words."""
    absent = bool(_ABSENT.search(sentence))
    present = bool(_PRESENT.search(_DENIED.sub(" ", sentence)))
    if absent and present:
        return "mixed"
    return "no" if absent else "yes" if present else "none"


@lru_cache(maxsize=8192)
def trend(sentence: str) -> int:
    """1 when a sentence reports a rise only, -1 a fall only, 0 otherwise."""
    up, down = bool(_UP.search(sentence)), bool(_DOWN.search(sentence))
    return 1 if up and not down else -1 if down and not up else 0


def opposed(one: str, other: str) -> bool:
    """True when two sentences point in opposite directions by their cues: an effect against its absence, or a
    rise against a fall. Does not check whether they are about the same thing."""
    a, b = direction(one), direction(other)
    if {a, b} == {"yes", "no"}:
        return True
    return a == b == "yes" and trend(one) * trend(other) == -1
