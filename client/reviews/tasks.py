"""The tasks of a person in a review, with the work, the fields and the values that each is decided by."""

from collections.abc import Iterable, Mapping
from typing import get_args

from pydantic import Field, computed_field

from activities.contracts.evidence import Evidence, Frozen, Standing
from activities.review.archive import Archive
from activities.review.bias import FIELDS
from activities.review.decisions import Decision, Part, ScreenedStage, State
from activities.review.extraction import AskedField, Extraction, Value, asked_fields
from activities.review.state import ReviewState, TaskKey, TaskKind, study_key
from client.failures import BadInput

DECIDED_BY_TEXT: frozenset[TaskKind] = frozenset({"label", "screen", "conflict", "extract"})
"""Tasks that a program is sent the text for."""
REQUESTS: Mapping[TaskKind, str] = {
    "label": "random sample: label it",
    "conflict": "the screeners differ",
    "overrule": "overrule what was decided",
    "extract": "extract its data",
    "text": "provide its full text",
    "field": "the extractors differ",
    "bias": "assess its risk of bias",
}
"""Kind of a task -> what is asked of a person, in a few words."""


class Task(Frozen):
    """What waits for a person. Nobody is led by another: a screener is shown records by title and abstract
    alone, and the letters of others only once both have decided and differ."""

    record: int
    kind: TaskKind
    stage: ScreenedStage = "titles"
    id: str = ""
    """Of the work, by which files of full texts are named."""
    title: str
    work: Evidence = Field(exclude=True)
    standing: Standing = "unknown"
    """`retracted` or under `concern`: a person is told before they decide."""
    decisions: tuple[Decision, ...] = ()
    """On a conflict: those of both screeners; on a settled record all that hold."""
    outcome: str = ""
    """The outcome whose risk of bias is assessed."""
    fields: tuple[AskedField, ...] = ()
    """All that are extracted, the one on which extractors differ, or the questions on the risk of bias."""
    values: tuple[Value | None, ...] = ()
    """Those of the person so far, of the two extractors in order, or as a model proposes them."""
    left: int = 0
    """What waits for this person, this task counted."""

    @computed_field
    def text(self) -> str:
        return self.work.text if self.kind in DECIDED_BY_TEXT else ""

    @property
    def warning(self) -> str:
        """The notice that calls the work into question; empty for none."""
        return {"retracted": "RETRACTED", "concern": "EXPRESSION OF CONCERN"}.get(self.standing, "")

    @property
    def request(self) -> str:
        """The request to the person, in a few words."""
        if self.kind == "screen":
            return "full text" if self.stage == "full_texts" else "title and abstract"
        if self.kind == "conflict" and {decision.verdict for decision in self.decisions} == {"include"}:
            return "both include it: confirm it"
        return REQUESTS[self.kind]


class RecordState(Frozen):
    """A record, and what was decided on it so far."""

    record: int
    id: str
    title: str
    year: int | None = None
    states: dict[ScreenedStage, State] = Field(default_factory=dict)
    """The state at each stage that it has come to."""


async def task_of(
    archive: Archive,
    view: ReviewState,
    row: TaskKey,
    by: str,
    left: int = 0,
    decisions: Iterable[Decision] = (),
) -> Task:
    """Make the task of what waits for a person. `decisions`: the last ones on conflicts. Raises BadInput."""
    record, kind, stage, about = row
    ref = view.studies.texts.get(record)
    if stage == "titles":
        ref = next(iter((await archive.records(view.records)).records[record : record + 1]), None)
    if ref is None:
        where = f"record {record}; there are {view.total}, from 0 on"
        raise BadInput(f"there is no {'' if stage == 'titles' else 'full text of '}{where}")
    fields, values = await _fields_and_values(archive, view, row, by)
    parts = {"conflict": ("screener",), "overrule": get_args(Part)}.get(kind, ())
    return Task(
        record=record,
        kind=kind,
        stage=stage,
        id=ref.evidence_id,
        title=ref.title,
        work=await archive.store.get(ref),
        standing=ref.standing,
        decisions=tuple(
            row for row in decisions if (row.record, row.stage) == (record, stage) and row.part in parts
        ),
        outcome=about if kind == "bias" else "",
        fields=fields,
        values=values,
        left=left,
    )


async def _fields_and_values(
    archive: Archive, view: ReviewState, row: TaskKey, by: str
) -> tuple[tuple[AskedField, ...], tuple[Value | None, ...]]:
    if row.kind == "bias":
        return FIELDS, (await proposal(archive, view, row.record, row.about)).values
    fields, data = asked_fields(view.protocol), view.studies.of(row.record)
    if row.kind == "field":
        extractions = [await archive.get(part.key, Extraction) for part in data if part]
        values = tuple(extraction.value(row.about) for extraction in extractions)
        return tuple(field for field in fields if field.id == row.about), values
    if row.kind != "extract":
        return (), ()
    place = view.place_of(by)
    part = None if place is None else data[place]
    return fields, (await archive.get(part.key, Extraction)).values if part else ()


async def proposal(archive: Archive, view: ReviewState, record: int, outcome: str) -> Extraction:
    """Return the answers that a model proposes; without answers where none was asked."""
    key = view.studies.proposed.get(study_key(record, outcome))
    if key is None:
        return Extraction(evidence_id=view.studies.texts[record].evidence_id)
    return await archive.get(key, Extraction)
