"""Which of many documents to show: ranked by words and meaning, near-duplicates folded, the choice diverse.

Pure and deterministic: the same documents in any order give the same answer.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from activities.report.strength import STRENGTH
from activities.text.bm25 import Fields, Lexical, words
from activities.text.embeddings import Embedder, embedder, passages
from activities.text.fusion import fuse
from activities.types import Evidence

LIMIT = 30
"""Documents a judge sees at most."""
RELEVANCE = 0.5
"""Weight of relevance against novelty (Carbonell and Goldstein, "The use of MMR", SIGIR 1998)."""
SAME_TEXT = 0.8
"""Share of five-word runs two texts have in common (Jaccard) from which they are the same text."""
SHINGLE = 5
COMPARED_WORDS = 600
"""Words of a text that are compared for sameness: an abstract, or the start of a longer text."""
PASSAGES = 2
"""Passages of a document that are compared by meaning here: its start, and its best by words."""

_KIND_BONUS = 0.03
_AGE_BONUS = 0.02
_AGE_YEARS = 30

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chosen document."""

    evidence: Evidence
    score: float
    """0 to a little over 1; comparable within one answer."""
    copies: int = 1
    """Documents with nearly this text, itself included."""
    folded: tuple[str, ...] = ()
    """Evidence ids of the copies that are not shown."""


def rank(question: str, documents: Sequence[Evidence], limit: int = LIMIT) -> list[Ranked]:
    """At most `limit` documents, the one most worth reading first.

    The first is the most relevant; each next one weighs relevance against likeness to those before it.
    """
    ordered = sorted({d.evidence_id: d for d in documents}.values(), key=lambda d: d.evidence_id)
    if not ordered or limit < 1:
        return []
    rows = [words(f"{d.title} {d.text}") for d in ordered]
    scores = _relevance(question, ordered)
    places = [int(i) for i in np.argsort(-scores, kind="stable")]
    groups = _fold(places, rows)
    heads = [group[0] for group in groups]
    chosen = _diverse(heads, scores, rows, limit)
    folded = {group[0]: tuple(ordered[i].evidence_id for i in group[1:]) for group in groups}
    return [Ranked(ordered[i], round(float(scores[i]), 6), 1 + len(folded[i]), folded[i]) for i in chosen]


def _relevance(question: str, documents: Sequence[Evidence]) -> Scores:
    lexical = Lexical([_fields(d) for d in documents]).scores(question)
    model = embedder()
    scores = lexical / lexical.max() if lexical.max() > 0 else lexical
    if model is not None:
        scores = fuse(lexical, _likeness(question, documents, model))
    newest = max((d.year for d in documents if d.year), default=0)
    bonus = [
        _KIND_BONUS * STRENGTH[d.evidence_type]
        + _AGE_BONUS * (max(0.0, 1 - (newest - d.year) / _AGE_YEARS) if d.year else 0.0)
        for d in documents
    ]
    return np.asarray(scores + np.array(bonus), dtype=np.float64)


def _fields(document: Evidence) -> Fields:
    terms = tuple(t.strip() for t in document.facts.get("mesh", "").split(";") if t.strip())
    return Fields(document.text, document.title, terms)


def _likeness(question: str, documents: Sequence[Evidence], model: Embedder) -> Scores:
    rows = [_telling(question, passages(d.title, d.text)) for d in documents]
    vectors = _vectors.of([p for row in rows for p in row], model)
    owner = np.repeat(np.arange(len(documents)), [len(row) for row in rows])
    best = np.full(len(documents), -1.0)
    np.maximum.at(best, owner, (vectors @ model.encode([question])[0]).astype(np.float64))
    return best


def _telling(question: str, found: list[str]) -> list[str]:
    """The first passage, and of a long text those that share most words with the question."""
    if len(found) <= PASSAGES:
        return found
    asked = set(words(question))
    rest = sorted(range(1, len(found)), key=lambda i: (-len(asked & set(words(found[i]))), i))
    return [found[0], *(found[i] for i in sorted(rest[: PASSAGES - 1]))]


class _Vectors:
    """The vectors of passages seen lately: a judge reads the same documents every iteration."""

    size = 8192

    def __init__(self) -> None:
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def of(self, texts: Sequence[str], model: Embedder) -> NDArray[np.float32]:
        names = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        known = dict(self._known)
        missing = {name: text for name, text in zip(names, texts, strict=True) if name not in known}
        if missing:
            known.update(zip(missing, model.encode(list(missing.values())), strict=True))
            self._known.update((name, known[name]) for name in missing)
            while len(self._known) > self.size:
                self._known.popitem(last=False)
        return np.stack([known[name] for name in names])


_vectors = _Vectors()


def _fold(places: Sequence[int], rows: Sequence[Sequence[str]]) -> list[list[int]]:
    """Groups of near-duplicates, the best of each first."""
    groups: list[list[int]] = []
    heads: list[frozenset[tuple[str, ...]]] = []
    for place in places:
        shingles = _shingles(rows[place][:COMPARED_WORDS])
        for group, head in zip(groups, heads, strict=True):
            if _jaccard(shingles, head) >= SAME_TEXT:
                group.append(place)
                break
        else:
            groups.append([place])
            heads.append(shingles)
    return groups


def _shingles(row: Sequence[str]) -> frozenset[tuple[str, ...]]:
    if len(row) <= SHINGLE:
        return frozenset({tuple(row)})
    return frozenset(tuple(row[i : i + SHINGLE]) for i in range(len(row) - SHINGLE + 1))


def _jaccard(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    small, large = sorted((len(one), len(other)))
    if small < SAME_TEXT * large:  # cannot reach it: spares most comparisons
        return 0.0
    shared = len(one & other)
    return shared / (small + large - shared)


def _diverse(heads: Sequence[int], scores: Scores, rows: Sequence[Sequence[str]], limit: int) -> list[int]:
    """Maximal marginal relevance over the words of the documents; `heads` come best first."""
    pool = list(heads[: max(limit * 4, limit + 20)])
    vocabulary = {w: i for i, w in enumerate(sorted({w for p in pool for w in rows[p][:COMPARED_WORDS]}))}
    matrix = np.zeros((len(pool), max(len(vocabulary), 1)))
    for at, place in enumerate(pool):
        for word in rows[place][:COMPARED_WORDS]:
            matrix[at, vocabulary[word]] += 1
    rarity = np.log((len(pool) + 1) / (1 + (matrix > 0).sum(axis=0))) + 0.1
    matrix = np.log1p(matrix) * rarity
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix /= np.where(lengths > 0, lengths, 1)
    relevance = scores[pool]
    nearest = np.zeros(len(pool))
    free = np.ones(len(pool), dtype=bool)
    chosen: list[int] = []
    while free.any() and len(chosen) < limit:
        worth = RELEVANCE * relevance - (1 - RELEVANCE) * nearest
        pick = int(np.argmax(np.where(free, worth, -np.inf)))
        free[pick] = False
        chosen.append(pool[pick])
        nearest = np.maximum(nearest, matrix @ matrix[pick])
    return chosen
