"""How strong the evidence for a claim or a candidate is, and how many studies it rests on.

Invariants:

- The grade is that of the best item; an item under an expression of concern grades weak.
- Works that report one study count once. Two works report one study when they share a trial registration
  number, or first author, year and number of participants.
- A review may include the trials cited beside it. It counts as another study only beside works that appeared
  after it, since those cannot be in it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from activities.text import study_facts
from activities.text.evidence_strength import WEIGHT
from activities.types import Claim, Evidence, EvidenceType, Grade

STRONG_FROM = 0.9
"""Syntheses of trials, guidelines and randomized trials, by `activities.text.evidence_strength.WEIGHT`."""
MODERATE_FROM = 0.65
"""Other trials, observation in people, reviews and what authorities publish."""

_SYNTHESES: frozenset[EvidenceType] = frozenset({"meta_analysis", "systematic_review", "review", "guideline"})
_REGISTRATION = re.compile(r"\bNCT\d{8}\b")


def grade_of(kind: EvidenceType) -> Grade:
    """The grade of a type of evidence."""
    weight = WEIGHT[kind]
    return "strong" if weight >= STRONG_FROM else "moderate" if weight >= MODERATE_FROM else "weak"


def grade(items: Iterable[Evidence]) -> Grade:
    """The grade of the best item; items under concern or retracted do not count."""
    grades = {grade_of(item.evidence_type) for item in items if item.standing not in ("concern", "retracted")}
    return "strong" if "strong" in grades else "moderate" if "moderate" in grades else "weak"


def participants(item: Evidence) -> int | None:
    """Number of participants; None for syntheses, which count studies, and where no number stands."""
    found = study_facts.participants(item)
    return int(found.text) if found else None


def studies(items: Sequence[Evidence]) -> dict[str, int]:
    """Evidence id -> number of the study it reports, counted from 1 in order of appearance."""
    number: dict[tuple[str, ...], int] = {}
    found: dict[str, int] = {}
    for item in items:
        keys = _keys(item)
        known = next((number[key] for key in keys if key in number), len(set(number.values())) + 1)
        for key in keys:
            number.setdefault(key, known)
        found[item.evidence_id] = known
    return found


def independent(items: Sequence[Evidence], study: Mapping[str, int]) -> int:
    """How many independent studies support a claim that cites these items."""
    primary = {study[i.evidence_id]: i for i in items if i.evidence_type not in _SYNTHESES}
    syntheses = [i for i in items if i.evidence_type in _SYNTHESES]
    if not syntheses:
        return len(primary)
    newest = max(i.year or 0 for i in syntheses)
    later = [i for i in primary.values() if i.year and newest and i.year > newest]
    return 1 + len(later)


def with_strength(claim: Claim, documents: Mapping[str, Evidence], study: Mapping[str, int]) -> Claim:
    """The claim with the grade of its evidence and the number of independent studies."""
    items = [documents[name] for name in dict.fromkeys(s.evidence_id for s in claim.support)]
    return claim.model_copy(update={"strength": grade(items), "independent_works": independent(items, study)})


def _keys(item: Evidence) -> list[tuple[str, ...]]:
    """What identifies the study behind a work. A synthesis names the registrations of other people's trials,
    so that only its own identity counts."""
    own = ("work", item.evidence_id)
    if item.evidence_type in _SYNTHESES:
        return [own]
    # The first registration in a text is its own trial's as a rule; later ones may be mentioned in passing.
    registration = item.identifiers.nct or next(iter(_REGISTRATION.findall(item.text)), None)
    keys: list[tuple[str, ...]] = [("trial", registration)] if registration else []
    people = participants(item)
    if item.authors and item.year and people:
        keys.append(("report", item.authors[0].casefold(), str(item.year), str(people)))
    return [*keys, own]
