"""The conclusions of a report: what follows by outcome and how sure, with which its answer begins, and from
which effects.

The wording of direction and certainty is that of GRADE (Santesso et al. 2020,
doi:10.1016/j.jclinepi.2019.10.014).
"""

from collections.abc import Iterator, Mapping
from statistics import median

from activities.analysis.certainty import CERTAINTIES
from activities.analysis.conclusions import OPEN, is_refuted, is_turned
from activities.analysis.meta_analysis import shown_interval
from activities.analysis.stated import numbers_held, numbers_in
from activities.contracts.appraisal import PART as CONCLUSIONS
from activities.contracts.appraisal import (
    AppraisedWork,
    Certainty,
    CertaintyReason,
    Conclusion,
    ConclusionDirection,
    PooledFigure,
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
    "The certainty is proposed from the works cited and was not assessed by people. The risk of "
    "bias, from how the studies were done, was not assessed."
)
ADVERBS: Mapping[Certainty, str] = {"high": "", "moderate": "probably ", "low": "may ", "very_low": "may "}
UNSURE = ", but the evidence is very uncertain"
"""Behind a direction of very low certainty."""
VERBS = {"higher": ("increase", "increases"), "lower": ("lower", "lowers")}
STARTS: Mapping[Certainty, str] = {
    "high": "high, for randomised trials",
    "low": "low, for studies without random allocation",
}
REASONS: Mapping[CertaintyReason, str] = {
    "not_in_people": "no study is in people",
    "abstracts_only": "not every study was read in full",
    "few_participants": "few people took part",
    "few_events": "few people had the outcome",
    "wide_interval": "the interval includes both no effect and an effect that matters",
    "few_studies": "an interval that allows for the small number of studies includes no effect",
    "one_study": "it rests on one study that is not known to be large",
    "inconsistent": "the effects differ between studies",
    "opposite": "studies point in opposite directions",
    "indirect": "most studies answer only part of the question",
    "no_numbers": "no study gives an effect with its interval",
    "under_concern": "an expression of concern has been published about a study",
}
LEVELS = {1: "one level", 2: "two levels", 3: "three levels"}


def in_words(code: Certainty | ConclusionDirection) -> str:
    """`very_low` -> `very low`."""
    return code.replace("_", " ")


def _excludes_what_matters(one: Conclusion) -> bool:
    """Whether a difference that matters is excluded, as the model says, else by the interval. What was not
    shown may still be there (Altman and Bland 1995, doi:10.1136/bmj.311.7003.485)."""
    if one.proposed is not None and one.proposed.excludes is not None:
        return one.proposed.excludes
    return not {"wide_interval", "no_numbers"}.intersection(concern.code for concern in one.concerns)


def found(direction: ConclusionDirection) -> str:
    """What one work found: that its interval includes no effect does not say that there is none."""
    return f"{in_words(direction)}{' shown' if direction == 'no_difference' else ''}"


def verdict(one: Conclusion) -> str:
    """The direction and how certain it is, in a few words: a heading is read alone."""
    shown = " shown" if one.direction == "no_difference" and not _excludes_what_matters(one) else ""
    certainty = "" if one.direction in OPEN else f", {in_words(one.certainty)} certainty"
    return f"{in_words(one.direction)}{shown}{certainty}"


def statement(one: Conclusion) -> str:
    """The conclusion as a sentence: `The drug probably lowers mortality compared with placebo.`"""
    outcome, group, against = map(clean, (one.outcome, one.group, one.comparator))
    group = group or "the intervention"
    sides = f" compared with {against}" if against else ""
    doubt = UNSURE if one.certainty == "very_low" and one.direction not in OPEN else ""
    effect = f"the effect of {group} on {outcome}{sides}"
    match one.direction:
        case "higher" | "lower":
            text = f"{group} {_verb(one, *VERBS[one.direction])} {outcome}{sides}{doubt}."
        case "no_difference" if _excludes_what_matters(one):
            text = (
                f"{group} {_verb(one, 'make', 'makes')} little or no difference to {outcome}{sides}{doubt}."
            )
        case "no_difference":
            between = f"between {group} and {against}" if against else f"with {group}"
            rest = "a difference that matters is not ruled out"
            text = f"no difference in {outcome} was shown {between}{doubt}; {rest}."
        case "uncertain":
            text = f"the evidence is very uncertain about {effect}."
            text = text if one.certainty == "very_low" else f"{effect} is uncertain."
        case "not_enough_data":
            text = f"there are not enough data on {effect}."
    return _sentence(text)


def _verb(one: Conclusion, base: str, singular: str) -> str:
    """`lowers`, `probably lower`, `may lower`, as certain as it is."""
    adverb = ADVERBS[one.certainty]
    plural = one.proposed is not None and one.proposed.plural
    return f"{adverb}{base if adverb == 'may ' or plural else singular}"


def _sentence(text: str) -> str:
    """With a capital first letter, unless the first word has one of its own (`mRNA`, `pH`)."""
    first = text.partition(" ")[0]
    return text if first[1:] != first[1:].lower() else text[:1].upper() + text[1:]


def reasons(one: Conclusion) -> Iterator[str]:
    """How the certainty follows, by concerns that add up to it; and where the checked effects refute what the
    model read, or point elsewhere."""
    if one.proposed is not None and one.direction != "not_enough_data" and one.works:
        if is_refuted(one):
            yield (
                f"The model read the works as {in_words(one.proposed.direction)}; "
                "every effect with an interval lies on the other side, and the effects decide."
            )
        elif one.by_effects != one.direction:
            yield f"The numbers that were read would by themselves say: {in_words(one.by_effects)}."
    if one.works and one.direction != "not_enough_data":
        yield _sum(one)


def _sum(one: Conclusion) -> str:
    by_code = CERTAINTIES.index(one.starts) - sum(concern.levels for concern in one.concerns)
    further = by_code - CERTAINTIES.index(one.certainty)
    parts = [f"{REASONS[concern.code]} ({LEVELS[concern.levels]} down)" for concern in one.concerns]
    if further:
        words = [clean(reason).rstrip(".") for reason in (one.proposed.reasons if one.proposed else ())]
        text = f": {'; '.join(words)}" if words else ""
        parts.append(f"the model's own judgement ({LEVELS[further]} down){text}")
    start = STARTS[one.starts]
    return f"Certainty {in_words(one.certainty)}. It starts at {'; '.join((start, *parts))}."


def pooled_measure(one: Conclusion) -> str:
    """The measure of the pool, with what it counts where that is not the outcome."""
    figure = one.pooled
    return f"{MEASURE_NAMES[figure.measure]}{_counted(figure)}" if figure is not None else ""


def _counted(of: AppraisedWork | PooledFigure) -> str:
    """` for deaths, of the comparator against the group`: how a work counts, where it is otherwise."""
    counts = f" for {clean(of.counts)}" if of.opposite and of.counts else ""
    counts = counts or (" for the opposite outcome" if of.opposite else "")
    by_group = isinstance(of, AppraisedWork) and of.effect is not None and of.effect.arms is not None
    return counts + (" (comparator against group)" if of.reverse and not by_group else "")


def figures(one: Conclusion) -> str:
    """The pooled figure in words, else that of the only work that counts; empty where there is neither."""
    if one.pooled is not None:
        of = counted(len(one.pooled.works), "study", "studies")
        return f"Pooled {pooled_measure(one)} {shown_interval(one.pooled.result)}, {of}."
    works = [work for work in one.works if work.counted]
    if len(works) == 1 and (work := works[0]).effect and work.result:
        measure = f"{MEASURE_NAMES[work.effect.measure]}{_counted(work)}"
        return _sentence(f"{measure} {shown_interval(work.result)}, one study.")
    return ""


def absolute(one: Conclusion) -> str:
    """What a risk ratio means for a thousand people with the risk of the comparators, the median of the works
    whose events are known (Cochrane's handbook, 15.4.4). Empty where the event or its time is not known, and
    where the evidence is too uncertain to say so."""
    works = [work for work in one.works if work.counted and work.effect and work.effect.measure == "RR"]
    arms = [work.effect.arms for work in works if work.effect and work.effect.arms and not work.opposite]
    event, time = (clean(one.proposed.event), clean(one.proposed.time)) if one.proposed else ("", "")
    result, turned = None, False
    if one.pooled is not None and one.pooled.measure == "RR":
        result, turned = one.pooled.result, one.pooled.opposite or one.pooled.reverse
    elif one.pooled is None and len(works) == 1 == sum(work.counted for work in one.works):
        result, turned = works[0].result, is_turned(works[0], works[0].effect)
    if result is None or turned or not arms or not (event and time) or one.certainty == "very_low":
        return ""
    if not numbers_in(time) <= numbers_held(quoted.quote for work in works for quoted in work.support):
        return ""
    risk = 1000 * median(arm.control_events / arm.control_total for arm in arms)
    middle, low, high = (
        f"{min(1000, risk * ratio):.0f}" for ratio in (result.estimate, result.low, result.high)
    )
    group, comparator = clean(one.group) or "it", clean(one.comparator)
    against = f"with {comparator}" if comparator else f"without {group}"
    return (
        f"Of 1,000 people, {risk:.0f} {event} {time} {against}, and {middle} ({low} to {high}) with {group}."
    )


def line(one: Conclusion) -> str:
    return " ".join(filter(None, (statement(one), _grounds(one))))


def _grounds(one: Conclusion) -> str:
    """The figure and the certainty; where there are not enough data nothing is graded."""
    graded = one.direction != "not_enough_data"
    grade = f"Certainty {in_words(one.certainty)} (proposed)." if graded else ""
    return " ".join(filter(None, (figures(one), grade)))


def leading(report: Report) -> tuple[Conclusion, ...]:
    """The conclusions that the answer begins with: those on what the question names."""
    return tuple(one for one in CONCLUSIONS.shown(report) if one.asked)


def lead(report: Report, quotes: Quotes) -> Iterator[Block]:
    """What the answer begins with: each conclusion with its figure and its certainty."""
    lines: list[Parts] = []
    for one in leading(report):
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
    for one in CONCLUSIONS.shown(report):
        yield Heading(_sentence(f"{clean(one.outcome)}: {verdict(one)}"))
        yield from bullets(filter(None, (absolute(one), *reasons(one))))
        if one.works:
            yield _table(one, quotes)
    if CONCLUSIONS.shown(report):
        yield Text((Run(NOTE),), "note")


def _table(one: Conclusion, quotes: Quotes) -> Table:
    """The works of a conclusion, and what was pooled of them last."""
    groups = (clean(one.group) or "Group", clean(one.comparator) or "Compared with")
    head = ("Study", *map(_sentence, groups), *HEAD)
    rows = [_row(work, quotes) for work in sorted(one.works, key=lambda w: quotes.number(w.evidence_id))]
    if one.pooled is not None:
        effect = f"{one.pooled.measure} {shown_interval(one.pooled.result)}{_counted(one.pooled)}"
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
    halves = arms is not None and not {"total", "control_total"} & work.figures.keys()
    how = ", ".join(
        ("from percentages",) * ("events" not in work.figures) + ("groups taken as halves",) * halves
    )
    effect = f"P = {work.p}" if work.p else ""
    if work.effect and work.result:
        effect = f"{work.effect.measure} {shown_interval(work.result)}{_counted(work)}"
    texts = (
        _share(arms.events, arms.total, how) if arms else "",
        _share(arms.control_events, arms.control_total) if arms else "",
        effect,
        in_words(work.direction) + ("" if work.counted else ", not counted (not randomised)"),
        "" if arms or not work.n else f"{work.n:,}",
    )
    first = Cell((*((quotes.mark(reference.number),) if reference else ()), name))
    return (first, *(cell(text, quote=quote) for text in texts))


def _share(events: int, total: int, how: str = "") -> str:
    text = f"{events:,} of {total:,} ({events / total:.1%})"
    return f"{text}, {how}" if how else text
