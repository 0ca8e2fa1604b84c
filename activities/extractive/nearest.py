"""What comes nearest to a question that nothing found answers, so that a person can ask it in other words."""

from collections.abc import Sequence

from activities.drafts import NearWork
from activities.text.needle import Needle
from activities.text.ranking import Item, rank
from activities.types import Evidence

MOST = 3
"""Works that are named."""
LEAST = 0.05
"""`Item.near` from which a work is named; chosen on the half `choosing` of `benchmarks/own_documents.py`,
which prints how often a refused question's own text is named."""
LONGEST_SAID = 300
"""Characters of the longest sentence that is shown."""


def nearest(question: str, documents: Sequence[Evidence]) -> tuple[NearWork, ...]:
    """The works that come nearest to a question, each with the words of the question that it does not mention
    and its nearest sentence."""
    near = sorted((item for item in rank(question, documents) if item.near >= LEAST), key=lambda i: -i.near)
    return tuple(
        NearWork(
            evidence_id=item.document.evidence_id,
            title=item.document.title,
            missing=tuple(word.shown for word in item.missing),
            said=_said(item),
        )
        for item in near[:MOST]
    )


def _said(item: Item) -> str:
    """The sentence of a work that comes nearest; empty where it is long or the work's title says as much."""
    best = next((ranked.sentence.text for ranked in item.ranked), "")
    return best if len(best) <= LONGEST_SAID and best.rstrip(".") != item.document.title.rstrip(".") else ""


def names_not_mentioned(question: str, documents: Sequence[Evidence]) -> tuple[str, ...]:
    """The things a question names that no document mentions, as typed."""
    missing = [{w.shown for w in item.missing} for item in rank(question, documents)]
    if not missing:
        return ()
    return tuple(w.shown for w in Needle(question).words if all(w.shown in names for names in missing))
