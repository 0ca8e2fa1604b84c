"""Which claims come first: the strength of what supports them, and how directly they answer the question."""

import re
from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz

from activities.text.evidence_strength import WEIGHT, direction
from activities.text.parts import part_of_sentence
from activities.types import Claim, Evidence

MAX_POINTS = 6
_ALIKE = 80.0
"""Percent of shared words at which two claims say the same in a summary."""

_OPEN = re.compile(
    r"\b(?:few|little|limited|no|insufficient|conflicting) (?:\w+ ){0,2}(?:data|evidence|studies|research)\b"
    r"|\b(?:is|are|remains?) (?:\w+ )?(?:unknown|unclear|not (?:well )?known)\b"
    r"|\bremains? to be (?:determined|established)\b"
    r"|\b(?:mandatory|needed|warranted|required)\b",
    re.IGNORECASE,
)
"""What is said to be missing is no answer, and does not belong first."""
_WORD = re.compile(r"[^\W_]{4,}")


AIM = 5.0
"""What an aim lacks against a finding: more than any finding can have."""


def summary_claims(
    question: str, claims: Sequence[Claim], documents: Mapping[str, Evidence], first: Sequence[str] = ()
) -> tuple[Claim, ...]:
    """At most six claims and about half of those there are: first those named in `first`, which give the fact
    or the list that is asked for; then the strongly supported, direct and not alike, the best first. When one
    of them is contradicted, the strongest claim against it comes right after it."""
    most = min(MAX_POINTS, max(2, (len(claims) + 1) // 2))
    asked = _stems(question)
    rank = {c.id: (_score(c, asked, documents), -place) for place, c in enumerate(claims)}
    by_id = {claim.id: claim for claim in claims}
    chosen: dict[str, Claim] = {}
    ordered = [by_id[name] for name in first if name in by_id]
    ordered += sorted(claims, key=lambda c: rank[c.id], reverse=True)
    for claim in ordered:
        if len(chosen) >= most:
            break
        if claim.id in chosen or any(
            fuzz.token_set_ratio(claim.text, c.text) >= _ALIKE for c in chosen.values()
        ):
            continue
        chosen[claim.id] = claim
        against = [by_id[other] for other in claim.contradicts if other in by_id and other not in chosen]
        if against and len(chosen) < most:
            strongest = max(against, key=lambda c: rank[c.id])
            chosen[strongest.id] = strongest
    return tuple(chosen.values())


def _score(claim: Claim, asked: set[str], documents: Mapping[str, Evidence]) -> float:
    items = {s.evidence_id: documents[s.evidence_id] for s in claim.support}
    strength = max((WEIGHT[i.evidence_type] for i in items.values() if i.standing != "concern"), default=0.0)
    direct = len(asked & _stems(claim.text)) / len(asked) if asked else 0.0
    if part_of_sentence(claim.text, "plain", last=False) == "aim":
        return strength - AIM  # what a work set out to do says nothing of what it found
    says = 0.4 * (direction(claim.text) != "none") - 0.6 * bool(_OPEN.search(claim.text))
    return 2 * direct + strength + 0.2 * min(len(items) - 1, 2) + says


def _stems(text: str) -> set[str]:
    """Words of four letters or more, cut to six so that `reduces` and `reduction` match."""
    return {word.casefold()[:6] for word in _WORD.findall(text)}
