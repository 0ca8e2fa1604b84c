"""What a review keeps in the evidence store: its protocol, records, decisions and what was published."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from activities.contracts.evidence import Frozen
from activities.evidence_store import EvidenceStore
from activities.review.counts import flow
from activities.review.decisions import Decision, latest
from activities.review.findings import Findings
from activities.review.protocol import Protocol
from activities.review.records import Records
from activities.review.steps import PublishStep, ReviewReport, Validation

M = TypeVar("M", bound=Frozen)


@dataclass(frozen=True, slots=True)
class Published:
    """What a review has published, whole."""

    report: ReviewReport
    step: PublishStep
    protocol: Protocol
    records: Records
    decisions: tuple[Decision, ...]
    findings: Findings | None = None


def lines(rows: Iterable[Frozen]) -> bytes:
    return "".join(f"{row.model_dump_json(exclude_defaults=True)}\n" for row in rows).encode()


def name_of(run_id: str) -> str:
    """The name under which the newest report of a review is kept."""
    return f"reviews/{run_id}/report.json"


class Archive:
    def __init__(self, store: EvidenceStore) -> None:
        self.store = store

    async def put(self, value: Frozen) -> str:
        return await self.store.put_bytes(value.model_dump_json().encode())

    async def get(self, key: str, kind: type[M]) -> M:
        return kind.model_validate_json(await self.store.get_bytes(key))

    async def records(self, key: str) -> Records:
        """Records by their key; none where nothing was found yet."""
        return await self.get(key, Records) if key else Records()

    async def put_lines(self, rows: Iterable[Frozen]) -> str:
        return await self.store.put_bytes(lines(rows), "jsonl")

    async def lines(self, key: str, kind: type[M]) -> list[M]:
        data = await self.store.get_bytes(key)
        return [kind.model_validate_json(line) for line in data.splitlines() if line.strip()]

    async def put_numbers(self, numbers: Sequence[int]) -> str:
        return await self.store.put_bytes(json.dumps(list(numbers)).encode())

    async def numbers(self, key: str) -> list[int]:
        return [int(number) for number in json.loads(await self.store.get_bytes(key))]

    async def log(self, keys: Iterable[str]) -> list[Decision]:
        """All decisions, in the order in which they were kept."""
        return [one for key in keys for one in await self.lines(key, Decision)]

    async def publish(self, step: PublishStep) -> ReviewReport:
        """Count everything that a review has come to, and keep it. Raises StoreError."""
        records = await self.records(step.records)
        protocol = await self.get(step.protocol, Protocol)
        log = await self.log(step.log)
        reasons = {one.record: one.criterion for one in log if one.stage == "full_texts" and one.criterion}
        from activities.review.living import compare  # with what pools and draws
        from activities.review.publishing import findings_of

        findings = await findings_of(self, step, protocol, records, log)
        before = await self.published(step.run_id)
        notice = None
        if findings and before and before.findings:
            notice = compare(before.findings, findings)
        made = ReviewReport(
            report=await self.put(step),
            at=step.at,
            flow=flow(
                records,
                step.titles,
                stopped=step.closed or step.screening.course.phase == "done",
                got=step.got,
                full_texts=step.full_texts,
                reasons=reasons,
            ),
            findings=await self.put(findings) if findings else "",
            notice=await self.put(notice) if notice else "",
            validation=validation(protocol, step, log),
        )
        await self.store.put_named(name_of(step.run_id), made.model_dump_json().encode())
        return made

    async def published(self, run_id: str) -> Published | None:
        """What a review has published last; None where that is nothing. Raises StoreError."""
        data = await self.store.get_named(name_of(run_id))
        if data is None:
            return None
        report = ReviewReport.model_validate_json(data)
        step = await self.get(report.report, PublishStep)
        return Published(
            report,
            step,
            await self.get(step.protocol, Protocol),
            await self.records(step.records),
            tuple(await self.log(step.log)),
            await self.get(report.findings, Findings) if report.findings else None,
        )


def validation(protocol: Protocol, step: PublishStep, log: Sequence[Decision]) -> Validation | None:
    """How the screeners decided on the records that a person labelled; None without labels."""
    labels = step.titles.labels
    labelled = sum(letter in "ie" for letter in labels)
    if not labelled:
        return None
    from activities.review.rounds import accuracy_of

    people = tuple(dict.fromkeys(one.by for one in latest(log).values() if one.part == "label"))
    rows = [
        accuracy_of(screener.name, step.titles.of_screener(place), labels)
        for place, screener in enumerate(protocol.screeners)
        if screener.name not in people
    ]
    return Validation(version=step.version, labelled=labelled, by=people, screeners=tuple(rows))
