"""Extraction: fields of each included study, by two extractors, and a person's decisions.

The fields are the protocol's, or the signalling questions of the risk of bias. Two extractions are compared
field by field. Where they agree the value stands; where they differ, or where only one has a value, both are
shown side by side and a person decides. Nothing is filled in by code.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import get_args

from activities.analysis.figures import ARM_FIELDS, INTERVAL, MEANS, REDUCTION
from activities.contracts.appraisal import EffectDirection
from activities.contracts.effects import MEASURE_NAMES
from activities.contracts.errors import DecisionError
from activities.contracts.evidence import Frozen, Support
from activities.review.decisions import Decision
from activities.review.protocol import ExtractionField, FieldKind, PooledOutcome, Protocol
from activities.text.normal_form import normalise
from activities.text.numbers import figure_of

FIGURES: Mapping[str, str] = {
    "events": "people with the outcome in the group of the intervention",
    "total": "people in the group of the intervention",
    "control_events": "people with the outcome in the group of the comparator",
    "control_total": "people in the group of the comparator",
    "mean": "mean in the group of the intervention",
    "sd": "standard deviation in the group of the intervention",
    "control_mean": "mean in the group of the comparator",
    "control_sd": "standard deviation in the group of the comparator",
    "estimate": "estimate of the effect of the intervention against the comparator",
    "low": "lower end of its 95 % interval",
    "high": "upper end of its 95 % interval",
}
"""Figures that are asked of an outcome, beside `measure`, `direction` and `clustered`."""
DIRECTIONS: tuple[EffectDirection, ...] = get_args(EffectDirection)
MAX_VALUE_CHARS = 400
CHOICE_WORDS = ("first", "second", "absent")
"""Words of a person on a field in the place of its value."""


class AskedField(ExtractionField):
    """A field that extractors fill for a study: one of the protocol's, or a figure of an outcome."""

    id: str
    outcome: str = ""
    """Id of the outcome whose figure it is."""
    guesses: tuple[str, ...] = ()
    """Choices that may rest on a reason, without words of the study."""


class Value(Frozen):
    """The value of one field, with the words of the study that state it."""

    field: str
    text: str
    support: tuple[Support, ...] = ()
    """Empty for a value that a person typed without a quote."""
    reason: str = ""


class Extraction(Frozen):
    """The values that one extractor read of one study; fields that the study does not state are absent."""

    evidence_id: str
    values: tuple[Value, ...] = ()

    def value(self, field: str) -> Value | None:
        return next((value for value in self.values if value.field == field), None)


def support_of(evidence_id: str, quote: str) -> tuple[Support, ...]:
    """Return what a person quotes of a study; empty where they quote nothing."""
    return (Support(evidence_id=evidence_id, quote=quote.strip()),) if quote.strip() else ()


def asked_fields(protocol: Protocol) -> tuple[AskedField, ...]:
    """List every field that is extracted of a study: the protocol's, then the figures of each outcome."""
    fields = (AskedField.model_validate(field.model_dump()) for field in protocol.extraction)
    return (*fields, *(field for outcome in protocol.outcomes for field in _figures_of(outcome)))


def figure_id(outcome: str, name: str) -> str:
    """Name the field of a figure of an outcome: `mortality.events`."""
    return f"{outcome}.{name}"


def _figures_of(outcome: PooledOutcome) -> Iterator[AskedField]:
    names = {
        "OR": (*ARM_FIELDS, *INTERVAL),
        "RR": (*ARM_FIELDS, *INTERVAL),
        "RD": ARM_FIELDS,
        "HR": ("total", "control_total", *INTERVAL),
        "MD": (*MEANS, *INTERVAL),
        "SMD": (*MEANS, *INTERVAL),
    }.get(outcome.measure or "", tuple(FIGURES))

    def field(name: str, label: str, kind: FieldKind, choices: tuple[str, ...] = ()) -> AskedField:
        return AskedField(
            id=figure_id(outcome.id, name),
            label=f"{outcome.label}: {label}",
            kind=kind,
            choices=choices,
            outcome=outcome.id,
        )

    yield field("direction", "in the intervention's group against the comparator's", "choice", DIRECTIONS)
    for name in names:
        yield field(name, FIGURES[name], "number")
    if "estimate" in names:
        yield field("measure", "measure of that estimate", "choice", (*MEASURE_NAMES, REDUCTION))
    if "events" in names:
        yield field(
            "clustered", "were groups of people (villages, clinics) allocated", "choice", ("yes", "no")
        )


class DecidedValue(Value):
    by: str
    """`agreed`, or the name of the person who decided, whose reason it has."""


AGREED = "agreed"


class DecidedStudy(Frozen):
    """The row of one study in the decided table, without the fields that it does not state."""

    evidence_id: str
    values: tuple[DecidedValue, ...] = ()

    def text(self, field: str) -> str:
        return next((value.text for value in self.values if value.field == field), "")

    def reports(self, outcome: PooledOutcome) -> bool:
        """Say whether it reports an outcome: how many people there were, and how allocated, says nothing."""
        ignored = {figure_id(outcome.id, name) for name in ("total", "control_total", "clustered")}
        figures = {value.field for value in self.values if value.field.startswith(figure_id(outcome.id, ""))}
        return bool(figures - ignored)


def is_same(field: AskedField, first: Value | None, second: Value | None) -> bool:
    """Compare two values: numbers by their value, other texts by their words."""
    if first is None or second is None:
        return first is second
    if field.kind == "number":
        numbers = number_of(first.text), number_of(second.text)
        if None not in numbers:
            return numbers[0] == numbers[1]
    return _plain(first.text) == _plain(second.text)


def number_of(text: str) -> Decimal | None:
    """Return the number of a text that has exactly one, with its sign."""
    number = figure_of(text)
    return number.signed[0] if number else None


def _plain(text: str) -> str:
    return normalise(text).casefold().strip(" .")


def checked_value(fields: Sequence[AskedField], name: str, text: str, words: Sequence[str] = ()) -> str:
    """Check a value that a person gives to a field; they may say one of `words`. Raises DecisionError."""
    field = next((row for row in fields if row.id == name), None)
    if field is None:
        raise DecisionError(f"{name} is not asked; what is asked: {', '.join(row.id for row in fields)}")
    text = text.strip()
    if text in words:
        return text
    if not text:
        raise DecisionError(f"say the value of {name}, or choose `absent`")
    choice = next((option for option in field.choices if option.casefold() == text.casefold()), None)
    if field.kind == "choice" and choice is None:
        raise DecisionError(f"{name} is one of {', '.join(field.choices)}, not {text}")
    if field.kind == "number" and number_of(text) is None:
        raise DecisionError(f"{name} is one number, not {text!r}")
    return choice or text


def decided_study(
    fields: Sequence[AskedField],
    first: Extraction,
    second: Extraction,
    decisions: Mapping[str, Decision],
) -> tuple[DecidedStudy, tuple[str, ...]]:
    """Return the row of a study as far as it is decided, and the ids of the fields that are still open.

    `decisions`: field -> decision; one on a field that both agree on overrules them.
    """
    values: list[DecidedValue] = []
    pending: list[str] = []
    for field in fields:
        decision = decisions.get(field.id)
        if decision is None and not is_same(field, first.value(field.id), second.value(field.id)):
            pending.append(field.id)
        elif value := _decided_value(decision, field.id, first, second):
            values.append(value)
    return DecidedStudy(evidence_id=first.evidence_id, values=tuple(values)), tuple(pending)


def _decided_value(
    decision: Decision | None, field: str, first: Extraction, second: Extraction
) -> DecidedValue | None:
    """Return the value that both agree on, or that a person chose or typed; None where there is none."""
    value = first.value(field)
    if decision is None:
        return DecidedValue(**dict(value), by=AGREED) if value else None
    if decision.value not in CHOICE_WORDS:
        support = support_of(first.evidence_id, " ".join(decision.words))
        value = Value(field=field, text=decision.value.strip(), support=support)
    elif decision.value != "first":
        value = second.value(field) if decision.value == "second" else None
    return DecidedValue(**dict(value) | {"by": decision.by, "reason": decision.reason}) if value else None
