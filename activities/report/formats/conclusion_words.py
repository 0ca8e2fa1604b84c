"""The conclusions of a report as blocks: what follows by outcome, how sure, and from which effects.

The wording of direction and certainty is that of GRADE (Santesso et al. 2020,
doi:10.1016/j.jclinepi.2019.10.014).
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

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
from activities.report.formats.blocks import Block, Bullets, Cell, Heading, Parts, Run, Table, Text
from activities.report.formats.quotes import Quotes
from activities.report.formats.text import clean
from activities.report.schema import Report

TITLE = "Conclusions"
HEAD = ("Study", "Found", "Effect (95 % interval)", "Events by group", "Participants")
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
UNSURE = ", but the evidence is very uncertain"
"""Behind a direction of very low certainty."""
OPEN: tuple[ConclusionDirection, ...] = ("uncertain", "not_enough_data")
"""Conclusions without a direction."""
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


def _excludes_what_matters(one: Conclusion) -> bool:
    """Whether works that found no difference say that there is little or none: their interval holds none that
    matters. What was not shown may still be there (Altman and Bland 1995, doi:10.1136/bmj.311.7003.485)."""
    return not {"wide_interval", "no_numbers"}.intersection(one.reasons)


def verdict(one: Conclusion) -> str:
    """The direction in two or three words."""
    shown = " shown" if one.direction == "no_difference" and not _excludes_what_matters(one) else ""
    return f"{in_words(one.direction)}{shown}"


def statement(one: Conclusion) -> str:
    outcome, group = clean(one.outcome), clean(one.group)
    versus = f" compared with {against}" if (against := clean(one.comparator)) else ""
    with_group = f" with {group}{versus}" if group else versus
    with_group += UNSURE if one.certainty == "very_low" and one.direction not in OPEN else ""
    if one.direction in ("higher", "lower"):
        return _sentence(f"{outcome} {SURELY[one.certainty]} {one.direction}{with_group}.")
    if one.direction == "no_difference" and not _excludes_what_matters(one):
        return _sentence(
            f"no difference in {outcome} was shown{with_group}; one that matters is not excluded."
        )
    if one.direction == "no_difference":
        there = SURELY[one.certainty].replace("is", "there is", 1).replace("may be", "there may be")
        return _sentence(f"{there} little or no difference in {outcome}{with_group}.")
    if one.direction == "uncertain":
        return _sentence(f"the evidence is very uncertain about {outcome}{with_group}.")
    return _sentence(f"there are not enough data on {outcome}{with_group}.")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def certainty(one: Conclusion) -> str:
    """How sure, and why it is not more: by the checked fields, and in the model's words. Where there are not
    enough data nothing is graded."""
    known = [REASONS[reason] for reason in one.reasons]
    words = [clean(reason).rstrip(".") for reason in (one.proposed.reasons if one.proposed else ())]
    parts = [_grade(one)]
    parts += [f"Why not higher: {'; '.join(known)}."] if known else []
    parts += [f"In the model's words: {'; '.join(words)}."] if words else []
    return " ".join(filter(None, parts))


def _grade(one: Conclusion) -> str:
    return "" if one.direction == "not_enough_data" else f"Certainty {in_words(one.certainty)} (proposed)."


def figures(one: Conclusion) -> str:
    """The pooled figure in words, else that of the only work; empty where there is neither."""
    if one.pooled is not None:
        figure = one.pooled
        of = f"{counted(len(figure.works), 'study', 'studies')}, I\u00b2 {figure.i2:.0%}"
        return f"Pooled {MEASURE_NAMES[figure.measure]} {shown_interval(figure.result)} of {of}."
    if len(one.works) == 1 and (work := one.works[0]).effect and work.result:
        return _sentence(f"{MEASURE_NAMES[work.effect.measure]} {shown_interval(work.result)} in one study.")
    return ""


def absolute(one: Conclusion) -> str:
    """What a risk ratio means for a thousand people with the risk of the comparators, the median of the works
    whose events are known (Cochrane's handbook, 15.4.4). Empty where that is not known, and where the
    evidence is too uncertain to say so."""
    works = [work for work in one.works if work.effect and work.effect.measure == "RR"]
    arms = [work.effect.arms for work in works if work.effect and work.effect.arms]
    result = (
        one.pooled.result if one.pooled else works[0].result if len(one.works) == len(works) == 1 else None
    )
    is_ratio = one.pooled is None or one.pooled.measure == "RR"
    if result is None or not is_ratio or not arms or one.certainty == "very_low":
        return ""
    risk = 1000 * median(arm.control_events / arm.control_total for arm in arms)
    middle, low, high = (
        f"{min(1000, risk * ratio):.0f}" for ratio in (result.estimate, result.low, result.high)
    )
    group, comparator = clean(one.group) or "it", clean(one.comparator)
    against = f"with {comparator}" if comparator else "without"
    return f"Of 1,000 people, {risk:.0f} have it {against}, {middle} ({low} to {high}) with {group}."


def line(one: Conclusion) -> str:
    """A conclusion with its figure and its certainty."""
    return " ".join(filter(None, (statement(one), _grounds(one))))


def _grounds(one: Conclusion) -> str:
    return " ".join(filter(None, (figures(one), _grade(one))))


def brief(report: Report, quotes: Quotes) -> Iterator[Block]:
    """Each conclusion with its certainty, in one line."""
    rows = (
        (
            Run(statement(one)),
            *_cited(one, quotes),
            Run(f" {_grounds(one)}".rstrip()),
        )
        for one in report.conclusions
    )
    if report.conclusions:
        yield Bullets(tuple(rows))


def blocks(report: Report, quotes: Quotes) -> Iterator[Block]:
    """Each conclusion with its certainty, the pooled figure and the works it rests on."""
    for one in report.conclusions:
        yield Heading(_sentence(f"{clean(one.outcome)}: {verdict(one)}"))
        yield Text((Run(statement(one), "bold"), *_cited(one, quotes)))
        texts = (figures(one), absolute(one), certainty(one))
        yield Bullets(tuple((Run(text),) for text in texts if text))
        if one.works:
            yield _table(one.works, quotes)
    if report.conclusions:
        yield Text((Run(NOTE),), "note")


def _cited(one: Conclusion, quotes: Quotes) -> Parts:
    return (quotes.cite(s for w in one.works for s in w.support),) if one.works else ()


def _table(works: Sequence[AppraisedWork], quotes: Quotes) -> Table:
    """The works; without the columns that are empty for all of them."""
    texts = [(in_words(work.direction), _effect(work), _events(work), str(work.n or "")) for work in works]
    kept = [place for place, column in enumerate(zip(*texts, strict=True)) if any(column)]
    rows = (
        (_study(work, quotes), *(Cell((Run(row[place]),)) for place in kept))
        for work, row in zip(works, texts, strict=True)
    )
    measures = dict.fromkeys(work.effect.measure for work in works if work.effect)
    caption = "; ".join(f"{measure}: {MEASURE_NAMES[measure]}" for measure in measures)
    return Table((HEAD[0], *(HEAD[place + 1] for place in kept)), tuple(rows), caption)


def _study(work: AppraisedWork, quotes: Quotes) -> Cell:
    reference = quotes.references.get(work.evidence_id)
    return Cell((quotes.cite(work.support), Run(clean(reference.title) if reference else work.evidence_id)))


def _effect(work: AppraisedWork) -> str:
    if work.effect is None or work.result is None:
        return ""
    return f"{work.effect.measure} {shown_interval(work.result)}"


def _events(work: AppraisedWork) -> str:
    """The events that an effect was computed from; what they were computed from themselves in brackets."""
    if work.effect is None or work.effect.arms is None:
        return ""
    arms = work.effect.arms
    sources = (
        "from percentages" if work.shares else "",
        "groups taken as halves" if work.total_of_both and abs(arms.total - arms.control_total) <= 1 else "",
    )
    how = ", ".join(filter(None, sources))
    text = f"{arms.events} of {arms.total} and {arms.control_events} of {arms.control_total}"
    return f"{text} ({how})" if how else text
