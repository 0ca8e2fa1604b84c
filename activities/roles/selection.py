"""Which of the works found are shown to a judge, and in which order.

What a search found is shown where it is near one of the question, the question of the section and the
searches: the first works of every search, the others by reciprocal rank over all of these, so that a work
which one of them holds best is not lost for being far from another. Where the encoder reads, of more than a
few what is less than half as near as the nearest is left out, and after a round that brought works which
answer what is further than the weakest of them: words alone do not tell. The kind of study decides only
between equals; a near-duplicate of a work that stands before it is left out. A folder of own documents that
one call can read is shown whole: a letter may decide a question of which it has no word.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from activities.contracts.evidence import Evidence, EvidenceRef
from activities.contracts.judge import MAX_QUERIES, Ordered, OrderInput
from activities.roles.allowances import WORKS_A_BATCH
from activities.text.embeddings import embedder
from activities.text.evidence_strength import WEIGHT
from activities.text.ranking import Nearness, Scores, nearness, numbers
from activities.text.sentences import OF_THE_USER
from activities.text.tokens import terms

RANK_CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
NEAR = 0.3
"""Relevance (`activities.text.ranking.Item`) to the question or to a search from which a work is shown: less
than without a judge, who can tell."""
FIRST_OF_A_SEARCH = 3
"""Works of every search that are shown whatever their rank, where they are near."""
JUDGED_ANYHOW = 4
"""Works that are shown however far they are behind the nearest. Asked 95 questions with the works that their
reviewers chose and 60 of PubMedQA, four keep every work that eight keep, and a quarter less is read."""
JUDGED_SHARE = 0.47
"""The share of how near the nearest work is from which a work is shown. Asked 95 questions with the works
that their reviewers chose, among the 20 or 40 of 1,040 with most of the question's words, it shows 10 to 14
works, and 96 % of those."""
DUPLICATE = 0.9
"""Share of the words, and of the numbers, that two texts have in common, from which one is shown."""


def order(step: OrderInput, documents: Sequence[Evidence]) -> Ordered:
    """The works worth judging, at most `step.most`, the most promising first."""
    held = {document.evidence_id: document for document in documents}
    queries = list(dict.fromkeys(step.queries))[-MAX_QUERIES:]
    texts = [text for text in dict.fromkeys((step.run_question, step.question, *queries)) if text.strip()]
    scores: dict[str, float] = defaultdict(float)
    names = sorted(held)
    measured = nearness(texts, [held[name] for name in names])
    for row in measured:
        for place, at in enumerate(np.argsort(-row.scores, kind="stable").tolist()):
            scores[names[at]] += 1.0 / (RANK_CONSTANT + place + 1)
    relevance = dict(zip(names, np.max([row.relevance for row in measured], axis=0).tolist(), strict=True))
    candidates = [ref for ref in step.evidence if ref.evidence_id in held]
    weakest = min((relevance[ref.evidence_id] for ref in step.answered), default=0.0)
    by_meaning = embedder() is not None
    folder = not step.answered and len(candidates) <= WORKS_A_BATCH and all(map(_is_of_the_user, candidates))
    least = max(NEAR, weakest) if by_meaning and not folder else 0.0
    refs = [ref for ref in candidates if relevance[ref.evidence_id] >= least]
    ranked = sorted(
        refs,
        key=lambda ref: (-round(scores[ref.evidence_id], 6), -WEIGHT[ref.evidence_type], ref.evidence_id),
    )
    places = {ref.evidence_id: place for place, ref in enumerate(ranked)}
    first = sorted(_first_of_searches(refs, queries), key=lambda name: places[name])
    wanted = list(dict.fromkeys([*first, *(ref.evidence_id for ref in ranked)]))
    own = [row for text, row in zip(texts, measured, strict=True) if text != step.run_question]
    beside = _beside_the_nearest(own or measured)
    near_enough = {name for name, share in zip(names, beside.tolist(), strict=True) if share >= JUDGED_SHARE}
    anyhow = (WORKS_A_BATCH if folder else JUDGED_ANYHOW) if by_meaning else len(names)
    near_enough |= {names[at] for at in np.argsort(-beside, kind="stable")[:anyhow].tolist()}
    unlike = without_duplicates([name for name in wanted if name in near_enough], held)
    chosen = set(unlike[: step.most])
    ids = tuple(ref.evidence_id for ref in ranked if ref.evidence_id in chosen)
    return Ordered(ids=ids, far=len(candidates) - len(refs))


def _is_of_the_user(ref: EvidenceRef) -> bool:
    return ref.evidence_type in OF_THE_USER


def _beside_the_nearest(measured: Sequence[Nearness]) -> Scores:
    """How near each work is beside the nearest one, 0 to 1, by meaning and by words alike, to the text that
    it is nearest to. A text to which nothing is near counts for less: any work may have the words of `By how
    much?`."""
    best = [near.relevance.max(initial=0.0) for near in measured]
    rows = [
        most / (max(best) or 1.0) * (_of_the_most(near.relevance) + _of_the_most(near.words)) / 2
        for near, most in zip(measured, best, strict=True)
    ]
    nearest: Scores = np.max(rows, axis=0)
    return nearest


def _of_the_most(scores: Scores) -> Scores:
    return scores / (scores.max(initial=0.0) or 1.0)


def _first_of_searches(refs: Sequence[EvidenceRef], queries: Sequence[str]) -> list[str]:
    """The first works of every search, as its source ordered them."""
    by_search: dict[str, list[str]] = defaultdict(list)
    for ref in refs:
        for search in ref.queries:
            query = search.split(": ", 1)[-1]
            if query in queries and len(by_search[search]) < FIRST_OF_A_SEARCH:
                by_search[search].append(ref.evidence_id)
    return list(dict.fromkeys(name for names in by_search.values() for name in names))


def without_duplicates(names: Sequence[str], held: Mapping[str, Evidence]) -> list[str]:
    """The works without those that say nearly the same as one before them, with the same numbers; of a user's
    own documents only those that say the same: two bills differ in a month and an amount."""
    kept: list[str] = []
    unlike = []
    for name in names:
        text = f"{held[name].title} {held[name].text[:4_000]}"
        least = 1.0 if held[name].evidence_type == "document" else DUPLICATE
        if not any(_say_the_same(text, other, least) for other in kept):
            kept.append(text)
            unlike.append(name)
    return unlike


def _say_the_same(one: str, other: str, least: float) -> bool:
    return all(_alike(read(one), read(other)) >= least for read in (_terms, _numbers))


@lru_cache(maxsize=1024)
def _terms(text: str) -> frozenset[str]:
    """Kept, because a search and the order for the judge ask for the same works."""
    return frozenset(terms(text))


@lru_cache(maxsize=256)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(numbers(text))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    either = len(one | other)
    return len(one & other) / either if either else 1.0
