"""The records of a review: copies of one work merged, each record with a number that it keeps for ever.

Later searches add records at the end, so that a decision always means the same record, and the text of a
record never changes. What was merged with what is listed, and a copy that was merged wrongly can be parted
again.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import count
from typing import Protocol

from pydantic import Field

from activities.contracts.errors import DeterminatorError
from activities.contracts.evidence import EvidenceRef, Frozen

MAX_RECORDS = 50_000


class UnreadableRecords(DeterminatorError):
    """Records cannot be used; the message says which and why."""


class Copy(Frozen):
    ref: EvidenceRef
    into: int
    """Number of the record that it is part of."""


class Records(Frozen):
    """All records of a review, by their numbers, with what was merged."""

    records: tuple[EvidenceRef, ...] = ()
    """`sections` of each are the searches and files it came from."""
    copies: tuple[Copy, ...] = ()
    parted: tuple[str, ...] = ()
    """Blobs of copies that a person parted: they are never merged again."""
    by_origin: dict[str, int] = Field(default_factory=dict)

    @property
    def identified_count(self) -> int:
        """Count the records that all searches and files gave, with copies."""
        return sum(self.by_origin.values())


class MergedRefs(Protocol):
    @property
    def refs(self) -> tuple[EvidenceRef, ...]: ...

    @property
    def kept_as(self) -> dict[str, str]: ...

    @property
    def batch(self) -> tuple[EvidenceRef, ...]: ...


Merge = Callable[[Sequence[EvidenceRef], Sequence[EvidenceRef], str, Collection[str]], MergedRefs]
"""(records, a batch, its origin, ids whose text stays) -> both merged: `workflows.rules.dedup.merge`."""


def add_batch(records: Records, batch: Sequence[EvidenceRef], origin: str, merge: Merge) -> Records:
    """Add the records of a search or file: new works at the end, copies of known ones listed.

    A search that is made again adds what is new. Raises UnreadableRecords where there are too many.
    """
    refs = [*records.records, *(copy.ref for copy in records.copies)]
    if origin in records.by_origin:
        ids = {ref.evidence_id for ref in refs if origin in ref.sections}
        batch = [ref for ref in batch if ref.evidence_id not in ids]
    batch = [ref for ref in batch if ref.blob not in records.parted]
    names = {ref.evidence_id for ref in records.records}
    merged = merge(records.records, batch, origin, names)
    if len(merged.refs) > MAX_RECORDS:
        raise UnreadableRecords(f"a review has at most {MAX_RECORDS:,} records; narrow its searches")
    numbers = {ref.evidence_id: number for number, ref in enumerate(merged.refs)}
    copies = []
    new_numbers: set[int] = set()
    for ref in merged.batch:
        number = numbers[merged.kept_as[ref.evidence_id]]
        is_new = number >= len(records.records) and number not in new_numbers
        if is_new and ref.blob == merged.refs[number].blob:
            new_numbers.add(number)
        else:
            copies.append(Copy(ref=ref.replace(sections=(origin,)), into=number))
    return records.replace(
        records=merged.refs,
        copies=(*records.copies, *copies),
        by_origin={**records.by_origin, origin: records.by_origin.get(origin, 0) + len(batch)},
    )


def part(records: Records, blob: str) -> Records:
    """Make a merged copy a record of its own.

    Raises UnreadableRecords where there is no such copy, or its text is that of the record.
    """
    copy = next((duplicate for duplicate in records.copies if duplicate.ref.blob == blob), None)
    if copy is None or any(ref.blob == blob for ref in records.records):
        raise UnreadableRecords(f"no copy that was merged has the key {blob[:80]}")
    names = {ref.evidence_id for ref in records.records}
    name = next(name for n in count(2) if (name := f"{copy.ref.evidence_id}#{n}") not in names)
    return records.replace(
        records=(*records.records, copy.ref.replace(evidence_id=name)),
        copies=tuple(duplicate for duplicate in records.copies if duplicate is not copy),
        parted=(*records.parted, blob),
    )
