"""One systematic review: its state, the messages that it receives, and what it has come to."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel
from temporalio.client import WorkflowUpdateFailedError
from temporalio.service import RPCError, RPCStatusCode

from activities.contracts.evidence import Evidence, EvidenceRef
from activities.evidence_store import EvidenceStore
from activities.review.archive import Archive, Published
from activities.review.decisions import VERDICTS, Decision, Made, ScreenedStage, Verdict, latest
from activities.review.records import Records
from activities.settings import Settings
from client.blocking import Blocking, Blocks
from client.connection import Connection
from client.embedded.server import keep_alive
from client.failures import BadInput, Failure
from client.listing import Row, describe
from client.reviews import studies
from client.reviews.tasks import Task as Task
from client.reviews.tasks import screener_place, tasks
from client.runs.query import query
from client.runs.start import user_name
from workflows.review.types import (
    Accepted,
    Amend,
    Decide,
    Overrule,
    PartCopy,
    ProvideFullText,
    ReviewProgress,
    ReviewView,
)

if TYPE_CHECKING:
    from activities.review.bias import BiasAssessment
    from activities.review.provided import Provided
    from activities.review.studies import Answer

UPDATE_SECONDS = 60.0


class Review:
    """A review, under way or over. Methods raise NoConnection, NoAnswer, NoSuchRun, and BadInput for what the
    review refuses."""

    def __init__(self, settings: Settings, connection: Connection, run_id: str) -> None:
        self.settings = settings
        self.connection = connection
        self.id = run_id
        self.archive = Archive(EvidenceStore.at(settings.evidence_url))
        self._records = "", Records()

    def __repr__(self) -> str:
        return f"Review({self.id!r})"

    @property
    def link(self) -> str | None:
        return self.connection.link(self.id)

    async def row(self) -> Row:
        described = describe(self.connection.client, self.id)
        return await (keep_alive(self.settings, described) if self.connection.embedded else described)

    async def progress(self) -> ReviewProgress:
        """Where it stands, and whom it waits for."""
        return await query(self.connection.client, self.id, "progress", ReviewProgress)

    async def view(self) -> ReviewView:
        """Its records and decisions, by key. What others decided is in it: a surface that shows records to a
        screener goes by `tasks`."""
        return await query(self.connection.client, self.id, "view", ReviewView)

    async def records(self, view: ReviewView | None = None) -> Records:
        view = view or await self.view()
        key, records = self._records
        if view.records != key:  # megabytes, which change only when records are added
            records = await self.archive.get(view.records, Records)
            self._records = view.records, records
        return records

    async def decisions(self, view: ReviewView | None = None) -> list[Decision]:
        """Every decision, oldest first."""
        view = view or await self.view()
        return [*await self.archive.log(view.log), *view.pending]

    async def tasks(self, by: str, most: int = 20) -> list[Task]:
        """The next records for a person."""
        view = await self.view()
        place = screener_place(view, by)
        order = await self.archive.numbers(view.order) if view.order and place is not None else []
        waiting = list(tasks(view, by, order))
        chosen = waiting[:most]
        records = await self.records(view)
        held = latest(await self.decisions(view)) if any(kind == "conflict" for _, kind in chosen) else {}
        return [
            Task(
                number,
                kind,
                await self.archive.store.get(records.records[number]),
                tuple(one for one in held.values() if one.record == number and one.part == "screener")
                if kind == "conflict"
                else (),
                len(waiting) - at,
            )
            for at, (number, kind) in enumerate(chosen)
        ]

    async def conflicts(self) -> list[Task]:
        """The records on which both screeners have decided and differ, with what they decided."""
        return await self.tasks("", 500)

    async def record(self, number: int) -> Evidence:
        """A record by its number. Raises BadInput."""
        records = await self.records()
        if not 0 <= number < len(records.records):
            raise BadInput(f"there is no record {number}; there are {len(records.records)}, from 0 on")
        return await self.archive.store.get(records.records[number])

    async def approve(self, gate: str | None = None, *, by: str | None = None) -> str:
        """Approve what waits: the protocol, the full texts that are missing, or the report; return which."""
        seen = await self.progress()
        waits = seen.gate
        if waits not in ("protocol", "report", "full_texts") or (gate and gate != waits):
            raise BadInput(f"{self.id} waits for no approval: {seen.text or seen.phase}")
        await self._signal("approve", {"by": by or user_name(), "gate": waits})
        return waits

    async def pause(self) -> None:
        await self._signal("pause")

    async def resume(self) -> None:
        """Resume it, and ask a model that was down again."""
        await self._signal("resume")

    async def finish(self) -> None:
        """End screening here; the report says what was not read."""
        await self._signal("finish_now")

    async def cancel(self) -> None:
        """Stop it; a report of what there is is still made."""
        await self.connection.client.get_workflow_handle(self.id).cancel()

    async def label(self, decisions: Sequence[Made], *, by: str) -> tuple[str, ...]:
        return (await self._update("label", Decide(by=by, decisions=tuple(decisions)))).state

    async def decide(
        self, decisions: Sequence[Made], *, by: str, full_texts: bool = False
    ) -> tuple[str, ...]:
        """Decide on records, as one of the screeners or on a conflict; return what became of each."""
        message = Decide(by=by, decisions=tuple(decisions), stage=_stage(full_texts=full_texts))
        return (await self._update("decide", message)).state

    async def overrule(
        self,
        number: int,
        verdict: Verdict,
        *,
        by: str,
        reason: str,
        criterion: str = "",
        full_texts: bool = False,
    ) -> None:
        """Overrule what was decided on a record; only what rests on it is made again."""
        if verdict == "unsure":
            raise BadInput("overrule with include or exclude")
        message = Overrule(
            by=by,
            record=number,
            verdict=verdict,
            criterion=criterion,
            reason=reason,
            stage=_stage(full_texts=full_texts),
        )
        await self._update("overrule", message)

    async def amend(self, path: Path, *, by: str, reason: str) -> str:
        """Change the protocol to that of a file; return what was changed."""
        from client.reviews.start import read_all

        protocol, key, files = await read_all(self.archive, path)
        message = Amend(by=by, reason=reason, protocol=protocol, protocol_key=key, files=files)
        return (await self._update("amend", message)).text

    async def provide(self, number: int, document: Evidence | None, *, by: str) -> None:
        """Provide the full text of a record, or say that it cannot be retrieved."""
        ref = await self.archive.store.put(document) if document else None
        await self._update("provide_full_text", ProvideFullText(by=by, record=number, ref=ref))

    async def missing_texts(self) -> list[tuple[int, EvidenceRef]]:
        """The records whose full text is awaited."""
        return await studies.missing_texts(self)

    async def provide_texts(self, path: Path, *, by: str, record: int | None = None) -> "Provided":
        """Provide full texts from a folder or a file; `record`: the file is that of this record."""
        return await studies.provide(self, path, by=by, record=record)

    async def text_conflicts(self) -> list[Task]:
        """The full texts that wait for a decision, with what the screeners decided."""
        return await studies.text_conflicts(self)

    async def open_fields(self) -> "list[studies.OpenField]":
        """The fields on which two extractors differ, side by side."""
        return await studies.open_fields(self)

    async def decide_field(
        self, record: int, field: str, value: str, *, by: str, quote: str = "", reason: str = ""
    ) -> None:
        """Decide on a field: `first`, `second`, `absent`, or the value itself."""
        await studies.decide_field(self, record, field, value, by=by, quote=quote, reason=reason)

    async def extract(self, record: int, values: Mapping[str, str], *, by: str) -> None:
        """Give what a person, as one of the two extractors, read of a study: field -> value."""
        await studies.extract(self, record, values, by=by)

    async def open_bias(self) -> "list[studies.OpenBias]":
        """The results whose risk of bias waits for a person, with what a model proposes."""
        return await studies.open_bias(self)

    async def assess(
        self,
        record: int,
        outcome: str,
        answers: "Mapping[str, Answer]",
        *,
        by: str,
        several: bool = False,
        reason: str = "",
        not_a_trial: bool = False,
    ) -> "BiasAssessment | None":
        """Decide on the risk of bias of a result; what is not answered stands as proposed."""
        return await studies.assess(
            self, record, outcome, answers, by=by, several=several, reason=reason, not_a_trial=not_a_trial
        )

    async def part(self, blob: str, *, by: str) -> None:
        """Make a copy that was merged wrongly a record of its own."""
        copies = (await self.records()).copies
        fitting = [one.ref.blob for one in copies if blob in (one.ref.blob, one.ref.evidence_id)]
        if len(fitting) != 1:
            raise BadInput(
                f"{blob[:80]} names {len(fitting)} merged copies; `export` lists them in merged.csv"
            )
        await self._update("part", PartCopy(by=by, blob=fitting[0]))

    async def published(self) -> Published:
        """What it has published last. Raises Failure where there is nothing yet."""
        published = await self.archive.published(self.id)
        if published is None:
            raise Failure(f"{self.id} has published nothing yet")
        return published

    async def send(self, name: str, message: BaseModel) -> str:
        """Send a message that the review may refuse; return what became of it. Raises BadInput."""
        return (await self._update(name, message)).text

    async def _signal(self, name: str, payload: object = None) -> None:
        row = await self.row()
        if row.status != "running":
            raise BadInput(f"{self.id} is over ({row.status})")
        handle = self.connection.client.get_workflow_handle(self.id)
        await handle.signal(name, args=[] if payload is None else [payload])

    async def _update(self, name: str, message: BaseModel) -> Accepted:
        handle = self.connection.client.get_workflow_handle(self.id)
        try:
            answer: Accepted = await handle.execute_update(
                name,
                message,
                result_type=Accepted,
                rpc_timeout=timedelta(seconds=UPDATE_SECONDS),
            )
        except WorkflowUpdateFailedError as error:
            raise BadInput(str(error.cause)) from error
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND and (row := await self.row()).status != "running":
                raise BadInput(f"{self.id} is over ({row.status})") from error
            raise
        return answer


class BlockingReview(Blocking[Review]):
    """A review for a program without an event loop: the same methods, which block."""

    @property
    def id(self) -> str:
        return self.held.id

    progress = Blocks(Review.progress)
    view = Blocks(Review.view)
    records = Blocks(Review.records)
    decisions = Blocks(Review.decisions)
    tasks = Blocks(Review.tasks)
    conflicts = Blocks(Review.conflicts)
    record = Blocks(Review.record)
    approve = Blocks(Review.approve)
    pause = Blocks(Review.pause)
    resume = Blocks(Review.resume)
    finish = Blocks(Review.finish)
    cancel = Blocks(Review.cancel)
    label = Blocks(Review.label)
    decide = Blocks(Review.decide)
    overrule = Blocks(Review.overrule)
    amend = Blocks(Review.amend)
    provide = Blocks(Review.provide)
    missing_texts = Blocks(Review.missing_texts)
    provide_texts = Blocks(Review.provide_texts)
    text_conflicts = Blocks(Review.text_conflicts)
    open_fields = Blocks(Review.open_fields)
    decide_field = Blocks(Review.decide_field)
    extract = Blocks(Review.extract)
    open_bias = Blocks(Review.open_bias)
    assess = Blocks(Review.assess)
    part = Blocks(Review.part)
    published = Blocks(Review.published)


def _stage(*, full_texts: bool) -> ScreenedStage:
    return "full_texts" if full_texts else "titles"


def verdict_of(letter: str) -> Verdict | None:
    """The verdict that a key stands for: i, e or u."""
    return VERDICTS.get(letter.lower())
