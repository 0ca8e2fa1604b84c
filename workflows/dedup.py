"""Telling copies of one work apart from different works, and merging them.

Two references are the same work when they share any canonical identifier, or, failing that, the fingerprint of
title and year. The richest record wins; the name by which the work was known first stays, because claims and
judgements already point at it, while its text is the winner's. Merging is idempotent and loses no work.
"""

from collections.abc import Iterable, Sequence

from activities.types import EvidenceRef, Frozen, Identifiers

QUERIES_KEPT = 8


class Merged(Frozen):
    """The ledger after a merge."""

    refs: tuple[EvidenceRef, ...]
    new_ids: tuple[str, ...]
    """Ids of works that were not known before."""
    duplicates: int
    """How many of the references found were copies of a known work or of each other."""


def merge(known: Sequence[EvidenceRef], found: Sequence[EvidenceRef], section: str) -> Merged:
    """Add what a search found to what is known; each item is credited to the section that found it."""
    refs: list[EvidenceRef | None] = list(known)
    places: dict[str, int] = {}
    for place, ref in enumerate(known):
        for key in _keys(ref):
            places.setdefault(key, place)
    first_new = len(refs)
    duplicates = 0
    for ref in found:
        credited = ref.model_copy(update={"sections": _joined(ref.sections, (section,) if section else ())})
        hits = sorted(
            {places[key] for key in _keys(credited) if key in places and refs[places[key]] is not None}
        )
        if not hits:
            for key in _keys(credited):
                places[key] = len(refs)
            refs.append(credited)
            continue
        duplicates += 1
        place = hits[0]
        whole = credited
        for other in reversed(hits):
            # a record with both names joins two that shared none
            whole = _combine(refs[other] or whole, whole)
            refs[other] = None
        refs[place] = whole
        for key in (*_keys(whole), *(k for k, p in list(places.items()) if p in hits)):
            places[key] = place
    kept = [(place, ref) for place, ref in enumerate(refs) if ref is not None]
    new = tuple(ref.evidence_id for place, ref in kept if place >= first_new)
    return Merged(refs=tuple(ref for _, ref in kept), new_ids=new, duplicates=duplicates)


def _keys(ref: EvidenceRef) -> list[str]:
    names = [f"{name}:{value}" for name, value in ref.identifiers.items_in_order()]
    return [*names, f"id:{ref.evidence_id}", *([f"title:{ref.fingerprint}"] if ref.fingerprint else [])]


def _richness(ref: EvidenceRef) -> tuple[bool, int, int, str]:
    return ref.full_text, ref.chars, sum(1 for _ in ref.identifiers.items_in_order()), ref.blob


def _combine(first: EvidenceRef, second: EvidenceRef) -> EvidenceRef:
    """One work from two of its records; `first` was known first."""
    rich, poor = (second, first) if _richness(second) > _richness(first) else (first, second)
    identifiers = {
        name: getattr(rich.identifiers, name) or getattr(poor.identifiers, name)
        for name in Identifiers.model_fields
    }
    return rich.model_copy(
        update={
            "evidence_id": first.evidence_id,
            "identifiers": Identifiers.model_validate(identifiers),
            "year": rich.year or poor.year,
            "url": rich.url or poor.url,
            "standing": _worse(first, second),
            "sections": _joined(first.sections, second.sections),
            "queries": _joined(first.queries, second.queries)[:QUERIES_KEPT],
        }
    )


def _worse(first: EvidenceRef, second: EvidenceRef) -> str:
    """The graver of two standings; one who knows nothing does not speak."""
    order = ("unknown", "none", "corrected", "concern", "retracted")
    return max(first.standing, second.standing, key=order.index)


def _joined(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
