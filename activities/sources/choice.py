"""The choice among the results of a round, by title and snippet, before any text is requested.

Reciprocal rank fusion (`activities.text.ranking`) of the order that each search gave its results and of the
words of title and snippet. Of those that come first so the encoder reads the titles, and what is far from the
question comes after the others.
"""

from collections.abc import Mapping, Sequence

from activities.contracts.evidence import Evidence
from activities.contracts.search import Preview

ENCODED = 1.5
"""Times the results that are read, whose titles the encoder reads at most, which takes some milliseconds
each."""


def best_first(
    question: str, searches: Sequence[Sequence[str]], results: Mapping[str, Preview], most: int
) -> list[Preview]:
    """Return the results, the most promising first, of which `most` are to be read.

    `searches`: the names of results as each search ordered them.
    """
    import numpy as np

    from activities.text.ranking import RELEVANT, Index, fuse, nearness, words

    listed = list(results.values())
    if not listed:
        return []
    places = {preview.name: place for place, preview in enumerate(listed)}
    rankings = [
        Index([words(f"{preview.title} {preview.snippet}") for preview in listed]).scores(words(question))
    ]
    for names in searches:
        scores = np.zeros(len(listed))
        for rank, name in enumerate(names):
            scores[places[name]] = len(names) - rank
        rankings.append(scores)
    before = fuse(rankings)
    ranked = [listed[place] for place in np.argsort(-before, kind="stable")]
    looked_at = ranked[: int(most * ENCODED)]
    if len(ranked) <= most:
        return ranked
    relevant: list[Preview] = []
    far: list[tuple[float, Preview]] = []
    while len(relevant) < most and (some := looked_at[: most - len(relevant)]):
        looked_at = looked_at[len(some) :]
        ((_, meant),) = nearness([question], [_titled(preview) for preview in some])
        relevant += [preview for score, preview in zip(meant, some, strict=True) if score >= RELEVANT]
        far += [(score, preview) for score, preview in zip(meant, some, strict=True) if score < RELEVANT]
    last = [preview for _, preview in sorted(far, key=lambda pair: -pair[0])]
    return [*relevant, *last, *ranked[len(relevant) + len(far) :]]


def _titled(preview: Preview) -> Evidence:
    return Evidence(
        evidence_id=preview.name,
        source="",
        title=preview.title or preview.snippet,
        text="",
        evidence_type="web_page",
    )
