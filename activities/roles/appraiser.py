"""Appraiser: the effects that works report on outcomes of a comparing question, and what a model concludes.

What code makes of the numbers, which stand in the sentences they are from, is in
`activities.analysis.conclusions`.
"""

from collections.abc import Sequence
from typing import Annotated, get_args

from pydantic import BeforeValidator

from activities.analysis import figures
from activities.analysis.conclusions import OTHER_SIDE, is_turned
from activities.analysis.scale import no_effect, point_of, side_of, study_interval
from activities.contracts.appraisal import (
    Appraisal,
    AppraiseInput,
    Certainty,
    ConclusionDirection,
    Doubt,
    EffectDirection,
    Proposed,
    StudyEffect,
)
from activities.contracts.evidence import Evidence
from activities.contracts.judge import Refused
from activities.roles.allowances import MAX_CHARS_TOGETHER
from activities.roles.fields import Loose, OneSentence, OneWork, SentenceLabels, Text, Texts, Truth, limits
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, one_of, refusal, resolve, supports
from activities.roles.works import compose_works

MAX_EFFECTS = 40
MAX_CONCLUSIONS = 8
MAX_NAME_CHARS = 120
"""Characters of an outcome, a group or a comparator."""
MAX_COUNTS_CHARS = 60
MAX_UNIT_CHARS = 30
TASK = "Give the effects of every work shown, then your conclusions. Answer with JSON."


def _number(value: object) -> object:
    """Return a number as text: `12.0` and `12` alike, `n = 12` as it is."""
    return "" if value is None or isinstance(value, bool) else str(value).removesuffix(".0")


Figure = Annotated[str, BeforeValidator(_number)]


class EffectAnswer(Loose):
    work: OneWork = ""
    outcome: Text = limits(length=MAX_NAME_CHARS, default="")
    group: Text = limits(length=MAX_NAME_CHARS, default="")
    comparator: Text = limits(length=MAX_NAME_CHARS, default="")
    direction: Text = ""
    sentences: SentenceLabels = limits(items=4, default_factory=list)
    measure: Text = limits(length=30, default="")
    estimate: Figure = ""
    low: Figure = ""
    high: Figure = ""
    events: Figure = ""
    total: Figure = ""
    control_events: Figure = ""
    control_total: Figure = ""
    percent: Figure = ""
    control_percent: Figure = ""
    mean: Figure = ""
    sd: Figure = ""
    se: Figure = ""
    control_mean: Figure = ""
    control_sd: Figure = ""
    control_se: Figure = ""
    p: Figure = ""
    n: Figure = ""
    unit: Text = limits(length=MAX_UNIT_CHARS, default="")
    counts: Text = limits(length=MAX_COUNTS_CHARS, default="")
    opposite: Truth = None
    reverse: Truth = None
    clustered: Truth = None
    randomised: OneSentence = None


class ConclusionAnswer(Loose):
    outcome: Text = limits(length=MAX_NAME_CHARS, default="")
    group: Text = limits(length=MAX_NAME_CHARS, default="")
    comparator: Text = limits(length=MAX_NAME_CHARS, default="")
    direction: Text = ""
    excludes: Truth = None
    certainty: Text = ""
    doubts: Texts = limits(items=3, length=30, default_factory=list)
    plural: Truth = None
    asked: Truth = None


class AppraiseAnswer(Loose):
    effects: list[EffectAnswer] = limits(items=MAX_EFFECTS, default_factory=list)
    conclusions: list[ConclusionAnswer] = limits(items=MAX_CONCLUSIONS, default_factory=list)


def render(step: AppraiseInput, documents: Sequence[Evidence], room: int) -> Prompt:
    prompt = compose_works("appraiser", step, documents, room=room, task=TASK, together=MAX_CHARS_TOGETHER)
    prompt.choices["effects.direction"] = get_args(EffectDirection)
    prompt.choices["conclusions.direction"] = get_args(ConclusionDirection)
    prompt.choices["conclusions.certainty"] = get_args(Certainty)
    prompt.choices["conclusions.doubts"] = get_args(Doubt)
    return prompt


def accept(step: AppraiseInput, prompt: Prompt, answer: AppraiseAnswer) -> Accepted[Appraisal]:
    """Accept effects with a sentence of their own work.

    A figure stands where a sentence that was named has it, an estimate beside its interval. A direction that
    the numbers contradict is refused with them: one of the two was misread.
    """
    effects: list[StudyEffect] = []
    refusals: list[Refused] = []
    for row in answer.effects[:MAX_EFFECTS]:
        document = prompt.works.get(row.work)
        direction = one_of(row.direction, get_args(EffectDirection))
        outcome = line(row.outcome, MAX_NAME_CHARS)
        sentences, _ = resolve(row.sentences, prompt)
        sentences_of_work = [
            sentence for sentence in sentences if document and sentence.evidence_id == document.evidence_id
        ]
        if document is None or direction is None or not outcome or not sentences_of_work:
            reason = "cites_nothing" if document and outcome else "label_unknown"
            refusals.append(refusal("effect", outcome or row.work, reason, label=line(row.work, 40)))
            continue
        name = document.evidence_id
        randomised = [
            sentence for sentence in resolve([row.randomised], prompt)[0] if sentence.evidence_id == name
        ]
        sentences_of_work += [sentence for sentence in randomised if sentence not in sentences_of_work]
        effect = StudyEffect(
            evidence_id=name,
            outcome=outcome,
            group=line(row.group, MAX_NAME_CHARS),
            comparator=line(row.comparator, MAX_NAME_CHARS),
            direction=direction,
            support=supports(sentences_of_work),
            counts=line(row.counts, MAX_COUNTS_CHARS),
            unit=line(row.unit, MAX_UNIT_CHARS),
            opposite=bool(row.opposite),
            reverse=bool(row.reverse),
            clustered=bool(row.clustered),
            randomised=bool(randomised),
        )
        texts = {field: text for field in figures.FIELDS if (text := str(getattr(row, field)).strip())}
        numbers = _numbers(effect.replace(figures=texts))
        missing = (f"{outcome}, {field}: {texts[field]}" for field in numbers.missing)
        refusals += [refusal("effect", text, "not_in_work", [name]) for text in missing]
        effect = effect.replace(figures={f: text for f, text in texts.items() if f not in numbers.missing})
        if _contradicts(effect):
            refusals.append(refusal("effect", f"{outcome}: {direction}", "direction_of_numbers", [name]))
        else:
            effects.append(effect)
    proposed = tuple(filter(None, map(_proposed, answer.conclusions)))
    appraisal = Appraisal(effects=_match_names(effects, proposed), proposed=proposed, refused=tuple(refusals))
    return Accepted(appraisal)


def _match_names(effects: Sequence[StudyEffect], proposed: Sequence[Proposed]) -> tuple[StudyEffect, ...]:
    """Give the only outcome without a conclusion the name of the only conclusion without effects."""
    outcomes, names = ({row.outcome: 0 for row in rows} for rows in (effects, proposed))
    unnamed, unused = outcomes.keys() - names, names.keys() - outcomes
    if len(unnamed) != 1 or len(unused) != 1:
        return tuple(effects)
    (outcome,), (name,) = unnamed, unused
    return tuple(effect.replace(outcome=name) if effect.outcome == outcome else effect for effect in effects)


def _proposed(row: ConclusionAnswer) -> Proposed | None:
    direction = one_of(row.direction, get_args(ConclusionDirection))
    certainty = one_of(row.certainty, get_args(Certainty))
    outcome = line(row.outcome, MAX_NAME_CHARS)
    if direction is None or certainty is None or not outcome:
        return None
    return Proposed(
        outcome=outcome,
        group=line(row.group, MAX_NAME_CHARS),
        comparator=line(row.comparator, MAX_NAME_CHARS),
        direction=direction,
        certainty=certainty,
        doubts=tuple(dict.fromkeys(filter(None, (one_of(text, get_args(Doubt)) for text in row.doubts)))),
        excludes=row.excludes,
        plural=bool(row.plural),
        asked=row.asked is not False,
    )


def _numbers(effect: StudyEffect) -> figures.Numbers:
    quotes = [support.quote for support in effect.support]
    name, outcome = effect.evidence_id, effect.outcome
    return figures.read_effect(effect.figures, quotes, name, outcome, clustered=effect.clustered)


def _contradicts(effect: StudyEffect) -> bool:
    """Tell whether the numbers lie on the other side of no effect than the direction that was read."""
    numbers = _numbers(effect).effect
    if numbers is None:
        return False
    side = side_of(study_interval(numbers, point_of(numbers), 0.95), no_effect(numbers.measure))
    side = OTHER_SIDE.get(side, side) if is_turned(effect, numbers) else side
    return {side, effect.direction} == {"higher", "lower"}


APPRAISER = RoleSpec("appraiser", AppraiseAnswer, render, accept, lambda *_: Appraisal(), reads=True)
