"""The conclusions of a report: what follows by outcome and how sure, with which its answer begins, and from
which effects.

The wording of direction and certainty is that of GRADE (Santesso et al. 2020,
doi:10.1016/j.jclinepi.2019.10.014).
"""

from collections.abc import Iterator, Mapping
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
from activities.report.formats import references as refs
from activities.report.formats.blocks import (
    Block,
    Bullets,
    Cell,
    Heading,
    Parts,
    Run,
    Table,
    Text,
    bullets,
    cell,
    filled,
)
from activities.report.formats.quotes import Quotes
from activities.report.formats.text import clean
from activities.report.schema import Report

TITLE = "Conclusions"
HEAD = ("Effect (95 % interval)", "Direction", "Participants")
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
    "abstracts_only": "not every work was read in full, which allows moderate at most",
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


def found(direction: ConclusionDirection) -> str:
    """What one work found: that its interval includes no effect does not say that there is none."""
    return f"{in_words(direction)}{' shown' if direction == 'no_difference' else ''}"


def verdict(one: Conclusion) -> str:
    """The direction and how certain it is, in a few words: a heading is read alone."""
    shown = " shown" if one.direction == "no_difference" and not _excludes_what_matters(one) else ""
    certainty = "" if one.direction in OPEN else f", {in_words(one.certainty)} certainty"
    return f"{in_words(one.direction)}{shown}{certainty}"


def statement(one: Conclusion) -> str:
    outcome, group, against = map(clean, (one.outcome, one.group, one.comparator))
    sides = (f" with {group}" if group else "") + (f" compared with {against}" if against else "")
    doubt = UNSURE if one.certainty == "very_low" and one.direction not in OPEN else ""
    surely = SURELY[one.certainty]
    match one.direction:
        case "higher" | "lower":
            text = f"{outcome} {surely} {one.direction}{sides}{doubt}."
        case "no_difference" if not _excludes_what_matters(one):
            text = f"no difference in {outcome} was shown{sides}{doubt}; one that matters is not excluded."
        case "no_difference":
            there = surely.replace("is", "there is", 1).replace("may be", "there may be")
            text = f"{there} little or no difference in {outcome}{sides}{doubt}."
        case "uncertain":
            text = f"the evidence is very uncertain about {outcome}{sides}."
        case "not_enough_data":
            text = f"there are not enough data on {outcome}{sides}."
    return _sentence(text)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def reasons(one: Conclusion) -> Iterator[str]:
    """Why a conclusion is not more certain: by the checked fields, and in the model's words."""
    texts = [REASONS[reason] for reason in one.reasons]
    words = [clean(reason).rstrip(".") for reason in (one.proposed.reasons if one.proposed else ())]
    if texts:
        yield f"Why not more certain: {'; '.join(texts)}."
    if words:
        yield f"In the model's words: {'; '.join(words)}."


def figures(one: Conclusion) -> str:
    """The pooled figure in words, else that of the only work; empty where there is neither."""
    if one.pooled is not None:
        figure = one.pooled
        of = counted(len(figure.works), "study", "studies")
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
    return " ".join(filter(None, (statement(one), _grounds(one))))


def _grounds(one: Conclusion) -> str:
    """The figure and the certainty; where there are not enough data nothing is graded."""
    graded = one.direction != "not_enough_data"
    grade = f"Certainty {in_words(one.certainty)} (proposed)." if graded else ""
    return " ".join(filter(None, (figures(one), grade)))


def lead(report: Report, quotes: Quotes) -> Iterator[Block]:
    """What the answer begins with: each conclusion with its figure and its certainty."""
    lines: list[Parts] = []
    for one in report.conclusions:
        cited = (quotes.cite(s for w in one.works for s in w.support),) if one.works else ()
        grounds = (Run(text),) if (text := _grounds(one)) else ()
        lines.append((Run(statement(one), "bold"), *cited, *grounds))
    if len(lines) == 1:
        yield Text(lines[0], "answer")
    elif lines:
        yield Bullets(tuple(lines))


def blocks(report: Report, quotes: Quotes) -> Iterator[Block]:
    """What each conclusion rests on: why it is not more certain, and its works with their groups beside each
    other."""
    for one in report.conclusions:
        yield Heading(_sentence(f"{clean(one.outcome)}: {verdict(one)}"))
        yield from bullets(filter(None, (absolute(one), *reasons(one))))
        if one.works:
            yield _table(one, quotes)
    if report.conclusions:
        yield Text((Run(NOTE),), "note")


def _table(one: Conclusion, quotes: Quotes) -> Table:
    """The works of a conclusion, and what was pooled of them last."""
    groups = (clean(one.group) or "Group", clean(one.comparator) or "Compared with")
    head = ("Study", *map(_sentence, groups), *HEAD)
    rows = [_row(work, quotes) for work in sorted(one.works, key=lambda w: quotes.number(w.evidence_id))]
    if one.pooled is not None:
        effect = f"{one.pooled.measure} {shown_interval(one.pooled.result)}"
        last = f"Pooled (random effects, I\u00b2 {one.pooled.i2:.0%})"
        name, figure = (Cell((Run(text, "bold"),)) for text in (last, effect))
        rows.append((name, Cell(), Cell(), figure, Cell(), Cell()))
    measures = dict.fromkeys(work.effect.measure for work in one.works if work.effect)
    caption = "; ".join(f"{measure}: {MEASURE_NAMES[measure]}" for measure in measures)
    return Table(*filled(head, rows), caption)


def _row(work: AppraisedWork, quotes: Quotes) -> tuple[Cell, ...]:
    """A work: what each group had, the effect, participants where the groups do not say them, and what it
    found where no number does. Numbers open the sentence that has them."""
    reference = quotes.references.get(work.evidence_id)
    quote = quotes.quote("", work.support[0]) if work.support else None

    label = clean(refs.label_of(reference)) if reference else work.evidence_id
    year = str(reference.year or "") if reference else ""
    name = Run(label if label.endswith(year) else f"{label} ({year})")
    arms = work.effect.arms if work.effect else None
    # what the events were computed from, where the work does not give them
    halves = work.total_of_both and arms is not None and abs(arms.total - arms.control_total) <= 1
    how = ", ".join(("from percentages",) * bool(work.shares) + ("groups taken as halves",) * halves)
    effect = f"{work.effect.measure} {shown_interval(work.result)}" if work.effect and work.result else ""
    effect += ", turned round: the work gives the opposite outcome" if effect and work.opposite else ""
    texts = (
        _share(arms.events, arms.total, how) if arms else "",
        _share(arms.control_events, arms.control_total) if arms else "",
        effect,
        in_words(work.direction),
        "" if arms or not work.n else f"{work.n:,}",
    )
    first = Cell((*((quotes.mark(reference.number),) if reference else ()), name))
    return (first, *(cell(text, quote=quote) for text in texts))


def _share(events: int, total: int, how: str = "") -> str:
    text = f"{events:,} of {total:,} ({events / total:.1%})"
    return f"{text}, {how}" if how else text
