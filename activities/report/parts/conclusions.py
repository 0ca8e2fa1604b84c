"""The conclusions of a report: the effects that were read, of works that still stand, and what follows."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping

from activities.analysis.conclusions import conclude, is_pool_missing, numbers_stand, recompute
from activities.contracts.appraisal import PART as CONCLUSIONS
from activities.contracts.appraisal import Appraisal, Conclusion, StudyEffect
from activities.contracts.errors import install
from activities.contracts.evidence import Statement, Support
from activities.contracts.publish import PublishInput
from activities.contracts.write import DraftClaim
from activities.messages import _
from activities.report.claims import Checks
from activities.report.formats import conclusion_words
from activities.report.formats.blocks import Block, Chapter
from activities.report.formats.figures import effects_of
from activities.report.formats.references import Quotes
from activities.report.parts import ReportPart
from activities.report.schema import JudgedWork, Report
from activities.report.strength import facts_of

MARK = "conclusions:"
"""What the ids of conclusions begin with where they are reworded."""


class ConclusionsReport(ReportPart):
    """Shows what follows by outcome; proposed, not assessed."""

    def cited_ids(self, step: PublishInput) -> Iterable[str]:
        return (effect.evidence_id for effect in CONCLUSIONS.of_input(step).effects)

    def without_works(self, step: PublishInput, works: Collection[str]) -> Appraisal:
        appraisal = CONCLUSIONS.of_input(step)
        return appraisal.replace(effects=tuple(e for e in appraisal.effects if e.evidence_id not in works))

    def check(
        self, step: PublishInput, checks: Checks, judgements: Iterable[JudgedWork], data: object
    ) -> tuple[Conclusion, ...]:
        appraisal = CONCLUSIONS.of_input(step)
        rows = conclusions(appraisal, judgements, checks)
        return tuple(row.replace(wording=appraisal.worded.get(row.key, "")) for row in rows)

    def remarks(self, report: Report, *, has_claims: bool) -> Iterable[Statement]:
        if any(map(is_pool_missing, CONCLUSIONS.of_report(report))):
            yield Statement.of("nothing_pooled")

    def quotes(self, report: Report) -> Iterable[Support]:
        works = (work for conclusion in CONCLUSIONS.of_report(report) for work in conclusion.works)
        return (quote for work in works for quote in work.support)

    def concludes(self, report: Report) -> bool:
        return bool(CONCLUSIONS.of_report(report))

    def lines(self, report: Report) -> Iterable[str]:
        return map(conclusion_words.line, conclusion_words.leading(report))

    def lead(self, report: Report, quotes: Quotes) -> Iterable[Block]:
        return conclusion_words.lead(report, quotes)

    def sentences(self, report: Report) -> Iterable[DraftClaim]:
        for conclusion in conclusion_words.leading(report):
            support = tuple(quote for work in conclusion.works for quote in work.support)
            if support:
                text = conclusion_words.sentence_of(conclusion)
                yield DraftClaim(id=f"{MARK}{conclusion.key}", text=text, support=support, kind="synthesis")

    def reword(self, step: PublishInput, texts: Mapping[str, str]) -> Appraisal:
        appraisal = CONCLUSIONS.of_input(step)
        wordings = {name.removeprefix(MARK): text for name, text in texts.items() if name.startswith(MARK)}
        return appraisal.replace(worded={**appraisal.worded, **wordings})

    def chapters(self, report: Report, quotes: Quotes, *, with_pictures: bool) -> Iterable[Chapter]:
        blocks = (*conclusion_words.blocks(report, quotes),)
        if blocks:
            blocks += (*effects_of(report, with_pictures=with_pictures),)
        yield Chapter("conclusions", _(conclusion_words.TITLE), blocks)

    def problems(
        self, report: Report, items: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, Iterable[tuple[str, ...]]]:
        return {"conclusion": (tuple(_problems(conclusion)) for conclusion in CONCLUSIONS.of_report(report))}


def conclusions(appraisal: Appraisal, works: Iterable[JudgedWork], checks: Checks) -> tuple[Conclusion, ...]:
    """Conclude from works whose quotes stand in their stored texts and that were not retracted."""
    effects = [effect for effect in appraisal.effects if _stands(effect, checks)]
    if not effects and not appraisal.proposed:
        return ()
    by_id = {work.evidence_id: work for work in works}
    facts = {
        name: facts_of(checks.documents[name], by_id.get(name))
        for name in {effect.evidence_id for effect in effects}
    }
    return conclude(Appraisal(effects=tuple(effects), proposed=appraisal.proposed), facts)


def _stands(effect: StudyEffect, checks: Checks) -> bool:
    quotes = tuple(support for support in effect.support if support.evidence_id == effect.evidence_id)
    return bool(quotes) and len(checks.supports(quotes).support) == len(effect.support)


def _problems(conclusion: Conclusion) -> Iterator[str]:
    """Name what does not follow when a conclusion is made again from the works that it names."""
    if conclusion.pooled is not None and is_pool_missing(conclusion):
        yield f"conclusion {conclusion.outcome}: {install('analysis')} to make its pooled figure again"
        return
    check = recompute(conclusion)
    for field in ("direction", "by_effects", "certainty", "starts", "concerns"):
        if getattr(check, field) != getattr(conclusion, field):
            name = field.replace("_", " ")
            yield f"conclusion {conclusion.outcome}: its {name} does not follow from its works"
    pools = [
        (pool.measure, pool.works, pool.left_out) if pool else None
        for pool in (check.pooled, conclusion.pooled)
    ]
    results = [p.result.model_dump().values() if p else () for p in (check.pooled, conclusion.pooled)]
    alike = (math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) for a, b in zip(*results, strict=False))
    if pools[0] != pools[1] or not all(alike):
        yield f"conclusion {conclusion.outcome}: its pooled figure does not follow from its works"
    for work in conclusion.works:
        if not numbers_stand(work):
            yield f"conclusion {conclusion.outcome}: a number of {work.evidence_id} is not in its quotes"


PART = ConclusionsReport("conclusions")
