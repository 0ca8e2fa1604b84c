"""The conclusions of a report by outcome: what follows, how sure, and from which effects.

The wording of direction and certainty is that of GRADE (Santesso et al. 2020,
doi:10.1016/j.jclinepi.2019.10.014).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Literal

from activities.analysis.certainty import CERTAINTIES
from activities.analysis.conclusions import OPEN, OTHER_SIDE, is_of_means, is_refuted, is_turned
from activities.analysis.meta_analysis import interval_text, range_text
from activities.analysis.scale import no_effect, side_of
from activities.contracts.appraisal import PART as CONCLUSIONS
from activities.contracts.appraisal import (
    AppraisedWork,
    Certainty,
    CertaintyReason,
    Concern,
    Conclusion,
    ConclusionDirection,
    Doubt,
    PooledFigure,
)
from activities.contracts.effects import MEASURE_NAMES, Interval
from activities.contracts.write import DraftClaim
from activities.messages import N_, Plural, _, decimals, join_names, ngettext, number, percent
from activities.report.formats.blocks import (
    Block,
    Bullets,
    Cell,
    Heading,
    Parts,
    Run,
    Style,
    Table,
    Text,
    cell,
    trim,
)
from activities.report.formats.references import Quotes
from activities.report.formats.text import capitalized, clean, with_full_stop
from activities.report.formats.works_table import name_cell
from activities.report.schema import Report

TITLE = N_("Summary of findings")
SUMMARY_HEAD = (
    *(N_("Outcome"), N_("Works"), N_("Participants"), N_("Effect (95% CI)"), N_("Certainty (proposed)")),
)
HEAD = (N_("Effect (95% CI)"), N_("Direction"), N_("Participants"), N_("Design"))
FROM_SHARES = N_("Calculated from percentages.")
EQUAL_GROUPS = N_("Calculated from percentages, assuming groups of equal size.")
NOTE = N_(
    "The certainty was proposed by the software from the cited works; nobody has reviewed it, and the risk "
    "of bias was not assessed."
)
UNSURE = N_(", but the evidence is very uncertain")
"""Behind a direction of very low certainty."""
Sure = Literal["sure", "probable", "possible"]
SURE: Mapping[Certainty, Sure] = {
    "high": "sure",
    "moderate": "probable",
    "low": "possible",
    "very_low": "possible",
}
SENTENCES: Mapping[tuple[str, Sure], Plural] = {
    ("higher", "sure"): Plural(
        N_("{group} increases {outcome}{sides}{doubt}."), N_("{group} increase {outcome}{sides}{doubt}.")
    ),
    ("higher", "probable"): Plural(
        N_("{group} probably increases {outcome}{sides}{doubt}."),
        N_("{group} probably increase {outcome}{sides}{doubt}."),
    ),
    ("higher", "possible"): Plural(
        N_("{group} may increase {outcome}{sides}{doubt}."),
        N_("{group} may increase {outcome}{sides}{doubt}."),
    ),
    ("lower", "sure"): Plural(
        N_("{group} lowers {outcome}{sides}{doubt}."), N_("{group} lower {outcome}{sides}{doubt}.")
    ),
    ("lower", "probable"): Plural(
        N_("{group} probably lowers {outcome}{sides}{doubt}."),
        N_("{group} probably lower {outcome}{sides}{doubt}."),
    ),
    ("lower", "possible"): Plural(
        N_("{group} may lower {outcome}{sides}{doubt}."), N_("{group} may lower {outcome}{sides}{doubt}.")
    ),
    ("no_difference", "sure"): Plural(
        N_("{group} makes little or no difference to {outcome}{sides}{doubt}."),
        N_("{group} make little or no difference to {outcome}{sides}{doubt}."),
    ),
    ("no_difference", "probable"): Plural(
        N_("{group} probably makes little or no difference to {outcome}{sides}{doubt}."),
        N_("{group} probably make little or no difference to {outcome}{sides}{doubt}."),
    ),
    ("no_difference", "possible"): Plural(
        N_("{group} may make little or no difference to {outcome}{sides}{doubt}."),
        N_("{group} may make little or no difference to {outcome}{sides}{doubt}."),
    ),
}
"""A direction as a sentence, as certain as it is, of one group or of several."""
ABSOLUTE = N_(
    "Per {people} people: {risk} (median) with {comparator}, {middle} ({low} to {high}) with {group}."
)
ABSOLUTE_WITHOUT = N_(
    "Per {people} people: {risk} (median) without, {middle} ({low} to {high}) with {group}."
)
NEEDED = N_("Number needed to treat: {middle} ({low} to {high}).")
NOT_SHOWN = N_(
    "no difference in {outcome} was shown with {group}{sides}{doubt}; an important difference is not ruled "
    "out."
)
VERY_UNCERTAIN = N_("the evidence on the effect of {group} on {outcome}{sides} is very uncertain.")
UNCERTAIN = N_("the effect of {group} on {outcome}{sides} is uncertain.")
NOT_ENOUGH = N_("there are not enough data on the effect of {group} on {outcome}{sides}.")
DIRECTIONS: Mapping[ConclusionDirection, str] = {
    "higher": N_("higher"),
    "lower": N_("lower"),
    "no_difference": N_("no difference"),
    "uncertain": N_("uncertain"),
    "not_enough_data": N_("not enough data"),
}
LEVELS: Mapping[Certainty, str] = {
    "high": N_("high"),
    "moderate": N_("moderate"),
    "low": N_("low"),
    "very_low": N_("very low"),
}
STARTS = N_("Certainty starts at high for randomised trials and at low for other studies.")
REASONS: Mapping[CertaintyReason | Doubt, str] = {
    "not_in_people": N_("no study in people"),
    "abstracts_only": N_("not every study read in full"),
    "few_participants": N_("few participants"),
    "few_events": N_("few events"),
    "wide_interval": N_("a wide confidence interval"),
    "few_studies": N_("few studies"),
    "one_study": N_("a single study"),
    "inconsistent": N_("studies disagree"),
    "opposite": N_("studies disagree"),
    "indirect": N_("the question is answered only in part"),
    "no_numbers": N_("no effect with a confidence interval"),
    "under_concern": N_("an expression of concern"),
    "how_done": N_("how the studies were done"),
    "imprecise": N_("few participants"),
    "selective": N_("results left unreported"),
}
"""Why a certainty is not higher, by the checked fields and as a model sees it; the levels are in the JSON."""
MAX_REASON_WORDS = 12


def _excludes_what_matters(conclusion: Conclusion) -> bool:
    """Tell whether a difference that matters is excluded, as the model says, else by the interval.

    What was not shown may still be there (Altman and Bland 1995, doi:10.1136/bmj.311.7003.485).
    """
    if conclusion.proposed is not None and conclusion.proposed.excludes is not None:
        return conclusion.proposed.excludes
    return not {"wide_interval", "no_numbers"}.intersection(concern.code for concern in conclusion.concerns)


def direction_words(direction: ConclusionDirection) -> str:
    """Word the finding of one work: an interval that includes no effect does not say that there is none."""
    return _("no difference shown") if direction == "no_difference" else _(DIRECTIONS[direction])


def statement(conclusion: Conclusion) -> str:
    """Word the conclusion as a sentence: `The drug probably lowers mortality`."""
    outcome, group, against = map(clean, (conclusion.outcome, conclusion.group, conclusion.comparator))
    is_unsure = conclusion.certainty == "very_low"
    values = {
        "outcome": outcome,
        "group": group or _("the intervention"),
        "sides": _(" compared with {against}").format(against=against) if against else "",
        "doubt": _(UNSURE) if is_unsure and conclusion.direction not in OPEN else "",
    }
    if conclusion.direction == "uncertain":
        text = _(VERY_UNCERTAIN if is_unsure else UNCERTAIN)
    elif conclusion.direction == "not_enough_data":
        text = _(NOT_ENOUGH)
    elif conclusion.direction == "no_difference" and not _excludes_what_matters(conclusion):
        text = _(NOT_SHOWN)
    else:
        wording = SENTENCES[conclusion.direction, SURE[conclusion.certainty]]
        is_plural = conclusion.proposed is not None and conclusion.proposed.plural
        text = ngettext(wording.one, wording.many, 2 if is_plural else 1)
    return capitalized(text.format(**values))


def differs(conclusion: Conclusion) -> str:
    """Say in a clause where checked effects point elsewhere than the conclusion, and why; else nothing.

    Works without usable numbers contradict nothing.
    """
    if not conclusion.works or conclusion.proposed is None:
        return ""
    if is_refuted(conclusion):
        return _(
            "The model read the works as showing “{direction}”, but every effect with a confidence interval "
            "points the other way; the effects take precedence."
        ).format(direction=_(DIRECTIONS[conclusion.proposed.direction]))
    if conclusion.by_effects in (conclusion.direction, *OPEN) or conclusion.direction in OPEN:
        return ""
    if conclusion.pooled and 2 * len(conclusion.pooled.works) <= sum(w.counted for w in conclusion.works):
        return ""
    alone = N_("The pooled figure alone shows: {direction}.")
    most = N_("Most of the participants are in studies that show: {direction}.")
    text = _(alone if conclusion.pooled else most)
    return text.format(direction=direction_words(conclusion.by_effects))


def reasons(conclusion: Conclusion) -> str:
    """Say in a few words why the certainty is not higher, the gravest reason first; empty without a grade."""
    if not conclusion.works or conclusion.direction == "not_enough_data":
        return ""
    by_code = CERTAINTIES.index(conclusion.starts) - sum(concern.levels for concern in conclusion.concerns)
    doubts = conclusion.proposed.doubts if conclusion.proposed else ()
    concerns = sorted(conclusion.concerns, key=lambda concern: -concern.levels)
    causes = [_down(concern) for concern in concerns]
    if by_code > CERTAINTIES.index(conclusion.certainty):
        texts = {_(REASONS[concern.code]) for concern in conclusion.concerns}
        causes += [_(REASONS[doubt]) for doubt in doubts if _(REASONS[doubt]) not in texts]
    text = _(LEVELS[conclusion.certainty])
    for place, reason in enumerate(causes):
        if len(f"{text} {reason}".split()) <= MAX_REASON_WORDS:
            text += f"{', ' if place else ': '}{reason}"
    return with_full_stop(capitalized(text))


def _down(concern: Concern) -> str:
    reason = _(REASONS[concern.code])
    text = _("{reason} ({count} levels)") if concern.levels > 1 else "{reason}"
    return text.format(reason=reason, count=concern.levels)


def _counting(row: AppraisedWork | PooledFigure) -> str:
    """` for deaths, of the comparator against the group`: how a work counts, where it is otherwise."""
    template = _(" for {outcome}") if row.counts else _(" for the opposite outcome")
    counts = template.format(outcome=clean(row.counts)) if row.opposite else ""
    by_group = (
        isinstance(row, AppraisedWork)
        and row.effect is not None
        and (row.effect.arms is not None or is_of_means(row, row.effect))
    )
    return counts + (_(" (comparator versus group)") if row.reverse and not by_group else "")


def figures(conclusion: Conclusion) -> str:
    """Word the pooled figure, else that of the only work that counts; empty where there is neither."""
    if conclusion.pooled is not None:
        count = len(conclusion.pooled.works)
        text = ngettext(
            "Pooled {measure} {interval}, {count} study.",
            "Pooled {measure} {interval}, {count} studies.",
            count,
        )
        if count < len(conclusion.works):
            text = _("Pooled {measure} {interval}, {count} of {works} studies.")
        return text.format(
            measure=f"{_(MEASURE_NAMES[conclusion.pooled.measure])}{_counting(conclusion.pooled)}",
            interval=_interval(conclusion.pooled.result, conclusion.pooled),
            count=count,
            works=len(conclusion.works),
        )
    works = [work for work in conclusion.works if work.counted]
    if len(works) == 1 and (work := works[0]).effect and work.result:
        measure = f"{_(MEASURE_NAMES[work.effect.measure])}{_counting(work)}"
        text = _("{measure} {interval}, one study.").format(
            measure=measure, interval=_interval(work.result, work)
        )
        return capitalized(text)
    return ""


def absolute(conclusion: Conclusion) -> str:
    """Word a risk ratio for a thousand people, and as number needed to treat where it includes an effect.

    With the median risk of the comparators (Cochrane's handbook, 15.4.4). Empty for too uncertain evidence.
    """
    works = [
        work for work in conclusion.works if work.counted and work.effect and work.effect.measure == "RR"
    ]
    arms = [work.effect.arms for work in works if work.effect and work.effect.arms and not work.opposite]
    result, turned = None, False
    if conclusion.pooled is not None and conclusion.pooled.measure == "RR":
        result, turned = conclusion.pooled.result, conclusion.pooled.opposite or conclusion.pooled.reverse
    elif conclusion.pooled is None and len(works) == 1 == sum(work.counted for work in conclusion.works):
        result, turned = works[0].result, is_turned(works[0], works[0].effect)
    if result is None or turned or not arms or conclusion.certainty == "very_low":
        return ""
    risk = median(arm.control_events / arm.control_total for arm in arms)
    ratios = {"middle": result.estimate, "low": result.low, "high": result.high}
    text = _(ABSOLUTE if clean(conclusion.comparator) else ABSOLUTE_WITHOUT).format(
        people=number(1000),
        risk=number(round(1000 * risk)),
        comparator=clean(conclusion.comparator),
        group=clean(conclusion.group) or _("the intervention"),
        **{name: number(round(min(1000, 1000 * risk * ratio))) for name, ratio in ratios.items()},
    )
    if not risk or conclusion.direction != conclusion.by_effects or result.low <= 1 <= result.high:
        return text
    middle, *ends = (math.ceil(1 / (risk * abs(1 - ratio))) for ratio in ratios.values())
    low, high = map(number, sorted(ends))
    return f"{text} {_(NEEDED).format(middle=number(middle), low=low, high=high)}"


def _rests_on(conclusion: Conclusion, quotes: Quotes) -> str:
    """Name the works without which the pool would show something else; empty where none could be left out."""
    pool = conclusion.pooled
    if pool is None or pool.without is None:
        return ""
    null = no_effect(pool.measure)
    side = side_of(pool.without, null)
    if side == side_of(pool.result, null):
        return _("Leaving out any one study does not change the pooled result.")
    turned = pool.opposite != pool.reverse
    return _("Without {works} the pooled result would be {effect}: {direction}.").format(
        works=join_names(f"[{quotes.number(name)}]" for name in pool.left_out),
        effect=f"{pool.measure} {_interval(pool.without, pool)}",
        direction=direction_words(OTHER_SIDE.get(side, side) if turned else side),
    )


def line(conclusion: Conclusion) -> str:
    return " ".join(filter(None, (sentence_of(conclusion), _grounds(conclusion))))


def sentence_of(conclusion: Conclusion) -> str:
    """Word a conclusion as a person asked for, else as code does."""
    return clean(conclusion.wording) or statement(conclusion)


def _grounds(conclusion: Conclusion) -> str:
    """State figure and certainty; where there are not enough data nothing is graded."""
    parts = ["" if conclusion.wording else figures(conclusion)]
    if conclusion.direction != "not_enough_data":
        grade = _("Certainty: {certainty} (proposed).")
        parts.append(grade.format(certainty=_(LEVELS[conclusion.certainty])))
    return " ".join(filter(None, parts))


def leading(report: Report) -> tuple[Conclusion, ...]:
    """Return the conclusions that the answer begins with: those on what the question names."""
    return tuple(conclusion for conclusion in CONCLUSIONS.of_report(report) if conclusion.asked)


def lead(report: Report, quotes: Quotes) -> Iterator[Block]:
    """Make an answer of each conclusion, its figure and its certainty."""
    lines: list[Parts] = [
        (*_sentence_parts(conclusion, quotes, "bold"), *map(Run, filter(None, (_grounds(conclusion),))))
        for conclusion in leading(report)
    ]
    if len(lines) == 1:
        yield Text(lines[0], "answer")
    elif lines:
        yield Bullets(tuple(lines))


def blocks(report: Report, quotes: Quotes) -> Iterator[Block]:
    """Sum up the findings by outcome, and show the works of each pool; `full`: those of every outcome.

    Beside an answer, which a model wrote and a second reader confirmed, they are shown in a `full` report.
    """
    conclusions = CONCLUSIONS.of_report(report)
    if not conclusions or (report.answer and report.length != "full"):
        return
    yield _summary(conclusions, report, quotes)
    for conclusion in conclusions:
        if conclusion.works and (conclusion.pooled is not None or report.length == "full"):
            yield Heading(_("{outcome}: the works").format(outcome=capitalized(clean(conclusion.outcome))))
            yield _table(conclusion, report, quotes)
            if text := _rests_on(conclusion, quotes):
                yield Text((Run(text),))
    yield Text((Run(_(NOTE)),), "note")


def _summary(conclusions: Sequence[Conclusion], report: Report, quotes: Quotes) -> Table:
    """Make the table of summary of findings, as GRADE has it: a row for each outcome."""
    rows = []
    for conclusion in conclusions:
        works = [work for work in conclusion.works if work.counted]
        people = [_people(work) for work in works]
        said_above = conclusion.asked and not (conclusion.wording and report.answer)
        cite = quotes.numbers(support for work in works for support in work.support)
        rows.append(
            (
                cell(capitalized(clean(conclusion.outcome)))
                if said_above
                else Cell(_sentence_parts(conclusion, quotes)),
                Cell((Run(number(len(works))), cite) if works else ()),
                cell(number(sum(filter(None, people))) if all(people) and works else ""),
                cell(" ".join(filter(None, (_effect_words(conclusion, works), differs(conclusion))))),
                cell(reasons(conclusion)),
            )
        )
    return Table(*trim([*map(_, SUMMARY_HEAD)], rows), _(STARTS) if any(map(reasons, conclusions)) else "")


def _effect_words(conclusion: Conclusion, works: Sequence[AppraisedWork]) -> str:
    """Say the direction and the pooled figure, else how many works found what, and what range they report."""
    is_excluded = _excludes_what_matters(conclusion)
    direction = _(DIRECTIONS[conclusion.direction]) if is_excluded else direction_words(conclusion.direction)
    if figure := figures(conclusion):
        return " ".join(filter(None, (with_full_stop(capitalized(direction)), figure, absolute(conclusion))))
    sides = Counter(direction_words(work.direction) for work in works)
    if direction_words(conclusion.direction) in sides:
        direction = ""
    counts = (
        _("{direction} in {count} of {works}").format(
            direction=side, count=number(count), works=number(len(works))
        )
        for side, count in sides.most_common()
    )
    findings = ", ".join(counts if len(works) > 1 else sides)
    return " ".join(
        (with_full_stop(capitalized(": ".join(filter(None, (direction, findings))))), *_ranges(works))
    ).strip()


def _ranges(works: Iterable[AppraisedWork]) -> Iterator[str]:
    """Yield the range of the effects that works report in one measure and unit."""
    effects: dict[str, list[Interval]] = {}
    for work in works:
        if work.effect and work.result:
            unit = f" ({clean(work.unit)})" if work.effect.measure == "MD" and work.unit else ""
            name = f"{_(MEASURE_NAMES[work.effect.measure])}{unit}{_counting(work)}"
            effects.setdefault(name, []).append(work.result)
    for name, results in effects.items():
        if len(results) == 1:
            yield capitalized(with_full_stop(f"{name} {interval_text(results[0])}"))
        else:
            estimates = [result.estimate for result in results]
            text = _("{measure} from {range} in {count} studies.")
            between = range_text(min(estimates), max(estimates))
            yield capitalized(text.format(measure=name, range=between, count=number(len(results))))


def _sentence_parts(conclusion: Conclusion, quotes: Quotes, style: Style = "plain") -> Parts:
    claim = DraftClaim(
        text=sentence_of(conclusion),
        support=tuple(quote for work in conclusion.works for quote in work.support),
    )
    return (Run(claim.text, style), *((quotes.cite(claim, claim.text),) if conclusion.works else ()))


def _table(conclusion: Conclusion, report: Report, quotes: Quotes) -> Table:
    groups = (clean(conclusion.group) or _("Group"), clean(conclusion.comparator) or _("Compared with"))
    head = (_("Study"), *map(capitalized, groups), *map(_, HEAD))
    works = sorted(conclusion.works, key=lambda work: quotes.number(work.evidence_id))
    designs = {reference.evidence_id: _(reference.design) for reference in report.references}
    alike = len({designs.get(work.evidence_id, "") for work in works}) == 1
    notes: dict[str, str] = {}
    rows = [
        (*_row(work, quotes, notes), cell("" if alike else designs.get(work.evidence_id, "")))
        for work in works
    ]
    if conclusion.pooled is not None:
        pool = conclusion.pooled
        effect = f"{pool.measure} {_interval(pool.result, pool)}{_counting(pool)}"
        label = _("Pooled (random effects, I² {share})").format(share=percent(conclusion.pooled.i2))
        name, figure = (Cell((Run(text, "bold"),)) for text in (label, effect))
        rows.append((name, Cell(), Cell(), figure, Cell(), Cell(), Cell()))
    measures = dict.fromkeys(work.effect.measure for work in conclusion.works if work.effect)
    explained = "; ".join(f"{measure}: {_(MEASURE_NAMES[measure])}" for measure in measures)
    footnotes = (f"{mark} {text}" for text, mark in notes.items())
    texts = (with_full_stop(explained), *footnotes, _not_pooled(conclusion, quotes))
    return Table(*trim(head, rows), " ".join(filter(None, texts)))


def _not_pooled(conclusion: Conclusion, quotes: Quotes) -> str:
    """Name the works that are not in the pool; empty where all are or nothing was pooled."""
    pool = conclusion.pooled
    names = [work.evidence_id for work in conclusion.works if pool and work.evidence_id not in pool.works]
    numbers = sorted(map(quotes.number, names))
    works = join_names(f"[{number}]" for number in numbers)
    return _("Not pooled for lack of usable figures: {works}.").format(works=works) if numbers else ""


def _row(work: AppraisedWork, quotes: Quotes, notes: dict[str, str]) -> tuple[Cell, ...]:
    """Show a work: its groups, its effect and its participants; numbers open the sentence that has them.

    `notes`: the footnotes of the table, to which what was assumed is added.
    """
    reference = quotes.references.get(work.evidence_id)
    quote = quotes.quote("", work.support[0]) if work.support else None
    arms = work.effect.arms if work.effect else None
    mark = ""
    if arms is not None and "events" not in work.figures:
        is_sized = bool({"total", "control_total"} & work.figures.keys())
        assumed = _(FROM_SHARES if is_sized else EQUAL_GROUPS)
        mark = notes.setdefault(assumed, "*" * (len(notes) + 1))
    people, effect = _people(work), _p_value(work.p)
    if work.effect and work.result:
        effect = f"{work.effect.measure} {_interval(work.result, work)}{_counting(work)}"
    texts = (
        _share(arms.events, arms.total) + mark if arms else "",
        _share(arms.control_events, arms.control_total) + mark if arms else "",
        effect,
        direction_words(work.direction) + ("" if work.counted else _(", not counted (not randomised)")),
        number(people) if people else "",
    )
    cells = (cell(text, quote=quote) for text in texts)
    return (name_cell(reference, quotes) if reference else cell(work.evidence_id), *cells)


def _interval(result: Interval, of: AppraisedWork | PooledFigure) -> str:
    """Write an effect with its interval, and its unit where it has one."""
    measure = of.measure if isinstance(of, PooledFigure) else of.effect and of.effect.measure
    unit = f" {clean(of.unit)}" if measure == "MD" and of.unit else ""
    return interval_text(result).replace(" (", f"{unit} (", 1)


def _people(work: AppraisedWork) -> int | None:
    arms = work.effect.arms if work.effect else None
    return arms.total + arms.control_total if arms else work.n


def _p_value(stated: str) -> str:
    sign, value = (stated[:1], stated[1:]) if stated[:1] in ("<", ">", "=", "≤", "≥") else ("=", stated)
    return decimals(f"p {sign} {value.strip()}") if stated else ""


def _share(events: int, total: int) -> str:
    return _("{events} of {total} ({share})").format(
        events=number(events), total=number(total), share=percent(events / total, 1)
    )
