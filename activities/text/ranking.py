"""Which documents, and which of their sentences, are nearest to a question.

Four rankings of the documents are fused by reciprocal rank (Cormack, Clarke and Buettcher, "Reciprocal rank
fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009): BM25 of the whole document,
BM25 of its best sentence, how many of the question's names it mentions by any of their words
(`activities.text.coverage`), and the cosine of its two nearest sentences by the bundled encoder. Within a
document its sentences are ranked by words, by meaning, and by the label they stand under (conclusions before
aims). Nothing here reads what a sentence says.

The encoder takes some ten milliseconds a sentence, so of many documents it reads those only that come first
without it, and of an abstract the few sentences with most of the question's words. Without the encoder
(`activities.text.embeddings`) the other rankings alone count.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import bm25s
import numpy as np
from numpy.typing import NDArray

from activities.text.coverage import coverage
from activities.text.embeddings import Embedder, embedder
from activities.text.parts import Part
from activities.text.sentences import OF_THE_USER, Sentence, sentences
from activities.text.tokens import terms
from activities.types import Evidence

RELEVANT = 0.4
"""`Item.relevance` from which a document is near enough to be shown first. Of 600 PubMedQA questions asked of
abstracts without titles, 99 % have their own abstract at 0.52 or more (`benchmarks/passages.py`)."""
RANK_CONSTANT = 10
"""Of reciprocal rank fusion. Its paper has 60 for lists of a thousand; of the few works of a search the first
ranks must differ more."""
MEANING = 2
"""Times that the ranking by meaning counts among the sentences of a document."""
MEANING_OF_DOCUMENTS = 6
"""The same among documents: asked in two wordings, words alone share one of the first five works in four,
meaning alone three in five (`benchmarks/passages.py`)."""
TITLE_TIMES = 2
"""A word of the title counts as so many."""
MAX_ENCODED_DOCUMENTS = 20
"""Documents, best first without it, whose sentences the encoder reads."""
MAX_ENCODED_SENTENCES = 2
"""Sentences of one abstract that the encoder reads, those with most of the question's words."""
MAX_ENCODED_OF_USER = 150
"""Sentences of all documents of the user's own that it reads: there a short passage of a long text
answers."""
MAX_KEPT_SENTENCES = 200
"""Sentences of one document whose vectors a library keeps: some ten pages."""
_PART_ORDER: tuple[Part, ...] = (
    "conclusion", "results", "plain", "limitations", "background", "methods", "aim"
)  # fmt: skip

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A sentence with its score among those of its document."""

    sentence: Sentence
    score: float
    """Fused; comparable within one document."""
    likeness: float | None = None
    """Cosine with the question; None where the encoder did not read it."""


@dataclass(frozen=True, slots=True)
class Item:
    """A document with its place among the others and its sentences, best first."""

    document: Evidence
    score: float
    """Fused; comparable within one call."""
    relevance: float
    """0 to 1, comparable between calls: the cosine of the nearest sentence; without the encoder the share of
    the question's words, weighted by rarity, that the document has."""
    ranked: tuple[Ranked, ...]


def rank(question: str, documents: Sequence[Evidence]) -> list[Item]:
    """Every document with its scores and its sentences best first, in the given order."""
    return list(_rank(question, tuple(map(_Key, documents))))


def best_first(items: Iterable[Item]) -> list[Item]:
    """The items by their fused score."""
    return sorted(items, key=lambda item: (-item.score, item.document.evidence_id))


def relevant(items: Iterable[Item]) -> list[Item]:
    """The items that are near enough, in the given order."""
    return [item for item in items if item.ranked and item.relevance >= RELEVANT]


def fuse(rankings: Sequence[Scores]) -> Scores:
    """Reciprocal rank fusion of several scores of the same things; equal scores have equal ranks, and a score
    of zero or less is no match."""
    fused = np.zeros(len(rankings[0]))
    for scores in rankings:
        _, places = np.unique(-scores, return_inverse=True)
        counts = np.bincount(places)
        ahead = np.concatenate(([0], np.cumsum(counts)[:-1]))[places]
        fused += np.where(scores > 0, 1.0 / (RANK_CONSTANT + 1 + ahead), 0.0)
    return fused


def bm25(query: Sequence[str], rows: Sequence[Sequence[str]]) -> Scores:
    """BM25 of each row of terms."""
    if not any(rows):
        return np.zeros(len(rows))
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index([list(row) for row in rows], show_progress=False)
    asked = [term for term in query if term in index.vocab_dict]
    return np.asarray(index.get_scores(asked), np.float64) if asked else np.zeros(len(rows))


def words(text: str) -> list[str]:
    """The words of a text as they are compared: its terms, and its numbers."""
    return terms(text) + _NUMBER.findall(text)


def encoded_texts(document: Evidence) -> list[str]:
    """What the encoder may read of a document: its title and its sentences; never nothing."""
    said = [sentence.quote for sentence in sentences(document)[:MAX_KEPT_SENTENCES]]
    return [document.title, *said] if document.title or not said else said


class _Key:
    """A document as a key of the memory of rankings: all that a ranking depends on."""

    __slots__ = ("document", "key")

    def __init__(self, document: Evidence) -> None:
        self.document = document
        mesh = document.facts.get("mesh", "")
        self.key = (document.evidence_id, document.evidence_type, document.title, document.text, mesh)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=16)
def _rank(question: str, keys: tuple[_Key, ...]) -> tuple[Item, ...]:
    """Kept, because one step ranks the same documents for its prompt and for its checks."""
    documents = [key.document for key in keys]
    if not documents:
        return ()
    query = words(question)
    rows = [sentences(document) for document in documents]
    wholes = [_words(document, row) for document, row in zip(documents, rows, strict=True)]
    every = [sentence for row in rows for sentence in row]
    bounds = np.cumsum([0, *map(len, rows)])
    by_whole = bm25(query, wholes)
    by_names = np.array([float(len(covered.mentions)) for covered in coverage(question, documents)])
    by_sentence = bm25(query, [words(sentence.quote) for sentence in every])
    best = np.array([by_sentence[a:b].max(initial=0.0) for a, b in pairwise(bounds)])
    model = embedder()
    rankings = [by_whole, best, by_names]
    likeness = _likeness(model, question, documents, every, bounds, fuse(rankings), by_sentence)
    if model is not None:
        nearest = [_of_nearest(like, document) for like, document in zip(likeness, documents, strict=True)]
        rankings += [np.array(nearest)] * MEANING_OF_DOCUMENTS
        near = np.array([np.nanmax(like, initial=0.0) for like in likeness])
    else:
        near = _shares(query, wholes)
    fused = fuse(rankings)
    return tuple(
        Item(
            document,
            float(fused[n]),
            min(1.0, float(near[n])),
            _ordered(row, by_sentence[a:b], likeness[n][:-1]),
        )
        for n, (document, row, a, b) in enumerate(zip(documents, rows, bounds, bounds[1:], strict=False))
    )


def _words(document: Evidence, row: Sequence[Sentence]) -> list[str]:
    said = [word for sentence in row for word in words(sentence.quote)]
    return words(document.title) * TITLE_TIMES + said + words(document.facts.get("mesh", ""))


def _likeness(
    model: Embedder | None,
    question: str,
    documents: Sequence[Evidence],
    every: Sequence[Sentence],
    bounds: NDArray[np.int_],
    before: Scores,
    by_sentence: Scores,
) -> list[Scores]:
    """For each document the cosine of each of its sentences, NaN where it was not computed, and last that of
    its title."""
    found = [np.full(b - a + 1, np.nan) for a, b in pairwise(bounds)]
    if model is None:
        return found
    texts: dict[str, list[tuple[int, int]]] = {}
    chosen = np.argsort(-before, kind="stable")[:MAX_ENCODED_DOCUMENTS]
    of_user = max(MAX_ENCODED_SENTENCES, MAX_ENCODED_OF_USER // len(chosen))
    for n in chosen:
        document, a, b = documents[n], bounds[n], bounds[n + 1]
        own = document.evidence_type in OF_THE_USER
        count = of_user if own else MAX_ENCODED_SENTENCES
        likeliest = fuse([by_sentence[a:b], _by_part(every[a:b])]) if b > a else by_sentence[a:b]
        for place in np.argsort(-likeliest, kind="stable")[:count]:
            texts.setdefault(every[a + place].quote, []).append((n, int(place)))
        if document.title:
            texts.setdefault(document.title, []).append((n, -1))
    vectors = model.encode([question, *texts])
    for cosine, places in zip(vectors[1:] @ vectors[0], texts.values(), strict=True):
        for n, place in places:
            found[n][place] = cosine
    return found


def _of_nearest(likeness: Scores, document: Evidence) -> float:
    """The mean cosine of the two nearest sentences of a work, of which one may be its title: by one alone
    chance decides more often. Of a text of the user's own one short sentence answers, and it alone counts."""
    read = np.sort(likeness[~np.isnan(likeness)])[-1 if document.evidence_type in OF_THE_USER else -2 :]
    return float(read.mean()) if len(read) else 0.0


def _shares(query: Sequence[str], wholes: Sequence[Sequence[str]]) -> Scores:
    """Share of the question's distinct terms, the rarer the heavier, that each document has."""
    sets = [frozenset(row) for row in wholes]
    weights = {term: 1.0 / (1 + sum(term in held for held in sets) / len(sets)) for term in query}
    total = sum(weights.values())
    return np.array([sum(w for term, w in weights.items() if term in held) / (total or 1) for held in sets])


def _by_part(row: Sequence[Sentence]) -> Scores:
    """Higher for the labels under which findings stand."""
    return np.array([len(_PART_ORDER) - _PART_ORDER.index(sentence.part) for sentence in row], np.float64)


def _ordered(row: Sequence[Sentence], by_words: Scores, by_meaning: Scores) -> tuple[Ranked, ...]:
    """The sentences of one document, best first."""
    if not row:
        return ()
    rankings = [by_words, _by_part(row), *[np.nan_to_num(by_meaning)] * MEANING]
    fused = fuse(rankings)
    found = [
        Ranked(sentence, float(score), None if np.isnan(like) else float(like))
        for sentence, score, like in zip(row, fused, by_meaning, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: (-one.score, one.sentence.place)))
