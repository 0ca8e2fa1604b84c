"""The statistics of a report."""

from collections.abc import Iterable, Iterator, Mapping

from activities.analysis.meta_analysis import REASONS, UNREAD, VERDICTS, interval_text, is_complete, with_text
from activities.contracts.appraisal import PART as CONCLUSIONS
from activities.contracts.effects import MEASURE_NAMES, Analysis, Expected, NotPooled, Unread
from activities.contracts.effects import PART as ANALYSIS
from activities.contracts.errors import StoreError
from activities.contracts.evidence import Statement, Support
from activities.contracts.publish import PublishInput
from activities.evidence_store import EvidenceStore
from activities.logs import log
from activities.messages import N_, _, decimals, number
from activities.report.claims import Checks
from activities.report.formats import figures
from activities.report.formats.blocks import (
    Block,
    Bullets,
    Chapter,
    Code,
    Heading,
    Parts,
    Run,
    Text,
    bullets,
)
from activities.report.formats.figures import effects_of
from activities.report.formats.references import Quotes
from activities.report.formats.text import clean
from activities.report.parts import ReportPart
from activities.report.schema import JudgedWork, Report


class AnalysisReport(ReportPart):
    """Shows the statistics that were stored when they were computed."""

    async def read_stored(
        self, store: EvidenceStore, step: PublishInput, *, patient: bool
    ) -> tuple[Analysis | None, Iterable[Statement]]:
        blob = ANALYSIS.of_input(step)
        try:
            return (Analysis.model_validate_json(await store.get_bytes(blob)) if blob else None), ()
        except (StoreError, ValueError) as error:
            log.warning("analysis_unreadable", error=str(error))
            return None, ()

    def check(
        self, step: PublishInput, checks: Checks, judgements: Iterable[JudgedWork], data: object
    ) -> object:
        return with_text(data) if isinstance(data, Analysis) else None

    def chapters(self, report: Report, quotes: Quotes, *, with_pictures: bool) -> Iterable[Chapter]:
        chapter_blocks = (*blocks(report, quotes, with_pictures=with_pictures),)
        if not CONCLUSIONS.of_report(report):
            chapter_blocks += (*effects_of(report, with_pictures=with_pictures),)
        yield Chapter("statistics", _(TITLE), chapter_blocks)

    def files(self, report: Report) -> Mapping[str, bytes]:
        analysis = ANALYSIS.of_report(report)
        return {"analysis.json": analysis.model_dump_json(indent=2).encode()} if analysis else {}


TITLE = N_("Statistics")
LISTED_TITLE = N_("Listed, not pooled")
PROGRAM_TITLE = N_("A program written by a model")


EXPECTED: Mapping[Expected, str] = {
    "lower": N_("lower"),
    "higher": N_("higher"),
    "different": N_("a difference"),
}


def blocks(report: Report, quotes: Quotes, *, with_pictures: bool) -> Iterator[Block]:
    """Verdict, findings, a forest plot with its numbers, what was not pooled, the program."""
    analysis = ANALYSIS.of_report(report)
    if analysis is None:
        return
    yield Text((Run(_verdict(analysis), "bold"),))
    yield from bullets(analysis.key_findings)
    for pool in analysis.pools:
        title = clean(f"{pool.outcome}: {_(MEASURE_NAMES[pool.measure])}")
        yield Heading(title)
        yield from figures.pool_blocks(title, pool, with_pictures=with_pictures)
    if analysis.not_pooled:
        yield Heading(_(LISTED_TITLE))
        yield Bullets(tuple(_effect_parts(row, quotes) for row in analysis.not_pooled))
    if (program := analysis.generated) is not None:
        yield Heading(_(PROGRAM_TITLE))
        author_line = _("Written by {model}; run in a sandbox without network or files.")
        author_line = author_line.format(model=program.model or _("a model"))
        output = program.output.strip()
        output_line = _("Its output: {output}").format(output=output) if output else ""
        yield from (Text((Run(clean(text)),)) for text in (program.method, author_line, output_line) if text)
        lines = program.code.expandtabs(4).splitlines()
        yield Code(tuple("".join(c for c in line if c.isprintable()) for line in lines))
    omissions = map(_omission, analysis.unread) if report.length == "full" else ()
    yield from bullets((*analysis.limitations, *omissions))


def _omission(effect: Unread) -> str:
    cell = f" ({effect.column} “{effect.text}”)" if effect.text else ""
    reason = _(UNREAD[effect.reason])
    return _("Left out: {study}: {reason}.").format(study=effect.study + cell, reason=reason)


def _effect_parts(row: NotPooled, quotes: Quotes) -> Parts:
    """Show an effect with its numbers, which open the sentence that has them, and why it was not pooled."""
    effect, arms = row.effect, row.effect.arms
    result = figures.stated_interval(effect)
    counts = {name: number(count) for name, count in arms} if arms else {}
    template = _("{events} of {total} and {control_events} of {control_total}")
    note = (
        template.format(**counts) if counts else "",
        f"{effect.measure} {interval_text(result)}" if result else "",
    )
    support = Support(evidence_id=effect.evidence_id, quote=effect.quote)
    reason = _(REASONS[row.reason])
    reason += _(" as {study}, which is pooled").format(study=row.same_as) if row.same_as else ""
    numbers = Run("; ".join(filter(None, note)), quote=quotes.quote("", support))
    name = f"{clean(effect.study)} ({clean(effect.outcome)}):"
    return (Run(name), *((numbers,) if any(note) else ()), Run(clean(reason)))


def _verdict(analysis: Analysis) -> str:
    sure = "" if analysis.confidence is None else decimals(f"{analysis.confidence:.2f}")
    if not is_complete(analysis):
        text = _("No verdict from the numbers: not every effect could be read (expected: {expected}).")
    elif sure:
        text = _("Verdict from the numbers: {verdict}, confidence {confidence} (expected: {expected}).")
    else:
        text = _("Verdict from the numbers: {verdict} (expected: {expected}).")
    verdict, expectation = _(VERDICTS[analysis.verdict]), _(EXPECTED[analysis.expected])
    return text.format(verdict=verdict, confidence=sure, expected=expectation)


PART = AnalysisReport("analysis")
