"""Why works that were found are not cited.

The writers record it for what they were given (`SectionDraft.unused`). Added here is what only the assembled
report shows: retracted works, claims that failed the checks, and works that no writer was given.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import get_args

from activities.drafts import SectionDraft, UnusedReason
from activities.publication import PublishInput
from activities.report.claims import plain_claim
from activities.report.schema import DroppedClaim, UnusedWork

_MOST_TELLING: tuple[UnusedReason, ...] = get_args(UnusedReason)
"""A work may be left out of several sections for different reasons: the first of these is reported."""


def unused_works(
    step: PublishInput, cited: Collection[str], dropped: Sequence[DroppedClaim], retracted: Collection[str]
) -> tuple[UnusedWork, ...]:
    """The works of a run that its report does not cite, by reason and id: the order in which they were found
    depends on how fast sources are. Empty where it was not recorded."""
    drafts = [planned.draft for planned in step.sections]
    if any(draft.unused is None for draft in drafts if draft.paragraphs):
        return ()
    retracted = {*retracted, *(ref.evidence_id for ref in step.evidence if ref.standing == "retracted")}
    reasons: dict[str, set[UnusedReason]] = {}
    for draft in drafts:
        for reason, names in (draft.unused or {}).items():
            for name in names:
                reasons.setdefault(name, set()).add(reason)
    repeated = {claim.text for claim in dropped if any(r.code == "repeats_claim" for r in claim.reasons)}
    for name, text in _drafted(drafts):
        reasons.setdefault(name, set()).add("repeats" if text in repeated else "refused")
    found = []
    for name in step.found:
        if name not in cited:
            own: set[UnusedReason] = {"retracted"} if name in retracted else reasons.get(name, {"not_read"})
            found.append(UnusedWork(evidence_id=name, reason=min(own, key=_MOST_TELLING.index)))
    return tuple(sorted(found, key=lambda work: (_MOST_TELLING.index(work.reason), work.evidence_id)))


def _drafted(drafts: Iterable[SectionDraft]) -> Iterable[tuple[str, str]]:
    """Each work that a claim of a draft rests on, and the claim's text."""
    for draft in drafts:
        for paragraph in draft.paragraphs:
            for claim in paragraph.claims:
                text = plain_claim(claim.text)
                yield from ((support.evidence_id, text) for support in claim.support)
