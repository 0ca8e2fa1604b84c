"""Which of the works found are shown to a judge, and in which order.

The first works of each search that a judge or a person asked for are shown, whatever their words. So is a
folder of own documents that the judge can read in one round: a letter may decide a question of which it has
no word. The rest of the round is filled with the works nearest to the question, the question of the section
and the searches: the first of every search, then by reciprocal rank over all of these, so that a work which
one of them holds best is not lost for being far from another. Where the encoder reads, what is near none of
them is left out, and after a round that brought works which answer what is further than the weakest of them.
The kind of study decides only between equals; a near-duplicate of a work that stands before it is left out.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest

import numpy as np

from activities.contracts.evidence import Evidence, EvidenceRef
from activities.contracts.judge import MAX_QUERIES, Ordered, OrderInput
from activities.report.strength import WEIGHT
from activities.text.embeddings import embedder
from activities.text.ranking import nearness, numbers
from activities.text.tokens import terms

RANK_CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
NEAR = 0.3
"""Relevance (`activities.text.ranking.Item`) to the question or to a search from which a work is shown: less
than without a judge, who can tell."""
FIRST_OF_A_SEARCH = 3
"""Works of every search that come before others; of one that was asked for they are shown however far."""
LIBRARY = "library"
"""The source that is a folder of own documents."""
DUPLICATE = 0.9
"""Share of the words, and of the numbers, that two texts have in common, from which one is shown."""


def order(step: OrderInput, documents: Sequence[Evidence]) -> Ordered:
    """Return the works worth judging, at most `step.most`, the most promising first."""
    works = {document.evidence_id: document for document in documents}
    queries = list(dict.fromkeys(step.queries))[-MAX_QUERIES:]
    texts = [text for text in dict.fromkeys((step.run_question, step.question, *queries)) if text.strip()]
    scores: dict[str, float] = defaultdict(float)
    names = sorted(works)
    measures = nearness(texts, [works[name] for name in names])
    for similar, _ in measures:
        for place, at in enumerate(np.argsort(-similar, kind="stable").tolist()):
            scores[names[at]] += 1.0 / (RANK_CONSTANT + place + 1)
    relevance = dict(zip(names, np.max([row for _, row in measures], axis=0).tolist(), strict=True))
    candidates = [ref for ref in step.evidence if ref.evidence_id in works]
    weakest = min((relevance[ref.evidence_id] for ref in step.answered), default=0.0)
    minimum = max(NEAR, weakest) if embedder() is not None else 0.0
    asked_for = _first_of_searches(candidates, step.asked_for)
    library_works = (
        [ref.evidence_id for ref in candidates if ref.source == LIBRARY] if step.whole_folder else []
    )
    fixed = {*asked_for, *(library_works if len(library_works) <= step.most else ())}
    refs = [ref for ref in candidates if ref.evidence_id in fixed or relevance[ref.evidence_id] >= minimum]
    ordered = sorted(
        refs,
        key=lambda ref: (-round(scores[ref.evidence_id], 6), -WEIGHT[ref.evidence_type], ref.evidence_id),
    )
    places = {ref.evidence_id: place for place, ref in enumerate(ordered)}
    firsts = sorted(_first_of_searches(refs, queries), key=lambda name: places[name])
    folder = [name for name in library_works if name in fixed]
    names_in_order = dict.fromkeys([*asked_for, *folder, *firsts, *places])
    unique = set(without_duplicates(list(names_in_order), works)[: step.most])
    ids = tuple(name for name in places if name in unique)
    return Ordered(ids=ids, far=len(candidates) - len(refs))


def _first_of_searches(refs: Sequence[EvidenceRef], queries: Sequence[str]) -> list[str]:
    """List the first works of every search as its source ordered them, each first before any second."""
    by_search: dict[str, list[str]] = defaultdict(list)
    for ref in refs:
        for search in ref.queries:
            query = search.split(": ", 1)[-1]
            if query in queries and len(by_search[search]) < FIRST_OF_A_SEARCH:
                by_search[search].append(ref.evidence_id)
    return list(dict.fromkeys(name for row in zip_longest(*by_search.values()) for name in row if name))


def without_duplicates(names: Sequence[str], works: Mapping[str, Evidence]) -> list[str]:
    """Leave out works that say nearly the same as one before them, with the same numbers.

    Of a user's own documents only those that say the same: two bills differ in a month and an amount.
    """
    texts: list[str] = []
    unique = []
    for name in names:
        text = f"{works[name].title} {works[name].text[:4_000]}"
        min_likeness = 1.0 if works[name].evidence_type == "document" else DUPLICATE
        if not any(_say_the_same(text, other, min_likeness) for other in texts):
            texts.append(text)
            unique.append(name)
    return unique


def _say_the_same(text: str, other: str, min_likeness: float) -> bool:
    return all(_likeness(read(text), read(other)) >= min_likeness for read in (_terms, _numbers))


@lru_cache(maxsize=1024)
def _terms(text: str) -> frozenset[str]:
    """Kept, because a search and the order for the judge ask for the same works."""
    return frozenset(terms(text))


@lru_cache(maxsize=256)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(numbers(text))


def _likeness(first: frozenset[str], other: frozenset[str]) -> float:
    union = len(first | other)
    return len(first & other) / union if union else 1.0
