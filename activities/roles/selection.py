"""Which of the works found are shown to a judge, and in which order.

What a search found is shown: the first works of every search always, the others by reciprocal rank over the
question, the question of the section and each search, so that a work which one of them holds best is not lost
for being far from another. The kind of study decides only between equals; only a near-duplicate of a work
that stands before it is left out.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from activities.roles.assessment import STRENGTH
from activities.steps import OrderInput
from activities.text.ranking import best_first, rank
from activities.text.tokens import terms
from activities.types import Evidence, EvidenceRef

RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
FIRST_OF_A_SEARCH = 3
"""Works of every search that are shown whatever their rank."""
DUPLICATE = 0.9
"""Share of the words that two texts have in common, from which one is shown."""
MAX_QUERIES = 12
"""Searches that the order is made from, the latest ones."""


def order(step: OrderInput, documents: Sequence[Evidence]) -> tuple[str, ...]:
    """Ids of the works worth judging, at most `step.most`, the most promising first."""
    held = {document.evidence_id: document for document in documents}
    refs = [ref for ref in step.evidence if ref.evidence_id in held]
    queries = list(dict.fromkeys(step.queries))[-MAX_QUERIES:]
    texts = [text for text in dict.fromkeys((step.run_question, step.question, *queries)) if text.strip()]
    scores: dict[str, float] = defaultdict(float)
    for text in texts:
        for place, name in enumerate(nearest(text, list(held.values()))):
            scores[name] += 1.0 / (RANK_CONSTANT + place + 1)
    ranked = sorted(
        refs,
        key=lambda ref: (-round(scores[ref.evidence_id], 6), -STRENGTH[ref.evidence_type], ref.evidence_id),
    )
    places = {ref.evidence_id: place for place, ref in enumerate(ranked)}
    first = sorted(_first_of_searches(refs, queries), key=lambda name: places[name])
    wanted = list(dict.fromkeys([*first, *(ref.evidence_id for ref in ranked)]))
    chosen = set(without_duplicates(wanted, held)[: step.most])
    return tuple(ref.evidence_id for ref in ranked if ref.evidence_id in chosen)


def nearest(text: str, documents: Sequence[Evidence]) -> list[str]:
    """Ids of documents, the nearest to a text first."""
    return [item.document.evidence_id for item in best_first(rank(text, documents))]


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
