"""The choice among the results of a round, by title and snippet, before any text is requested.

Reciprocal rank fusion (`activities.text.ranking`) of the order that each search gave its results and of the
words of title and snippet. Of those that come first so the encoder reads the titles, and what is far from the
question comes after the others.
"""

from collections.abc import Sequence

from activities.contracts.evidence import Evidence
from activities.contracts.search import Choice, Preview, unite
from activities.sources.base import Listing

ENCODED_SHARE = 1.5
"""Times the results that are read, whose titles the encoder reads at most, which takes some milliseconds
each."""


def best_first(choice: Choice, listings: Sequence[Listing]) -> list[Preview]:
    """Return the results of these and earlier searches that were not tried, the most promising first.

    `choice.most` of them are to be read.
    """
    import numpy as np

    from activities.text.ranking import RELEVANT, Index, fuse, nearness, words

    results = unite((*choice.listed, *(result for listing in listings for result in listing.results)))
    previews = [result for name, result in results.items() if name not in choice.tried]
    if not previews:
        return []
    places = {preview.name: place for place, preview in enumerate(previews)}
    rankings = [
        Index([words(f"{preview.title} {preview.snippet}") for preview in previews]).scores(
            words(choice.question)
        )
    ]
    for listing in listings:
        names = [result.name for result in listing.results if result.name in places]
        scores = np.zeros(len(previews))
        for rank, name in enumerate(names):
            scores[places[name]] = len(names) - rank
        rankings.append(scores)
    fusion = fuse(rankings)
    candidates = [previews[place] for place in np.argsort(-fusion, kind="stable")]
    if len(candidates) <= choice.most:
        return candidates
    head = candidates[: int(choice.most * ENCODED_SHARE)]
    ((_, likeness),) = nearness([choice.question], [_title_evidence(preview) for preview in head])
    # those that are near stay in their order, the others follow by how near they are
    nearest = sorted(zip(likeness, head, strict=True), key=lambda pair: -min(pair[0], RELEVANT))
    return [*(preview for _, preview in nearest), *candidates[len(head) :]]


def _title_evidence(preview: Preview) -> Evidence:
    return Evidence(
        evidence_id=preview.name,
        source="",
        title=preview.title or preview.snippet,
        text="",
        evidence_type="web_page",
    )
