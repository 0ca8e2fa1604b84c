"""How well a document and each of its sentences answer a question, without a language model.

Coverage of the question's terms, each weighted by how specific it is (BM25's inverse document frequency
over the documents at hand, names above words that any question may have), with BM25's saturation for
repetition in a document; then diversity by maximal marginal relevance.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from activities.models.extractive.sentences import Part, Sentence, sentences
from activities.models.extractive.words import looks_special, phrases, stem, terms, weak_stems
from activities.types import Evidence

RELEVANT = 0.5
"""Relevance from which an item is held to help with the question (0 to 1)."""
ANSWERS = 0.5
"""Coverage from which one sentence is held to answer a question."""

_SATURATION = 0.6
_TITLE_COUNT = 2.0
"""A term in the title counts as so many occurrences: titles say what a work is about."""

_PART_WEIGHT: dict[Part, float] = {
    "conclusion": 1.3,
    "results": 1.12,
    "plain": 1.0,
    "limitations": 0.75,
    "background": 0.62,
    "methods": 0.5,
}
_DANGLING = (
    "this ", "these ", "those ", "it ", "they ", "such ", "both ", "there was no ", "there were no ",
    "the former", "the latter", "their ", "its ", "among these", "of these", "of them", "all of ",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ranked:
    """A sentence with its score against a question."""

    sentence: Sentence
    score: float
    coverage: float
    """Share of the question's weight that the sentence itself holds."""


@dataclass(frozen=True, slots=True)
class Item:
    """A document with its relevance and its sentences, best first."""

    document: Evidence
    relevance: float
    ranked: tuple[Ranked, ...]

    @property
    def best(self) -> float:
        """Score of the best sentence."""
        return self.ranked[0].score if self.ranked else 0.0


class Needle:
    """A question as weighted terms."""

    def __init__(self, question: str, documents: Sequence[Evidence] = ()) -> None:
        bags = [bag(document) for document in documents]
        special = {t for p in phrases(question) for w in p.split() if looks_special(w) for t in terms(w)}
        weak = weak_stems()
        self.weights: dict[str, float] = {}
        total = len(bags)
        for term in dict.fromkeys(terms(question)):
            base = 0.3 if term in weak else 1.5 if term in special else 1.0
            holders = sum(term in b for b in bags)
            rare = 1 + 0.5 * math.log((total + 1) / (holders + 1)) / math.log(total + 2) if total else 1.0
            self.weights[term] = base * rare
        self.total = sum(self.weights.values())
        self.strong = {t for t in self.weights if t not in weak}

    def coverage(self, held: Iterable[str]) -> float:
        """Share of the question's weight in a set of terms."""
        if not self.total:
            return 0.0
        have = set(held)
        return sum(w for t, w in self.weights.items() if t in have) / self.total

    def focus(self, counts: Counter[str]) -> float:
        """Coverage with saturation: a term said once in passing counts for less than one said often."""
        if not self.total:
            return 0.0
        return sum(w * counts[t] / (counts[t] + _SATURATION) for t, w in self.weights.items()) / self.total

    def strong_hits(self, held: Iterable[str]) -> int:
        """How many of the specific terms are held."""
        return len(self.strong & set(held))


def bag(document: Evidence) -> Counter[str]:
    """Term counts of what is known of a document, the title included."""
    counts: Counter[str] = Counter()
    for sentence in sentences(document):
        counts.update(sentence.terms)
    for term in terms(document.title):
        counts[term] += _TITLE_COUNT  # type: ignore[assignment]  # a Counter holds fractions as well
    return counts


def rank(question: str, documents: Sequence[Evidence], needle: Needle | None = None) -> list[Item]:
    """Every document with its relevance to the question and its sentences best first, in the given order."""
    needle = needle or Needle(question, documents)
    items: list[Item] = []
    for document in documents:
        counts = bag(document)
        focus = needle.focus(counts)
        ranked = [score(s, needle, focus) for s in sentences(document)]
        ranked.sort(key=lambda r: (-r.score, r.sentence.place))
        best = max((r.coverage for r in ranked), default=0.0)
        relevance = 0.55 * focus + 0.45 * best if ranked else 0.0
        wanted = min(2, len(needle.strong))
        if needle.strong_hits(counts) < wanted:
            relevance *= 0.5
        items.append(Item(document, round(min(relevance, 1.0), 4), tuple(ranked)))
    return items


def score(sentence: Sentence, needle: Needle, focus: float) -> Ranked:
    """How well a sentence answers: its own coverage, its document's focus, its part, whether it stands alone."""
    own = needle.coverage(sentence.terms)
    value = (0.6 * own + 0.4 * focus) * _PART_WEIGHT[sentence.part]
    if sentence.text.casefold().startswith(_DANGLING):
        value *= 0.85
    words = len(sentence.text.split())
    if words < 9 or words > 55:
        value *= 0.88
    return Ranked(sentence, value, own)


def similarity(one: Sentence, other: Sentence) -> float:
    """Jaccard overlap of content terms, 0 to 1."""
    a, b = one.term_set, other.term_set
    return len(a & b) / len(a | b) if a and b else 0.0


def diverse(ranked: Sequence[Ranked], count: int, trade: float = 0.7) -> list[Ranked]:
    """Choose by maximal marginal relevance (Carbonell and Goldstein 1998): `trade` for relevance, the rest
    against likeness to what was chosen already."""
    pool = sorted(ranked, key=lambda r: (-r.score, r.sentence.evidence_id, r.sentence.place))
    chosen: list[Ranked] = []
    likeness = [0.0] * len(pool)
    taken = [False] * len(pool)
    while len(chosen) < min(count, len(pool)):
        best = max(
            (i for i in range(len(pool)) if not taken[i]),
            key=lambda i: (trade * pool[i].score - (1 - trade) * likeness[i], -i),
        )
        taken[best] = True
        chosen.append(pool[best])
        for i, other in enumerate(pool):
            if not taken[i]:
                likeness[i] = max(likeness[i], similarity(other.sentence, pool[best].sentence))
    return chosen


def covered(question: str, documents: Sequence[Evidence]) -> bool:
    """True when some relevant document has a sentence that covers most of the question."""
    return any(
        item.relevance >= RELEVANT and any(r.coverage >= ANSWERS for r in item.ranked)
        for item in rank(question, documents)
    )


__all__ = [
    "ANSWERS",
    "RELEVANT",
    "Item",
    "Needle",
    "Ranked",
    "covered",
    "diverse",
    "rank",
    "similarity",
    "stem",
]
