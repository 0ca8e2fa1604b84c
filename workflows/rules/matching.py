"""Which records are the same work. Pure: no clock, no randomness, no I/O.

Two records are one work when they share an identifier, else when title and year agree and no identifier
contradicts it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from activities.contracts.evidence import EvidenceRef, EvidenceType, Identifiers

Work = list[EvidenceRef]
"""Records of one work."""

_REGULATORY: tuple[EvidenceType, ...] = ("drug_label", "regulatory", "adverse_events")
_REGISTERS: tuple[EvidenceType, ...] = ("trial_registration", *_REGULATORY)


class Matches(NamedTuple):
    """How works of a batch relate to known items."""

    joins: list[tuple[str, Work]]
    """Id of a known item, and records that share an identifier with it."""
    unmatched: list[Work]
    """Works that share no identifier with a known item."""


def match_by_identifier(corpus: Sequence[EvidenceRef], works: Iterable[Work]) -> Matches:
    """Assign the records of each work to known items that share an identifier with it. A work that matches
    several known items is assigned to the first; records whose id is known always join that item."""
    owner: dict[str, str] = {}
    for ref in corpus:
        for key in _keys(ref):
            owner.setdefault(key, ref.evidence_id)
    order = {ref.evidence_id: place for place, ref in enumerate(corpus)}
    matches = Matches([], [])
    for work in works:
        matches.joins.extend((ref.evidence_id, [ref]) for ref in work if ref.evidence_id in order)
        others = [ref for ref in work if ref.evidence_id not in order]
        owners = {owner[key] for ref in work for key in _keys(ref) if key in owner}
        if others and owners:
            matches.joins.append((min(owners, key=order.__getitem__), others))
        elif others:
            matches.unmatched.append(others)
    return matches


def match_by_title(corpus: Iterable[EvidenceRef], work: Work) -> str | None:
    """The first known item that agrees with one record in title and year and contradicts none of them."""
    for ref in corpus:
        if any(_same_title(ref, record) for record in work) and not any(
            _contradict(ref.identifiers, record.identifiers) for record in work
        ):
            return ref.evidence_id
    return None


def group_works(refs: Sequence[EvidenceRef]) -> list[Work]:
    """The works of a batch, in the order of their first records."""
    group = list(range(len(refs)))
    """Place -> the lowest place of its work."""

    def join(one: int, other: int) -> None:
        low, high = sorted((group[one], group[other]))
        group[:] = [low if root == high else root for root in group]

    first_with: dict[str, int] = {}
    for place, ref in enumerate(refs):
        for key in _keys(ref):
            join(first_with.setdefault(key, place), place)
    by_title: dict[str, list[int]] = {}
    # A fixed order, so that which of two contradicting works a record without identifiers joins does not
    # depend on the order in which sources answered.
    for place in sorted(range(len(refs)), key=lambda i: (refs[i].evidence_id, i)):
        if refs[place].fingerprint:
            by_title.setdefault(refs[place].fingerprint, []).append(place)
    for places in by_title.values():
        for at, one in enumerate(places):
            for other in places[at + 1 :]:
                if group[one] == group[other] or not _same_title(refs[one], refs[other]):
                    continue
                ours, theirs = (
                    [ref for ref, root in zip(refs, group, strict=True) if root == group[place]]
                    for place in (one, other)
                )
                if not any(_contradict(a.identifiers, b.identifiers) for a in ours for b in theirs):
                    join(one, other)
    works: dict[int, Work] = {}
    for place, ref in enumerate(refs):
        works.setdefault(group[place], []).append(ref)
    return list(works.values())


def _keys(ref: EvidenceRef) -> list[str]:
    """What identifies the work of a record, and no other work.

    A registry number identifies a registration, but papers about a trial carry it too; an FDA number
    identifies one record of one type.
    """
    keys = [f"id:{ref.evidence_id}", f"blob:{ref.blob}"]
    for kind, value in ref.identifiers.items_in_order():
        if kind == "nct" and ref.evidence_type != "trial_registration":
            continue
        if kind == "fda":
            if ref.evidence_type in _REGULATORY:
                keys.append(f"fda:{ref.evidence_type}:{value}")
            continue
        keys.append(f"{kind}:{value}")
    return keys


def _contradict(one: Identifiers, other: Identifiers) -> bool:
    """Whether two records are certainly different works, however similar their titles."""
    return any(
        getattr(one, kind) and getattr(other, kind) and getattr(one, kind) != getattr(other, kind)
        for kind in ("pmid", "nct", "fda", "arxiv")
    )


def _same_title(one: EvidenceRef, other: EvidenceRef) -> bool:
    return (
        bool(one.fingerprint)
        and one.fingerprint == other.fingerprint
        and (one.evidence_type in _REGISTERS) == (other.evidence_type in _REGISTERS)
        and not _contradict(one.identifiers, other.identifiers)
    )
