"""Which results of the searches of a round are read: by title and snippet, before any text is requested.

What is near enough to the question comes first (`activities.text.ranking.RELEVANT`). Among those, reciprocal
rank fusion of the order that each search gave its results and of their nearness: what several searches found
comes before what one did.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from activities.searches import Listed
from activities.types import Evidence

RANK_CONSTANT = 10
"""Of the fusion: what a search names first differs much from what it names last."""


def best_first(
    question: str, searches: Sequence[Sequence[str]], results: Mapping[str, Listed]
) -> list[Listed]:
    """The results, the most promising first. `searches`: the names of results as each search ordered them."""
    from activities.text.ranking import RELEVANT, rank
    from activities.text.ranking import best_first as nearest_first

    documents = [
        Evidence(evidence_id=one.name, source="", title=one.title, text=one.snippet)
        for one in results.values()
        if one.title or one.snippet
    ]
    items = nearest_first(rank(question, documents))
    nearest = [item.document.evidence_id for item in items]
    near = {item.document.evidence_id for item in items if item.relevance >= RELEVANT}
    scores: dict[str, float] = defaultdict(float)
    for order in (nearest, *searches):
        for place, name in enumerate(order):
            scores[name] += 1.0 / (RANK_CONSTANT + place)
    return sorted(results.values(), key=lambda one: (one.name not in near, -scores[one.name], one.name))
