"""How much a kind of publication weighs, and what it is called."""

from activities.contracts.evidence import Evidence, EvidenceType

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
    "knowledge_graph": 0.3,
    "preprint": 0.4,
    "document": 0.45,
    "web_page": 0.3,
}
"""Order after the Oxford Centre for Evidence-Based Medicine's levels of evidence (2011); the distances
between them are our own."""

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


def weight(document: Evidence) -> float:
    """0 to 1; retracted work weighs nothing, work under concern half."""
    if document.standing == "retracted":
        return 0.0
    return WEIGHT[document.evidence_type] * (0.5 if document.standing == "concern" else 1.0)
