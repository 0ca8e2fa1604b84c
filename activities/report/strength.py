"""The strength of the evidence of a work, by design and size, for answer, candidates and tables alike.

The design is the one that a judge read and named a sentence of the work for, else that of its record. Without
either the evidence is weak. Participants are those of the record, else those that the judge read.
"""

from collections.abc import Iterable, Mapping
from typing import get_args

from activities.contracts.appraisal import WorkFacts
from activities.contracts.bounds import digits
from activities.contracts.evidence import Evidence, EvidenceType, Grade
from activities.contracts.judge import MIN_ANSWERS, Design, WorkJudgement
from activities.messages import N_
from activities.text.evidence_strength import CLINICAL, TYPE_NAMES, UNSPECIFIC, WEIGHT

STRONG_FROM = 0.9
"""Syntheses of trials, guidelines and randomized trials, by `activities.text.evidence_strength.WEIGHT`."""
MODERATE_FROM = 0.75
"""Other trials, observation in people, reviews and what authorities publish; never a type that does not say
how a work was done."""
SMALL = 50
"""Participants under which a study in people is small: effects of such trials are exaggerated by about half
(Dechartres et al., BMJ 2013;346:f2304), and GRADE takes two levels off where very few people took part
(Guyatt et al., J Clin Epidemiol 2011;64:1283)."""
KINDS: Mapping[Design, EvidenceType] = {
    "meta_analysis": "meta_analysis",
    "systematic_review": "systematic_review",
    "guideline": "guideline",
    "randomized_trial": "randomized_trial",
    "nonrandomized_trial": "clinical_trial",
    "cohort": "observational",
    "case_control": "observational",
    "cross_sectional": "observational",
    "case_report": "case_report",
    "review": "review",
    "preclinical": "preclinical",
}
"""The type of evidence that a work of each design is."""
DESIGN_NAMES: Mapping[Design, str] = {
    **{design: TYPE_NAMES[kind] for design, kind in KINDS.items()},
    "nonrandomized_trial": N_("trial without randomisation"),
    "cohort": N_("cohort study"),
    "case_control": N_("case-control study"),
    "cross_sectional": N_("cross-sectional study"),
}
SINGLE: frozenset[EvidenceType] = frozenset({"randomized_trial", "clinical_trial", "observational"})
"""Single studies in people, which are small or large."""
SYNTHESES: frozenset[EvidenceType] = frozenset({"meta_analysis", "systematic_review"})
RECORDS: frozenset[EvidenceType] = frozenset(
    {"trial_registration", "drug_label", "regulatory", "adverse_events", "database_record", "knowledge_graph"}
)
"""What is no study, whatever it speaks of."""


def kind_of(item: Evidence, judged: WorkJudgement | None) -> EvidenceType:
    """Return the kind of a work, by its judged design, else by its record."""
    if judged is None or not judged.design or item.evidence_type in RECORDS:
        return item.evidence_type
    return KINDS[judged.design]


def design_name(item: Evidence, judged: WorkJudgement | None) -> str:
    """Name the design as a table does; empty where nothing says it."""
    if judged is not None and judged.design and item.evidence_type not in RECORDS:
        return DESIGN_NAMES[judged.design]
    if judged is not None and judged.kind:
        return judged.kind
    return "" if item.evidence_type in UNSPECIFIC else TYPE_NAMES[item.evidence_type]


def participants(item: Evidence, judged: WorkJudgement | None) -> int | None:
    """Return the number of participants, by the record of a work, else as a judge read it."""
    recorded = digits(item.facts.get("enrollment", "") or item.facts.get("participants", ""))
    return recorded or (judged.participants if judged is not None else None)


def is_in_people(item: Evidence, judged: WorkJudgement | None) -> bool:
    """Whether a work is known to be a study in people."""
    return kind_of(item, judged) in CLINICAL or bool(participants(item, judged))


def strength(item: Evidence, judged: WorkJudgement | None) -> Grade:
    """Grade a work by its kind, two steps lower for a small study, and one for a merely related work.

    A work under concern or retracted is weak.
    """
    if item.standing in ("concern", "retracted"):
        return "weak"
    kind = kind_of(item, judged)
    people = participants(item, judged)
    lower = 2 * int(kind in SINGLE and people is not None and people < SMALL)
    lower += judged is not None and judged.answers < MIN_ANSWERS
    grades: tuple[Grade, ...] = ("weak", "moderate", "strong")
    return grades[max(grades.index(grade_of(kind)) - lower, 0)]


def grade_of(kind: EvidenceType) -> Grade:
    weight = 0.0 if kind in UNSPECIFIC else WEIGHT[kind]
    return "strong" if weight >= STRONG_FROM else "moderate" if weight >= MODERATE_FROM else "weak"


def best_grade(items: Iterable[Evidence], judged: Mapping[str, WorkJudgement]) -> Grade:
    """Return the grade of the strongest of some works."""
    grades = {strength(item, judged.get(item.evidence_id)) for item in items}
    return next((one for one in get_args(Grade) if one in grades), "weak")


def facts_of(item: Evidence, judged: WorkJudgement | None) -> WorkFacts:
    """Collect what is known of a work beside its effects."""
    kind = kind_of(item, judged)
    return WorkFacts(
        design=kind,
        randomized=kind in SYNTHESES or kind == "randomized_trial",
        synthesis=kind in SYNTHESES,
        in_people=kind in UNSPECIFIC or is_in_people(item, judged),
        participants=participants(item, judged),
        full_text=item.full_text,
        direct=judged is None or judged.answers >= 3,
        under_concern=item.standing == "concern",
    )
