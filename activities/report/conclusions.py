"""The conclusions of a report: the effects that were read, of works that still stand, and what follows."""

from collections.abc import Iterable, Mapping

from activities.analysis.conclusions import conclude
from activities.contracts.appraisal import Appraisal, Conclusion, StudyEffect, WorkFacts
from activities.contracts.evidence import Evidence, EvidenceType, Support
from activities.contracts.publish import PublishInput
from activities.report.schema import JudgedWork
from activities.report.works import design_type
from activities.text.evidence_strength import CLINICAL
from activities.text.study_design import participants
from activities.verification.quote_check import QuoteChecker

RANDOMIZED: frozenset[EvidenceType] = frozenset({"randomized_trial", "meta_analysis", "systematic_review"})
UNKNOWN_PEOPLE: frozenset[EvidenceType] = frozenset({"article", "document", "web_page"})
"""Types that do not say whether people were studied."""


def conclusions(
    step: PublishInput,
    documents: Mapping[str, Evidence],
    judged: Iterable[JudgedWork],
    checker: QuoteChecker,
) -> tuple[Conclusion, ...]:
    """The conclusions of works whose quotes stand in their stored texts and that were not retracted."""
    kept = [one for effect in step.appraisal.effects if (one := _checked(effect, checker)) is not None]
    if not kept and not step.appraisal.proposed:
        return ()
    by_id = {work.evidence_id: work for work in judged}
    facts = {name: _facts(documents[name], by_id.get(name)) for name in {one.evidence_id for one in kept}}
    sound = Appraisal(effects=tuple(kept), proposed=step.appraisal.proposed)
    return conclude(sound, facts)


def _checked(effect: StudyEffect, checker: QuoteChecker) -> StudyEffect | None:
    own = tuple(one for one in effect.support if one.evidence_id == effect.evidence_id)
    return effect if own and len(checker.supports(own).support) == len(effect.support) else None


def _facts(item: Evidence, judged: JudgedWork | None) -> WorkFacts:
    kind = design_type(item, judged)
    return WorkFacts(
        design=kind,
        randomized=kind in RANDOMIZED,
        in_people=kind in CLINICAL or kind in UNKNOWN_PEOPLE,
        participants=participants(item) or (judged.participants if judged else None),
        full_text=item.full_text,
        direct=judged is None or judged.answers >= 3,
        under_concern=item.standing == "concern",
    )


def supports(made: Iterable[Conclusion]) -> list[Support]:
    """Every quote that conclusions rest on."""
    return [support for one in made for work in one.works for support in work.support]
