"""How well a document and each of its sentences answer a question, without a language model.

Coverage of the question's terms, each weighted by how specific it is (BM25's inverse document frequency
over the documents at hand, names above words that any question may have), with BM25's saturation for
repetition in a document; then diversity by maximal marginal relevance.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from activities.text.abbreviations import Abbreviations
from activities.text.concepts import Concepts, Word
from activities.text.facets import Facet, is_about
from activities.text.parts import Part
from activities.text.question import answer_fit, asked
from activities.text.sentences import Sentence, sentences
from activities.text.technical import TECHNICAL
from activities.text.tokens import (
    pairs,
    terms,
    weak_stems,
)
from activities.types import Evidence

RELEVANT = 0.5
"""Relevance from which an item is held to help with the question (0 to 1)."""
_DIRECTNESS = {
    "missing": -1.45, "best": 1.97, "focus": 1.0, "main": 3.69, "main_things": -0.46, "named": 0.61, "title":
    3.03,
}  # fmt: skip
_CONSTANT = -4.27
"""Weights of a logistic regression, chosen on the half `choosing` of PubMedQA's questions and their variants
(`benchmarks/relevance.py`): does the work that answers a question answer it in these words? By name: how
technical the most technical word is that is missing; the share of the question in the best sentence, in the
work with saturation, in its title and conclusions, of its things there, how many things are named, and the
share of the question in the title."""
_DIRECT = (0.66, 4.46, 1.73, -6.14)
"""The same for the first citation being the right one, over the answered questions: weights of the odds of
relevance, of the share of the question that is covered anywhere and in one place, and the constant. Scaled
(Platt 1999) so that the estimate is right as often as it says, over the answered questions of that half."""
_THING = 0.5
BESIDE_THE_BEST = 0.6
"""An item under this share of the best one's relevance does not help beside it."""
ANSWERS = 0.45
"""Coverage from which one sentence is held to answer a question."""

_SATURATION = 0.6
_TITLE_COUNT = 2
"""A term in the title counts as so many occurrences: titles say what a work is about."""
_PAIR = 0.5
"""Weight of two neighbouring words of a question over that of the lighter one."""
_WEAK_WEIGHT = (1.0, 0.6, 0.3)
"""Weight of a common word (prevent, risk) beside none, one, or more specific ones."""
_MANY_DIGITS = 0.07
_ANY = 0.35
"""Weight of a word that names nothing in particular, to which `Word.technical` is added."""
_ANY_NOUN = 0.25
"""Words of at least this `Word.technical` must occur in a work where the question names no thing."""
_MANY_NAMED = 3
_SUBJECT = 2
"""Times that a work mentions a word at least that it is about."""
_SEVERAL = 2
_OTHER_NOUN = 0.5
"""`Word.technical` from which a noun that a work does not mention makes it a work on another thing."""
_BY_TITLE = 0.6
"""Share at which a word of the question counts for a sentence that only its work's title has."""
_UNTITLED = 0.5
"""What the sentence that holds most of the question counts for a title, in a work without one."""
SURE = 0.9
"""`Word.technical` of a name that every relevant work must mention."""
ON_ANOTHER_THING = 0.3
"""Relevance is cut to this share for a work that does not mention a thing the question names: a finding about
vitamin C answers no question about vitamin E."""
NAMED_IS_ENOUGH = 0.55
"""Least relevance of a work that names the one thing a question for a fact is about."""
DIRECT_NAMED = 0.45
"""`Item.direct` of such a work at least."""
LEAST_DIRECT, LEAST_DIRECT_TITLED = 0.2, 0.38
"""`Item.direct` under which a work is held to be about something else; of one with its title, which says more
surely what it is about."""
MAX_OFF_TOPIC_RELEVANCE = 0.49
"""Relevance of such a work at most: under `RELEVANT`."""
LONGEST_REMEMBERED = 8_000
"""Characters of a text up to which a reading of it is kept."""
ABBREVIATED = 20_000
"""Characters of a text that are searched for definitions of abbreviations and for names outside sentences."""

_PART_WEIGHT: dict[Part, float] = {
    "conclusion": 1.3,
    "results": 1.12,
    "plain": 1.0,
    "limitations": 0.75,
    "background": 0.62,
    "methods": 0.45,
    "aim": 0.3,
}
_FACT_ANYWHERE = 1.0
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
    about: float
    """The same with what its work's title holds, which counts less; 0 for a sentence that holds nothing."""


@dataclass(frozen=True, slots=True)
class Item:
    """A document with its relevance and its sentences, best first."""

    document: Evidence
    relevance: float
    ranked: tuple[Ranked, ...]
    near: float = 0.0
    """Relevance but for what is missing."""
    direct: float = 0.0
    """How directly the work addresses the question: the calibrated probability that it answers it."""
    missing: tuple[Word, ...] = ()
    """Things the question names that the work does not mention."""

    @property
    def best(self) -> float:
        """Score of the best sentence."""
        return self.ranked[0].score if self.ranked else 0.0


class Needle:
    """A question as weighted words, to be looked for in documents."""

    def __init__(self, question: str, documents: Sequence[Evidence] = ()) -> None:
        known = Abbreviations(d.text[:ABBREVIATED] for d in documents)
        self.concepts = _concepts(question, known)
        self.words = self.concepts.words
        self.form = asked(question).form
        self._weak = weak = weak_stems()
        self._things = sum(word.technical >= _THING for word in self.words)
        self._others = sum(not (word.verb or set(word.terms) <= weak) for word in self.words)
        self.strong = frozenset(t for word in self.words for t in word.terms if t not in weak)
        small = _WEAK_WEIGHT[min(len(self.strong), 2)]
        self._readings = [_reading(self.concepts, document) for document in documents]
        counted = (reading.counts.items() for reading in self._readings)
        self._subjects = Counter(place for counts in counted for place, count in counts if count >= _SUBJECT)
        self._readings = [replace(reading, missing=self._missing(reading)) for reading in self._readings]
        total = len(documents)
        self.weights: list[float] = []
        self.names_things = things = self._things > 0
        for place, word in enumerate(self.words):
            base = small if self._relates(word) else _ANY + word.technical if things else 1.0
            holders = sum(place in reading.spoken for reading in self._readings)
            rare = 1 + 0.5 * math.log((total + 1) / (holders + 1)) / math.log(total + 2) if total else 1.0
            self.weights.append(base * rare)
        self.pairs: dict[tuple[int, int], float] = {}
        for one, other in pairwise(range(len(self.words))):
            if not any(self._relates(self.words[place]) for place in (one, other)):
                self.pairs[one, other] = _PAIR * min(self.weights[one], self.weights[other])
        self.total = sum(self.weights) + sum(self.pairs.values())

    def _relates(self, word: Word) -> bool:
        """Whether a word only says how the things of a question are related, which each text says in its own
        words: a word that any question may have, and, where the question has several others, a verb."""
        return set(word.terms) <= self._weak or (word.verb and self._others > 1)

    def readings(self) -> list["Reading"]:
        """One reading a document, in their order."""
        return self._readings

    def _missing(self, reading: "Reading") -> tuple[Word, ...]:
        """The things a question names that a work does not mention: its technical words; and, of a work with
        its title, its other nouns when they are specific or several, or when another of the works at hand is
        about them.
        A work without its title may be about one that its abstract presupposes."""
        spoken, untitled = reading.spoken, reading.untitled
        needed = [w for w in self.words if w.technical >= TECHNICAL] or [
            w for w in self.words if w.technical >= _ANY_NOUN
        ]
        missing = [w for place, w in enumerate(self.words) if w in needed and place not in spoken]
        if untitled:
            presupposed = len(missing) == 1 and missing[0].technical <= SURE
            least = _MANY_NAMED + any(word.entity for word in missing)
            return () if presupposed and len(needed) >= least else tuple(missing)
        missing += [self.words[place] for place in sorted(reading.displaced) if place in spoken]
        if self.form not in ("yes_no", "open"):
            return tuple(missing)  # the fact that is asked for may stand in a work in other words
        unsaid = {
            place: word
            for place, word in enumerate(self.words)
            if word not in needed and word.noun and place not in spoken and not set(word.terms) <= self._weak
        }
        several = len({word.terms for word in unsaid.values()}) >= _SEVERAL
        for place, word in unsaid.items():
            specific = word.technical >= _OTHER_NOUN
            if several or specific or (word.technical >= _ANY_NOUN and self._subjects[place]):
                missing.append(word)
        return tuple(missing)

    def covered(self, spoken: frozenset[int], reading: "Reading") -> tuple[float, float]:
        """`coverage` of a sentence by itself and with its work's title, which says what the work is about
        once for all its sentences."""
        return self.coverage(spoken), self.coverage(spoken | reading.title)

    def least_direct(self, reading: "Reading") -> float:
        """`Item.direct` under which a work is held to be about something else; 0 where the question names no
        thing, or where the work is about all of several: it mentions each more than once."""
        things = [place for place, word in enumerate(self.words) if word.technical >= TECHNICAL]
        about_all = len(things) > 1 and all(reading.counts.get(place, 0) >= _SUBJECT for place in things)
        if not self.names_things or about_all:
            return 0.0
        return LEAST_DIRECT if reading.untitled else LEAST_DIRECT_TITLED

    def coverage(self, spoken: Collection[int]) -> float:
        """Share of the question's weight in the words that are mentioned."""
        if not self.total:
            return 0.0
        held = sum(self.weights[place] for place in spoken)
        held += sum(w for (one, other), w in self.pairs.items() if one in spoken and other in spoken)
        return held / self.total

    def focus(self, reading: "Reading") -> float:
        """Coverage with saturation: a word said once in passing counts for less than one said often."""
        if not self.total:
            return 0.0
        counts = reading.counts
        held = sum(w * counts[p] / (counts[p] + _SATURATION) for p, w in enumerate(self.weights))
        for (one, other), weight in self.pairs.items():
            together = sum(one in s and other in s for s in (*reading.sentences, reading.title))
            held += weight * together / (together + _SATURATION)
        return held / self.total


@dataclass(frozen=True, slots=True)
class Reading:
    """What a document mentions, by places of the question's words."""

    sentences: tuple[frozenset[int], ...]
    title: frozenset[int]
    spoken: frozenset[int]
    """Anywhere, its indexing terms included."""
    counts: Mapping[int, int]
    untitled: bool = False
    """Its title is unknown or the start of its text."""
    displaced: frozenset[int] = frozenset()
    """Words of a disease that it does not name although it mentions them: it is about another one."""
    missing: tuple[Word, ...] = ()
    """Things that the question names and the document does not mention."""


@lru_cache(maxsize=64)
def _concepts(question: str, known: Abbreviations) -> Concepts:
    """Kept, because each step of a run asks the same question of its documents several times."""
    return Concepts(question, known)


def _reading(concepts: Concepts, document: Evidence) -> Reading:
    """What a document mentions; remembered for short texts, which most are."""
    if len(document.text) > LONGEST_REMEMBERED:
        return _read(concepts, document)
    return _remembered(concepts, _Read(document))


class _Read:
    """A document as a key: all that a reading depends on."""

    __slots__ = ("document", "key")

    def __init__(self, document: Evidence) -> None:
        kind, mesh = document.evidence_type, document.facts.get("mesh", "")
        self.document = document
        named = _named_by_its_file(document)
        self.key = (
            document.evidence_id,
            document.title,
            document.text,
            document.full_text,
            kind,
            mesh,
            named,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Read) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=1024)
def _remembered(concepts: Concepts, read: _Read) -> Reading:
    return _read(concepts, read.document)


def _named_by_its_file(document: Evidence) -> bool:
    """Whether its title is the name of its file, which need not say what it is about."""
    return "title_from" in document.facts


def _read(concepts: Concepts, document: Evidence) -> Reading:
    said = sentences(document)
    title = terms(document.title)
    subjects = document.facts.get("mesh", "")
    whole = document.text[:ABBREVIATED]
    rows = [s.terms for s in said] + [title, terms(subjects), terms(whole)]
    texts = [s.text for s in said] + [document.title, subjects, whole]
    spoken = concepts.read(rows, texts)
    counts = Counter(place for places in spoken[:-2] for place in places)
    for place in spoken[-3]:
        counts[place] += _TITLE_COUNT - 1
    everything = frozenset().union(*spoken)
    untitled = not title or _named_by_its_file(document) or document.text.startswith(document.title[:40])
    # neither indexing terms, which name what a work mentions in passing, nor the text as a whole
    displaced = frozenset() if untitled else concepts.displaced(document.title, rows[:-2])
    return Reading(tuple(spoken[:-3]), spoken[-3], everything, counts, untitled, displaced)


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

    Sentences about the facet are put before the others."""
    if any(len(document.text) > LONGEST_REMEMBERED for document in documents):
        return _rank(question, documents, facet)
    known = _ranked(question, tuple(map(_Read, documents)), facet)
    return [replace(item, document=document) for item, document in zip(known, documents, strict=True)]


@lru_cache(maxsize=64)
def _ranked(question: str, documents: tuple[_Read, ...], facet: Facet | None) -> tuple[Item, ...]:
    """Kept, because one step ranks the same documents for its prompt, for code's own answer and for its
    checks."""
    return tuple(_rank(question, [one.document for one in documents], facet))


def _rank(question: str, documents: Sequence[Evidence], facet: Facet | None) -> list[Item]:
    needle = Needle(question, documents)
    want = asked(question)
    items: list[Item] = []
    for document, reading in zip(documents, needle.readings(), strict=True):
        focus = needle.focus(reading)
        said = sentences(document)
        ranked = [
            score(sentence, *needle.covered(spoken, reading), focus, facet, answer_value(question, sentence))
            for sentence, spoken in zip(said, reading.sentences, strict=True)
        ]
        ranked.sort(key=lambda r: (-r.score, r.sentence.place))
        near = _directness(needle, reading, said, focus) if ranked else 0.0
        direct = _calibrated(needle, reading, near) if ranked else 0.0
        if want.form in ("fact", "list", "definition") and _names_it(needle, reading):
            near, direct = max(near, NAMED_IS_ENOUGH), max(direct, DIRECT_NAMED)
        elif direct < needle.least_direct(reading):
            near = min(near, MAX_OFF_TOPIC_RELEVANCE)
        relevance = near * ON_ANOTHER_THING if reading.missing else near
        direct = 0.0 if reading.missing else direct
        items.append(
            Item(document, round(relevance, 4), tuple(ranked), round(near, 4), direct, reading.missing)
        )
    return items


def _calibrated(needle: Needle, reading: Reading, near: float) -> float:
    odds = math.log(max(near, 1e-3) / (1 - min(near, 0.9999)))
    whole = needle.coverage(reading.spoken)
    together = max(needle.coverage(spoken) for spoken in (*reading.sentences, reading.title))
    near_odds, spoken_of, at_once, constant = _DIRECT
    value = near_odds * odds + spoken_of * whole + at_once * together + constant
    return round(1 / (1 + math.exp(-value)), 4)


def _names_it(needle: Needle, reading: Reading) -> bool:
    """Whether a work mentions the one name that a question for a fact is about (a trial, a new drug)."""
    words = needle.words
    return any(word.technical >= SURE and place in reading.counts for place, word in enumerate(words))


def _directness(needle: Needle, reading: Reading, said: Sequence[Sentence], focus: float) -> float:
    """How likely a work is about the question, 0 to 1: a logistic model of what it mentions."""
    words = needle.words
    concluding = [spoken for s, spoken in zip(said, reading.sentences, strict=True) if s.part == "conclusion"]
    main = reading.title.union(*concluding)
    things = [place for place, word in enumerate(words) if word.technical >= _THING]
    values = {
        "missing": max((w.technical for p, w in enumerate(words) if p not in reading.spoken), default=0.0),
        "best": max((needle.coverage(spoken) for spoken in reading.sentences), default=0.0),
        "focus": focus,
        "main": needle.coverage(main),
        "main_things": sum(p in main for p in things) / len(things) if things else 0.5,
        "named": sum(words[place].technical for place in reading.spoken),
        "title": needle.coverage(reading.title),
    }
    if reading.untitled:
        values["title"] = max(values["title"], _UNTITLED * values["best"])
    direct = 1 / (1 + math.exp(-_CONSTANT - sum(_DIRECTNESS[name] * value for name, value in values.items())))
    # a question that names no thing is about whatever holds its words
    return direct if things else max(direct, 0.55 * focus + 0.45 * values["best"])


def relevant(items: Sequence[Item]) -> list[Item]:
    """The items that help with the question, in the given order."""
    floor = max(RELEVANT, BESIDE_THE_BEST * max((i.relevance for i in items), default=0.0))
    return [i for i in items if i.relevance >= floor and i.ranked]


def answer_value(question: str, sentence: Sentence) -> float:
    """Factor for the part of the work a sentence is from and for the kind of answer it gives. A fact may
    stand anywhere; a finding stands in results and conclusions."""
    want = asked(question)
    if want.form in ("yes_no", "open"):
        return _PART_WEIGHT[sentence.part]
    return max(_PART_WEIGHT[sentence.part], _FACT_ANYWHERE) * (
        0.75 + 0.5 * answer_fit(want, question, sentence.text)
    )


def score(
    sentence: Sentence,
    own: float,
    titled: float,
    focus: float,
    facet: Facet | None = None,
    factor: float = 1.0,
) -> Ranked:
    """How well a sentence answers: its coverage with and without its work's title, its document's focus,
    `answer_value`, its aspect, and whether it can stand alone."""
    about = own + _BY_TITLE * (titled - own)
    value = (0.6 * about + 0.4 * focus) * factor
    if facet is not None and facet.name != "findings":
        value *= 1.3 if is_about(facet, sentence) else 0.8
        if sentence.part in facet.parts:
            value /= min(_PART_WEIGHT[sentence.part], 1.0)
    if calls_for_research(sentence.text) and (facet is None or facet.name != "open"):
        value *= 0.6
    dangling, of_odd_length, numeric = _manner(sentence.text)
    if dangling:
        value *= 0.85
    if of_odd_length:
        value *= 0.88
    if numeric:
        value *= 0.9
    return Ranked(sentence, value, own, about if own else 0.0)


@lru_cache(maxsize=8192)
def _manner(text: str) -> tuple[bool, bool, bool]:
    """Whether a sentence leans on the one before it, is short or long, and consists of numbers."""
    return (
        text.casefold().startswith(_DANGLING),
        not 9 <= len(text.split()) <= 55,
        sum(c.isdigit() for c in text) > _MANY_DIGITS * len(text),
    )


def calls_for_research(text: str) -> bool:
    """True for a call for more research."""
    return bool(_CALLS.search(text))


def similarity(one: Sentence, other: Sentence) -> float:
    """Jaccard overlap of content terms, 0 to 1."""
    a, b = set(one.terms), set(other.terms)
    return len(a & b) / len(a | b) if a and b else 0.0


def diverse(ranked: Sequence[Ranked], count: int, trade: float = 0.7) -> list[Ranked]:
    """Choose by maximal marginal relevance (Carbonell and Goldstein 1998): `trade` for relevance, the rest
    against similarity to what was already chosen."""
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
