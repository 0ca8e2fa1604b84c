"""Which of the works found are shown to a judge, and in which order.

What a search found is shown where it is near one of the question, the question of the section and the
searches: the first works of every search, the others by reciprocal rank over all of these, so that a work
which one of them holds best is not lost for being far from another. After a round that brought works which
answer, only what is nearer than the weakest of them is shown. The kind of study decides only between equals;
a near-duplicate of a work that stands before it is left out.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from activities.contracts.evidence import Evidence, EvidenceRef
from activities.contracts.judge import MAX_QUERIES, Ordered, OrderInput
from activities.roles.assessment import STRENGTH
from activities.text.embeddings import embedder
from activities.text.ranking import nearness
from activities.text.tokens import terms

RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
NEAR = 0.3
"""Relevance (`activities.text.ranking.Item`) to the question or to a search from which a work is shown: less
than without a judge, who can tell."""
FIRST_OF_A_SEARCH = 3
"""Works of every search that are shown whatever their rank, where they are near."""
DUPLICATE = 0.9
"""Share of the words that two texts have in common, from which one is shown."""


def order(step: OrderInput, documents: Sequence[Evidence]) -> Ordered:
    """The works worth judging, at most `step.most`, the most promising first."""
    held = {document.evidence_id: document for document in documents}
    queries = list(dict.fromkeys(step.queries))[-MAX_QUERIES:]
    texts = [text for text in dict.fromkeys((step.run_question, step.question, *queries)) if text.strip()]
    scores: dict[str, float] = defaultdict(float)
    relevance: dict[str, float] = defaultdict(float)
    names = sorted(held)
    # where all fit and nothing has answered yet, a work that is near by its title is shown whatever it says
    near_enough = NEAR if len(names) <= step.most and not step.answered else np.inf
    for near, relevances in nearness(texts, [held[name] for name in names], near_enough):
        for place, at in enumerate(np.argsort(-near, kind="stable").tolist()):
            scores[names[at]] += 1.0 / (RANK_CONSTANT + place + 1)
            relevance[names[at]] = max(relevance[names[at]], float(relevances[at]))
    found = [ref for ref in step.evidence if ref.evidence_id in held]
    weakest = min((relevance[ref.evidence_id] for ref in step.answered), default=0.0)
    least = max(NEAR, weakest) if embedder() is not None else 0.0
    refs = [ref for ref in found if relevance[ref.evidence_id] >= least]
    ranked = sorted(
        refs,
        key=lambda ref: (-round(scores[ref.evidence_id], 6), -STRENGTH[ref.evidence_type], ref.evidence_id),
    )
    places = {ref.evidence_id: place for place, ref in enumerate(ranked)}
    first = sorted(_first_of_searches(refs, queries), key=lambda name: places[name])
    wanted = list(dict.fromkeys([*first, *(ref.evidence_id for ref in ranked)]))
    chosen = set(without_duplicates(wanted, held)[: step.most])
    ids = tuple(ref.evidence_id for ref in ranked if ref.evidence_id in chosen)
    return Ordered(ids=ids, far=len(found) - len(refs))


def _first_of_searches(refs: Sequence[EvidenceRef], queries: Sequence[str]) -> list[str]:
    """The first works of every search, as its source ordered them."""
    found: dict[str, list[str]] = defaultdict(list)
    for ref in refs:
        for search in ref.queries:
            asked = search.split(": ", 1)[-1]
            if asked in queries and len(found[search]) < FIRST_OF_A_SEARCH:
                found[search].append(ref.evidence_id)
    return list(dict.fromkeys(name for names in found.values() for name in names))


def without_duplicates(names: Sequence[str], held: Mapping[str, Evidence]) -> list[str]:
    """The works without those that say nearly the same words as one before them."""
    kept: list[tuple[str, frozenset[str]]] = []
    for name in names:
        words = frozenset(terms(f"{held[name].title} {held[name].text[:4_000]}"))
        if not any(_alike(words, other) >= DUPLICATE for _, other in kept):
            kept.append((name, words))
    return [name for name, _ in kept]


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    either = len(one | other)
    return len(one & other) / either if either else 0.0
