"""The statistics of a report as blocks."""

from collections.abc import Iterator

from activities.analysis.meta_analysis import REASONS, is_complete, shown_interval
from activities.contracts.effects import MEASURE_NAMES, Analysis, Effect, Interval, NotPooled, Pool
from activities.contracts.effects import PART as ANALYSIS
from activities.contracts.evidence import Support
from activities.report.formats import figures
from activities.report.formats.blocks import (
    Block,
    Bullets,
    Code,
    Figure,
    Heading,
    Parts,
    Run,
    Text,
    bullets,
    table,
)
from activities.report.formats.quotes import Quotes
from activities.report.formats.text import clean
from activities.report.schema import Report

TITLE = "Statistics"
LISTED_TITLE = "Listed, not pooled"
PROGRAM_TITLE = "A program that a model wrote"
HEAD = ("Study", "Effect (95 % interval)", "Weight")


def blocks(report: Report, quotes: Quotes, *, drawn: bool) -> Iterator[Block]:
    """Verdict, findings, a forest plot with its numbers, what was not pooled, the program."""
    analysis = ANALYSIS.shown(report)
    if analysis is None:
        return
    yield Text((Run(_verdict(analysis), "bold"),))
    yield from bullets(analysis.key_findings)
    for pool in analysis.pools:
        title, panel = clean(f"{pool.outcome}: {MEASURE_NAMES[pool.measure]}"), figures.pool_panel(pool)
        yield Heading(title)
        if drawn and panel is not None:
            words = "; ".join(f"{mark.label} {mark.text}" for mark in panel.marks)
            yield Figure("", figures.drawing("effects", title, words, [panel]), words=title)
        yield table(HEAD, _rows(pool))
    if analysis.not_pooled:
        yield Heading(LISTED_TITLE)
        yield Bullets(tuple(_listed(one, quotes) for one in analysis.not_pooled))
    if (program := analysis.generated) is not None:
        yield Heading(PROGRAM_TITLE)
        by = f"Written by {program.model or 'a model'}, run in a sandbox without network and files."
        printed = f"It printed: {program.output.strip()}" if program.output.strip() else ""
        yield from (Text((Run(clean(text)),)) for text in (program.method, by, printed) if text)
        lines = program.code.expandtabs(4).splitlines()
        yield Code(tuple("".join(c for c in line if c.isprintable()) for line in lines))
    yield from bullets(analysis.limitations)


def _listed(one: NotPooled, quotes: Quotes) -> Parts:
    """An effect with its numbers, which open the sentence that has them, and why it was not pooled."""
    effect, arms = one.effect, one.effect.arms
    result = stated_interval(effect)
    told = (
        f"{arms.events} of {arms.total} and {arms.control_events} of {arms.control_total}" if arms else "",
        f"{effect.measure} {shown_interval(result)}" if result else "",
    )
    support = Support(evidence_id=effect.evidence_id, quote=effect.quote)
    why = REASONS[one.reason] + (f" as {one.same_as}, which is pooled" if one.same_as else "")
    numbers = Run("; ".join(filter(None, told)), quote=quotes.quote("", support))
    name = f"{clean(effect.study)} ({clean(effect.outcome)}):"
    return (Run(name), *((numbers,) if any(told) else ()), Run(clean(why)))


def stated_interval(effect: Effect) -> Interval | None:
    """The interval that a work states; None where it states none."""
    if effect.estimate is None or effect.low is None or effect.high is None:
        return None
    return Interval(estimate=effect.estimate, low=effect.low, high=effect.high)


def _verdict(analysis: Analysis) -> str:
    if not is_complete(analysis):
        return f"No verdict from numbers: not every effect could be read (expected: {analysis.expected})."
    sure = "" if analysis.confidence is None else f", confidence {analysis.confidence:.2f}"
    return f"Verdict from numbers: {analysis.verdict}{sure} (expected: {analysis.expected})."


def _rows(pool: Pool) -> Iterator[tuple[str, str, str]]:
    """The rows of a pool's table, its summaries last."""
    for row in pool.rows:
        yield clean(row.effect.study), shown_interval(row.result), f"{row.weight:.1%}"
    yield "Fixed effect", shown_interval(pool.fixed), ""
    yield "Random effects", shown_interval(pool.hartung_knapp), ""
    if pool.prediction is not None:
        yield "Prediction interval", shown_interval(pool.prediction), ""
