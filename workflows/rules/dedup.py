"""Which found items are the same work, and what stays of them. Pure: no clock, no randomness, no I/O.

Two records are one work when they share an identifier, else when title and year agree and no identifier
contradicts it. The invariants:

- An item that is known is never removed and never changes its id: claims and verdicts name it.
- The richest record wins: full text before abstract, then the longer text, then more identifiers. When it
  replaces a known one, the known id stays and the blob is the new one. Quotes are checked against the blob:
  an item that was quoted already keeps the blob it was quoted from.
- What all records knew stays: identifiers, sections, queries, and the gravest standing.
- Merging what was merged before changes nothing.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from activities.types import EvidenceRef, EvidenceType, Identifiers, Standing

MAX_QUERIES = 8

_GRAVITY: tuple[Standing, ...] = ("unknown", "none", "corrected", "concern", "retracted")
_REGULATORY: tuple[EvidenceType, ...] = ("drug_label", "regulatory", "adverse_events")
_REGISTERS: tuple[EvidenceType, ...] = ("trial_registration", *_REGULATORY)
_VAGUE: tuple[EvidenceType, ...] = ("article", "document", "web_page")
"""Kinds that say nothing about the design of a study."""


class Merged(NamedTuple):
    """The evidence after a batch."""

    refs: tuple[EvidenceRef, ...]
    """Known items in their order, then new ones."""
    new_ids: tuple[str, ...]
    duplicates: int
    """Found items that were already known or came twice in the batch."""
    kept_as: dict[str, str]
    """Id of each found item -> id under which its work is kept."""


def merge(
    known: Sequence[EvidenceRef],
    found: Sequence[EvidenceRef],
    section: str,
    quoted: Collection[str] = (),
) -> Merged:
    """Take a batch of found items into what is known. `section` is noted on every item of the batch; `quoted`
    are the ids of known items whose text must not change."""
    refs = {ref.evidence_id: ref for ref in known}
    kept_as = {ref.evidence_id: ref.evidence_id for ref in found}
    by_name: dict[str, str] = {}
    for ref in known:
        for name in _names(ref):
            by_name.setdefault(name, ref.evidence_id)
    nameless: list[list[EvidenceRef]] = []
    for group in _groups([_noted(ref, section) for ref in found]):
        strangers = [ref for ref in group if ref.evidence_id not in refs]
        for ref in group:
            if ref.evidence_id in refs:
                refs[ref.evidence_id] = _united(refs[ref.evidence_id], [ref], quoted)
        same = {by_name[name] for ref in group for name in _names(ref) if name in by_name}
        if strangers and not same:
            nameless.append(strangers)
        elif strangers:
            home = next(i for i in refs if i in same)
            refs[home] = _united(refs[home], strangers, quoted)
            kept_as.update((ref.evidence_id, home) for ref in strangers)
    # Titles are asked only after every identifier has spoken; else a second merge would see more than
    # the first did.
    new: list[EvidenceRef] = []
    for group in nameless:
        known_as = _by_title(refs.values(), group)
        if known_as is None:
            first, *rest = sorted(group, key=_richness)
            known_as = first.evidence_id
            new.append(_united(first, rest))
        else:
            refs[known_as] = _united(refs[known_as], group, quoted)
        kept_as.update((ref.evidence_id, known_as) for ref in group)
    merged = (*refs.values(), *new)
    return Merged(merged, tuple(ref.evidence_id for ref in new), len(found) - len(new), kept_as)


def _noted(ref: EvidenceRef, section: str) -> EvidenceRef:
    if not section or section in ref.sections:
        return ref
    return ref.model_copy(update={"sections": (*ref.sections, section)})


def _names(ref: EvidenceRef) -> list[str]:
    """What names the work of a record, and no other work.

    A registry number names a registration, but papers about a trial carry it too; an FDA number names one
    record of one kind.
    """
    names = [f"id:{ref.evidence_id}", f"blob:{ref.blob}"]
    for kind, value in ref.identifiers.items_in_order():
        if kind == "nct" and ref.evidence_type != "trial_registration":
            continue
        if kind == "fda":
            if ref.evidence_type in _REGULATORY:
                names.append(f"fda:{ref.evidence_type}:{value}")
            continue
        names.append(f"{kind}:{value}")
    return names


def _contradict(one: Identifiers, other: Identifiers) -> bool:
    """Whether two records are certainly different works, however alike their titles."""
    return any(
        getattr(one, kind) and getattr(other, kind) and getattr(one, kind) != getattr(other, kind)
        for kind in ("pmid", "nct", "fda", "arxiv")
    )


def _alike(one: EvidenceRef, other: EvidenceRef) -> bool:
    return (
        bool(one.fingerprint)
        and one.fingerprint == other.fingerprint
        and (one.evidence_type in _REGISTERS) == (other.evidence_type in _REGISTERS)
        and not _contradict(one.identifiers, other.identifiers)
    )


def _by_title(known: Iterable[EvidenceRef], group: Sequence[EvidenceRef]) -> str | None:
    """The first known item that agrees in title and year with one of the group and contradicts none of it."""
    for ref in known:
        if any(_alike(ref, member) for member in group) and not any(
            _contradict(ref.identifiers, member.identifiers) for member in group
        ):
            return ref.evidence_id
    return None


def _groups(refs: Sequence[EvidenceRef]) -> list[list[EvidenceRef]]:
    """The works of a batch, in the order of their first records."""
    parent = list(range(len(refs)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    def join(one: int, other: int) -> None:
        low, high = sorted((root(one), root(other)))
        parent[high] = low

    seen: dict[str, int] = {}
    for place, ref in enumerate(refs):
        for name in _names(ref):
            join(seen.setdefault(name, place), place)
    by_title: dict[str, list[int]] = {}
    # A fixed order, so that which of two contradicting works takes a nameless record in does not depend on
    # the order in which sources answered.
    for place in sorted(range(len(refs)), key=lambda i: (refs[i].evidence_id, i)):
        if refs[place].fingerprint:
            by_title.setdefault(refs[place].fingerprint, []).append(place)
    for places in by_title.values():
        for at, one in enumerate(places):
            for other in places[at + 1 :]:
                if root(one) == root(other) or not _alike(refs[one], refs[other]):
                    continue
                ours = [r for i, r in enumerate(refs) if root(i) == root(one)]
                theirs = [r for i, r in enumerate(refs) if root(i) == root(other)]
                if not any(_contradict(a.identifiers, b.identifiers) for a in ours for b in theirs):
                    join(one, other)
    groups: dict[int, list[EvidenceRef]] = {}
    for place, ref in enumerate(refs):
        groups.setdefault(root(place), []).append(ref)
    return list(groups.values())


def _richness(ref: EvidenceRef) -> tuple[bool, int, int, str, str]:
    """Sorts the richest record first; the last two only settle ties, always the same way."""
    count = sum(1 for _ in ref.identifiers.items_in_order())
    return (not ref.full_text, -ref.chars, -count, ref.evidence_id, ref.blob)


def _united(base: EvidenceRef, others: Sequence[EvidenceRef], quoted: Collection[str] = ()) -> EvidenceRef:
    """One record of several, under the id of `base`."""
    if not others:
        return base
    everyone = (base, *others)
    # `base` stays on a tie: a record found again must not change what quotes are checked against.
    richest = min(everyone, key=lambda ref: (*_richness(ref)[:2], ref is not base, *_richness(ref)[2:]))
    best = base if base.evidence_id in quoted else richest
    order = (best, *(ref for ref in everyone if ref is not best))
    identifiers: dict[str, str] = {}
    for ref in order:
        for kind, value in ref.identifiers.items_in_order():
            identifiers.setdefault(kind, value)
    kinds = [ref.evidence_type for ref in order]
    kind = kinds[0]
    if kind in _VAGUE:
        kind = next((k for k in kinds if k not in _VAGUE and k != "preprint"), kind)
    return best.model_copy(
        update={
            "evidence_id": base.evidence_id,
            "identifiers": Identifiers(**identifiers),
            "year": next((ref.year for ref in order if ref.year is not None), None),
            "url": next((ref.url for ref in order if ref.url), None),
            "fingerprint": next((ref.fingerprint for ref in order if ref.fingerprint), ""),
            "evidence_type": kind,
            "standing": max((ref.standing for ref in everyone), key=_GRAVITY.index),
            "sections": _once(name for ref in everyone for name in ref.sections),
            "queries": _once(query for ref in everyone for query in ref.queries)[:MAX_QUERIES],
        }
    )


def _once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
