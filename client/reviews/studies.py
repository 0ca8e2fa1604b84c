"""What a person does on the studies of a review: full texts, extracted fields, risk of bias."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from activities.contracts.errors import DecisionError, Refused
from activities.contracts.evidence import Evidence, EvidenceRef, Support
from activities.review.bias import BiasAssessment, decide
from activities.review.decisions import latest
from activities.review.extraction import Difference, asked_fields, checked, number_of
from activities.review.publishing import field_decisions, settled_fields
from activities.review.studies import Answer, AskedField, BiasProposal, Extraction, ExtractionDecision, Value
from activities.review.study_steps import NOT_A_TRIAL
from client.failures import BadInput
from client.reviews.tasks import Task
from workflows.review.types import Assessed, DecideFields, Extracted, ReviewView, study_key

if TYPE_CHECKING:
    from activities.review.provided import Provided
    from client.reviews.review import Review


@dataclass(frozen=True, slots=True)
class OpenField:
    """A field of a study on which a person has to decide."""

    record: int
    title: str
    field: AskedField
    difference: Difference


@dataclass(frozen=True, slots=True)
class OpenBias:
    """A result whose risk of bias a person has to decide, with what a model proposes."""

    record: int
    title: str
    outcome: str
    proposal: BiasProposal


async def missing_texts(review: "Review") -> list[tuple[int, EvidenceRef]]:
    """The records whose full text is not here."""
    view = await review.view()
    records = (await review.records(view)).records
    sought = [n for n, state in enumerate(view.titles.states()) if state == "included"]
    return [(number, records[number]) for number in sought if not view.got.get(number)]


async def text_conflicts(review: "Review") -> list[Task]:
    """The full texts that wait for a decision, with what the screeners decided."""
    view = await review.view()
    held = latest(await review.decisions(view)).values()
    waiting = [
        number
        for number, state in enumerate(view.titles.states())
        if state == "included"
        and view.got.get(number) == "got"
        and view.full_texts.state(number) in ("open", "conflict")
    ]
    return [
        Task(
            number,
            "conflict" if view.full_texts.state(number) == "conflict" else "screen",
            await review.archive.store.get(view.provided[number]),
            tuple(one for one in held if one.record == number and one.stage == "full_texts")
            if view.full_texts.both(number)
            else (),
        )
        for number in waiting
    ]


async def provide(review: "Review", path: Path, *, by: str, record: int | None = None) -> "Provided":
    """Provide full texts from a folder or a file. `record`: the file is that of this record. Raises
    BadInput."""
    from activities.review.provided import provided_by

    waiting = dict(await missing_texts(review))
    if record is not None:
        waiting = {number: ref for number, ref in waiting.items() if number == record}
        if not waiting:
            raise BadInput(f"the full text of record {record} is not awaited")
    works = await review.archive.store.get_many(list(waiting.values()))
    try:
        made = await asyncio.to_thread(provided_by, path, works, sure=record is not None)
    except Refused as error:
        raise BadInput(str(error)) from error
    numbers = {work.evidence_id: number for number, work in zip(waiting, works, strict=True)}
    for name, text in made.texts.items():
        await review.provide(numbers[name], text, by=by)
    return made


async def open_fields(review: "Review") -> list[OpenField]:
    """The fields on which two extractors differ, side by side."""
    view = await review.view()
    fields = asked_fields(view.protocol)
    by_id = {field.id: field for field in fields}
    decisions = await field_decisions(review.archive, view.studies.decisions)
    decisions += tuple(view.studies.decided)
    rows: list[OpenField] = []
    for record, names in sorted(view.studies.pending.items()):
        if not names or record not in included(view):
            continue
        keys = view.studies.extracted[record]
        _, left = await settled_fields(review.archive, fields, keys, decisions)
        title = view.provided[record].title
        rows += [OpenField(record, title, by_id[one.field], one) for one in left]
    return rows


async def decide_field(
    review: "Review", record: int, field: str, value: str, *, by: str, quote: str = "", reason: str = ""
) -> None:
    """Decide on a field: `first`, `second`, `absent`, or the value itself. Raises BadInput."""
    view = await review.view()
    if record not in included(view):
        raise BadInput(f"record {record} is not included by its full text")
    text = view.provided[record]
    choice = value if value in ("first", "second", "absent") else "other"
    made = ExtractionDecision.model_validate(
        {
            "evidence_id": text.evidence_id,
            "field": field,
            "choice": choice,
            "by": by,
            "text": value if choice == "other" else "",
            "quote": quote,
            "reason": reason,
        }
    )
    try:
        made = checked(made, asked_fields(view.protocol))
    except DecisionError as error:
        raise BadInput(str(error)) from error
    if quote:
        _check_quote(await review.archive.store.get(text), quote)
    await review.send("decide_fields", DecideFields(decisions=(made,)))


async def extract(review: "Review", record: int, values: Mapping[str, str], *, by: str) -> None:
    """Give what a person extracted of a study: field -> value. Raises BadInput."""
    view = await review.view()
    if record not in included(view):
        raise BadInput(f"record {record} is not included by its full text")
    fields = {field.id: field for field in asked_fields(view.protocol)}
    for name, value in values.items():
        field = fields.get(name)
        if field is None:
            raise BadInput(f"{name} is no field; they are {', '.join(fields)}")
        if field.kind == "number" and number_of(value) is None:
            raise BadInput(f"{name} is one number, not {value!r}")
        if field.kind == "choice" and value not in field.choices:
            raise BadInput(f"{name} is one of {', '.join(field.choices)}")
    made = Extraction(
        evidence_id=view.provided[record].evidence_id,
        extractor=by,
        values=tuple(Value(field=name, text=value) for name, value in values.items()),
    )
    key = await review.archive.put(made)
    await review.send("extract", Extracted(by=by, record=record, key=key))


async def open_bias(review: "Review") -> list[OpenBias]:
    """The results whose risk of bias waits for a person."""
    view = await review.view()
    if view.protocol.bias != "rob2":
        return []
    rows = []
    for record in included(view):
        ref = view.provided[record]
        for outcome in [one.label for one in view.protocol.outcomes] or [""]:
            key = study_key(record, outcome)
            if key not in view.studies.assessed:
                rows.append(
                    OpenBias(record, ref.title, outcome, await _proposal(review, view, key, ref, outcome))
                )
    return rows


async def assess(
    review: "Review",
    record: int,
    outcome: str,
    answers: Mapping[str, Answer],
    *,
    by: str,
    several: bool = False,
    reason: str = "",
    not_a_trial: bool = False,
) -> BiasAssessment | None:
    """Decide on the risk of bias of a result; what is not answered stands as proposed. Raises BadInput."""
    view = await review.view()
    if record not in included(view):
        raise BadInput(f"record {record} is not included by its full text")
    key, made = NOT_A_TRIAL, None
    if not not_a_trial:
        name, ref = study_key(record, outcome), view.provided[record]
        proposal = await _proposal(review, view, name, ref, outcome)
        try:
            made = decide(proposal, answers, by, several=several, reason=reason)
        except DecisionError as error:
            raise BadInput(str(error)) from error
        key = await review.archive.put(made)
    await review.send("assess", Assessed(by=by, record=record, outcome=outcome, key=key))
    return made


async def _proposal(
    review: "Review", view: ReviewView, key: str, ref: EvidenceRef, outcome: str
) -> BiasProposal:
    """What a model proposes; without answers where none was asked."""
    stored = view.studies.proposed.get(key)
    if stored is None:
        return BiasProposal(evidence_id=ref.evidence_id, outcome=outcome)
    return await review.archive.get(stored, BiasProposal)


def included(view: ReviewView) -> Sequence[int]:
    """Records that are in the review after their full texts."""
    return [
        number
        for number, state in enumerate(view.titles.states())
        if state == "included"
        and view.got.get(number) == "got"
        and view.full_texts.state(number) == "included"
    ]


def _check_quote(work: Evidence, quote: str) -> None:
    from activities.verification.quote_check import QuoteChecker

    support = Support(evidence_id=work.evidence_id, quote=quote)
    if not QuoteChecker({work.evidence_id: work}).supports([support]).support:
        raise BadInput("the quote does not stand in the full text, word for word")
