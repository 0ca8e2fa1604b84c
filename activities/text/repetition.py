"""Repetition across the sections of a report: found by comparing quotes and wording, and removed."""

from collections.abc import Mapping

from activities.drafts import DraftClaim, DraftParagraph, SectionDraft
from activities.text.stance import same, same_direction
from activities.text.tokens import terms, weak_stems
from activities.verification.quote_check import normalise

Position = tuple[str, int, int]
"""Section id, paragraph and claim."""


def remove_repetition(
    drafts: Mapping[str, SectionDraft],
    owners: Mapping[str, str] | None = None,
    *,
    quotes_suffice: bool = False,
) -> dict[str, SectionDraft]:
    """The drafts with each statement once.

    A claim repeats another when both are wordings of one statement, or when it rests on no other quotes and
    names nothing that the other does not name. Where claims are quotes (`quotes_suffice`), resting on no
    other quotes is enough.
    It stays in the section that owns its evidence (`owners`: evidence id -> section id), otherwise where it
    stands first; the quotes of the one that is removed are added to it.
    """
    claims = {
        (section, p, c): claim
        for section, draft in drafts.items()
        for p, paragraph in enumerate(draft.paragraphs)
        for c, claim in enumerate(paragraph.claims)
    }
    kept: dict[Position, DraftClaim] = {}
    for place in sorted(claims, key=lambda place: not _owns(place[0], claims[place], owners or {})):
        claim = claims[place]
        first = next((other for other, held in kept.items() if repeats(claim, held, quotes_suffice)), None)
        if first is None:
            kept[place] = claim
        else:
            kept[first] = _with_support(kept[first], claim)
    return {
        section: draft.model_copy(update={"paragraphs": _paragraphs(section, draft, kept)})
        for section, draft in drafts.items()
    }


def with_repeated(before: SectionDraft, after: SectionDraft) -> SectionDraft:
    """A draft without repetition, with the works that lost their last claim among its unused ones."""
    if after.unused is None or not (gone := tuple(sorted(_works(before) - _works(after)))):
        return after
    named = tuple(dict.fromkeys((*after.unused.get("repeats", ()), *gone)))
    return after.model_copy(update={"unused": {**after.unused, "repeats": named}})


def _works(draft: SectionDraft) -> set[str]:
    return {s.evidence_id for p in draft.paragraphs for claim in p.claims for s in claim.support}


def repeats(one: DraftClaim, other: DraftClaim, quotes_suffice: bool = False) -> bool:
    """Whether two claims make one statement."""
    quotes = _quotes(one)
    if quotes and quotes <= _quotes(other):
        return quotes_suffice or (_specific(one) <= _specific(other) and same_direction(one.text, other.text))
    return same(one.text, other.text)


def repeated_share(drafts: Mapping[str, SectionDraft]) -> float:
    """The share of claims that repeat a claim of an earlier section, 0 to 1."""
    earlier: list[DraftClaim] = []
    total = repeated = 0
    for draft in drafts.values():
        own = [claim for paragraph in draft.paragraphs for claim in paragraph.claims]
        total += len(own)
        repeated += sum(any(repeats(claim, other) for other in earlier) for claim in own)
        earlier += own
    return repeated / total if total else 0.0


def _quotes(claim: DraftClaim) -> set[tuple[str, str]]:
    return {(support.evidence_id, normalise(support.quote)) for support in claim.support}


def _specific(claim: DraftClaim) -> set[str]:
    return set(terms(claim.text)) - weak_stems()


def _owns(section: str, claim: DraftClaim, owners: Mapping[str, str]) -> bool:
    return any(owners.get(support.evidence_id) == section for support in claim.support)


def _with_support(claim: DraftClaim, repeated: DraftClaim) -> DraftClaim:
    support = tuple(dict.fromkeys((*claim.support, *repeated.support)))
    contradicts = tuple(dict.fromkeys((*claim.contradicts, *repeated.contradicts)))
    return claim.model_copy(update={"support": support, "contradicts": contradicts})


def _paragraphs(
    section: str, draft: SectionDraft, kept: Mapping[Position, DraftClaim]
) -> tuple[DraftParagraph, ...]:
    paragraphs = []
    for p, paragraph in enumerate(draft.paragraphs):
        places = ((section, p, c) for c in range(len(paragraph.claims)))
        if claims := tuple(kept[place] for place in places if place in kept):
            paragraphs.append(DraftParagraph(claims=claims))
    return tuple(paragraphs)
