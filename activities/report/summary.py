"""Which claims come first: the strength of what supports them, and how directly they answer the question."""

import math
import re
from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz

from activities.text.evidence_strength import WEIGHT, direction
from activities.text.parts import Part, calls_for_research, part_of_sentence
from activities.text.sentences import sentences
from activities.text.tokens import terms
from activities.types import Claim, Evidence

MAX_POINTS = 6
_ALIKE = 80.0
"""Percent of shared words at which two claims say the same in a summary."""

_OPEN = re.compile(
    r"\b(?:few|little|limited|no|insufficient|conflicting) (?:\w+ ){0,2}(?:data|evidence|studies|research)\b"
    r"|\b(?:is|are|remains?) (?:\w+ )?(?:unknown|unclear|uncertain|debated|not (?:well )?known)\b"
    r"|\bremains? to be (?:determined|established)\b"
    r"|\b(?:mandatory|needed|warranted|required)\b",
    re.IGNORECASE,
)
"""What is said to be missing is no answer, and does not belong first."""
AIM = 5.0
"""What an aim lacks against a finding: more than any finding can have."""
_PART: dict[Part, float] = {
    "conclusion": 0.5,
    "results": 0.2,
    "plain": 0.0,
    "limitations": -0.3,
    "methods": -0.5,
    "background": -0.8,
    "aim": -AIM,
}
"""What the part of a work adds that a claim is quoted from."""
_CALL = 1.5
"""What a call for more research lacks against a finding."""
_BY_TITLE = 0.5
"""What a word of the question counts that only the title of the cited work has."""
_HELD_BY_ALL = 0.2
"""Weight of a word that every claim has, to which the inverse of how many have it is added."""


def summary_claims(
    question: str, claims: Sequence[Claim], documents: Mapping[str, Evidence], first: Sequence[str] = ()
) -> tuple[Claim, ...]:
    """At most six claims and about half of those there are: first those named in `first`, which give the fact
    or the list that is asked for; then the strongly supported, direct and not alike, the best first. When one
    of them is contradicted, the strongest claim against it comes right after it."""
    most = min(MAX_POINTS, max(2, (len(claims) + 1) // 2))
    weights = _weights(question, claims, documents)
    rank = {c.id: (_score(c, weights, documents), -place) for place, c in enumerate(claims)}
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


def _score(claim: Claim, weights: Mapping[str, float], documents: Mapping[str, Evidence]) -> float:
    items = {s.evidence_id: documents[s.evidence_id] for s in claim.support}
    strength = max((WEIGHT[i.evidence_type] for i in items.values() if i.standing != "concern"), default=0.0)
    own, titles = set(terms(claim.text)), _title_terms(claim, documents)
    held = {term: 1.0 if term in own else _BY_TITLE * (term in titles) for term in weights}
    direct = sum(weights[t] * share for t, share in held.items()) / (sum(weights.values()) or 1.0)
    if part_of_sentence(claim.text, "plain", last=False) == "aim":
        return strength - AIM  # what a work set out to do says nothing of what it found
    says = 0.4 * (direction(claim.text) != "none") - 0.6 * bool(_OPEN.search(claim.text))
    says -= _CALL * calls_for_research(claim.text)
    part = max((_PART[part_of(s.quote, items[s.evidence_id])] for s in claim.support), default=0.0)
    return 2 * direct + strength + 0.2 * min(len(items) - 1, 2) + says + part


def _weights(
    question: str, claims: Sequence[Claim], documents: Mapping[str, Evidence]
) -> Mapping[str, float]:
    """The question's words, each weighted by how few of the claims have it, their works' titles included."""
    asked = dict.fromkeys(terms(question))
    held = [{*terms(claim.text), *_title_terms(claim, documents)} for claim in claims]
    return {
        term: _HELD_BY_ALL + math.log((len(held) + 1) / (sum(term in one for one in held) + 1))
        for term in asked
    }


def _title_terms(claim: Claim, documents: Mapping[str, Evidence]) -> set[str]:
    return {term for s in claim.support for term in terms(documents[s.evidence_id].title)}


def part_of(quote: str, document: Evidence) -> Part:
    """The part of a work that a quote stands in."""
    found = (s.part for s in sentences(document) if quote in s.quote or s.quote in quote)
    return next(found, "plain")
