"""One systematic review: its state, the messages that it receives, and what it has come to."""

import asyncio
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError
from temporalio.client import (
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.service import RPCError, RPCStatusCode

from activities.contracts.errors import DecisionError, Refused
from activities.contracts.evidence import Evidence, EvidenceRef, Support
from activities.evidence_store import EvidenceStore
from activities.messages import count_of
from activities.review.archive import Archive, PublishedReview
from activities.review.bias import BiasAssessment, decide
from activities.review.decisions import (
    SETTLED,
    Decision,
    Part,
    ScreenedStage,
    Stage,
    State,
    Verdict,
    latest_decisions,
)
from activities.review.extraction import (
    Extraction,
    Value,
    asked_fields,
    checked_value,
    support_of,
)
from activities.review.records import Records
from activities.review.state import NOT_A_TRIAL, ReviewState, TaskKey, TaskKind
from activities.settings import Settings
from client.blocking import Blocking, Blocks
from client.connection import Connection
from client.embedded.keeper import keep_alive
from client.failures import BadInput, Failure, NoAnswer, faults_of
from client.listing import Row, describe
from client.reviews.tasks import RecordState, Task, proposal, task_of
from client.run import actor
from client.runs.query import query, wait_for_answer
from workflows.review.types import Amend, PartCopy, ProvideFullText, ReviewProgress

UPDATE_SECONDS = 60.0
POLL_SECONDS = 0.5
STEP_SECONDS = 10.0
"""Time in which a step of the review is waited for, before nothing waits for people."""
START_SECONDS = 60.0
"""Time in which a review whose worker is being started is asked again."""
M = TypeVar("M", bound=BaseModel)
Number = Annotated[int, Field(ge=0)]
FinalVerdict = Literal["include", "exclude"]
CriterionId = Annotated[str, Field(description="The criterion that it rests on.")]
OfFullText = Annotated[bool, Field(description="Of full texts, not of titles and abstracts.")]
Label = Annotated[bool, Field(description="Label a record of the random sample.")]
Quote = Annotated[str, Field(description="Words of the full text that state the value.")]
Why = Annotated[str, Field(description="Why it is so.")]
Values = Annotated[Mapping[str, str], Field(title="FIELD=VALUE")]
Quotes = Annotated[
    Mapping[str, str], Field(title="FIELD=WORDS", description="Words of the full text that state a value.")
]
Texts = Annotated[Path | None, Field(description="Their folder, or a file.")]
RecordOfText = Annotated[int | None, Field(ge=0, description="The file is the text of this record.")]
NoText = Annotated[bool, Field(description="With --record: its full text cannot be retrieved.")]
Answers = Annotated[Mapping[str, str], Field(title="QUESTION=ANSWER")]
NONE: Mapping[str, str] = {}
Outcome = Annotated[str, Field(description="Which outcome; needed where there are several.")]
Several = Annotated[bool, Field(description="Some concerns in several domains add up to a high risk.")]
NotATrial = Annotated[bool, Field(description="It is no randomised trial: no tool is applied.")]


class ReviewStatus(ReviewProgress):
    review: str
    status: str
    """`running`, `completed`, `cancelled`, ..."""
    tasks: tuple[Task, ...] = ()
    """What waits for the person who asks, or for anybody."""


class Review:
    """A review, under way or over. Methods raise NoConnection, NoAnswer, NoSuchRun, and BadInput for what the
    review refuses."""

    def __init__(self, settings: Settings, connection: Connection, run_id: str) -> None:
        self.settings = settings
        self.connection = connection
        self.id = run_id
        self.archive = Archive(EvidenceStore.at(settings.evidence_url))

    def __repr__(self) -> str:
        return f"Review({self.id!r})"

    async def row(self) -> Row:
        return await keep_alive(self.settings, self.connection, describe(self.connection.client, self.id))

    async def progress(self) -> ReviewProgress:
        """Return where it stands, and whom it waits for."""
        return await self._query("progress", ReviewProgress)

    async def at_rest(self, seconds: float = 30.0) -> ReviewProgress:
        """Return where it stands once none of its own steps is under way, or after some time."""
        progress = await self.progress()
        while not progress.rests and seconds > 0:
            await asyncio.sleep(POLL_SECONDS)
            seconds -= POLL_SECONDS
            progress = await self.progress()
        return progress

    async def status(self, by: str = "", most: int = 10) -> ReviewStatus:
        """Return where it stands, with what waits next for a person, or for anybody where none is named."""
        progress = await self.progress()  # first: a worker that is started again may end the review
        status = (await self.row()).status
        tasks = tuple(await self.tasks(by, most))
        return ReviewStatus(**dict(progress), review=self.id, status=status, tasks=tasks)

    async def may_open(self, user: str) -> bool:
        """Say whether a user started the review, or is named by its protocol as who screens or decides."""
        protocol, row = (await self.view()).protocol, await self.row()
        return bool(user) and user in (row.user, *protocol.people, *protocol.deciders)

    async def view(self) -> ReviewState:
        """Return its whole state, decisions of others too: a surface that shows records to a screener goes by
        `tasks`."""
        return await self._query("view", ReviewState)

    async def _query(self, name: str, kind: type[M]) -> M:
        """Query it; wait for a worker of this machine that is being started. Raises NoAnswer, NoSuchRun."""

        async def ask() -> M:
            return await query(self.connection.client, self.id, name, kind)

        return await keep_alive(
            self.settings, self.connection, wait_for_answer(self.connection, ask, START_SECONDS)
        )

    async def records(self, view: ReviewState | None = None) -> Records:
        return await self.archive.records((view or await self.view()).records)

    async def decisions(
        self, view: ReviewState | None = None, records: Container[int] | None = None
    ) -> list[Decision]:
        """Every decision, or those on some records, oldest first."""
        view = view or await self.view()
        pending = [decision for decision in view.pending if records is None or decision.record in records]
        return [*await self.archive.log((*view.log, *view.loose), records), *pending]

    async def tasks(self, by: str = "", most: int = 20) -> list[Task]:
        """Return what waits for a person next; where none is named, what anybody may decide on."""
        view = await self.view()
        is_ordered = view.orders and view.place_of(by) is not None
        order = await self.archive.numbers(view.orders[-1]) if is_ordered else []
        tasks = list(view.tasks_of(by, order))
        keys = tasks[:most]
        conflicts = {row.record for row in keys if row.kind == "conflict"}
        decisions = latest_decisions(await self.decisions(view, conflicts) if conflicts else ())
        left = range(len(tasks), 0, -1)
        return [
            await task_of(self.archive, view, row, by, count, decisions)
            for row, count in zip(keys, left, strict=False)
        ]

    async def tasks_soon(self, by: str = "", most: int = 1) -> tuple[ReviewProgress, list[Task]]:
        """Return what waits for a person, once the review has done its step where nothing did."""
        for seconds in (0.0, STEP_SECONDS):
            progress = await self.at_rest(seconds)
            if tasks := await self.tasks(by, most):
                break
        return progress, tasks

    async def task(self, number: int, kind: TaskKind, stage: ScreenedStage, by: str = "") -> Task:
        """Return a record by its number, or its full text, to decide on it again. Raises BadInput.

        Only of one that is settled (`overrule`) are the decisions of others returned.
        """
        view, decisions = await self.view(), list[Decision]()
        if kind == "overrule":
            if number >= view.total or view.marks(stage).state(number) not in SETTLED:
                raise BadInput(f"record {number} is not settled; decide on it instead")
            decisions = view.decisions_in_force(await self.decisions(view, {number}))
        return await task_of(self.archive, view, TaskKey(number, kind, stage), by, decisions=decisions)

    async def find(self, text: str, most: int = 20) -> list[RecordState]:
        """Find records by their number, an identifier, or words of their titles."""
        view, name, words = await self.view(), text.strip().casefold(), text.casefold().split()
        titles, retrieved = view.titles.states(), {*view.retrieved_records()}
        matches = []
        for number, ref in enumerate((await self.records(view)).records):
            ids = (str(number), ref.evidence_id, *(value for _, value in ref.identifiers.items_in_order()))
            title = ref.title.casefold()
            if name in map(str.casefold, ids) or (words and all(word in title for word in words)):
                states: dict[ScreenedStage, State] = {"titles": titles[number]}
                if number in retrieved:
                    states["full_texts"] = view.full_texts.state(number)
                row = RecordState(record=number, id=ref.evidence_id, title=ref.title, year=ref.year)
                matches.append(row.replace(states=states))
        return matches[:most]

    async def approve(self, gate: str | None = None, *, by: str | None = None) -> str:
        """Approve what waits: the protocol, missing full texts as missing, or the report, which ends it."""
        progress = await self.at_rest()
        open_gate = progress.gate
        if open_gate not in ("protocol", "report", "full_texts") or (gate and gate != open_gate):
            raise BadInput(f"{self.id} waits for no approval: {progress.text or progress.phase}")
        await self._signal("approve", {"by": actor(by), "gate": open_gate})
        return open_gate

    async def pause(self) -> None:
        """Pause a review at its next step."""
        await self._signal("pause")

    async def resume(self) -> None:
        """Resume a review; ask a model that was down, or search, again at once."""
        await self._signal("resume")

    async def finish(self) -> None:
        """End screening here; the report says what was not read."""
        await self._signal("finish_now")

    async def cancel(self) -> None:
        """Stop a review; a report of what there is is still made."""
        await (await self._under_way()).cancel()

    async def decide(
        self,
        record: Number,
        verdict: Verdict,
        *,
        by: str,
        criterion: CriterionId = "",
        reason: Why = "",
        full_texts: OfFullText = False,
        label: Label = False,
    ) -> str:
        """Decide on one record: as a screener, or on a conflict."""
        part: Part = "label" if label else "screener"
        fields = {"verdict": verdict, "criterion": criterion, "reason": reason}
        return await self._decide(record, "full_texts" if full_texts else "titles", part, by, **fields)

    async def _decide(self, record: int, stage: Stage, part: Part, by: str, **fields: object) -> str:
        return await self.send("decide", Decision, record=record, stage=stage, part=part, by=by, **fields)

    async def overrule(
        self,
        record: Number,
        verdict: FinalVerdict,
        *,
        by: str,
        reason: Annotated[str, Field(min_length=1)],
        criterion: CriterionId = "",
        full_texts: OfFullText = False,
    ) -> str:
        """Overrule what was decided on a record; what rests on it is made again."""
        fields = {"verdict": verdict, "criterion": criterion, "reason": reason}
        return await self._decide(record, "full_texts" if full_texts else "titles", "word", by, **fields)

    async def amend(
        self, protocol: Path, *, by: str | None = None, reason: Annotated[str, Field(min_length=1)]
    ) -> str:
        """Change the protocol to that of a file: a new version; what rests on the change is made again."""
        from client.reviews.start import read_all

        new_protocol, key, files = await read_all(self.archive, protocol)
        values = {"protocol": new_protocol, "protocol_key": key, "files": files}
        return await self.send("amend", Amend, by=actor(by), reason=reason, **values)

    async def part(self, key: str, *, by: str) -> None:
        """Make a record that was merged with another one a record of its own; merged.csv has its key."""
        copies = (await self.records()).copies
        blobs = [copy.ref.blob for copy in copies if key in (copy.ref.blob, copy.ref.evidence_id)]
        if len(blobs) != 1:
            raise BadInput(f"{key[:80]} names {len(blobs)} merged copies; `export` lists them in merged.csv")
        await self.send("part", PartCopy, by=by, blob=blobs[0])

    # full texts and studies

    async def provide(
        self,
        path: Texts = None,
        *,
        by: str | None = None,
        record: RecordOfText = None,
        none: NoText = False,
    ) -> list[str]:
        """Provide full texts from a folder, or from one file. Files are matched by name (`pmid-123.pdf`, a
        DOI with - for /), by the identifiers in them, or by their title. With --record the file takes the
        place of the text that is there, and what rests on that is decided again."""
        from activities.review.files import read_full_texts

        if none and record is not None:
            await self.send("provide_full_text", ProvideFullText, by=actor(by), record=record)
            return [f"record {record}: not retrieved"]
        if path is None:
            raise BadInput("name a folder or a file, or --record N --none")
        view = await self.view()
        sought = view.sought_records()
        if record is not None and record not in sought:
            raise BadInput(f"the full text of record {record} is not sought")
        records = [n for n in sought if view.got.get(n) != "got"] if record is None else [record]
        refs = (await self.records(view)).records
        works = await self.archive.store.get_many([refs[number] for number in records])
        with refusals():
            texts, lines = await asyncio.to_thread(read_full_texts, path, works, is_sure=record is not None)
        for number, work in zip(records, works, strict=True):
            if text := texts.get(work.evidence_id):
                ref = await self.archive.store.put(text)
                await self.send("provide_full_text", ProvideFullText, by=actor(by), record=number, ref=ref)
        return [f"{count_of(len(texts), 'full text')} provided", *lines]

    async def decide_field(
        self, record: Number, field: str, value: str, *, by: str, quote: Quote = "", reason: Why = ""
    ) -> None:
        """Decide on an extracted field; its value is first, second, absent, or the value itself."""
        if quote:
            _, text = await self._study(record)
            _check_quote(await self.archive.store.get(text), quote)
        words = tuple(filter(None, (quote.strip(),)))
        fields = {"about": field, "value": value, "words": words, "reason": reason}
        await self._decide(record, "extraction", "word", by, **fields)

    async def extract(self, record: Number, values: Values = NONE, *, by: str, quotes: Quotes = NONE) -> str:
        """Give the data of a study, as the person who is one of the two extractors."""
        view, text = await self._study(record)
        fields = asked_fields(view.protocol)
        if without_value := [field for field in quotes if field not in values]:
            raise BadInput(f"{without_value[0]} has a quote and no value")
        if quotes:
            work = await self.archive.store.get(text)
            for field, quote in quotes.items():
                _check_quote(work, quote, f"the quote of {field}")
        with refusals():
            rows = [
                Value(
                    field=name,
                    text=checked_value(fields, name, value),
                    support=support_of(text.evidence_id, quotes.get(name, "")),
                )
                for name, value in values.items()
            ]
        extraction = Extraction(evidence_id=text.evidence_id, values=tuple(rows))
        key = await self.archive.put(extraction)
        await self._decide(record, "extraction", "screener", by, value=key)
        return count_of(len(rows), "field")

    async def assess(
        self,
        record: Number,
        answers: Answers = NONE,
        *,
        by: str,
        outcome: Outcome = "",
        several: Several = False,
        reason: Why = "",
        not_a_trial: NotATrial = False,
    ) -> BiasAssessment | None:
        """Decide on the risk of bias of a result by RoB 2; what is not answered stands as it was proposed."""
        view, _ = await self._study(record)
        labels = [row.label for row in view.protocol.outcomes]
        outcome = outcome or (labels[0] if len(labels) == 1 else "")
        key, assessment = NOT_A_TRIAL, None
        if not not_a_trial:
            extraction = await proposal(self.archive, view, record, outcome)
            with refusals():
                assessment = decide(extraction, outcome, answers, by, several=several, reason=reason)
            key = await self.archive.put(assessment)
        await self._decide(record, "bias", "word", by, about=outcome, value=key)
        return assessment

    async def _study(self, record: int) -> tuple[ReviewState, EvidenceRef]:
        """Return the state, and the full text of an included record. Raises BadInput."""
        view = await self.view()
        if record not in view.included_records():
            raise BadInput(f"record {record} is not included by its full text")
        return view, view.studies.texts[record]

    # what it has come to

    async def published(self, *, names: bool = True) -> PublishedReview:
        """Return what it has published last; people are numbered unless `names`. Raises Failure."""
        from activities.review.export import without_names

        review = await self.archive.published_review(self.id)
        if review is None:
            raise Failure(f"{self.id} has published nothing yet")
        return review if names else without_names(review)

    async def report(self, form: str = "md", *, names: bool = False) -> bytes:
        """Return the newest report; people are numbered unless `names`. Raises Failure, MissingExtra."""
        from activities.review.page import render

        return render(await self.published(names=names), form, version("determinator"))

    async def export(self, folder: Path, *, names: bool = False) -> list[Path]:
        """Write everything into a folder; return the files. Raises Failure, MissingExtra, OSError."""
        from activities.review.export import export_files
        from activities.review.page import render

        review = await self.published(names=names)
        refs = review.records.records
        items = [
            item
            if isinstance(item, Evidence)
            else Evidence(evidence_id=ref.evidence_id, source="", title=ref.title, text="")
            for ref, item in zip(refs, await self.archive.store.read_all(refs), strict=True)
        ]
        forms = ("md", "html", "json")
        contents = {f"report.{form}": render(review, form, version("determinator")) for form in forms}
        contents |= export_files(review, items)

        def write() -> list[Path]:
            folder.mkdir(parents=True, exist_ok=True)
            for name, data in contents.items():
                (folder / name).write_bytes(data)
            return [folder / name for name in contents]

        return await asyncio.to_thread(write)

    async def _under_way(self) -> WorkflowHandle[Any, Any]:
        """Return the handle of its workflow. Raises BadInput where it is over."""
        row = await self.row()
        if row.status != "running":
            raise BadInput(f"{self.id} is over ({row.status})")
        return self.connection.client.get_workflow_handle(self.id)

    async def _signal(self, name: str, payload: object = None) -> None:
        await (await self._under_way()).signal(name, args=[] if payload is None else [payload])

    async def send(self, name: str, content: type[BaseModel], **values: object) -> str:
        """Send a message that the review may refuse; return what became of it. Raises BadInput."""
        with refusals():
            message = content.model_validate(values)
        handle = self.connection.client.get_workflow_handle(self.id)
        try:
            answer: str = await handle.execute_update(
                name, message, result_type=str, rpc_timeout=timedelta(seconds=UPDATE_SECONDS)
            )
        except WorkflowUpdateFailedError as error:
            raise BadInput(str(error.cause)) from error
        except WorkflowUpdateRPCTimeoutOrCancelledError as error:
            if isinstance(error.__cause__, asyncio.CancelledError):  # who waits for the answer is cancelled
                raise error.__cause__ from None
            raise NoAnswer("no worker has answered for the review in time; send it again") from error
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                await self._under_way()
            raise
        return answer


class BlockingReview(Blocking[Review]):
    """The methods of `Review`, each of which blocks until it is done."""

    status = Blocks(Review.status)
    progress = Blocks(Review.progress)
    decisions = Blocks(Review.decisions)
    tasks = Blocks(Review.tasks)
    task = Blocks(Review.task)
    find = Blocks(Review.find)
    approve = Blocks(Review.approve)
    pause = Blocks(Review.pause)
    resume = Blocks(Review.resume)
    finish = Blocks(Review.finish)
    cancel = Blocks(Review.cancel)
    decide = Blocks(Review.decide)
    overrule = Blocks(Review.overrule)
    amend = Blocks(Review.amend)
    part = Blocks(Review.part)
    provide = Blocks(Review.provide)
    decide_field = Blocks(Review.decide_field)
    extract = Blocks(Review.extract)
    assess = Blocks(Review.assess)
    published = Blocks(Review.published)
    report = Blocks(Review.report)
    export = Blocks(Review.export)

    @property
    def id(self) -> str:
        return self.target.id


@contextmanager
def refusals() -> Iterator[None]:
    """Raise BadInput for what a person gave and cannot be taken."""
    try:
        yield
    except (DecisionError, Refused) as error:
        raise BadInput(str(error)) from error
    except ValidationError as error:
        raise BadInput(faults_of(error, "what was sent")) from error


def _check_quote(work: Evidence, quote: str, name: str = "the quote") -> None:
    from activities.verification.quote_check import QuoteChecker

    support = Support(evidence_id=work.evidence_id, quote=quote)
    if not QuoteChecker({work.evidence_id: work}).supports([support]).support:
        raise BadInput(f"{name} does not stand in the full text, word for word")
