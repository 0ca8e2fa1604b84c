"""A review in the evidence store: its protocol, records, decisions and what was published."""

import asyncio
import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic_core import from_json

from activities.contracts.evidence import Frozen, Standing
from activities.evidence_store import EvidenceStore
from activities.messages import in_language
from activities.review.decisions import (
    OPEN,
    SCREENED,
    Decision,
    Marks,
    ScreenedStage,
    Stage,
    exclusions,
)
from activities.review.extraction import (
    DecidedStudy,
    Extraction,
    asked_fields,
    decided_study,
)
from activities.review.findings import Findings
from activities.review.protocol import Protocol
from activities.review.records import Records
from activities.review.results import Agreement, Flow, ReviewReport, Validation
from activities.review.state import ReviewState
from activities.review.steps import StateStep

NO_STANDINGS: Mapping[str, Standing] = {}
CACHE_SIZE = 2
"""Reviews whose records and words are remembered by the process."""
K = TypeVar("K")
V = TypeVar("V")
M = TypeVar("M", bound=Frozen)


class Memory(dict[K, V]):
    """The values that were used last."""

    def put(self, key: K, value: V) -> V:
        self.pop(key, None)
        self[key] = value
        for oldest in list(self)[:-CACHE_SIZE]:
            self.pop(oldest, None)
        return value


RECORDS: Memory[str, Records] = Memory()
"""Key -> records: megabytes, named by their content, that every step and every person asks for."""


@dataclass(frozen=True, slots=True)
class PublishedReview:
    """The newest report of a review with everything that it rests on."""

    run_id: str
    report: ReviewReport
    state: ReviewState
    records: Records
    decisions: tuple[Decision, ...]
    findings: Findings | None = None

    @property
    def protocol(self) -> Protocol:
        return self.state.protocol

    @property
    def language(self) -> str:
        return self.protocol.report_language

    @property
    def decisions_in_force(self) -> list[Decision]:
        return self.state.decisions_in_force(self.decisions)


def json_lines(rows: Iterable[Frozen]) -> bytes:
    return "".join(f"{row.model_dump_json(exclude_defaults=True)}\n" for row in rows).encode()


def name_of(run_id: str) -> str:
    """Name the newest report of a review in the store."""
    return f"reviews/{run_id}/report.json"


class Archive:
    def __init__(self, store: EvidenceStore) -> None:
        self.store = store
        self._loading = asyncio.Lock()

    async def put(self, value: Frozen) -> str:
        return await self.store.put_bytes(value.model_dump_json().encode())

    async def get(self, key: str, kind: type[M]) -> M:
        return kind.model_validate_json(await self.store.get_bytes(key))

    async def records(self, key: str) -> Records:
        """Read records by their key; none where nothing was found yet."""
        if not key:
            return Records()
        async with self._loading:  # the first of several steps reads them, in a thread
            records = RECORDS.get(key)
            if records is None:
                data = await self.store.get_bytes(key)
                records = await asyncio.to_thread(Records.model_validate_json, data)
            return RECORDS.put(key, records)

    async def put_lines(self, rows: Iterable[Frozen]) -> str:
        return await self.store.put_bytes(json_lines(rows), "jsonl")

    async def lines(self, key: str, kind: type[M]) -> list[M]:
        """Read rows by their key; none where there is no key yet."""
        data = await self.store.get_bytes(key) if key else b""
        return [kind.model_validate_json(line) for line in data.splitlines() if line.strip()]

    async def put_numbers(self, numbers: Sequence[int]) -> str:
        return await self.store.put_bytes(json.dumps(list(numbers)).encode())

    async def numbers(self, key: str) -> list[int]:
        return [int(number) for number in json.loads(await self.store.get_bytes(key))]

    async def log(
        self, keys: Iterable[str], records: Container[int] | None = None, stage: Stage | None = None
    ) -> list[Decision]:
        """Read the decisions on some records or of a stage, by default all, in the order of the log."""
        rows = [line for key in keys for line in (await self.store.get_bytes(key)).splitlines()]
        return [
            Decision.model_validate(row)
            for row in map(from_json, filter(None, rows))
            if (records is None or row["record"] in records) and stage in (None, row.get("stage", "titles"))
        ]

    async def settlement(
        self, state: ReviewState, record: int, decisions: Iterable[Decision]
    ) -> tuple[DecidedStudy, tuple[str, ...]] | None:
        """Return the row of a study as far as it is decided, and the fields on which a person has to decide.

        None where it is not read by both. `decisions`: of people on all studies, oldest first.
        """
        first, second = state.studies.of(record)
        if first is None or second is None:
            return None
        words = (row for row in decisions if row.stage == "extraction" and row.part == "word")
        by_field = {row.about: row for row in words if row.record == record and not state.is_void(row)}
        extractions = await self.get(first.key, Extraction), await self.get(second.key, Extraction)
        return decided_study(asked_fields(state.protocol), *extractions, by_field)

    async def publish(
        self, step: StateStep, standings: Mapping[str, Standing] = NO_STANDINGS
    ) -> ReviewReport:
        """Count everything that a review has come to, and keep it. Raises StoreError.

        `standings`: what was published on included works since they were found.
        """
        state, records = step.state, await self.records(step.state.records)
        log = await self.log(state.log)
        from activities.review.findings import findings_of
        from activities.review.living import compare  # with what pools and draws

        findings = await findings_of(self, state, records, log, standings)
        previous = await self.published_review(step.run_id)
        with in_language(state.protocol.report_language):
            earlier = previous.findings if previous else None
            notice = compare(earlier, findings, step) if findings and earlier else None
        report = ReviewReport(
            report=await self.put(step),
            at=step.at,
            flow=flow(records, state, log).replace(studies=findings.study_count if findings else 0),
            findings=await self.put(findings) if findings else "",
            notice=await self.put(notice) if notice else "",
            validation=validation(state),
            agreement=tuple(filter(None, (agreement(stage, state.marks(stage)) for stage in SCREENED))),
        )
        await self.store.put_named(name_of(step.run_id), report.model_dump_json().encode())
        return report

    async def published_review(self, run_id: str) -> PublishedReview | None:
        """Read what a review has published last; None where that is nothing. Raises StoreError."""
        data = await self.store.get_named(name_of(run_id))
        if data is None:
            return None
        report = ReviewReport.model_validate_json(data)
        state = (await self.get(report.report, StateStep)).state
        return PublishedReview(
            run_id,
            report,
            state,
            await self.records(state.records),
            tuple(await self.log(state.log)),
            await self.get(report.findings, Findings) if report.findings else None,
        )


def flow(records: Records, state: ReviewState, log: Sequence[Decision] = ()) -> Flow:
    """Count the flow of a review, whose full texts were excluded by the criteria in the log."""
    titles = state.titles
    states = titles.states()
    counts = Counter(states)
    open_records = unsettled_records = counts["open"] + counts["conflict"]
    if state.closed or (state.course and state.course.phase == "done"):
        # what nobody has read stays so
        open_records = sum(
            mark == "conflict" or (mark == "open" and titles.first[n] + titles.second[n] != "..")
            for n, mark in enumerate(states)
        )
    sought, assessed = state.sought_records(), state.retrieved_records()
    text_states = {record: state.full_texts.state(record) for record in assessed}
    decisions = exclusions(state.decisions_in_force(log), [rule.id for rule in state.protocol.criteria])
    excluding = [decisions.get(record) for record, mark in text_states.items() if mark == "excluded"]
    reasons = Counter((decision and decision.criterion) or "not stated" for decision in excluding)
    return Flow(
        identified=records.by_origin,
        kinds={row.origin: row.kind for row in state.reported_searches()},
        duplicates=records.identified_count - len(records.records),
        screened=counts["included"] + counts["excluded"],
        excluded=counts["excluded"],
        unread=unsettled_records - open_records,
        open=open_records,
        sought=len(sought),
        not_retrieved=sum(state.got.get(record) == "not_retrieved" for record in sought),
        awaited=len(state.missing_texts()),
        assessed=len(assessed),
        excluded_because=dict(reasons),
        undecided=sum(mark in ("open", "conflict") for mark in text_states.values()),
        included=list(text_states.values()).count("included"),
    )


def agreement(stage: ScreenedStage, marks: Marks) -> Agreement | None:
    """Compare the letters of both screeners; None where they have no record in common."""
    pairs = [pair for pair in zip(marks.first, marks.second, strict=True) if OPEN not in pair]
    if not pairs:
        return None
    both, agreed = len(pairs), sum(first == second for first, second in pairs)
    counts = [Counter(letters) for letters in zip(*pairs, strict=True)]
    by_chance = sum(counts[0][letter] * counts[1][letter] for letter in counts[0]) / both**2
    kappa = None if by_chance == 1 else (agreed / both - by_chance) / (1 - by_chance)
    return Agreement(stage=stage, both=both, agreed=agreed, kappa=kappa)


def validation(state: ReviewState) -> Validation | None:
    """Measure the screeners on the records that a person labelled; None without labels."""
    labels = state.titles.labels
    label_count = sum(letter in "ie" for letter in labels)
    if not label_count:
        return None
    from activities.review.rounds import accuracy_of

    rows = [
        accuracy_of(screener.name, state.titles.of_screener(place), labels)
        for place, screener in enumerate(state.protocol.screeners)
        if screener.name not in state.labellers
    ]
    people = tuple(state.labellers)
    return Validation(version=state.version, labelled=label_count, by=people, screeners=tuple(rows))
