"""Merging found items into known ones, one item a work. Pure: no clock, no randomness, no I/O.

Invariants (`workflows.rules.matching` says which records are one work):

- A known item is never removed and never changes its id: claims and verdicts refer to it.
- The richest record wins: full text before abstract, then the longer text, then more identifiers. When it
  replaces a known one, the known id stays and the blob is the new one. Quotes are checked against the blob:
  an item that was quoted already keeps the blob it was quoted from.
- What any of the records had is kept: identifiers, sections, queries, and the worst standing.
- Merging what was merged before changes nothing.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import permutations
from typing import NamedTuple

from activities.contracts.evidence import UNSPECIFIC, EvidenceRef, Identifiers, Standing
from activities.contracts.identifiers import fingerprint
from activities.retractions.rules import worst
from workflows.rules.matching import (
    contradict,
    group_works,
    match_by_identifier,
    match_by_title,
    may_be_one,
    share_a_doi_alone,
)

MAX_QUERIES = 8


class Merged(NamedTuple):
    """The evidence after a batch."""

    refs: tuple[EvidenceRef, ...]
    """Known items in their order, then new ones."""
    new_ids: tuple[str, ...]
    duplicates: int
    """Found items that were already known or came twice in the batch."""
    kept_as: dict[str, str]
    """Id of each found item -> id under which its work is kept."""
    batch: tuple[EvidenceRef, ...]
    """The batch, in which works that share the DOI of a supplement have ids of their own."""


def repeated_documents(corpus: Sequence[EvidenceRef], names: Iterable[str]) -> int:
    """Count the names of a person's own documents that are known.

    A folder is read whole for each search; a file is no duplicate of itself.
    """
    library_ids = {ref.evidence_id for ref in corpus if ref.source == "library"}
    return sum(name in library_ids for name in names)


def merge(
    corpus: Sequence[EvidenceRef],
    batch: Sequence[EvidenceRef],
    section: str,
    quoted_ids: Collection[str] = (),
) -> Merged:
    """Merge a batch of found items into the known ones.

    `section` is added to every item of the batch; `quoted_ids` are the ids of known items whose text must not
    change.
    """
    refs = {ref.evidence_id: ref for ref in corpus}
    batch = _with_own_ids(corpus, batch)
    kept_as = {ref.evidence_id: ref.evidence_id for ref in batch}
    by_id: dict[str, list[EvidenceRef]] = {}
    for ref in batch:
        by_id.setdefault(ref.evidence_id, []).append(_with_section(ref, section))
    records = [merge_records(*_richest_first(copies)) for copies in by_id.values()]
    matches = match_by_identifier(corpus, group_works(records))
    for target, records in matches.joins:
        refs[target] = merge_records(refs[target], records, quoted_ids)
        kept_as.update((ref.evidence_id, target) for ref in records)
    # Titles are compared after all identifiers are united, so that merging again finds the same matches.
    new_refs: list[EvidenceRef] = []
    for records in matches.unmatched:
        match = match_by_title(refs.values(), matches.joined, records)
        if match is None:
            first, others = _richest_first(records)
            match = first.evidence_id
            new_refs.append(merge_records(first, others))
        else:
            refs[match] = merge_records(refs[match], records, quoted_ids)
            matches.joined[match] += records
        kept_as.update((ref.evidence_id, match) for ref in records)
    merged = _with_shared_standing((*refs.values(), *new_refs))
    new_ids = tuple(ref.evidence_id for ref in new_refs)
    return Merged(merged, new_ids, len(batch) - len(new_refs), kept_as, tuple(batch))


def _with_own_ids(corpus: Sequence[EvidenceRef], batch: Sequence[EvidenceRef]) -> list[EvidenceRef]:
    """Return the batch with an id of its own for each work whose id is the DOI of another one.

    The known work keeps the plain id, else that whose title comes first, whatever the order of answers.
    """
    works = {ref.evidence_id: [[ref]] for ref in corpus}
    refs = list(batch)
    titles = [fingerprint(ref.title, None) for ref in batch]

    def rank(place: int) -> tuple[bool, str, str]:
        return not (titles[place] and batch[place].first_author), titles[place], batch[place].blob

    for place in sorted(range(len(refs)), key=rank):
        ref = refs[place]
        same_id = works.setdefault(ref.evidence_id, [])
        work = next((w for w in same_id if not any(share_a_doi_alone(ref, other) for other in w)), None)
        if work is None:
            same_id.append(work := [])
        work.append(ref)
        if work is not same_id[0]:
            work_print = fingerprint(f"{ref.evidence_id} {work[0].title}", None)
            refs[place] = ref.replace(evidence_id=f"doc:{work_print}")
    return refs


def merge_records(
    base: EvidenceRef, others: Sequence[EvidenceRef], quoted_ids: Collection[str] = ()
) -> EvidenceRef:
    """One record of several, under the id of `base`."""
    if not others:
        return base
    records = (base, *others)
    # One with the id of `base` and another DOI is another version: its text would stand under the wrong DOI.
    versions = [base]
    for ref in sorted(others, key=_richness):
        if not any(contradict(ref, version) for version in versions):
            versions.append(ref)
    # `base` wins a tie: a record found again must not change the text that quotes are checked against.
    richest = min(versions, key=lambda ref: (*_richness(ref)[:2], ref is not base, *_richness(ref)[2:]))
    best = base if base.evidence_id in quoted_ids else richest
    order = (best, *(ref for ref in versions if ref is not best))
    # Title and author of one record: together they tell a work from others under its DOI, so that those of a
    # known work stay.
    titled = next((ref for ref in (base, *order) if ref.first_author and fingerprint(ref.title, None)), best)
    identifiers: dict[str, str] = {}
    for ref in versions:
        for kind, value in ref.identifiers.items_in_order():
            identifiers.setdefault(kind, value)
    types = [ref.evidence_type for ref in order]
    evidence_type = types[0]
    if evidence_type in UNSPECIFIC:
        evidence_type = next((t for t in types if t not in UNSPECIFIC and t != "preprint"), evidence_type)
    return best.replace(
        evidence_id=base.evidence_id,
        title=titled.title,
        identifiers=Identifiers(**identifiers),
        year=next((ref.year for ref in order if ref.year is not None), None),
        url=next((ref.url for ref in order if ref.url), None),
        fingerprint=next((ref.fingerprint for ref in order if ref.fingerprint), ""),
        first_author=next((ref.first_author for ref in (titled, *order) if ref.first_author), ""),
        evidence_type=evidence_type,
        standing=worst(*(ref.standing for ref in records)),
        sections=tuple(dict.fromkeys(name for ref in records for name in ref.sections)),
        queries=tuple(dict.fromkeys(query for ref in records for query in ref.queries))[:MAX_QUERIES],
    )


def _with_shared_standing(refs: Sequence[EvidenceRef]) -> tuple[EvidenceRef, ...]:
    """Return the items, with the worst standing of those that are one work.

    Title, year and author say so, though their texts differ: a copy of a retracted work that has no
    identifier is retracted too.
    """
    standings: dict[str, set[Standing]] = {}
    for ref in refs:
        standings.setdefault(ref.fingerprint, set()).add(ref.standing)
    copies = {ref.evidence_id: ref for ref in refs if ref.fingerprint and len(standings[ref.fingerprint]) > 1}
    for _ in copies:
        has_changed = False
        for work, other in permutations(copies, 2):
            standing = worst(copies[work].standing, copies[other].standing)
            if standing != copies[work].standing and may_be_one(copies[work], copies[other]):
                copies[work] = copies[work].replace(standing=standing)
                has_changed = True
        if not has_changed:
            break
    return tuple(copies.get(ref.evidence_id, ref) for ref in refs)


def _with_section(ref: EvidenceRef, section: str) -> EvidenceRef:
    if not section or section in ref.sections:
        return ref
    return ref.replace(sections=(*ref.sections, section))


def _richest_first(records: Sequence[EvidenceRef]) -> tuple[EvidenceRef, list[EvidenceRef]]:
    first, *rest = sorted(records, key=_richness)
    return first, rest


def _richness(ref: EvidenceRef) -> tuple[bool, int, int, tuple[str, ...]]:
    """Sort the richest record first; the texts after the counts only make ties deterministic.

    Two records of one source may have the same text and differ in what is known about it.
    """
    identifiers = dict(ref.identifiers.items_in_order())
    fields = (ref.fingerprint, ref.first_author, ref.figures, ref.title, ref.evidence_type, ref.url or "")
    texts = (ref.evidence_id, ref.blob, *fields, str(ref.year), str(identifiers))
    return not ref.full_text, -ref.chars, -len(identifiers), texts
