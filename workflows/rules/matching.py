"""Records that are the same text of the same work. Pure: no clock, no randomness, no I/O.

Two records are one when they share an identifier and no other one differs; else when title, year and first
author agree, no identifier differs, and one text has all the numbers of the other. A preprint and its article
are two: what one says is never quoted under the identifier of the other. So are two abstracts of a conference
under the one DOI of their supplement: title and first author differ.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from activities.contracts.evidence import EvidenceRef, EvidenceType
from activities.contracts.identifiers import differ, fingerprint, is_preprint_doi, may_hold

Key = tuple[str, str]
"""A kind of identifier and its value."""
Work = list[EvidenceRef]
"""Records of one work."""

_TRUST = ("id", "blob", "pmid", "pmcid", "doi", "nct", "arxiv", "openalex", "s2", "fda", "url")
_OF_ONE_WORK = ("pmid", "pmcid", "doi", "nct", "fda", "arxiv")
"""Identifiers of which a work has no two."""
_OF_A_VERSION = ("pmid", "pmcid", "doi", "nct", "fda", "blob")
"""What names one version of a work, as its text does; records of the article have an arXiv number too."""
_REGULATORY: tuple[EvidenceType, ...] = ("drug_label", "regulatory", "adverse_events")
_REGISTERS: tuple[EvidenceType, ...] = ("trial_registration", *_REGULATORY)


class Matches(NamedTuple):
    """The relations of works of a batch to known items."""

    joins: list[tuple[str, Work]]
    """Id of a known item, and records that share an identifier with it."""
    unmatched: list[Work]
    """Works that share no identifier with a known item."""
    joined: dict[str, Work]
    """Id of a known item -> all its records so far."""


def match_by_identifier(corpus: Sequence[EvidenceRef], works: Iterable[Work]) -> Matches:
    """Assign the records of each work to known items that share an identifier with it.

    A work that matches several known items is assigned to the first; records whose id is known always join
    that item, and the others of their work with them.
    """
    joined = {ref.evidence_id: [ref] for ref in corpus}
    order = {name: place for place, name in enumerate(joined)}
    owners: dict[Key, set[str]] = {}

    def join(name: str, records: Work) -> None:
        joined[name] += records
        for ref in records:
            for key in _keys(ref):
                owners.setdefault(key, set()).add(name)

    for ref in corpus:
        join(ref.evidence_id, [ref])
    matches = Matches([], [], joined)
    for work in works:
        known_refs = [ref for ref in work if ref.evidence_id in order]
        new_refs = [ref for ref in work if ref.evidence_id not in order]
        for ref in known_refs:
            matches.joins.append((ref.evidence_id, [ref]))
            if not contradict(ref, joined[ref.evidence_id][0]):
                join(ref.evidence_id, [ref])
        candidates = {ref.evidence_id for ref in known_refs} or {
            name
            for ref in new_refs
            for key in _keys(ref)
            for name in owners.get(key, ())
            if _may_share(key[0], joined[name], new_refs)
        }
        if new_refs and candidates:
            first = min(candidates, key=order.__getitem__)
            matches.joins.append((first, new_refs))
            join(first, new_refs)
        elif new_refs:
            matches.unmatched.append(new_refs)
    return matches


def match_by_title(corpus: Iterable[EvidenceRef], joined: Mapping[str, Work], work: Work) -> str | None:
    """Return the first known item that one record agrees with, where none of its records contradicts.

    What is compared are title, year and numbers.
    """
    for ref in corpus:
        records = [ref, *joined[ref.evidence_id]]
        if any(_same_title(ref, record) for record in work) and _agree(records, work):
            return ref.evidence_id
    return None


def may_be_one(ref: EvidenceRef, other: EvidenceRef) -> bool:
    """Tell whether two items may be one work, by title, year and author.

    Nothing says that they are two works or two versions of one: only their texts differ.
    """
    return bool(ref.fingerprint) and ref.fingerprint == other.fingerprint and _agree([ref], [other])


def group_works(refs: Sequence[EvidenceRef]) -> list[Work]:
    """Return the works of a batch, in the order of their first records."""
    group = list(range(len(refs)))
    """Place -> the lowest place of its work."""

    def members(place: int) -> Work:
        return [ref for ref, root in zip(refs, group, strict=True) if root == group[place]]

    def join(place: int, other: int) -> None:
        low, high = sorted((group[place], group[other]))
        group[:] = [low if root == high else root for root in group]

    # A fixed order, so that which of two contradicting works a record joins does not depend on the order in
    # which sources answered. What names a work best is compared first.
    order = sorted(range(len(refs)), key=lambda place: (refs[place].evidence_id, refs[place].blob, place))
    by_key: dict[Key, list[int]] = {}
    by_title: dict[str, list[int]] = {}
    for place in order:
        for key in _keys(refs[place]):
            by_key.setdefault(key, []).append(place)
        if refs[place].fingerprint:
            by_title.setdefault(refs[place].fingerprint, []).append(place)
    for key in sorted(by_key, key=lambda key: (_TRUST.index(key[0]), key)):
        for first, other in combinations(by_key[key], 2):
            if group[first] != group[other] and _may_share(key[0], members(first), members(other)):
                join(first, other)
    for places in by_title.values():
        for first, other in combinations(places, 2):
            are_apart = group[first] != group[other] and _same_title(refs[first], refs[other])
            if are_apart and may_be_one(refs[first], refs[other]) and _agree(members(first), members(other)):
                join(first, other)
    works: dict[int, Work] = {}
    for place, ref in enumerate(refs):
        works.setdefault(group[place], []).append(ref)
    return list(works.values())


def _keys(ref: EvidenceRef) -> list[Key]:
    """Return what identifies the work of a record, and no other work: kinds of identifiers with values.

    A registry number identifies a registration, but papers about a trial carry it too; an FDA number
    identifies one record of one type.
    """
    keys = [("id", ref.evidence_id), ("blob", ref.blob)]
    for kind, value in ref.identifiers.items_in_order():
        if kind == "nct" and ref.evidence_type != "trial_registration":
            continue
        if kind == "fda":
            if ref.evidence_type in _REGULATORY:
                keys.append((kind, f"{ref.evidence_type}:{value}"))
            continue
        keys.append((kind, value))
    return keys


def _may_share(kind: str, ours: Work, theirs: Work) -> bool:
    """Tell whether records that have an identifier in common are of one work.

    No other identifier of theirs differs. What does not name a version, as the address of a page, joins no
    preprint with an article.
    """
    if kind == "id":
        return True
    pairs = list(product(ours, theirs))
    if any(contradict(ref, other) for ref, other in pairs):
        return False
    return kind in _OF_A_VERSION or all(_one_version(ref, other) for ref, other in pairs)


def _agree(ours: Work, theirs: Work) -> bool:
    """Tell whether nothing says that records with one title are different works, or versions of one."""
    return all(
        not contradict(ref, other) and _one_version(ref, other) and _one_author(ref, other)
        for ref, other in product(ours, theirs)
    )


def contradict(ref: EvidenceRef, other: EvidenceRef) -> bool:
    """Tell whether two records are certainly different works, however similar their titles."""
    ours, theirs = ref.identifiers, other.identifiers
    for kind in _OF_ONE_WORK:
        value = getattr(ours, kind)
        if value and (other_value := getattr(theirs, kind)) and value != other_value:
            return True
    return share_a_doi_alone(ref, other)


def share_a_doi_alone(evidence_ref: EvidenceRef, other: EvidenceRef) -> bool:
    """Tell whether two records are works of their own under one DOI, as that of a supplement is."""
    ours, theirs = evidence_ref.identifiers, other.identifiers
    shared_kinds = {kind for kind, value in ours.items_in_order() if getattr(theirs, kind) == value}
    if "doi" not in shared_kinds or shared_kinds - {"doi", "url"}:
        return False
    first, second = ((fingerprint(ref.title, None), ref.first_author) for ref in (evidence_ref, other))
    return differ(first, second)


def _one_version(ref: EvidenceRef, other: EvidenceRef) -> bool:
    ours, theirs = _version(ref), _version(other)
    return not ours or not theirs or ours == theirs


def _version(ref: EvidenceRef) -> str:
    """Return `preprint` or `published`; empty where nothing says it.

    Identifiers come first where they say so, since sources call one work by several kinds.
    """
    ids = ref.identifiers
    if ids.doi or ids.pmid or ids.pmcid:
        return "preprint" if is_preprint_doi(ids.doi) else "published"
    return "preprint" if ids.arxiv or ref.evidence_type == "preprint" else ""


def _one_author(ref: EvidenceRef, other: EvidenceRef) -> bool:
    ours, theirs = set(ref.first_author.split()), set(other.first_author.split())
    return not ours or not theirs or bool(ours & theirs)


def _same_title(ref: EvidenceRef, other: EvidenceRef) -> bool:
    return (
        bool(ref.fingerprint)
        and ref.fingerprint == other.fingerprint
        and (ref.evidence_type in _REGISTERS) == (other.evidence_type in _REGISTERS)
        and may_hold(ref.figures, other.figures)
    )
