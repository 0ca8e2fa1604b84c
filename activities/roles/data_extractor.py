"""Those who read a study for a review: the data extractor and, of the risk of bias, the bias assessor.

Each value has the words that state it. A number stands where the quote has it; another text is copied from
the quote; a choice is one of the field's and rests on a quote, or, where it is only probable, on a reason.
What the checks refuse is absent, which the comparison of both extractors shows; of the risk of bias a person
decides every question.
"""

from collections.abc import Sequence
from functools import partial

from activities.contracts.evidence import Evidence
from activities.contracts.step import Role
from activities.review.extraction import MAX_VALUE_CHARS, AskedField, Extraction, Value
from activities.review.steps import ExtractDataInput
from activities.roles.fields import Loose, Text, limits
from activities.roles.full_texts import MAX_REASON_CHARS, QuotedAnswer, compose_full_text
from activities.roles.prompt import listing
from activities.roles.role import Accepted, Prompt, RoleSpec, are_retracted
from activities.roles.validation import line, one_of
from activities.text.number_index import index_of, missing_numbers
from activities.text.numbers import figure_of
from activities.verification.fields import are_spans

MAX_FIELDS = 80
TASK = "Fill the fields for the work shown. Answer with JSON."


class ValueAnswer(QuotedAnswer):
    field: Text = limits(length=80, default="")
    value: Text = limits(length=MAX_VALUE_CHARS, default="")


class DataAnswer(Loose):
    values: list[ValueAnswer] = limits(items=MAX_FIELDS, default_factory=list)


def render(role: Role, step: ExtractDataInput, documents: Sequence[Evidence], room: int) -> Prompt:
    inputs = [listing("Fields", [_describe(field) for field in step.fields], MAX_FIELDS, 400)]
    if role == "bias_assessor":
        inputs.insert(0, listing("The result", [step.outcome or "the main outcome of the review"]))
    prompt = compose_full_text(
        role,
        step,
        documents[:1],
        room=room,
        inputs=inputs,
        questions=[*(f"{field.label} {field.hint}" for field in step.fields), step.outcome],
        task=TASK,
    )
    prompt.choices["values.field"] = tuple(field.id for field in step.fields)
    if not any(field.guesses for field in step.fields):
        prompt.choices["values.reason"] = ()
    return prompt


def _describe(field: AskedField) -> str:
    kind = f"one of {' | '.join(field.choices)}" if field.kind == "choice" else field.kind
    return f"{field.id}: {field.label} ({kind}){f'; {field.hint}' if field.hint else ''}"


def accept(step: ExtractDataInput, prompt: Prompt, answer: DataAnswer) -> Accepted[Extraction]:
    document = next(iter(prompt.works.values()), None)
    if document is None:
        return Accepted(fallback(step, ()))
    fields = {field.id: field for field in step.fields}
    values: dict[str, Value] = {}
    for row in answer.values:
        name = one_of(row.field, fields)
        text = line(row.value, MAX_VALUE_CHARS)
        if name is None or name in values or not text:
            continue
        support, reason = row.quotes(prompt, document), line(row.reason, MAX_REASON_CHARS)
        value = one_of(text, fields[name].choices) if fields[name].kind == "choice" else text
        is_guess = bool(reason) and value in fields[name].guesses
        if value and (is_guess or is_stated(fields[name], value, [part.quote for part in support])):
            values[name] = Value(field=name, text=value, support=support, reason=reason)
    return Accepted(
        Extraction(
            evidence_id=document.evidence_id,
            values=tuple(values[name] for name in fields if name in values),
        )
    )


def is_stated(field: AskedField, value: str, quotes: Sequence[str]) -> bool:
    """Say whether quotes state a value; a choice needs one to rest on."""
    if field.kind == "number":
        number = figure_of(value)
        return number is not None and any(index_of(q).has(n) for q in quotes for n in number.values)
    if field.kind == "text":
        is_copied = any(are_spans(value, quote) for quote in quotes)
        return is_copied and not any(missing_numbers(value, quotes))
    return bool(quotes)


def fallback(step: ExtractDataInput, documents: Sequence[Evidence]) -> Extraction:
    """Without a model nothing is extracted: a person fills the fields."""
    return Extraction(evidence_id=step.evidence[0].evidence_id)


def _spec(role: Role) -> RoleSpec[ExtractDataInput, DataAnswer, Extraction]:
    return RoleSpec(
        role,
        DataAnswer,
        partial(render, role),
        accept,
        fallback,
        reads=True,
        idle=lambda step, documents: not step.fields or are_retracted(documents),
    )


DATA_EXTRACTOR = _spec("data_extractor")
BIAS_ASSESSOR = _spec("bias_assessor")
