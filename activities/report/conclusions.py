"""The conclusions of a report: the effects that were read, of works that still stand, and what follows."""

from collections.abc import Iterable

from activities.analysis.conclusions import conclude
from activities.contracts.appraisal import Appraisal, Conclusion, StudyEffect, WorkFacts
from activities.contracts.evidence import Evidence, EvidenceType
from activities.contracts.judge import WorkJudgement
from activities.report.claims import Checks
from activities.report.schema import JudgedWork
from activities.report.strength import is_in_people, kind_of, participants
from activities.text.evidence_strength import UNSPECIFIC

SYNTHESES: frozenset[EvidenceType] = frozenset({"meta_analysis", "systematic_review"})
RANDOMIZED = SYNTHESES | {"randomized_trial"}


def conclusions(appraisal: Appraisal, judged: Iterable[JudgedWork], checks: Checks) -> tuple[Conclusion, ...]:
    """The conclusions of works whose quotes stand in their stored texts and that were not retracted."""
    kept = [one for one in appraisal.effects if _stands(one, checks)]
    if not kept and not appraisal.proposed:
        return ()
    by_id = {work.evidence_id: work for work in judged}
    facts = {
        name: facts_of(checks.documents[name], by_id.get(name)) for name in {one.evidence_id for one in kept}
    }
    return conclude(Appraisal(effects=tuple(kept), proposed=appraisal.proposed), facts)


def _stands(effect: StudyEffect, checks: Checks) -> bool:
    own = tuple(one for one in effect.support if one.evidence_id == effect.evidence_id)
    return bool(own) and len(checks.supports(own).support) == len(effect.support)


def facts_of(item: Evidence, judged: WorkJudgement | None) -> WorkFacts:
    """What is known of a work beside its effects."""
    kind = kind_of(item, judged)
    return WorkFacts(
        design=kind,
        randomized=kind in RANDOMIZED,
        synthesis=kind in SYNTHESES,
        in_people=kind in UNSPECIFIC or is_in_people(item, judged),
        participants=participants(item, judged),
        full_text=item.full_text,
        direct=judged is None or judged.answers >= 3,
        under_concern=item.standing == "concern",
    )
