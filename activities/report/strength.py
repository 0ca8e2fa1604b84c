"""The strength of the evidence of a work, by design and size, and what works carry together.

The design is the one that a judge read and named a sentence of the work for, else that of its record. Without
either the evidence is weak. Participants are those of the record, else those that the judge read.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from activities.contracts.appraisal import WorkFacts
from activities.contracts.bounds import digits
from activities.contracts.evidence import NOT_STUDIES, UNSPECIFIC, Evidence, EvidenceRef, EvidenceType, Grade
from activities.contracts.judge import MIN_ANSWERS, Design, DocumentKind, WorkJudgement
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

CLINICAL: frozenset[EvidenceType] = frozenset(
    {"meta_analysis", "systematic_review", "randomized_trial", "clinical_trial", "observational", "guideline"}
)
STRONG_FROM = 0.9
"""Syntheses of trials, guidelines and randomized trials, by `WEIGHT`."""
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
KIND_NAMES: Mapping[DocumentKind, str] = {
    "minutes": N_("minutes"),
    "letter": N_("letter"),
    "mail": N_("mail"),
    "bill": N_("bill"),
    "receipt": N_("receipt"),
    "contract": N_("contract"),
    "statute": N_("statute"),
    "report": N_("report"),
    "table": N_("table"),
    "note": N_("note"),
    "log": N_("log"),
    "form": N_("form"),
}
"""What a person's own document is called."""
SINGLE: frozenset[EvidenceType] = frozenset({"randomized_trial", "clinical_trial", "observational"})
"""Single studies in people, which are small or large."""
SYNTHESES: frozenset[EvidenceType] = frozenset({"meta_analysis", "systematic_review"})


def weight(work: Evidence | EvidenceRef) -> float:
    """0 to 1; retracted work weighs nothing, work under concern half."""
    if work.standing == "retracted":
        return 0.0
    return WEIGHT[work.evidence_type] * (0.5 if work.standing == "concern" else 1.0)


def carried_by(answers: int, weight: float) -> tuple[float, float]:
    """Return what a work that answers carries alone, and the most that works of its kind can."""
    directly = answers >= 3
    return weight * (DIRECTLY if directly else IN_PART), weight * (1.0 if directly else IN_PART_CEILING)


def confidence_of(works: Sequence[tuple[float, float]]) -> float:
    """Return what independent works that agree carry together (`carried_by`), 0 to `DEFINITE`."""
    maximum = max((ceiling for _, ceiling in works), default=0.0)
    missed = math.prod(max(1.0 - share / maximum, 0.0) for share, _ in works) if maximum else 1.0
    return DEFINITE * maximum * (1.0 - missed)


def kind_of(item: Evidence, judgement: WorkJudgement | None) -> EvidenceType:
    """Return the kind of a work, by its judged design, else by its record."""
    if judgement is None or not judgement.design or item.evidence_type in NOT_STUDIES:
        return item.evidence_type
    return KINDS[judgement.design]


def design_name(item: Evidence, judgement: WorkJudgement | None) -> str:
    """Name the design as a table does; empty where nothing says it."""
    if judgement is not None and judgement.design and item.evidence_type not in NOT_STUDIES:
        return DESIGN_NAMES[judgement.design]
    if judgement is not None and judgement.kind:
        return KIND_NAMES[judgement.kind]
    return "" if item.evidence_type in UNSPECIFIC else TYPE_NAMES[item.evidence_type]


def participants(item: Evidence, judgement: WorkJudgement | None) -> int | None:
    """Return the number of participants, by the record of a work, else as a judge read it."""
    recorded = digits(item.facts.get("enrollment", "") or item.facts.get("participants", ""))
    return recorded or (judgement.participants if judgement is not None else None)


def is_in_people(item: Evidence, judgement: WorkJudgement | None) -> bool:
    return kind_of(item, judgement) in CLINICAL or bool(participants(item, judgement))


def strength(item: Evidence, judgement: WorkJudgement | None) -> Grade:
    """Grade a work by its kind, two steps lower for a small study, and one for a merely related work.

    A work under concern or retracted is weak.
    """
    if item.standing in ("concern", "retracted"):
        return "weak"
    kind = kind_of(item, judgement)
    people = participants(item, judgement)
    lower = 2 * int(kind in SINGLE and people is not None and people < SMALL)
    lower += judgement is not None and judgement.answers < MIN_ANSWERS
    grades: tuple[Grade, ...] = ("weak", "moderate", "strong")
    return grades[max(grades.index(grade_of(kind)) - lower, 0)]


def grade_of(kind: EvidenceType) -> Grade:
    weight = 0.0 if kind in UNSPECIFIC else WEIGHT[kind]
    return "strong" if weight >= STRONG_FROM else "moderate" if weight >= MODERATE_FROM else "weak"


def best_grade(items: Iterable[Evidence], judgements: Mapping[str, WorkJudgement]) -> Grade:
    grades = {strength(item, judgements.get(item.evidence_id)) for item in items}
    return next((grade for grade in get_args(Grade) if grade in grades), "weak")


def facts_of(item: Evidence, judgement: WorkJudgement | None) -> WorkFacts:
    kind = kind_of(item, judgement)
    return WorkFacts(
        design=kind,
        randomized=kind in SYNTHESES or kind == "randomized_trial",
        synthesis=kind in SYNTHESES,
        in_people=kind in UNSPECIFIC or is_in_people(item, judgement),
        participants=participants(item, judgement),
        full_text=item.full_text,
        direct=judgement is None or judgement.answers >= 3,
        under_concern=item.standing == "concern",
    )
