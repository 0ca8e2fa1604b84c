"""Appraiser: the effects that works report on the outcomes of a comparing question, and what a model proposes
to conclude. Numbers stand in the sentences they are from; what code makes of them is in
`activities.analysis.conclusions`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import sqrt
from typing import Annotated, TypeVar, get_args

from pydantic import BeforeValidator, ValidationError

from activities.analysis.cells import as_float
from activities.analysis.conclusions import conclude, of_shares, opposite
from activities.analysis.groups import are_exchanged
from activities.analysis.scale import NotUsable, no_effect, point_of, side_of, study_interval
from activities.analysis.stated import (
    has_interval,
    is_of_other_outcome,
    measure_of,
    numbers_held,
    numbers_in,
    one_number,
)
from activities.contracts.appraisal import (
    Appraisal,
    AppraiseInput,
    Certainty,
    ConclusionDirection,
    EffectDirection,
    Means,
    Proposed,
    Shares,
    StudyEffect,
)
from activities.contracts.effects import Arms, Effect
from activities.contracts.evidence import Evidence
from activities.contracts.judge import Refused
from activities.report.conclusions import facts_of
from activities.report.formats.conclusion_words import line as in_one_line
from activities.roles.prompt import clip
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import (
    Loose,
    OneWork,
    SentenceLabels,
    Text,
    Texts,
    cited,
    limits,
    line,
    lines,
    one_of,
    refusal,
    supports,
)
from activities.roles.works import compose_works

MAX_EFFECTS = 40
MAX_NAME_CHARS = 120
"""Characters of an outcome, a group or a comparator."""
Made = TypeVar("Made", Arms, Means, Shares)
ARMS = ("events", "total", "control_events", "control_total")
SHARES = ("percent", "total", "control_percent", "control_total")
MEANS = ("mean", "sd", "total", "control_mean", "control_sd", "control_total")
ERRORS = ("se", "control_se")
OF_GROUPS = (("events", "control_events"), ("percent", "control_percent"), ("mean", "control_mean"))
"""Numbers that belong to the one and to the other group."""
TASK = "Give the effects of every work shown, then your conclusions. Answer with JSON."


def _number(value: object) -> object:
    """A number as text: `12.0` and `12` alike, `n = 12` as it is."""
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
    n: Figure = ""
    opposite: bool = False


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What of an answer its sentences have."""

    effect: Effect | None
    means: Means | None
    shares: Shares | None
    n: int | None
    total_of_both: bool
    missing: Sequence[str]
    """Fields whose numbers they do not have."""
    exchanged: bool
    """Whether a sentence gives the numbers of a group to the other one."""


class ConclusionAnswer(Loose):
    outcome: Text = limits(length=MAX_NAME_CHARS, default="")
    group: Text = limits(length=MAX_NAME_CHARS, default="")
    comparator: Text = limits(length=MAX_NAME_CHARS, default="")
    direction: Text = ""
    certainty: Text = ""
    reasons: Texts = limits(items=3, length=120, default_factory=list)


class AppraiseAnswer(Loose):
    effects: list[EffectAnswer] = limits(items=MAX_EFFECTS, default_factory=list)
    conclusions: list[ConclusionAnswer] = limits(items=4, default_factory=list)


def render(step: AppraiseInput, documents: Sequence[Evidence], room: int) -> Prompt:
    prompt = compose_works("appraiser", step, documents, room=room, task=TASK)
    prompt.choices["effects.direction"] = get_args(EffectDirection)
    prompt.choices["conclusions.direction"] = get_args(ConclusionDirection)
    prompt.choices["conclusions.certainty"] = get_args(Certainty)
    return prompt


def accept(step: AppraiseInput, prompt: Prompt, answer: AppraiseAnswer) -> Accepted[Appraisal]:
    """Effects with a sentence of their own work. A number stands where a sentence that was named has it, an
    estimate beside its interval; a number that fails is left out, and with it those that need it. A direction
    that the numbers contradict is refused with them: one of the two was misread; and so are numbers that a
    sentence gives to the other group."""
    effects: list[StudyEffect] = []
    refused: list[Refused] = []
    for row in answer.effects[:MAX_EFFECTS]:
        document = prompt.shown.get(row.work)
        direction = one_of(row.direction, get_args(EffectDirection))
        outcome = line(row.outcome, MAX_NAME_CHARS)
        sentences, _ = cited(row.sentences, prompt)
        own = [one for one in sentences if document and one.evidence_id == document.evidence_id]
        if document is None or direction is None or not outcome or not own:
            reason = "cites_nothing" if document and outcome else "label_unknown"
            refused.append(refusal("effect", outcome or row.work, reason, label=line(row.work, 40)))
            continue
        name = document.evidence_id
        quotes = [one.quote for one in own]
        numbers = _numbers(row, quotes, outcome, name)
        for column in numbers.missing:
            text = f"{outcome}, {column}: {getattr(row, column)}"
            refused.append(refusal("effect", text, "not_in_work", [name]))
        computed = of_shares(numbers.shares, outcome) if numbers.shares else numbers.effect
        turned = opposite(computed) if row.opposite else computed
        if numbers.exchanged or (turned is not None and _contradicts(turned, direction)):
            reason = "groups_exchanged" if numbers.exchanged else "direction_of_numbers"
            refused.append(refusal("effect", f"{outcome}: {direction}", reason, [name]))
            continue
        effects.append(
            StudyEffect(
                evidence_id=name,
                outcome=outcome,
                group=line(row.group, MAX_NAME_CHARS),
                comparator=line(row.comparator, MAX_NAME_CHARS),
                direction=direction,
                support=supports(own),
                effect=numbers.effect,
                means=None if row.opposite else numbers.means,
                shares=numbers.shares,
                opposite=row.opposite,
                total_of_both=numbers.total_of_both,
                n=numbers.n,
            )
        )
    proposed = tuple(filter(None, map(_proposed, answer.conclusions)))
    made = Appraisal(effects=tuple(effects), proposed=proposed, refused=tuple(refused))
    judged = {one.evidence_id: one for one in step.judgements}
    works = {work.evidence_id: facts_of(work, judged.get(work.evidence_id)) for work in prompt.shown.values()}
    return Accepted(made.replace(concluded=tuple(map(in_one_line, conclude(made, works)))))


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
        reasons=lines((clip(text, 160) for text in row.reasons), 3, 160),
    )


def _numbers(row: EffectAnswer, quotes: Sequence[str], outcome: str, name: str) -> _Numbers:
    """The numbers of an answer as far as its sentences have them."""
    held = numbers_held(quotes)
    fields = dict.fromkeys(("estimate", "low", "high", *ARMS, *SHARES, *MEANS, *ERRORS))
    stated: dict[str, Decimal] = {}
    missing: list[str] = []
    for field in fields:
        if not (text := getattr(row, field).strip()):
            continue
        number = one_number(text)
        if number is not None and number in held:
            stated[field] = number
        else:
            missing.append(field)
    estimate, low, high = (stated.get(field) for field in ("estimate", "low", "high"))
    is_whole = estimate is not None and low is not None and high is not None
    if (
        estimate is None
        or low is None
        or high is None
        or not any(
            has_interval(quote, estimate, low, high) and not is_of_other_outcome(quote, low, high, outcome)
            for quote in quotes
        )
    ):
        missing += ["estimate"] if is_whole else []
        estimate = low = high = None
    people = one_number(row.n) if row.n and numbers_in(row.n) <= held else None
    n = int(people) if people is not None and people >= 1 else None
    # a turned risk ratio needs events; else an interval that the work computed is nearer than halves are
    sizes = _sizes(stated, n) if estimate is None or row.opposite else {}
    stated |= sizes
    arms = _made(Arms, stated, ARMS)
    measure = measure_of(row.measure) or ("RR" if arms else None)
    effect = None
    if measure is not None and (arms is not None or estimate is not None):
        effect = Effect(
            study=name,
            outcome=outcome,
            measure=measure,
            estimate=as_float(estimate),
            low=as_float(low),
            high=as_float(high),
            arms=arms,
            evidence_id=name,
            quote=" ".join(quotes),
        )
    return _Numbers(
        effect=effect,
        means=_made(Means, _with_deviations(stated), MEANS),
        shares=_made(Shares, stated, SHARES) if arms is None else None,
        n=n,
        total_of_both=bool(sizes),
        missing=missing,
        exchanged=any(
            are_exchanged(quote, (row.group, row.comparator), (stated[one], stated[other]))
            for one, other in OF_GROUPS
            if one in stated and other in stated
            for quote in quotes
        ),
    )


def _sizes(stated: Mapping[str, Decimal], n: int | None) -> Mapping[str, Decimal]:
    """The sizes of two groups whose work gives their numbers and the participants of both together: what one
    size leaves for the other, or halves. Empty where it gives both sizes, or nothing to compute with."""
    one, other = stated.get("total"), stated.get("control_total")
    has_pair = any(name in stated and control in stated for name, control in OF_GROUPS)
    if n is None or not has_pair or (one is not None and other is not None):
        return {}
    first = one if one is not None else n - other if other is not None else Decimal(n // 2)
    return {"total": first, "control_total": n - first}


def _with_deviations(stated: Mapping[str, Decimal]) -> Mapping[str, Decimal]:
    """The standard deviations of means with standard errors (Cochrane's handbook, 6.5.2.2)."""
    made = dict(stated)
    for error, deviation, total in (("se", "sd", "total"), ("control_se", "control_sd", "control_total")):
        if deviation not in stated and error in stated and stated.get(total, 0) > 0:
            made[deviation] = stated[error] * Decimal(sqrt(stated[total]))
    return made


def _made(kind: type[Made], stated: Mapping[str, Decimal], fields: Sequence[str]) -> Made | None:
    if any(field not in stated for field in fields):
        return None
    try:
        return kind.model_validate({field: stated[field] for field in fields})
    except ValidationError:
        return None


def _contradicts(effect: Effect, direction: EffectDirection) -> bool:
    """Whether the numbers lie on the other side of no effect."""
    try:
        side = side_of(study_interval(effect, point_of(effect), 0.95), no_effect(effect.measure))
    except NotUsable:
        return False
    return {side, direction} == {"higher", "lower"}


SPEC = RoleSpec[AppraiseInput, AppraiseAnswer, Appraisal](
    "appraiser",
    "Appraising the effects",
    AppraiseAnswer,
    render,
    accept,
    lambda _step, _documents: Appraisal(),
    lambda step: step.evidence,
    lambda _, documents: not documents,
)
