"""How well a document and each of its sentences answer a question, without a language model.

Coverage of the question's terms, each weighted by how specific it is (BM25's inverse document frequency
over the documents at hand, names above words that any question may have), with BM25's saturation for
repetition in a document; then diversity by maximal marginal relevance.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from activities.text.drugs import spellings
from activities.text.facets import Facet, bears_on
from activities.text.parts import Part
from activities.text.sentences import Sentence, sentences
from activities.text.tokens import (
    looks_special,
    pairs,
    phrases,
    stem,
    terms,
    weak_stems,
    without_markup,
)
from activities.types import Evidence

RELEVANT = 0.38
"""Relevance from which an item is held to help with the question (0 to 1)."""
BESIDE_THE_BEST = 0.6
"""An item under this share of the best one's relevance does not help beside it."""
ANSWERS = 0.45
"""Coverage from which one sentence is held to answer a question."""

_SATURATION = 0.6
_TITLE_COUNT = 2
"""A term in the title counts as so many occurrences: titles say what a work is about."""
_PAIR = 0.5
"""Weight of two neighbouring words of a question over that of the lighter one."""
_TITLE_SHARE = 0.2
"""How much the title alone decides of a work's relevance."""
_WEAK_WEIGHT = (1.0, 0.6, 0.3)
"""Weight of a common word (prevent, risk) beside none, one, or more specific ones."""
_MANY_DIGITS = 0.07
_TOO_FEW = 0.5
_HALF_A_NAME = 0.87
_BEGINNING = 6
"""Letters by which `Austria` and `Austrian` are the same name."""
_NAME_MISSING = (1.0, 0.9, 0.5)
"""For a work that holds every name of the question, lacks less than half of them, or half and more: what is
said of colorectal cancer answers no question about aspirin and colorectal cancer."""

_PART_WEIGHT: dict[Part, float] = {
    "conclusion": 1.3,
    "results": 1.12,
    "plain": 1.0,
    "limitations": 0.75,
    "background": 0.62,
    "methods": 0.45,
    "aim": 0.3,
}
_CALLS = re.compile(
    r"\b(?:further|future|more|additional) (?:\w+ ){0,3}(?:research|stud(?:y|ies)|trials?"
    r"|investigations?|work)\b|\b(?:recommend|need for|warrant\w*|needed)\b.{1,60}\b(?:trial|stud(?:y|ies))\b"
    r"|\bneeds? to be (?:studied|confirmed|investigated)"
    r"|\b(?:trials?|stud(?:y|ies)|research) (?:is|are) (?:mandatory|needed|required|warranted|necessary)\b",
    re.IGNORECASE,
)
"""Calls for research say nothing about the question, except where open questions are asked for."""
_DANGLING = (
    "this ", "these ", "those ", "it ", "they ", "such ", "both ", "there was no ", "there were no ",
    "the former", "the latter", "their ", "its ", "among these", "of these", "of them", "all of ", "similar ",
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
        question = without_markup(question)
        bags = [bag(document) for document in documents]
        special = {t for p in phrases(question) for w in p.split() if looks_special(w) for t in terms(w)}
        weak = weak_stems()
        self.weights: dict[str, float] = {}
        total = len(bags)
        asked = dict.fromkeys(terms(question))
        self.strong = frozenset(t for t in asked if t not in weak)
        small = _WEAK_WEIGHT[min(len(self.strong), 2)]
        for term in asked:
            base = small if term in weak else 1.5 if term in special else 1.0
            holders = sum(term in b for b in bags)
            rare = 1 + 0.5 * math.log((total + 1) / (holders + 1)) / math.log(total + 2) if total else 1.0
            self.weights[term] = base * rare
        split = [(self.strong & set(terms(p)), initials(p)) for p in phrases(question)]
        self.named = [(words, short) for words, short in split if words]
        self.names = [words for words, _ in self.named if len(words) > 1]
        called = [(name in question, terms(name)) for name in spellings(question)]
        self.drugs = tuple(t for own, words in called if own or len(words) == 1 for t in words)
        for phrase in phrases(question):
            for one, other in pairwise(terms(phrase)):
                if one != other and {one, other} <= self.strong:
                    weight = _PAIR * min(self.weights[one], self.weights[other])
                    self.weights[f"{one} {other}"] = weight
        self.total = sum(self.weights.values())

    def coverage(self, held: Collection[str]) -> float:
        """Share of the question's weight in a set of terms and pairs."""
        return sum(w for t, w in self.weights.items() if t in held) / self.total if self.total else 0.0

    def focus(self, counts: Mapping[str, int]) -> float:
        """Coverage with saturation: a term said once in passing counts for less than one said often."""
        if not self.total:
            return 0.0
        held = ((w, counts.get(t, 0)) for t, w in self.weights.items())
        return sum(w * n / (n + _SATURATION) for w, n in held) / self.total

    def off_topic(self, held: Collection[str], *, titled: bool = True) -> float:
        """1 for a work that may be about the question; less for one that holds too few of its specific terms,
        or only half of a name (another cancer than breast cancer), or lacks names altogether. A text without
        its title may be about a name it never says."""
        # a class is named by the end of its members' names: statins, atorvastatin
        absent = tuple(t for t in self.strong if t not in held and len(t) >= _BEGINNING)
        held = {*held, *(t for t in absent if any(h.endswith(t) for h in held))}
        beginnings = {t[:_BEGINNING] for t in held}
        missing = sum(
            short not in held and not any(t in held or t[:_BEGINNING] in beginnings for t in words)
            for words, short in self.named
        )
        factor = 1.0
        if missing and titled:
            factor = _NAME_MISSING[1 if 2 * missing < len(self.named) else 2]
        if self.drugs and not any(d in held for d in self.drugs):
            factor = min(factor, _NAME_MISSING[2])
        if sum(t in held for t in self.strong) < min(2, len(self.strong)):
            factor *= _TOO_FEW
        if any(0 < sum(t in held for t in name) < len(name) for name in self.names):
            factor *= _HALF_A_NAME
        return factor


def initials(phrase: str) -> str:
    """`double-balloon enteroscopy` -> the comparison form of DBE; empty for a single word."""
    words = re.split(r"[\s-]+", phrase)
    return stem("".join(w[0] for w in words if w).casefold()) if len(words) > 1 else ""


def bag(document: Evidence) -> Mapping[str, int]:
    """Counts of terms and pairs in what is known of a document, the title included."""
    return _bag(document.title, sentences(document))


@lru_cache(maxsize=512)
def _bag(title: str, said: tuple[Sentence, ...]) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for sentence in said:
        counts.update(sentence.terms)
        counts.update(pairs(sentence.terms))
    words = terms(title)
    for term in (*words, *pairs(words)):
        counts[term] += _TITLE_COUNT
    return counts


def rank(question: str, documents: Sequence[Evidence], facet: Facet | None = None) -> list[Item]:
    """Every document with its relevance to the question and its sentences best first, in the given order.

    Sentences that speak of the facet are put before the others."""
    needle = Needle(question, documents)
    items: list[Item] = []
    for document in documents:
        counts = bag(document)
        focus = needle.focus(counts)
        ranked = [score(s, needle, focus, facet) for s in sentences(document)]
        ranked.sort(key=lambda r: (-r.score, r.sentence.place))
        best = max((r.coverage for r in ranked), default=0.0)
        relevance = 0.55 * focus + 0.45 * best if ranked else 0.0
        title = terms(document.title)
        if title and ranked:
            about = needle.coverage({*title, *pairs(title)})
            relevance = (1 - _TITLE_SHARE) * relevance + _TITLE_SHARE * about
        relevance *= needle.off_topic(counts, titled=bool(title))
        items.append(Item(document, round(min(relevance, 1.0), 4), tuple(ranked)))
    return items


def relevant(items: Sequence[Item]) -> list[Item]:
    """The items that help with the question, in the given order."""
    floor = max(RELEVANT, BESIDE_THE_BEST * max((i.relevance for i in items), default=0.0))
    return [i for i in items if i.relevance >= floor and i.ranked]


def score(sentence: Sentence, needle: Needle, focus: float, facet: Facet | None = None) -> Ranked:
    """How well a sentence answers: its own coverage, its document's focus, its part of the work, its aspect,
    and whether it can stand alone."""
    own = needle.coverage(sentence.held)
    value = (0.6 * own + 0.4 * focus) * _PART_WEIGHT[sentence.part]
    if facet is not None and facet.name != "findings":
        value *= 1.3 if bears_on(facet, sentence) else 0.8
        if sentence.part in facet.parts:
            value /= min(_PART_WEIGHT[sentence.part], 1.0)
    if calls(sentence) and (facet is None or facet.name != "open"):
        value *= 0.6
    if sentence.text.casefold().startswith(_DANGLING):
        value *= 0.85
    if not 9 <= len(sentence.text.split()) <= 55:
        value *= 0.88
    if sum(c.isdigit() for c in sentence.text) > _MANY_DIGITS * len(sentence.text):
        value *= 0.9
    return Ranked(sentence, value, own)


def calls(sentence: Sentence) -> bool:
    """True for a call for more research."""
    return bool(_CALLS.search(sentence.text))


def similarity(one: Sentence, other: Sentence) -> float:
    """Jaccard overlap of content terms, 0 to 1."""
    a, b = set(one.terms), set(other.terms)
    return len(a & b) / len(a | b) if a and b else 0.0


def diverse(ranked: Sequence[Ranked], count: int, trade: float = 0.7) -> list[Ranked]:
    """Choose by maximal marginal relevance (Carbonell and Goldstein 1998): `trade` for relevance, the rest
    against likeness to what was chosen already."""
    pool = sorted(ranked, key=lambda r: (-r.score, r.sentence.evidence_id, r.sentence.place))
    chosen: list[Ranked] = []
    likeness = dict.fromkeys(range(len(pool)), 0.0)
    while likeness and len(chosen) < count:
        best = max(likeness, key=lambda i: (trade * pool[i].score - (1 - trade) * likeness[i], -i))
        del likeness[best]
        chosen.append(pool[best])
        for i in likeness:
            likeness[i] = max(likeness[i], similarity(pool[i].sentence, pool[best].sentence))
    return chosen


def answered(question: str, documents: Sequence[Evidence]) -> bool:
    """True when some relevant document has a sentence that covers most of the question."""
    return any(
        item.relevance >= RELEVANT and any(r.coverage >= ANSWERS for r in item.ranked)
        for item in rank(question, [d for d in documents if d.standing != "retracted"])
    )
