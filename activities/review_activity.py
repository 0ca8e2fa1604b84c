"""The steps of a systematic review as activities: records merged, screened, ordered, kept and published.

What grows with the records is in the evidence store; these read it by its key and return keys, numbers and
letters. Records and order of the last reviews are remembered by the process, since every step of a review
reads the same.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from temporalio import activity

from activities.contracts.evidence import EvidenceRef
from activities.evidence_store import EvidenceStore
from activities.extras import NotInstalled
from activities.heartbeat import reporting_errors, seconds_left
from activities.profiles.loader import load_profile
from activities.review.archive import Archive, lines
from activities.review.decisions import LETTERS, OPEN, Decision, Marks, resting_on
from activities.review.protocol import Protocol
from activities.review.records import Merge, Records, added, part
from activities.review.steps import (
    Added,
    AddRecords,
    Amended,
    AmendStep,
    KeepStep,
    Planned,
    PlanStep,
    PublishStep,
    ReviewReport,
    Sampled,
    SampleStep,
    Screened,
    ScreenInput,
    ScreenStep,
)
from activities.roles.allowances import allowance_of

if TYPE_CHECKING:
    from activities.review.ranking import Ranker
    from activities.roles.runner import RoleThinker

REMEMBERED = 2
"""Reviews whose records and words are remembered by the process."""
K = TypeVar("K")
V = TypeVar("V")


class Memory(OrderedDict[K, V]):
    """The values that were used last."""

    def put(self, key: K, value: V) -> V:
        self[key] = value
        self.move_to_end(key)
        while len(self) > REMEMBERED:
            self.popitem(last=False)
        return value


class ReviewActivities:
    def __init__(self, store: EvidenceStore, thinker: "RoleThinker", merge: Merge) -> None:
        """`merge` is `workflows.rules.dedup.merge`: which records are one work is decided there."""
        self._store = store
        self._archive = Archive(store)
        self._thinker = thinker
        self._merge = merge
        self._records: Memory[str, Records] = Memory()
        self._rankers: Memory[tuple[str, str], Ranker] = Memory()
        self._ranking = asyncio.Lock()
        self._loading = asyncio.Lock()

    @activity.defn
    async def add_review_records(self, step: AddRecords) -> Added:
        """Merge what a search or a file gave into the records, or part a copy that was merged wrongly."""
        async with reporting_errors("records_not_added", run_id=step.run_id):
            before = await self._load(step.records) if step.records else Records()
            if step.part:
                after = part(before, step.part)
                given = 0
            else:
                refs = await self._archive.lines(step.blob, EvidenceRef) if step.blob else list(step.refs)
                after = await asyncio.to_thread(added, before, refs, step.origin, self._merge)
                given = after.given - before.given
            key = await self._archive.put(after)
            self._records.put(key, after)
            total = len(after.records)
            return Added(records=key, total=total, given=given, new=total - len(before.records))

    @activity.defn
    async def draw_review_sample(self, step: SampleStep) -> Sampled:
        """Draw the records that a person labels blind."""
        async with reporting_errors():
            with needs_extra():
                from activities.review.rounds import draw_sample, sample_size
            size = sample_size(step.total, step.half_width) if step.records is None else step.records
            return Sampled(numbers=tuple(sorted(draw_sample(step.total, size, step.seed))))

    @activity.defn
    async def screen_records(self, step: ScreenStep) -> Screened:
        """Have a model decide on records. What it does not answer stays open."""
        async with reporting_errors("records_not_screened", run_id=step.run_id):
            info = activity.info()
            records = await self._load(step.records)
            protocol = await self._archive.get(step.protocol, Protocol)
            refs = {records.records[number].evidence_id: number for number in step.numbers}
            asked = ScreenInput(
                run_id=step.run_id,
                question=protocol.question.text(),
                profile=load_profile("general"),
                model=step.model,
                fallbacks=step.fallbacks,
                allowance=allowance_of("screener", step.model),
                evidence=tuple(records.records[number] for number in step.numbers),
                criteria=protocol.criteria,
                # the same records, screener and protocol are the same question, also after a reset
                scope=f"{info.workflow_id}/{step.stage}/{step.screener}/{step.version}",
                seconds=seconds_left(info),
            )
            done = await self._thinker.think("screener", asked)
            letters = dict.fromkeys(step.numbers, OPEN)
            decisions = []
            for row in done.output.decisions:
                number = refs[row.evidence_id]
                letters[number] = LETTERS[row.verdict]
                decisions.append(
                    Decision(
                        record=number,
                        by=step.screener,
                        verdict=row.verdict,
                        criterion=row.criterion,
                        words=row.words,
                        reason=row.reason,
                        at=step.at,
                        protocol=step.version,
                        model=done.model,
                        prompt=done.prompt_version,
                    )
                )
            return Screened(
                log=await self._archive.put_lines(decisions) if decisions else "",
                letters="".join(letters[number] for number in step.numbers),
                usage=done.usage,
                model=done.model,
                prompt=done.prompt_version,
            )

    @activity.defn
    async def plan_screening(self, step: PlanStep) -> Planned:
        """Take in a settled round, and choose what is read next in the order learnt from all decisions."""
        async with reporting_errors("screening_not_planned", run_id=step.run_id):
            with needs_extra():
                from activities.review.rounds import next_round, restated
            if step.restate:
                return Planned(round=await asyncio.to_thread(restated, step.round, step.marks, step.measured))
            ranker = await self._ranker(step.records, step.protocol)
            now, order = await asyncio.to_thread(
                next_round,
                step.round,
                step.marks,
                ranker.order,
                step.run_id,
                step.measured,
                read_all=step.read_all,
            )
            return Planned(round=now, order=await self._archive.put_numbers(order))

    @activity.defn
    async def keep_decisions(self, step: KeepStep) -> str:
        """Write the decisions of a round as one part of the log; return its key."""
        async with reporting_errors("decisions_not_kept", run_id=step.run_id):
            parts = [await self._store.get_bytes(blob) for blob in step.blobs]
            return await self._store.put_bytes(b"".join((*parts, lines(step.decisions))), "jsonl")

    @activity.defn
    async def find_touched_decisions(self, step: AmendStep) -> Amended:
        """Open again what rests on criteria that were changed; everything else stands."""
        async with reporting_errors("amendment_not_applied", run_id=step.run_id):
            log = await self._archive.log(step.log)
            changed = [key.partition(".")[2] for key in step.keys if key.startswith("criteria.")]
            touched = resting_on(log, changed) if changed and "question" not in step.keys else list(log)
            titles, full_texts = _opened(step, touched)
            before = sum(map(_made, (step.titles, step.full_texts)))
            after = sum(map(_made, (titles, full_texts)))
            return Amended(titles=titles, full_texts=full_texts, again=before - after, kept=after)

    @activity.defn
    async def publish_review(self, step: PublishStep) -> ReviewReport:
        """Count everything, and keep it under the name of the review."""
        async with reporting_errors("review_not_published", run_id=step.run_id):
            return await self._archive.publish(step)

    async def _load(self, key: str) -> Records:
        async with self._loading:  # megabytes, which the first of several steps reads in a thread
            known = self._records.get(key)
            if known is None:
                data = await self._store.get_bytes(key)
                known = await asyncio.to_thread(Records.model_validate_json, data)
            return self._records.put(key, known)

    async def _ranker(self, records: str, protocol: str) -> "Ranker":
        from activities.review.ranking import Ranker

        async with self._ranking:
            if (known := self._rankers.get((records, protocol))) is not None:
                return known
            refs = (await self._load(records)).records
            asked = await self._archive.get(protocol, Protocol)
            texts = [
                ref.title if isinstance(item, Exception) else f"{item.title}. {item.text}"
                for ref, item in zip(refs, await self._store.read_all(refs), strict=True)
            ]
            ranker = await asyncio.to_thread(Ranker, texts, asked.text())
            return self._rankers.put((records, protocol), ranker)


class needs_extra:  # noqa: N801 - reads as a statement
    """A body whose imports are of the extra `review`."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, ImportError):
            raise NotInstalled.of_extra("scikit-learn and scipy, which order and stop screening,", "review")


def _opened(step: AmendStep, touched: Sequence[Decision]) -> tuple[Marks, Marks]:
    """Return the marks without decisions that rest on what was changed."""
    marks = {"titles": step.titles, "full_texts": step.full_texts}
    for stage, row in marks.items():
        own = [one for one in touched if one.stage == stage]
        for place, name in enumerate(step.screeners):
            letters = {one.record: OPEN for one in own if one.part == "screener" and one.by == name}
            row = row.with_screener(place, letters)
        row = row.with_words({one.record: OPEN for one in own if one.part == "word"})
        marks[stage] = row.with_labels({one.record: OPEN for one in own if one.part == "label"})
    return marks["titles"], marks["full_texts"]


def _made(marks: Marks) -> int:
    """Decisions that hold."""
    rows = (marks.first, marks.second, marks.labels, marks.words)
    return sum(len(row) - row.count(OPEN) for row in rows)
