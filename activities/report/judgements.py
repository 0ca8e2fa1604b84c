"""What is shown of judgements of works: what has its quote in that very work."""

from collections.abc import Iterable

from activities.contracts.evidence import EvidenceRef
from activities.contracts.judge import WorkJudgement
from activities.report.claims import Checks
from activities.report.formats.text import clean
from activities.report.schema import JudgedWork

MAX_REASON_WORDS = 20
"""Words of a judgement's reason that are shown."""


def judged_works(
    judgements: Iterable[WorkJudgement],
    refs: Iterable[EvidenceRef],
    checks: Checks,
) -> tuple[JudgedWork, ...]:
    """The judgements, each work once. Of a work whose text is not at hand only the labels are shown."""
    by_id = {ref.evidence_id: ref for ref in refs}
    kept: dict[str, JudgedWork] = {}
    for judgement in judgements:
        name = judgement.evidence_id
        work = JudgedWork.model_validate(judgement.model_dump())
        item = checks.documents.get(name)
        if (described := item or by_id.get(name)) is not None:
            title, kind = clean(described.title), described.evidence_type
            work = work.replace(title=title, year=described.year, evidence_type=kind)
        if item is None:
            work = work.replace(
                finding="",
                comparator="",
                design="",
                design_support=(),
                reason="",
                support=(),
                participants=None,
            )
        else:
            quoted = checks.supports(judgement.support)
            if quoted.refused:
                checks.drop(clean(judgement.finding), quoted.refused, "judgement", "", [name])
            if checks.supports(judgement.design_support).refused:
                work = work.replace(design="", design_support=(), participants=None)
            work = work.replace(
                finding="" if quoted.refused else clean(judgement.finding),
                support=quoted.support,
                comparator=clean(judgement.comparator),
                reason=" ".join(clean(judgement.reason).split()[:MAX_REASON_WORDS]),
            )
        kept.setdefault(name, work)
    return tuple(kept.values())
