"""How strong the evidence for a claim or a candidate is, and how many studies it rests on
(`activities.text.independence`).

The grade is that of the best item. What a study's introduction says grades weak, and so does an item under an
expression of concern.
"""

from collections.abc import Iterable, Mapping

from activities.report.summary import part_of
from activities.text.evidence_strength import WEIGHT
from activities.text.independence import independent
from activities.types import Claim, Evidence, EvidenceType, Grade

STRONG_FROM = 0.9
"""Syntheses of trials, guidelines and randomized trials, by `activities.text.evidence_strength.WEIGHT`."""
STUDIES: frozenset[EvidenceType] = frozenset({"randomized_trial", "clinical_trial", "observational"})
"""Kinds of which a claim has the grade only where it quotes what the work found."""
MODERATE_FROM = 0.65
"""Other trials, observation in people, reviews and what authorities publish."""


def grade_of(kind: EvidenceType) -> Grade:
    """The grade of a type of evidence."""
    weight = WEIGHT[kind]
    return "strong" if weight >= STRONG_FROM else "moderate" if weight >= MODERATE_FROM else "weak"


def grade(items: Iterable[Evidence]) -> Grade:
    """The grade of the best item; items under concern or retracted do not count."""
    grades = {grade_of(item.evidence_type) for item in items if item.standing not in ("concern", "retracted")}
    return "strong" if "strong" in grades else "moderate" if "moderate" in grades else "weak"


def with_strength(claim: Claim, documents: Mapping[str, Evidence], study: Mapping[str, int]) -> Claim:
    """The claim with the grade of its evidence and the number of independent studies."""
    items = [documents[name] for name in dict.fromkeys(s.evidence_id for s in claim.support)]
    found = [
        documents[s.evidence_id] for s in claim.support if _is_finding(s.quote, documents[s.evidence_id])
    ]
    return claim.model_copy(update={"strength": grade(found), "independent_works": independent(items, study)})


def _is_finding(quote: str, document: Evidence) -> bool:
    """Whether a quote is of what a work reports, and not of what a study's introduction says of others."""
    return document.evidence_type not in STUDIES or part_of(quote, document) not in ("background", "aim")
