"""A question as weighted words, and what each document mentions of them.

A word weighs by how specific it is (BM25's inverse document frequency over the documents at hand, names above
words that any question may have); words said often count with BM25's saturation.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from activities.text.abbreviations import Abbreviations
from activities.text.age_groups import of_another_age
from activities.text.concepts import Concepts, Word
from activities.text.information import information
from activities.text.likeness import Vectors, likeness, of_text
from activities.text.neighbours import in_place_of
from activities.text.question import Thing, asked
from activities.text.sentences import OF_THE_USER, sentences
from activities.text.technical import TECHNICAL
from activities.text.tokens import terms, weak_stems
from activities.types import Evidence

THING = 0.5
"""`Word.technical` from which a word names a thing."""
_SATURATION = 0.6
"""Occurrences at which a word counts for half (BM25's k1)."""
TITLE_COUNT = 2
"""A term in the title counts as so many occurrences: titles say what a work is about."""
_PAIR = 0.5
"""Weight of two neighbouring words of a question over that of the lighter one."""
_WEAK_WEIGHT = (1.0, 0.6, 0.3)
"""Weight of a common word (prevent, risk) beside none, one, or more specific ones."""
_ANY = 0.35
"""Weight of a word that names nothing in particular, to which `Word.technical` is added."""
_ANY_NOUN = 0.25
"""Words of at least this `Word.technical` must occur in a work where the question names no thing."""
_MANY_NAMED = 3
SUBJECT = 2
"""Times that a work mentions a word at least that it is about."""
_SEVERAL = 2
_OF_DEEDS: frozenset[Thing] = frozenset({"person", "place"})
"""What is asked for by questions on something that was done (who signed the lease), which a work must speak
of as it must for a question for yes or no."""
_OTHER_NOUN = 0.5
"""`Word.technical` from which a noun that a work does not mention makes it a work on another thing."""
SURE = 0.9
"""`Word.technical` of a name that every relevant work must mention."""
LONGEST_REMEMBERED = 8_000
"""Characters of a text up to which a reading of it is kept."""
ABBREVIATED = 20_000
"""Characters of a text that are searched for definitions of abbreviations and for names outside sentences."""


class Needle:
    """A question as weighted words, to be looked for in documents."""

    def __init__(self, question: str, documents: Sequence[Evidence] = ()) -> None:
        known = Abbreviations(d.text[:ABBREVIATED] for d in documents)
        self.concepts = _concepts(question, known)
        self.words = self.concepts.words
        want = asked(question)
        self._fact = want.form not in ("yes_no", "open") and not _OF_DEEDS.intersection(want.things)
        self._weak = weak = weak_stems()
        self._things = sum(word.technical >= THING for word in self.words)
        self._others = sum(not (word.verb or set(word.terms) <= weak) for word in self.words)
        self.strong = frozenset(t for word in self.words for t in word.terms if t not in weak)
        small = _WEAK_WEIGHT[min(len(self.strong), 2)]
        self._tested = self.concepts.given if want.form == "yes_no" else frozenset()
        self._readings = [self._placed(_reading(self.concepts, document), document) for document in documents]
        counted = (reading.counts.items() for reading in self._readings)
        self.subjects = Counter(place for counts in counted for place, count in counts if count >= SUBJECT)

        self.holders = Counter(place for reading in self._readings for place in reading.spoken)
        """How many of them mention it."""
        self.information = [information(word.shown) for word in self.words]
        self._readings = [
            replace(
                reading,
                missing=self._missing(reading),
                other_people=of_another_age(question, document.title, document.text),
            )
            for reading, document in zip(self._readings, documents, strict=True)
        ]
        total = len(documents)
        self.weights: list[float] = []
        self.names_things = things = self._things > 0
        for place, word in enumerate(self.words):
            base = small if self._relates(word) else _ANY + word.technical if things else 1.0
            rare = (
                1 + 0.5 * math.log((total + 1) / (self.holders[place] + 1)) / math.log(total + 2)
                if total
                else 1.0
            )
            self.weights.append(base * rare)
        self.pairs: dict[tuple[int, int], float] = {}
        for one, other in pairwise(range(len(self.words))):
            if not any(self._relates(self.words[place]) for place in (one, other)):
                self.pairs[one, other] = _PAIR * min(self.weights[one], self.weights[other])
        self.total = sum(self.weights) + sum(self.pairs.values())

    def _placed(self, reading: "Reading", document: Evidence) -> "Reading":
        """The reading of an abstract that mentions what the question judges among its methods only (a scan
        that everyone had before the test that is studied): it is displaced by what the work is about."""
        own = document.evidence_type in OF_THE_USER or document.full_text or reading.untitled
        if own or not self._tested & reading.spoken:
            return reading
        said = zip(sentences(document), reading.sentences, strict=True)
        told = reading.title.union(*(places for s, places in said if s.part not in ("methods", "background")))
        if self._tested & told:
            return reading
        return replace(reading, displaced=reading.displaced | (self._tested & reading.spoken))

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
            missing = [] if presupposed and len(needed) >= least else missing
        missing += [w for p in sorted(reading.displaced) if (w := self.words[p]) not in missing]
        if untitled:
            return tuple(missing)
        if self._fact:
            return tuple(missing)  # the fact that is asked for may stand in a work in other words
        unsaid = {
            place: word
            for place, word in enumerate(self.words)
            if word not in needed and word.noun and place not in spoken and not set(word.terms) <= self._weak
        }
        several = len({word.terms for word in unsaid.values()}) >= _SEVERAL
        for place, word in unsaid.items():
            specific = word.technical >= _OTHER_NOUN
            if several or specific or (word.technical >= _ANY_NOUN and self.subjects[place]):
                missing.append(word)
        return tuple(missing)

    def covered(self, spoken: frozenset[int], reading: "Reading") -> tuple[float, float]:
        """`coverage` of a sentence by itself and with its work's title, which says what the work is about
        once for all its sentences."""
        return self.coverage(spoken), self.coverage(spoken | reading.title)

    def is_weak(self, place: int) -> bool:
        """Whether a word is one that any question may have, beside others that are not."""
        return bool(self.strong) and self.strong.isdisjoint(self.words[place].terms)

    def told(self, spoken: Collection[int]) -> float:
        """Share of the question's information content in the words that are mentioned."""
        total = sum(self.information)
        return sum(self.information[place] for place in spoken) / total if total else 0.0

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
    """Words of a disease that it does not name although it mentions them, and numbers in place of which it
    gives others: it is about another one."""
    neighbours: frozenset[int] = frozenset()
    """Words for things that a work without its title does not mention, but others of their kind."""
    missing: tuple[Word, ...] = ()
    """Things that the question names and the document does not mention."""
    without_intervention: bool = False
    """Whether it has a title and mentions nothing of the intervention or exposure that a question names."""
    other_people: bool = False
    """Whether it is on children where the question is on adults, or on adults where it is on children."""
    like: float = 0.0
    """`likeness` of the question and the sentence that is nearest to it, read with the title."""


@lru_cache(maxsize=64)
def _concepts(question: str, known: Abbreviations) -> Concepts:
    """Kept, because each step of a run asks the same question of its documents several times."""
    return Concepts(question, known)


def _reading(concepts: Concepts, document: Evidence) -> Reading:
    """What a document mentions; remembered for short texts, which most are."""
    if len(document.text) > LONGEST_REMEMBERED:
        return _read(concepts, document)
    return _remembered(concepts, AsKey(document))


class AsKey:
    """A document as a key: all that a reading depends on."""

    __slots__ = ("document", "key")

    def __init__(self, document: Evidence) -> None:
        kind, mesh = document.evidence_type, document.facts.get("mesh", "")
        self.document = document
        named = named_by_its_file(document)
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
        return isinstance(other, AsKey) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=1024)
def _remembered(concepts: Concepts, read: AsKey) -> Reading:
    return _read(concepts, read.document)


def named_by_its_file(document: Evidence) -> bool:
    """Whether its title is the name of its file, which need not say what it is about."""
    return "title_from" in document.facts


def _begins_the_text(document: Evidence) -> bool:
    """Whether its title is the beginning of its first sentence, and no heading."""
    title = document.title.removesuffix("...").rstrip()
    begins = " ".join(document.text[:2_000].split()).startswith(title[:40])
    return begins and not document.text[len(document.title) :].startswith("\n")


def _vectors(document: Evidence, *, untitled: bool) -> Vectors:
    """`of_text`; remembered for short texts, of which a run asks several questions."""
    if len(document.text) > LONGEST_REMEMBERED:
        return of_text(*_compared(document, untitled))
    return _remembered_vectors(AsKey(document), untitled)


@lru_cache(maxsize=256)
def _remembered_vectors(read: AsKey, untitled: bool) -> Vectors:
    return of_text(*_compared(read.document, untitled))


def _compared(document: Evidence, untitled: bool) -> tuple[list[Sequence[str]], Sequence[str]]:
    return [s.terms for s in sentences(document)], () if untitled else terms(document.title)


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
        counts[place] += TITLE_COUNT - 1
    everything = frozenset().union(*spoken)
    untitled = not title or named_by_its_file(document) or _begins_the_text(document)
    # neither indexing terms, which name what a work mentions in passing, nor the text as a whole
    displaced = concepts.numbered_otherwise(texts)
    if not untitled:
        displaced |= concepts.displaced(document.title, texts[:-2])
    # what a title says may be presupposed, not what stands there in its place
    neighbours = in_place_of(concepts.words, everything, whole) if untitled else frozenset()
    like = likeness(concepts.vector, _vectors(document, untitled=untitled))
    # a user's own text says in its own words what it is about
    own = untitled or document.evidence_type in OF_THE_USER
    return Reading(
        sentences=tuple(spoken[:-3]),
        title=spoken[-3],
        spoken=everything,
        counts=counts,
        untitled=untitled,
        displaced=displaced,
        neighbours=neighbours,
        like=like,
        without_intervention=not own and not concepts.mentions_given(rows, everything),
    )
