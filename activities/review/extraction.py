"""Extraction: the protocol's fields of each included study, by two extractors, and a person's decisions.

Two extractions are compared field by field. Where they agree the value stands; where they differ, or where
only one has a value, both are shown side by side and a person decides. Nothing is filled in by code.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Literal

from activities.analysis.figures import COUNTED, INTERVAL, MEANS, REDUCTION
from activities.contracts.effects import MEASURE_NAMES
from activities.contracts.errors import DecisionError
from activities.contracts.evidence import Frozen, Support
from activities.review.protocol import ExtractionField, FieldKind, PooledOutcome, Protocol
from activities.text.normal_form import normalise
from activities.text.numbers import single

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
DIRECTIONS = ("higher", "lower", "no_difference", "uncertain")
MAX_VALUE_CHARS = 400


class AskedField(ExtractionField):
    """A field that extractors fill for a study: one of the protocol's, or a figure of an outcome."""

    id: str
    outcome: str = ""
    """Id of the outcome whose figure it is."""


class Value(Frozen):
    """The value of one field, with the words of the study that state it."""

    field: str
    text: str
    support: tuple[Support, ...] = ()
    """Empty for a value that a person typed without a quote."""


class Extraction(Frozen):
    """The values that one extractor read of one study; fields that the study does not state are absent."""

    evidence_id: str
    values: tuple[Value, ...] = ()

    def value(self, field: str) -> Value | None:
        return next((one for one in self.values if one.field == field), None)


class ExtractionDecision(Frozen):
    """A person's decision on a field. `other`: the value is `text`, with the person's own quote if any."""

    evidence_id: str
    field: str
    choice: Literal["first", "second", "absent", "other"]
    by: str
    text: str = ""
    quote: str = ""
    reason: str = ""


def asked_fields(protocol: Protocol) -> tuple[AskedField, ...]:
    """List every field that is extracted of a study: the protocol's, then the figures of each outcome."""
    own = (AskedField.model_validate(field.model_dump()) for field in protocol.extraction)
    return (*own, *(field for outcome in protocol.outcomes for field in _figures_of(outcome)))


def figure_id(outcome: str, name: str) -> str:
    """Name the field of a figure of an outcome: `mortality.events`."""
    return f"{outcome}.{name}"


def _figures_of(outcome: PooledOutcome) -> Iterator[AskedField]:
    names = {
        "OR": (*COUNTED, *INTERVAL),
        "RR": (*COUNTED, *INTERVAL),
        "RD": COUNTED,
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


class Difference(Frozen):
    """A field of a study on which two extractors differ; None: the study does not state it."""

    evidence_id: str
    field: str
    first: Value | None = None
    second: Value | None = None


class DecidedValue(Value):
    by: str
    """`agreed`, or the name of the person who decided."""
    reason: str = ""


AGREED = "agreed"


class DecidedStudy(Frozen):
    """The row of one study in the decided table."""

    evidence_id: str
    values: tuple[DecidedValue, ...] = ()
    absent: tuple[str, ...] = ()
    """Fields that the study does not state, as both extractors or a person say."""

    def text(self, field: str) -> str:
        """Return the value of a field; empty where there is none."""
        return next((one.text for one in self.values if one.field == field), "")


def is_same(field: AskedField, first: Value | None, second: Value | None) -> bool:
    """Compare two values: numbers by their value, other texts by their words."""
    if first is None or second is None:
        return first is second
    if field.kind == "number":
        one, other = number_of(first.text), number_of(second.text)
        if one is not None and other is not None:
            return one == other
    return _plain(first.text) == _plain(second.text)


def number_of(text: str) -> Decimal | None:
    """Return the number of a text that has exactly one, with its sign."""
    number = single(text)
    return number.signed[0] if number else None


def _plain(text: str) -> str:
    return normalise(text).casefold().strip(" .")


def differences(
    fields: Iterable[AskedField], first: Extraction, second: Extraction
) -> tuple[Difference, ...]:
    """List the fields on which two extractions of a study differ, for a person to decide."""
    return tuple(
        Difference(evidence_id=first.evidence_id, field=field.id, first=one, second=other)
        for field in fields
        if not is_same(field, one := first.value(field.id), other := second.value(field.id))
    )


def checked_value(fields: Sequence[AskedField], name: str, text: str | None) -> str:
    """Check a value that a person gives to a field; None for one that is chosen. Raises DecisionError."""
    field = next((one for one in fields if one.id == name), None)
    if field is None:
        raise DecisionError(f"{name} is no field; they are {', '.join(one.id for one in fields)}")
    if text is None:
        return ""
    text = text.strip()
    if not text:
        raise DecisionError(f"say the value of {name}, or choose `absent`")
    if field.kind == "choice" and text not in field.choices:
        raise DecisionError(f"{name} is one of {', '.join(field.choices)}, not {text}")
    if field.kind == "number" and number_of(text) is None:
        raise DecisionError(f"{name} is one number, not {text!r}")
    return text


def decided_study(
    fields: Sequence[AskedField],
    first: Extraction,
    second: Extraction,
    decisions: Mapping[str, ExtractionDecision],
) -> tuple[DecidedStudy, tuple[Difference, ...]]:
    """Return the row of a study as far as it is decided, and the fields that are still open.

    `decisions`: field -> decision; one on a field that both agree on overrules them.
    """
    values: list[DecidedValue] = []
    absent: list[str] = []
    pending: list[Difference] = []
    differing = {one.field: one for one in differences(fields, first, second)}
    for field in fields:
        pair = first.value(field.id), second.value(field.id)
        decision = decisions.get(field.id)
        if decision is None and field.id in differing:
            pending.append(differing[field.id])
        elif value := _decided(decision, *pair):
            values.append(value)
        else:
            absent.append(field.id)
    study = DecidedStudy(evidence_id=first.evidence_id, values=tuple(values), absent=tuple(absent))
    return study, tuple(pending)


def _decided(
    decision: ExtractionDecision | None, first: Value | None, second: Value | None
) -> DecidedValue | None:
    """Return the value that both agree on, or that a person chose or typed; None where there is none."""
    if decision is None:
        return DecidedValue(**first.model_dump(), by=AGREED) if first else None
    if decision.choice == "other":
        quote = decision.quote.strip()
        support = (Support(evidence_id=decision.evidence_id, quote=quote),) if quote else ()
        return DecidedValue(
            field=decision.field, text=decision.text, support=support, by=decision.by, reason=decision.reason
        )
    chosen = {"first": first, "second": second, "absent": None}[decision.choice]
    return DecidedValue(**chosen.model_dump(), by=decision.by, reason=decision.reason) if chosen else None
