"""The weight and the name of each kind of publication."""

import math
from collections.abc import Iterable, Sequence

from activities.contracts.evidence import Evidence, EvidenceRef, EvidenceType
from activities.contracts.judge import MIN_ANSWERS
from activities.messages import N_

WEIGHT: dict[EvidenceType, float] = {
    "meta_analysis": 1.0,
    "systematic_review": 0.95,
    "guideline": 0.95,
    "randomized_trial": 0.95,
    "clinical_trial": 0.85,
    "regulatory": 0.85,
    "drug_label": 0.85,
    "document": 0.8,
    "review": 0.75,
    "observational": 0.75,
    "article": 0.7,
    "database_record": 0.7,
    "preprint": 0.6,
    "trial_registration": 0.5,
    "adverse_events": 0.5,
    "case_report": 0.5,
    "preclinical": 0.5,
    "web_page": 0.5,
    "knowledge_graph": 0.4,
}
"""Share of an answer that a kind carries: the order of the Oxford Centre for Evidence-Based Medicine's levels
of evidence (2011); the distances are our own. A user's own document is what a question about it is answered
from."""

DEFINITE = 0.89
"""The most that any number of works carries: a question may have no definite answer, as 66 of the 600 of
PubMedQA's labelled set."""
DIRECTLY = 0.91
"""What a work of the strongest kind carries that answers directly: set by us; one does not suffice."""
IN_PART = 0.28
"""The same of a work that answers in part (`answers` 2)."""
IN_PART_CEILING = 0.5
"""The ceiling of works that answer in part, as a share of the ceiling of those that answer: set by us."""

TYPE_NAMES: dict[EvidenceType, str] = {
    "meta_analysis": N_("meta-analysis"),
    "systematic_review": N_("systematic review"),
    "guideline": N_("guideline"),
    "randomized_trial": N_("randomised trial"),
    "clinical_trial": N_("clinical trial"),
    "observational": N_("observational study"),
    "case_report": N_("case report"),
    "review": N_("review"),
    "preclinical": N_("preclinical study"),
    "article": N_("article"),
    "preprint": N_("preprint"),
    "trial_registration": N_("trial registration"),
    "drug_label": N_("drug label"),
    "regulatory": N_("regulatory document"),
    "adverse_events": N_("adverse event report"),
    "database_record": N_("database record"),
    "knowledge_graph": N_("knowledge graph"),
    "web_page": N_("web page"),
    "document": N_("document"),
}

UNSPECIFIC: frozenset[EvidenceType] = frozenset({"article", "document", "web_page"})
"""Types that say nothing of how a work was done."""
CLINICAL: frozenset[EvidenceType] = frozenset(
    {"meta_analysis", "systematic_review", "randomized_trial", "clinical_trial", "observational", "guideline"}
)


def weight(work: Evidence | EvidenceRef) -> float:
    """0 to 1; retracted work weighs nothing, work under concern half."""
    if work.standing == "retracted":
        return 0.0
    return WEIGHT[work.evidence_type] * (0.5 if work.standing == "concern" else 1.0)


def most_confidence(works: Iterable[tuple[int, EvidenceType | None]]) -> float:
    """Return the most that works can carry together, by how directly each answers and its kind.

    As if all agreed, no two were of one study, and nothing spoke against any of them. No confidence in them
    is higher."""
    carried = []
    for answers, kind in works:
        if answers >= MIN_ANSWERS:
            most = max(WEIGHT.values()) if kind is None else WEIGHT[kind]
            directly = answers >= 3
            carried.append(
                (most * (DIRECTLY if directly else IN_PART), most * (1.0 if directly else IN_PART_CEILING))
            )
    return confidence_of(carried)


def confidence_of(works: Sequence[tuple[float, float]]) -> float:
    """Return what independent works that agree carry together.

    Each with what it carries alone and the most that works of its kind can. 0 to `DEFINITE`."""
    most = max((ceiling for _, ceiling in works), default=0.0)
    missed = math.prod(max(1.0 - share / most, 0.0) for share, _ in works) if most else 1.0
    return DEFINITE * most * (1.0 - missed)
