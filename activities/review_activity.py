"""The steps of a systematic review as activities.

Records are merged, read by models, ordered and published; extractions are compared, and changes told. What
grows with the records is in the evidence store; these read it by its key and return keys, numbers and
letters. Records and order of the last reviews are remembered by the process.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from temporalio import activity

from activities.contracts.errors import DeterminatorError, ModelError, NotInstalled, to_application_error
from activities.contracts.evidence import EvidenceRef, Frozen, Standing
from activities.contracts.step import Role
from activities.evidence_store import EvidenceStore
from activities.heartbeat import reporting_errors, seconds_left
from activities.logs import log
from activities.private_files import write_whole
from activities.profiles.loader import load_profile
from activities.review.archive import RECORDS, Archive, Memory, json_lines
from activities.review.bias import FIELDS
from activities.review.decisions import (
    LETTERS,
    OPEN,
    SCREENED,
    Decision,
    Marks,
    Stage,
    affected_decisions,
)
from activities.review.extraction import Extraction, asked_fields
from activities.review.living import Notice, feed, pipe, post
from activities.review.protocol import Protocol
from activities.review.records import Merge, add_batch, part
from activities.review.results import ReviewReport
from activities.review.state import ReviewState, study_key
from activities.review.steps import (
    AddedRecords,
    AddRecords,
    ExtractDataInput,
    KeepStep,
    ReadResult,
    ReadStep,
    RecordsStep,
    ReopenedMarks,
    ScreenedBatch,
    ScreeningPlan,
    ScreenInput,
    SettledFields,
    StateStep,
    TellStep,
)
from activities.roles.allowances import allowance_of
from activities.settings import Settings

if TYPE_CHECKING:
    from activities.publish_activity import StandingChecker
    from activities.review.rounds import Ranker
    from activities.roles.runner import RoleThinker

ROLES: dict[Stage, Role] = {
    "titles": "screener",
    "full_texts": "full_text_screener",
    "extraction": "data_extractor",
    "bias": "bias_assessor",
}
MAX_STANDING_SECONDS = 60.0
"""Time in which it is looked up whether works were retracted; a report does not wait longer for it."""
MAX_UNSEEN_SECONDS = 20.0
"""The longest pause asked for by a model that a step waits out by itself."""


class Notices(Frozen):
    notices: tuple[Notice, ...] = ()


class ReviewActivities:
    def __init__(
        self,
        settings: Settings,
        store: EvidenceStore,
        thinker: "RoleThinker",
        merge: Merge,
        standing: "StandingChecker | None" = None,
    ) -> None:
        """`merge` is `workflows.rules.dedup.merge`: which records are one work is decided there.

        `standing`: tells which works were retracted.
        """
        self._settings = settings
        self._store = store
        self._archive = Archive(store)
        self._thinker = thinker
        self._merge = merge
        self._standing = standing
        self._rankers: Memory[tuple[str, str], Ranker] = Memory()
        self._ranking = asyncio.Lock()

    @activity.defn
    async def add_review_records(self, step: AddRecords) -> AddedRecords:
        """Merge what a search or a file gave into the records, or part a copy that was merged wrongly."""
        async with reporting_errors("records_not_added", run_id=step.run_id):
            before = await self._archive.records(step.records)
            if step.part:
                after = part(before, step.part)
            else:
                refs = await self._archive.lines(step.blob, EvidenceRef) if step.blob else list(step.refs)
                after = await asyncio.to_thread(add_batch, before, refs, step.origin, self._merge)
            key = await self._archive.put(after)
            RECORDS.put(key, after)
            total = len(after.records)
            given = after.identified_count - before.identified_count
            return AddedRecords(records=key, total=total, given=given, new=total - len(before.records))

    @activity.defn
    async def draw_review_sample(self, step: StateStep) -> list[int]:
        """Draw the records that a person labels blind; none for two people, unless they are asked for."""
        async with reporting_errors():
            with needs_extra():
                from activities.review.rounds import draw_sample, sample_size
            protocol, total = step.state.protocol, step.state.total
            size = protocol.calibration.records
            if size is None:
                size = sample_size(total, protocol.calibration.half_width) if protocol.models else 0
            return sorted(draw_sample(total, size, step.run_id))

    @activity.defn
    async def look_up_records(self, step: RecordsStep) -> list[EvidenceRef]:
        async with reporting_errors(run_id=step.run_id):
            records = (await self._archive.records(step.records)).records
            return [records[number] for number in step.numbers]

    @activity.defn
    async def read_for_review(self, step: ReadStep) -> ReadResult:
        """Have a model decide on records, or read a full text; what it does not answer stays open."""
        async with reporting_errors("not_read_for_review", run_id=step.run_id):
            if step.text is not None:
                refs = [step.text]
            else:
                records = (await self._archive.records(step.records)).records
                refs = [records[number] for number in step.numbers]
            try:
                answer = await self._thinker.think(ROLES[step.stage], await self._input_of(step, refs))
            except ModelError as error:
                if (error.retry_after or 0.0) <= MAX_UNSEEN_SECONDS:
                    raise
                error.retryable = False  # the review waits, and shows it
                raise to_application_error(error) from error
            key, letters = "", ""
            if isinstance(answer.output, ScreenedBatch):
                numbers = {ref.evidence_id: number for ref, number in zip(refs, step.numbers, strict=True)}
                decisions = [
                    Decision(
                        **row.model_dump(exclude={"evidence_id"}),
                        record=numbers[row.evidence_id],
                        stage="titles" if step.stage == "titles" else "full_texts",
                        by=step.reader,
                        at=step.at,
                        protocol=step.version,
                        model=answer.model,
                        prompt=answer.prompt_version,
                    )
                    for row in answer.output.decisions
                ]
                by_number = {decision.record: LETTERS[decision.verdict] for decision in decisions}
                letters = "".join(by_number.get(number, OPEN) for number in step.numbers)
                key = await self._archive.put_lines(decisions) if decisions else ""
            elif isinstance(answer.output, Extraction):
                key = await self._archive.put(await self._complete(answer.output, step))
            return ReadResult(
                key=key, letters=letters, usage=answer.usage, model=answer.model, prompt=answer.prompt_version
            )

    @activity.defn
    async def plan_screening(self, step: StateStep) -> ScreeningPlan:
        """Take in a settled round, and choose what is read next in the order learnt from all decisions.

        Of screening that has ended only the recall is stated again.
        """
        async with reporting_errors("screening_not_planned", run_id=step.run_id):
            with needs_extra():
                from activities.review.rounds import next_round, restate
            state, course = step.state, step.state.course
            assert course is not None
            first, second = (
                screener.kind == "model" or screener.name not in state.labellers
                for screener in state.protocol.screeners
            )
            if course.phase == "done":
                course = await asyncio.to_thread(restate, course, state.titles, (first, second))
                return ScreeningPlan(course=course)
            ranker = await self._ranker(state)
            next_course, order = await asyncio.to_thread(
                next_round,
                course,
                state.titles,
                ranker.order,
                step.run_id,
                (first, second),
                read_all=state.protocol.stopping == "read_all",
            )
            key = await self._archive.put_numbers(order) if order else ""
            return ScreeningPlan(course=next_course, order=key)

    @activity.defn
    async def keep_decisions(self, step: KeepStep) -> str:
        """Write the decisions of a round as one part of the log; return its key."""
        async with reporting_errors("decisions_not_kept", run_id=step.run_id):
            parts = [await self._store.get_bytes(blob) for blob in step.blobs]
            return await self._store.put_bytes(b"".join((*parts, json_lines(step.decisions))), "jsonl")

    @activity.defn
    async def find_touched_decisions(self, step: StateStep) -> ReopenedMarks:
        """Open again what rests on criteria that were changed; everything else stands."""
        async with reporting_errors("amendment_not_applied", run_id=step.run_id):
            state, keys = step.state, step.state.touched
            decisions = await self._archive.log(state.log)
            criteria = [key.partition(".")[2] for key in keys if key.startswith("criteria.")]
            if criteria and "question" not in keys:
                decisions = affected_decisions(decisions, criteria)
            screeners = [screener.name for screener in state.protocol.screeners]
            titles, texts = (
                _reopen(state.marks(stage), [row for row in decisions if row.stage == stage], screeners)
                for stage in SCREENED
            )
            count = state.titles.count() + state.full_texts.count() - titles.count() - texts.count()
            return ReopenedMarks(titles=titles, full_texts=texts, again=count)

    @activity.defn
    async def settle_fields(self, step: StateStep) -> SettledFields:
        """Compare the extractions of each study, and apply what people decided."""
        async with reporting_errors("extraction_not_settled", run_id=step.run_id):
            state = step.state
            decisions = [*await self._archive.log(state.log, stage="extraction"), *state.pending]
            open_fields, silent_keys = dict[int, tuple[str, ...]](), list[str]()
            for record in state.studies.extracted:
                settlement = await self._archive.settlement(state, record, decisions)
                if settlement:
                    row, open_fields[record] = settlement
                    outcomes = (o.label for o in state.protocol.outcomes if not row.reports(o))
                    silent_keys += [study_key(record, outcome) for outcome in outcomes]
            pending = {record: fields for record, fields in open_fields.items() if fields}
            return SettledFields(pending=pending, silent=tuple(silent_keys))

    @activity.defn
    async def publish_review(self, step: StateStep) -> ReviewReport:
        """Count everything, and keep it under the name of the review."""
        async with reporting_errors("review_not_published", run_id=step.run_id):
            return await self._archive.publish(step, await self._standings(step.state))

    @activity.defn
    async def tell_changes(self, step: TellStep) -> None:
        """Tell that conclusions have changed, by each way that is set."""
        async with reporting_errors("changes_not_told", run_id=step.run_id):
            notice = await self._archive.get(step.notice, Notice)
            name = f"reviews/{step.run_id}/notices.json"
            data = await self._store.get_named(name)
            notices_before = Notices.model_validate_json(data).notices if data else ()
            notices = (*(old for old in notices_before if old.version != notice.version), notice)
            await self._store.put_named(name, Notices(notices=notices).model_dump_json().encode())
            folder = self._settings.reports_dir or self._settings.home / "reports"
            write_whole(folder / f"{step.run_id}.rss", feed(notices))
            if self._settings.review_webhook and not self._settings.offline:
                await post(notice, self._settings.review_webhook)
            if self._settings.review_command:
                await asyncio.to_thread(pipe, notice, self._settings.review_command)
            log.info("changes_told", run_id=step.run_id, version=notice.version)

    async def _standings(self, state: ReviewState) -> dict[str, Standing]:
        """Look up which included works were retracted; where no source of others is searched, nowhere."""
        works = [state.studies.texts[number] for number in state.included_records()]
        if self._standing is None or not works or not state.protocol.reaches_out:
            return {}
        try:
            async with asyncio.timeout(MAX_STANDING_SECONDS):
                verdicts = await self._standing.check_many(works, library=True)
        except (DeterminatorError, TimeoutError) as error:
            log.warning("standing_not_checked", error=str(error) or type(error).__name__)
            return {}
        return {name: verdict.standing for name, verdict in verdicts.items()}

    async def _input_of(self, step: ReadStep, refs: Sequence[EvidenceRef]) -> ScreenInput | ExtractDataInput:
        """Word the question to the role of a stage."""
        info = activity.info()
        protocol = await self._archive.get(step.protocol, Protocol)
        # the same works, reader and protocol are the same question, also after a reset
        scope = f"{info.workflow_id}/{step.stage}/{step.reader}/{step.version}/{step.outcome}"
        values = {
            "run_id": step.run_id,
            "question": protocol.question.text(),
            "profile": load_profile("general"),
            "model": step.model,
            "allowance": allowance_of(ROLES[step.stage], step.model),
            "evidence": tuple(refs),
            "scope": scope,
            "seconds": seconds_left(info),
        }
        if step.stage in ("extraction", "bias"):
            data_fields = FIELDS if step.stage == "bias" else asked_fields(protocol)
            fields = [field for field in data_fields if not step.fields or field.id in step.fields]
            return ExtractDataInput.model_validate({**values, "fields": fields, "outcome": step.outcome})
        return ScreenInput.model_validate({**values, "criteria": protocol.criteria})

    async def _complete(self, extraction: Extraction, step: ReadStep) -> Extraction:
        """Join what was read of changed fields with the earlier values of the others."""
        if not step.earlier:
            return extraction
        earlier = await self._archive.get(step.earlier, Extraction)
        unchanged = (value for value in earlier.values if value.field not in step.fields)
        return extraction.replace(values=(*unchanged, *extraction.values))

    async def _ranker(self, state: ReviewState) -> "Ranker":
        from activities.review.rounds import Ranker

        async with self._ranking:
            key = state.records, state.protocol_key
            if (cached := self._rankers.get(key)) is not None:
                return cached
            refs = (await self._archive.records(state.records)).records
            texts = [
                ref.title if isinstance(item, Exception) else f"{item.title}. {item.text}"
                for ref, item in zip(refs, await self._store.read_all(refs), strict=True)
            ]
            return self._rankers.put(key, await asyncio.to_thread(Ranker, texts, state.protocol.text()))


@contextmanager
def needs_extra() -> Iterator[None]:
    """Import what is of the extra `review`. Raises NotInstalled."""
    try:
        yield
    except ImportError as error:
        packages = "scikit-learn and scipy, which order and stop screening,"
        raise NotInstalled.of_extra(packages, "review") from error


def _reopen(marks: Marks, decisions: Sequence[Decision], screeners: Sequence[str]) -> Marks:
    """Return the marks of a stage without the decisions that rest on what was changed."""
    for place, name in enumerate(screeners):
        records = (
            decision.record
            for decision in decisions
            if decision.part == "screener" and (decision.by == name or decision.by not in screeners)
        )
        marks = marks.put("screener", dict.fromkeys(records, OPEN), place)
    for kind in ("word", "label"):
        marks = marks.put(kind, {decision.record: OPEN for decision in decisions if decision.part == kind})
    return marks
