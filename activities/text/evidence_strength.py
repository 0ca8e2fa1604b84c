"""How much a kind of publication weighs, and what it is called."""

from activities.contracts.evidence import Evidence, EvidenceRef, EvidenceType

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

TYPE_NAMES: dict[EvidenceType, str] = {
    **{kind: kind.replace("_", " ") for kind in WEIGHT},
    "meta_analysis": "meta-analysis",
    "observational": "observational study",
    "preclinical": "preclinical study",
    "regulatory": "regulatory document",
    "adverse_events": "adverse event report",
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
