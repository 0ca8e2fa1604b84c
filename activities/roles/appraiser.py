"""Appraiser: the effects that works report on the outcomes of a comparing question, and what a model proposes
to conclude. Numbers stand in the sentences they are from; what code makes of them is in
`activities.analysis.conclusions`."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, TypeVar, get_args

from pydantic import BeforeValidator, ValidationError

from activities.analysis.cells import as_float
from activities.analysis.conclusions import opposite, side_of
from activities.analysis.scale import NotUsable, no_effect, point_of, study_interval
from activities.analysis.stated import has_interval, measure_of, numbers_held, numbers_in, one_number
from activities.contracts.appraisal import (
    Appraisal,
    AppraiseInput,
    Certainty,
    ConclusionDirection,
    EffectDirection,
    Means,
    Proposed,
    StudyEffect,
)
from activities.contracts.effects import Arms, Effect
from activities.contracts.evidence import Evidence
from activities.contracts.judge import Refused
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
    refusal,
    supports,
)
from activities.roles.works import compose_works

MAX_EFFECTS = 40
MAX_NAME_CHARS = 120
"""Of an outcome, a group and a comparator."""
Made = TypeVar("Made", Arms, Means)
ARMS = ("events", "total", "control_events", "control_total")
MEANS = ("mean", "sd", "total", "control_mean", "control_sd", "control_total")
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
    sentences: SentenceLabels = limits(items=3, default_factory=list)
    measure: Text = limits(length=30, default="")
    estimate: Figure = ""
    low: Figure = ""
    high: Figure = ""
    events: Figure = ""
    total: Figure = ""
    control_events: Figure = ""
    control_total: Figure = ""
    mean: Figure = ""
    sd: Figure = ""
    control_mean: Figure = ""
    control_sd: Figure = ""
    n: Figure = ""
    opposite: bool = False


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
    that the numbers contradict is refused with them: one of the two was misread."""
    effects: list[StudyEffect] = []
    refused: list[Refused] = []
    for given in answer.effects[:MAX_EFFECTS]:
        document = prompt.shown.get(given.work)
        direction = next((d for d in get_args(EffectDirection) if d == _code(given.direction)), None)
        outcome = line(given.outcome, MAX_NAME_CHARS)
        sentences, _ = cited(given.sentences, prompt)
        own = [one for one in sentences if document and one.evidence_id == document.evidence_id]
        if document is None or direction is None or not outcome or not own:
            reason = "cites_nothing" if document and outcome else "label_unknown"
            refused.append(refusal("effect", outcome or given.work, reason, label=line(given.work, 40)))
            continue
        name = document.evidence_id
        quotes = [one.quote for one in own]
        effect, means, missing = _numbers(given, quotes, outcome, name)
        for column in missing:
            text = f"{outcome}, {column}: {getattr(given, column)}"
            refused.append(refusal("effect", text, "not_in_work", [name]))
        turned = opposite(effect) if given.opposite else effect
        if turned is not None and _contradicts(turned, direction):
            refused.append(refusal("effect", f"{outcome}: {direction}", "direction_of_numbers", [name]))
            continue
        people = one_number(given.n) if given.n and numbers_in(given.n) <= numbers_held(quotes) else None
        effects.append(
            StudyEffect(
                evidence_id=name,
                outcome=outcome,
                group=line(given.group, MAX_NAME_CHARS),
                comparator=line(given.comparator, MAX_NAME_CHARS),
                direction=direction,
                support=supports(own),
                effect=effect,
                means=None if given.opposite else means,
                opposite=given.opposite,
                n=int(people) if people is not None and people >= 1 else None,
            )
        )
    proposed = tuple(filter(None, map(_proposed, answer.conclusions)))
    return Accepted(Appraisal(effects=tuple(effects), proposed=proposed, refused=tuple(refused)))


def _code(text: str) -> str:
    return text.strip().casefold().replace(" ", "_").replace("-", "_")


def _proposed(given: ConclusionAnswer) -> Proposed | None:
    direction = next((d for d in get_args(ConclusionDirection) if d == _code(given.direction)), None)
    certainty = next((c for c in get_args(Certainty) if c == _code(given.certainty)), None)
    outcome = line(given.outcome, MAX_NAME_CHARS)
    if direction is None or certainty is None or not outcome:
        return None
    return Proposed(
        outcome=outcome,
        group=line(given.group, MAX_NAME_CHARS),
        comparator=line(given.comparator, MAX_NAME_CHARS),
        direction=direction,
        certainty=certainty,
        reasons=lines((clip(text, 160) for text in given.reasons), 3, 160),
    )


def _numbers(
    given: EffectAnswer, quotes: Sequence[str], outcome: str, name: str
) -> tuple[Effect | None, Means | None, list[str]]:
    """The effect and the means of an answer as far as its sentences have them, and the fields whose numbers
    they do not have."""
    held = numbers_held(quotes)
    fields = dict.fromkeys(("estimate", "low", "high", *ARMS, *MEANS))
    stated: dict[str, Decimal] = {}
    missing: list[str] = []
    for field in fields:
        if not (text := getattr(given, field).strip()):
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
        or not any(has_interval(quote, estimate, low, high) for quote in quotes)
    ):
        missing += ["estimate"] if is_whole else []
        estimate = low = high = None
    arms = _made(Arms, stated, ARMS)
    means = _made(Means, stated, MEANS)
    measure = measure_of(given.measure) or ("RR" if arms else None)
    if measure is None or (arms is None and estimate is None):
        return None, means, missing
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
    return effect, means, missing


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
