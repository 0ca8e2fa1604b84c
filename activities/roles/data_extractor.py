"""Data extractor: the fields of a review's protocol for one study, each value with the words that state it.

A number stands where the quote has it; another text is copied from the quote; a choice is one of the
protocol's and rests on a quote. What the checks refuse is absent, which the comparison of both extractors
shows.
"""

from collections.abc import Sequence

from activities.contracts.evidence import Evidence
from activities.review.extraction import MAX_VALUE_CHARS, AskedField, Extraction, Value
from activities.review.steps import ExtractDataInput
from activities.roles.fields import Loose, Text, limits
from activities.roles.full_texts import QuotedAnswer, compose_full_text
from activities.roles.prompt import listed
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, one_of
from activities.text.numbers import missing_number, single, stated
from activities.verification import gate

MAX_FIELDS = 80
TASK = "Fill the fields that the work states. Answer with JSON."


class ValueAnswer(QuotedAnswer):
    field: Text = limits(length=80, default="")
    value: Text = limits(length=MAX_VALUE_CHARS, default="")


class DataAnswer(Loose):
    values: list[ValueAnswer] = limits(items=MAX_FIELDS, default_factory=list)


def render(step: ExtractDataInput, documents: Sequence[Evidence], room: int) -> Prompt:
    prompt = compose_full_text(
        "data_extractor",
        step,
        documents[:1],
        room=room,
        inputs=[listed("Fields", [_described(field) for field in step.fields], MAX_FIELDS, 400)],
        about=[f"{field.label} {field.hint}" for field in step.fields],
        task=TASK,
    )
    prompt.choices["values.field"] = tuple(field.id for field in step.fields)
    return prompt


def _described(field: AskedField) -> str:
    kind = f"one of {' | '.join(field.choices)}" if field.kind == "choice" else field.kind
    return f"{field.id}: {field.label} ({kind}){f'; {field.hint}' if field.hint else ''}"


def accept(step: ExtractDataInput, prompt: Prompt, answer: DataAnswer) -> Accepted[Extraction]:
    document = next(iter(prompt.shown.values()), None)
    if document is None:
        return Accepted(fallback(step, ()))
    fields = {field.id: field for field in step.fields}
    values: dict[str, Value] = {}
    for row in answer.values:
        name = one_of(row.field, fields)
        text = line(row.value, MAX_VALUE_CHARS)
        if name is None or name in values or not text:
            continue
        support = row.quotes(prompt, document)
        value = one_of(text, fields[name].choices) if fields[name].kind == "choice" else text
        if value and is_stated(fields[name], value, [one.quote for one in support]):
            values[name] = Value(field=name, text=value, support=support)
    return Accepted(
        Extraction(
            evidence_id=document.evidence_id,
            values=tuple(values[name] for name in fields if name in values),
        )
    )


def is_stated(field: AskedField, value: str, quotes: Sequence[str]) -> bool:
    """Say whether quotes state a value; a choice needs one to rest on."""
    if field.kind == "number":
        number = single(value)
        return number is not None and any(stated(q).has(one) for q in quotes for one in number.values)
    if field.kind == "text":
        return any(gate.are_spans(value, quote) for quote in quotes) and not missing_number(value, quotes)
    return bool(quotes)


def fallback(step: ExtractDataInput, documents: Sequence[Evidence]) -> Extraction:
    """Without a model nothing is extracted: a person fills the fields."""
    return Extraction(evidence_id=step.evidence[0].evidence_id)


DATA_EXTRACTOR = RoleSpec(
    "data_extractor",
    "Extracting the data",
    DataAnswer,
    render,
    accept,
    fallback,
    reads=True,
    idle=lambda step, documents: not (step.fields and documents),
)
