"""What a yes-or-no question asks of its subject, and whether a text says it."""

import re
from collections.abc import Collection, Sequence

from activities.text import thesaurus
from activities.text import verdict_wording as wording
from activities.text.abbreviations import Abbreviations
from activities.text.concepts import Concepts, Word
from activities.text.hedges import unhedged
from activities.text.technical import TECHNICAL
from activities.text.tokens import terms

LEAST_RESTATED = 0.85
"""Share of a question from which a sentence states the very thing that is asked."""
_AFTER_QUANTIFIER = 5
"""Words behind `must` or `always` among which the predicate stands that they are said of."""
_WORD_WEIGHT = 0.35
_WEAK_WEIGHT = 0.2
_CHANGE = "30"
"""WordNet's file of the verbs of change (`slow`, `shorten`)."""
_FIRST_SENSES = 3


_CLASS = re.compile(
    r"(?:(?:^|[:.;,\u2013\u2014-]\s*)(?:is|are|was|were)"
    r"|\b(?:be|become|serve as|act as|(?:considered|regarded as|classified as)(?= an? )|represent|constitute"
    r"|form))\b"
    r"[^?]*?\ban? (?P<qualities>(?:[\w-]+ ){0,3}?)(?P<noun>[\w-]+)"
    r"(?= (?:of|for|to|in|on|at|with|against|during|after|among|from|by)\b|\s*\?)",
    re.IGNORECASE,
)
"""The noun of a question whether one thing is another, or can be or become it."""
_BEHIND = re.compile(
    r"\b(?:by|with|of|in|on|at|to|for|from|through|via|during|after|before|than|as) an? $", re.IGNORECASE
)
"""An article whose noun stands behind a preposition."""
_CLASS_DENIED = re.compile(
    r"\b(?:not|never|no longer) (?:\w+ly )?(?:(?:be|been|appear|seem|prove|to|considered|regarded|seen|as"
    r"|found|shown) ){0,5}(?:an? |the )?(?:[\w-]+ ){0,3}?[\w-]+(?= |[.,;]|$)(?: [\w-]+)?",
    re.IGNORECASE,
)


class Predicate:
    """What a question asks of its subject: the words that say it, and whether it asks for an effect, a
    relation or a value, which studies state in words that any question may have."""

    def __init__(self, question: str, known: Abbreviations) -> None:
        self._question = question
        self._concepts = Concepts(question, known)
        words = self._concepts.words
        self._places = {
            place
            for place, word in enumerate(words)
            if not (word.noun or word.entity) and word.technical < TECHNICAL and not _is_added(word)
        }
        last = max((place for place, word in enumerate(words) if not _is_added(word)), default=-1)
        self._copular = bool(wording.COPULAR.match(question))
        self._class = self._asked_class(question)
        self._qualities = self._asked_qualities(question)
        self._is_a_quality = self._copular and last in self._places
        if self._is_a_quality:
            self._places = {last}
        self._own = {place for place in self._places if not _stands_before(question, words, place)}
        asked = words[last].shown if self._is_a_quality else wording.COMPOUND.sub("", question)
        changes = any(
            _CHANGE in thesaurus.files(words[place].shown)[:_FIRST_SENSES] for place in self._places
        )
        qualities = [words[place].shown for place in self._places if words[place].shown.isalpha()]
        # a quality with a prefix that denies it: `inadequate` of `adequate`
        self._contrary = _with_prefix(qualities)
        adjectives = (w.shown for w in words if "a" in thesaurus.parts_of_speech(w.shown))
        self._prefixed = _with_prefix([word for word in adjectives if word.isalpha()])
        self.evaluates = any(
            wording.AFFIRMS.fullmatch(word) and "v" not in thesaurus.parts_of_speech(word)
            for word in (words[place].shown for place in self._places)
        )
        self.asks_finding = changes or bool(wording.AFFIRMS.search(asked) or wording.FINDING.search(asked))

    def _asked_class(self, question: str) -> int | None:
        """Place of the noun in `is X a NOUN?`."""
        found = _CLASS.search(question)
        if found is None:
            return None
        head = set(terms(found["noun"]))
        places = [place for place, word in enumerate(self._concepts.words) if head & set(word.terms)]
        return places[-1] if places else None

    def _asked_qualities(self, question: str) -> set[int]:
        """Places of the adjectives before that noun that judge nothing: `minor` of `a minor procedure`."""
        found = _CLASS.search(question)
        if found is None or _BEHIND.search(question[: found.start("qualities")]):
            return set()
        noun = found["noun"]
        words = [word for word in found["qualities"].split() if _only_sets_apart(word, noun)]
        stems = {form for word in words for form in terms(word)}
        return {n for n, word in enumerate(self._concepts.words) if stems & set(word.terms)}

    def lacks_quality(self, text: str) -> bool:
        """Whether a text lacks an adjective of the noun in `is X a QUALITY NOUN?`."""
        return not self._qualities <= self._mentioned(text)

    def in_text(self, text: str) -> bool:
        """Whether a text has a word of the predicate, in any form or by a synonym."""
        return bool(self._places & self._mentioned(text))

    def without_harmless(self, text: str) -> str:
        """A text without the phrases whose negation denies nothing (`should not preclude`), unless it denies
        the predicate itself."""
        return wording.HARMLESS.sub(lambda m: m.group() if self.in_text(m.group()) else " ", text)

    def may_be_said_by(self, text: str) -> bool:
        """Whether a text has a word of the predicate, or the question has none but what it judges by."""
        return not self._own or self.evaluates or bool(self._own & self._mentioned(text))

    def states(self, text: str) -> bool:
        """Whether a text has the last word of the predicate, which says it (`is a late palsy prevented?`)."""
        return bool(self._places) and max(self._places) in self._mentioned(text)

    def has_own_in(self, text: str) -> bool:
        """Whether a text has a word of the predicate that stands by itself, and is no part of a name."""
        return bool(self._own & self._mentioned(text))

    def mentions(self, words: Collection[str], text: str) -> bool:
        """Whether a text has any of these words of the question, in any form or by a synonym; so it has where
        there are none."""
        places = {place for place, word in enumerate(self._concepts.words) if word.shown.casefold() in words}
        return not places or bool(places & self._mentioned(text))

    @property
    def asks_class(self) -> bool:
        """Whether a question asks if its subject is of a class: `is X a Y?`."""
        return self._class is not None

    def class_in(self, text: str) -> bool:
        """Whether a text has the noun that a question asks whether its subject is (`is age a barrier?`)."""
        return self._class is not None and self._class in self._mentioned(text)

    def restated(self, text: str) -> bool:
        """Whether a text says nearly all that is asked with the predicate, or all of it (`X is a Y`), without
        a hedge."""
        mentioned = self._mentioned(unhedged(self._question, text))
        weights = weights_of(self._concepts)
        said = sum(weights[place] for place in mentioned)
        if not self._places:
            return len(mentioned) == len(weights)
        return bool(self._places & mentioned) and said >= LEAST_RESTATED * sum(weights)

    def quantified(self, text: str) -> bool:
        """Whether a word of necessity or of all stands just before the predicate."""
        return any(
            self.in_text(" ".join(text[match.end() :].split()[:_AFTER_QUANTIFIER]))
            for match in wording.QUANTIFIED.finditer(text)
        )

    def contrary_in(self, text: str) -> bool:
        """Whether a text has a quality that is asked about with a prefix that denies it."""
        return bool(self._contrary.search(text))

    def denied_by_prefix(self, text: str) -> bool:
        """Whether a text has any quality of the question with such a prefix: `a noninfectious disease`."""
        return bool(self._prefixed.search(text))

    def loses(self, text: str, part: str) -> bool:
        """Whether a part of a text lacks a word of the question that the text has."""
        return not self._mentioned(text) <= self._mentioned(part)

    def restated_briefly(self, text: str) -> bool:
        """Whether a text has the predicate and the first thing that the question names."""
        return self.in_text(text) and self.names_first(text)

    def names_first(self, text: str) -> bool:
        """Whether a text has the first thing that the question names."""
        named = (n for n, word in enumerate(self._concepts.words) if word.noun or word.entity)
        return next(named, 0) in self._mentioned(text)

    def is_denied(self, text: str) -> bool:
        """Whether a text that denies something has the predicate, or denies a finding itself: `no effect`."""
        if self.contrary_in(text):
            return True
        stated = wording.PREMISE.sub("", text)
        if wording.NOT_SUPPORTED.search(text) or self.class_denied(text):
            return True
        found = self.in_text(text) or (self.asks_finding and bool(wording.NO_FINDING.search(stated)))
        return found and bool(wording.DENIES.search(stated) or wording.ALIKE.search(stated))

    def class_denied(self, text: str) -> bool:
        """Whether a text denies the noun that is asked about directly: `should not be a barrier`."""
        return any(self.class_in(m.group()) for m in _CLASS_DENIED.finditer(text))

    def denied_by(self, text: str) -> bool:
        """Whether a run of words that is denied is what the question asks: `without recurrence` denies
        nothing to a question that asks whether a treatment is sufficient."""
        if self.asks_finding and (wording.AFFIRMS.search(text) or wording.FINDING.search(text)):
            return True
        mentioned = self._mentioned(text)
        return bool(mentioned & self._places if self._is_a_quality else mentioned)

    def _mentioned(self, text: str) -> frozenset[int]:
        return self._concepts.read([terms(text)], [text])[0]


def weights_of(concepts: Concepts) -> list[float]:
    """How much each word of a question counts."""
    return [w.technical + _WORD_WEIGHT if w.technical else _WEAK_WEIGHT for w in concepts.words]


def _stands_before(question: str, words: Sequence[Word], place: int) -> bool:
    """Whether a word only sets the noun behind it apart: `acute` of `acute appendicitis`, no judgement."""
    after = words[place + 1] if place + 1 < len(words) else None
    word = words[place].shown
    if after is None or not (after.noun or after.entity) or wording.AFFIRMS.fullmatch(word):
        return False
    if "v" in thesaurus.parts_of_speech(word):
        return False
    return f"{words[place].shown} {after.shown}".casefold() in question.casefold()


def _only_sets_apart(word: str, noun: str) -> bool:
    """Whether a word before a noun is an adjective by which no study judges what it found."""
    if thesaurus.senses(f"{word} {noun}"):  # one name: `side effect`
        return False
    return "a" in thesaurus.parts_of_speech(word) and not wording.AFFIRMS.search(f"{word} {noun}")


def _is_added(word: Word) -> bool:
    """Whether a word stands for a name with a number or a letter (`type 2`), whose words come before it."""
    return " " in word.shown


def _with_prefix(qualities: Sequence[str]) -> re.Pattern[str]:
    """A quality with a prefix that denies it."""
    denying = rf"\b(?:in|un|im|il|ir|dis|non-?)(?:{'|'.join(map(re.escape, qualities))})\b"
    return re.compile(denying if qualities else r"$^", re.IGNORECASE)
