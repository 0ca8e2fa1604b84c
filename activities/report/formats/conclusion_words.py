"""The conclusions of a report as blocks: what follows by outcome, how sure, and from which effects.

The wording of direction and certainty is that of GRADE (Santesso et al. 2020,
doi:10.1016/j.jclinepi.2019.10.014).
"""

from collections.abc import Iterator, Mapping

from activities.analysis.meta_analysis import shown_interval
from activities.contracts.appraisal import (
    AppraisedWork,
    Certainty,
    CertaintyReason,
    Conclusion,
    ConclusionDirection,
)
from activities.contracts.effects import MEASURE_NAMES
from activities.plural import counted
from activities.report.formats.blocks import Block, Bullets, Cell, Heading, Run, Table, Text
from activities.report.formats.quotes import Quotes
from activities.report.formats.text import clean
from activities.report.schema import Report

TITLE = "Conclusions"
HEAD = ("Study", "Found", "Effect (95 % interval)", "Participants")
NOTE = (
    "Proposed from the works cited, not assessed by people. Whether the way in which the studies were done "
    "biases them was not read."
)
SURELY: Mapping[Certainty, str] = {
    "high": "is",
    "moderate": "is probably",
    "low": "may be",
    "very_low": "may be",
}
REASONS: Mapping[CertaintyReason, str] = {
    "observational": "most of the works are no randomised trials",
    "not_in_people": "no work is in people",
    "abstracts_only": "not every work was read in full, so that it is moderate at most",
    "few_participants": "few people took part",
    "few_events": "few people had the outcome",
    "wide_interval": "the interval includes no effect and one that matters",
    "few_studies": "few studies were pooled: the interval that allows for this includes no effect",
    "inconsistent": "the effects differ between the works",
    "opposite": "works point in opposite directions",
    "indirect": "most of the works answer in part",
    "no_numbers": "no work gives an effect with its interval",
    "under_concern": "an expression of concern stands on a work",
}


def in_words(code: Certainty | ConclusionDirection) -> str:
    """`very_low` -> `very low`."""
    return code.replace("_", " ")


def statement(one: Conclusion) -> str:
    outcome, group = clean(one.outcome), clean(one.group)
    versus = f" compared with {against}" if (against := clean(one.comparator)) else ""
    with_group = f" with {group}{versus}" if group else versus
    if one.direction in ("higher", "lower"):
        return _sentence(f"{outcome} {SURELY[one.certainty]} {one.direction}{with_group}.")
    if one.direction == "no_difference":
        there = SURELY[one.certainty].replace("is", "there is", 1).replace("may be", "there may be")
        return _sentence(f"{there} little or no difference in {outcome}{with_group}.")
    if one.direction == "uncertain":
        return _sentence(f"the evidence is very uncertain about {outcome}{with_group}.")
    return _sentence(f"there are not enough data on {outcome}{with_group}.")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def certainty(one: Conclusion) -> str:
    """How sure, and why it is not more."""
    known = [REASONS[reason] for reason in one.reasons]
    known += [clean(reason).rstrip(".") for reason in (one.proposed.reasons if one.proposed else ())]
    why = f": {'; '.join(known)}" if known else ""
    return f"Certainty {in_words(one.certainty)} (proposed){why}."


def pooled(one: Conclusion) -> str:
    """The pooled figure in words; empty where nothing was pooled."""
    if one.pooled is None:
        return ""
    figure = one.pooled
    return (
        f"Pooled {MEASURE_NAMES[figure.measure]} {shown_interval(figure.result)} of "
        f"{counted(len(figure.works), 'study', 'studies')}, I\u00b2 {figure.i2:.0%}."
    )


def brief(report: Report, quotes: Quotes) -> Iterator[Block]:
    """Each conclusion with its certainty, in one line."""
    rows = (
        (
            Run(statement(one)),
            quotes.cite(s for w in one.works for s in w.support),
            Run(f" Certainty {in_words(one.certainty)} (proposed)."),
        )
        for one in report.conclusions
    )
    if report.conclusions:
        yield Bullets(tuple(rows))


def blocks(report: Report, quotes: Quotes) -> Iterator[Block]:
    """Each conclusion with its certainty, the pooled figure and the works it rests on."""
    for one in report.conclusions:
        yield Heading(f"{clean(one.outcome)}: {in_words(one.direction)}")
        yield Text((Run(statement(one), "bold"), quotes.cite(s for w in one.works for s in w.support)))
        yield Bullets(tuple((Run(text),) for text in (certainty(one), pooled(one)) if text))
        if one.works:
            yield Table(HEAD, tuple(_row(work, quotes) for work in one.works))
    if report.conclusions:
        yield Text((Run(NOTE),), "note")


def _row(work: AppraisedWork, quotes: Quotes) -> tuple[Cell, ...]:
    reference = quotes.references.get(work.evidence_id)
    name = Run(clean(reference.title) if reference else work.evidence_id)
    figure = ""
    if work.effect is not None and work.result is not None:
        figure = f"{work.effect.measure} {shown_interval(work.result)}"
    cells = (in_words(work.direction), figure, str(work.n or ""))
    return (Cell((quotes.cite(work.support), name)), *(Cell((Run(text),)) for text in cells))
