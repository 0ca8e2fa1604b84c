"""What comes nearest to a question that nothing found answers, so that a person can ask it in other words."""

from collections.abc import Sequence

from activities.drafts import NearWork
from activities.text.needle import Needle
from activities.text.ranking import rank
from activities.types import Evidence

MOST = 3
"""Works that are named."""
LEAST = 0.15
"""`Item.near` from which a work is named."""


def nearest(question: str, documents: Sequence[Evidence]) -> tuple[NearWork, ...]:
    """The works that come nearest to a question, with the words of it that each does not mention."""
    near = sorted((item for item in rank(question, documents) if item.near >= LEAST), key=lambda i: -i.near)
    return tuple(
        NearWork(
            evidence_id=item.document.evidence_id,
            title=item.document.title,
            missing=tuple(word.shown for word in item.missing),
        )
        for item in near[:MOST]
    )


def names_not_mentioned(question: str, documents: Sequence[Evidence]) -> tuple[str, ...]:
    """The things a question names that no document mentions, as typed."""
    missing = [{w.shown for w in item.missing} for item in rank(question, documents)]
    if not missing:
        return ()
    return tuple(w.shown for w in Needle(question).words if all(w.shown in names for names in missing))
