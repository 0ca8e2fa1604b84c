"""How strong a kind of evidence is."""

from collections.abc import Mapping

from activities.types import EvidenceType

STRENGTH: Mapping[EvidenceType, float] = {
    "meta_analysis": 1.0,
    "systematic_review": 0.95,
    "guideline": 0.9,
    "randomized_trial": 0.85,
    "clinical_trial": 0.7,
    "regulatory": 0.65,
    "drug_label": 0.65,
    "observational": 0.55,
    "review": 0.5,
    "trial_registration": 0.45,
    "article": 0.4,
    "adverse_events": 0.35,
    "case_report": 0.3,
    "preclinical": 0.3,
    "preprint": 0.25,
    "document": 0.2,
    "web_page": 0.1,
}
"""The usual pyramid (Oxford CEBM, Levels of Evidence 2011): syntheses of trials over trials over observation
over mechanism; what no peer reviewed comes last. It only settles what relevance leaves open."""
