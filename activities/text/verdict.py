"""Which way a work answers a yes-or-no question, where its wording leaves no doubt.

Rules over the sentences in which a work states its findings: an affirmation without a denial beside it means
yes, a denial of the very thing that is asked means no, and so does a quality with a denying prefix
(`inadequate`). Several sentences may decide where they agree. There is no verdict where the work weighs two
sides (`although`, `however`), where the question itself denies, where the finding is `only`, `questionable`
or `unclear`, where `no difference` answers a question that does not ask for one, and where no sentence covers
enough of the question. The conclusion of a work that covers the question need not repeat all of it. A wrong
direction costs more than none: measured by `benchmarks/directions.py`, which prints why there is none.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from activities.text import thesaurus
from activities.text import verdict_wording as wording
from activities.text.abbreviations import Abbreviations
from activities.text.concepts import Concepts
from activities.text.concessions import main_clauses
from activities.text.opposites import change, denies_opposite
from activities.text.question import compared, is_yes_or_no, stems
from activities.text.study_wording import PEOPLE
from activities.text.technical import TECHNICAL, technical
from activities.text.tokens import fold, is_function, stem, terms, weak_stems

Way = Literal["yes", "no"]
Undecided = Literal[
    "no yes-or-no question",
    "the question denies",
    "no sentence on the question",
    "one side of a comparison",
    "independent of something else",
    "a part of what is asked",
    "weighs two sides",
    "doubt",
    "sentences disagree",
    "wording",
]
"""Why a work has no direction."""
LEAST_COVERAGE = 0.6
"""Share of the question's weight in the decisive sentence at least."""
LEAST_OF_WORK, LEAST_CONCLUDING = 0.7, 0.15
"""The same of a conclusion whose work holds so much of the question."""
LEAST_RESTATED = 0.85
"""Share of a question from which a sentence states the very thing that is asked."""
LEAST_OF_NEAREST = 0.6
"""Share of what the nearest sentence covers that another one must cover to be read."""
READ = 20_000
"""Characters of a work that are read for what it is about: its title, its abstract and more."""
_AFTER_QUANTIFIER = 5
"""Words behind `must` or `always` among which the predicate stands that they are said of."""
_WORD_WEIGHT = 0.35
_WEAK_WEIGHT = 0.2
_CHANGE = "30"
"""WordNet's file of the verbs of change (`slow`, `shorten`)."""
_FIRST_SENSES = 3
_VERB = frozenset({"v"})
_RELATIONS = (
    (wording.CAUSAL, wording.CAUSAL),
    (wording.ROLE, wording.ROLE),
    (wording.ASKS_OCCURRENCE, wording.OCCURS),
    (wording.ASKS_USE, wording.USE),
)
"""What asks for a relation, and what states it."""
_WORDS = re.compile(r"[^\W_]+(?:[-'/][^\W_]+)*|[,;:.()]")
_OF_PEOPLE = re.compile(
    rf"\b(?:{PEOPLE}|populations?|cohorts?) (?:with|who have|having) (?:\w+ ){{0,2}}?\w+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A direction and the sentence it rests on."""

    way: Way
    sentence: str


class _Predicate:
    """What a question asks of its subject: the words that say it, and whether it asks for an effect, a
    relation or a value, which studies state in words that any question may have."""

    def __init__(self, question: str, known: Abbreviations) -> None:
        self._concepts = Concepts(question, known)
        words = self._concepts.words
        self._places = {
            place
            for place, word in enumerate(words)
            if not (word.noun or word.entity) and word.technical < TECHNICAL
        }
        last = len(words) - 1
        self._copular = bool(wording.COPULAR.match(question))
        self._is_a_quality = self._copular and last in self._places
        if self._is_a_quality:
            self._places = {last}
        asked = words[last].shown if self._is_a_quality else question
        changes = any(
            _CHANGE in thesaurus.files(words[place].shown)[:_FIRST_SENSES] for place in self._places
        )
        qualities = [words[place].shown for place in self._places if words[place].shown.isalpha()]
        # a quality with a prefix that denies it: `inadequate` of `adequate`
        denying = rf"\b(?:in|un|im|il|ir|dis|non-?)(?:{'|'.join(map(re.escape, qualities))})\b"
        self._contrary = re.compile(denying if qualities else r"$^", re.IGNORECASE)
        self._efficacy = bool(wording.ASKS_EFFICACY.search(question))
        self._asks_duty = bool(wording.ASKS_DUTY.search(question))
        self.evaluates = any(
            wording.AFFIRMS.fullmatch(words[place].shown) and not _VERB & thesaurus.parts_of_speech(words[place].shown)
            for place in self._places
        )
        self.asks_finding = changes or bool(wording.AFFIRMS.search(asked) or wording.FINDING.search(asked))

    def in_text(self, text: str) -> bool:
        """Whether a text has a word of the predicate, in any form or by a synonym."""
        return bool(self._places & self._mentioned(text))

    def restated(self, text: str) -> bool:
        """Whether a text says nearly all that is asked with the predicate, or all of it (`X is a Y`), without
        a hedge."""
        mentioned = self._mentioned(text)
        weights = _weights(self._concepts)
        said = sum(weights[place] for place in mentioned)
        if wording.HEDGES.search(text):
            return False
        if not self._places:
            return self._copular and len(mentioned) == len(weights)
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

    def restated_briefly(self, text: str) -> bool:
        """Whether a text has the predicate and the first thing that the question names."""
        named = (n for n, word in enumerate(self._concepts.words) if word.noun or word.entity)
        return self.in_text(text) and next(named, 0) in self._mentioned(text)

    def is_denied(self, text: str) -> bool:
        """Whether a text that denies something has the predicate, or denies a finding itself: `no effect`."""
        if self.contrary_in(text):
            return True
        stated = wording.PREMISE.sub("", text)
        if wording.NOT_SUPPORTED.search(text) or (self._efficacy and wording.INEFFICACY.search(text)):
            return True
        if self._asks_duty and wording.NO_DUTY.search(text):
            return True
        found = self.in_text(text) or (self.asks_finding and bool(wording.NO_FINDING.search(stated)))
        return found and bool(wording.DENIES.search(stated) or wording.ALIKE.search(stated))

    def denied_by(self, text: str) -> bool:
        """Whether a run of words that is denied is what the question asks: `without recurrence` denies
        nothing to a question that asks whether a treatment is sufficient."""
        if self.asks_finding and (wording.AFFIRMS.search(text) or wording.FINDING.search(text)):
            return True
        mentioned = self._mentioned(text)
        return bool(mentioned & self._places if self._is_a_quality else mentioned)

    def _mentioned(self, text: str) -> frozenset[int]:
        return self._concepts.read([terms(text)], [text])[0]


def verdict(question: str, findings: Sequence[str], work: str = "") -> Verdict | None:
    """The direction of a work whose findings these sentences state; None where it is uncertain. `work`: its
    whole text, where the sentences are its conclusions."""
    found = weigh(question, findings, work)
    return found if isinstance(found, Verdict) else None


def weigh(question: str, findings: Sequence[str], work: str = "") -> Verdict | Undecided:
    """The direction, or why none is given."""
    if not is_yes_or_no(question):
        return "no yes-or-no question"
    if wording.ASKS_DENIED.search(question):
        return "the question denies"
    of_all = bool(wording.UNIVERSAL.search(question))
    whole = {text if of_all else main_clauses(text): text for text in findings}
    stated = [text for text in whole if text]
    known = Abbreviations((question, *findings, work[:READ]))
    near = _near(Concepts(question, known), stated, work)
    if not near:
        return "no sentence on the question"
    predicate = _Predicate(question, known)
    if of_all:
        found = [_of_all(predicate, text) for text, _ in near]
    else:
        found = [_read(question, predicate, text, share, stated) for text, share in near]
    sure = [reading for reading in found if isinstance(reading, Verdict)]
    if len({reading.way for reading in sure}) > 1:
        return "sentences disagree"
    if sure:
        return Verdict(sure[0].way, whole[sure[0].sentence])
    return found[0]


def _read(
    question: str, predicate: _Predicate, sentence: str, share: float, findings: Sequence[str]
) -> Verdict | Undecided:
    """The direction of one sentence among a work's findings, or why it gives none."""
    sides = compared(question)
    if sides is not None and not stems(sentence) & sides[1]:
        return "one side of a comparison"
    if _beside(question, sentence):
        return "independent of something else"
    if _on_a_part(question, sentence):
        return "a part of what is asked"
    safe = wording.ASKS_SAFETY.search(question)
    if any(wording.WEIGHS.search(text if safe else wording.SAFETY_FIRST.sub("", text)) for text in findings):
        return "weighs two sides"
    whole = " ".join(findings)
    if wording.DOUBTS.search(whole):
        return "doubt"
    way = _way(question, predicate, sentence, whole)
    denied = " ".join(match.group() for match in wording.DENIED.finditer(sentence))
    opposite = not denied and change(question, sentence) == "opposite"
    opposite = opposite or _absent(question, sentence)
    if way is None or (way == "no" and not (opposite or predicate.is_denied(sentence))):
        return "wording"
    if way == "no" and not opposite and denies_opposite(question, denied):
        return "wording"
    if way == "yes" and share < LEAST_COVERAGE and not predicate.restated_briefly(sentence):
        return "no sentence on the question"
    return Verdict(way, sentence)


def _of_all(predicate: _Predicate, sentence: str) -> Verdict | Undecided:
    """The same for a question about all of a kind (`are enhancers always active?`): one counter-example denies
    it, and only a statement on all affirms it."""
    exception = wording.NOT_ALL.search(sentence) and predicate.in_text(sentence)
    denied = any(predicate.in_text(match.group()) for match in wording.DENIED.finditer(sentence))
    if exception or denied or predicate.contrary_in(sentence):
        return Verdict("no", sentence)
    if wording.UNIVERSAL.search(sentence) and predicate.restated(sentence):
        return Verdict("yes", sentence)
    return "wording"


def _absent(question: str, sentence: str) -> bool:
    """Whether a sentence says that what a question asks for does not exist: `no vaccine is available`."""
    asked = wording.EXISTENCE.search(question)
    if asked is None:
        return False
    wanted = set(terms(asked["what"].rsplit(" ", 1)[-1]))
    for match in wording.MISSING.finditer(sentence):
        if wanted and wanted <= set(terms(match["what"] or match["what2"])):
            return True
    return False


def _beside(question: str, sentence: str) -> bool:
    """Whether a sentence calls a finding independent of something that is not asked about: `regardless of
    size` denies an influence of size only."""
    found = wording.INDEPENDENT.search(sentence)
    return found is not None and not set(terms(sentence[found.end() :])) & set(terms(question))


def _on_a_part(question: str, sentence: str) -> bool:
    """Whether a sentence speaks of a thing that the question asks about only as of what something else is of:
    `obesity and asthma control` is not on asthma. Whom a study was made on (`patients with asthma`) does not
    count."""
    asked = _WORDS.findall(fold(question))
    said = _WORDS.findall(fold(_OF_PEOPLE.sub(" ", sentence)))
    own = {stem(word) for word in asked}
    for place, word in enumerate(asked):
        following = asked[place + 1] if place + 1 < len(asked) else ""
        if technical(word) < TECHNICAL or (following and not is_function(following)):
            continue
        behind = [said[n + 1 : n + 2] for n, other in enumerate(said) if stem(other) == stem(word)]
        if behind and all(after and _is_another(after[0], own) for after in behind):
            return True
    return False


def _is_another(word: str, own: Collection[str]) -> bool:
    """Whether a word is a noun for something that neither the question names nor any study has."""
    known = stem(word) in own or stem(word) in weak_stems()
    return thesaurus.mostly_noun(word) and not known and not is_function(word)


def _weights(concepts: Concepts) -> list[float]:
    return [w.technical + _WORD_WEIGHT if w.technical else _WEAK_WEIGHT for w in concepts.words]


def _shares(concepts: Concepts, texts: Sequence[str]) -> list[float]:
    """How much of the question each text holds, 0 to 1."""
    weights = _weights(concepts)
    total = sum(weights)
    spoken = concepts.read([terms(text) for text in texts], texts)
    return [sum(weights[p] for p in places) / total if total else 0.0 for places in spoken]


def _near(concepts: Concepts, findings: Sequence[str], work: str) -> list[tuple[str, float]]:
    """The sentences that cover enough of the question with what they cover, the nearest first. The conclusion
    of a work that covers the question need not repeat it."""
    if not findings:
        return []
    *shares, whole = _shares(concepts, (*findings, work[:READ]))
    least = LEAST_CONCLUDING if whole >= LEAST_OF_WORK else LEAST_COVERAGE
    least = max(least, LEAST_OF_NEAREST * max(shares))
    order = sorted(range(len(findings)), key=lambda n: (-shares[n], n))
    return [(findings[n], shares[n]) for n in order if shares[n] >= least]


def _way(question: str, predicate: _Predicate, quoted: str, findings: str) -> Way | None:
    """The direction of a sentence (`quoted`), the nearest to the question among a work's findings."""
    if not wording.ASKS_SAFETY.search(question):
        quoted = wording.SAFETY_FIRST.sub("", quoted)
    sentence, whole = wording.HARMLESS.sub(" ", quoted), wording.HARMLESS.sub(" ", findings)
    runs = [match.group() for match in wording.DENIED.finditer(sentence)]
    bare = wording.DENIED.sub(" ", sentence)
    if wording.ALIKE.search(quoted):
        alike, different = (
            bool(wording.ASKS_ALIKE.search(question)),
            bool(wording.ASKS_DIFFERENT.search(question)),
        )
        if alike != different:
            return "yes" if alike else "no"
        bare = wording.ALIKE.sub(" ", bare)
    if predicate.contrary_in(sentence):
        return None if wording.DIRECTLY_DENIED.search(sentence) else "no"
    if any(predicate.in_text(match.group()) for match in wording.DIRECTLY_DENIED.finditer(sentence)):
        return "no"
    if wording.ASKS_DUTY.search(question) and wording.NO_DUTY.search(sentence):
        return "no"
    if wording.NOT_SUPPORTED.search(sentence) or _absent(question, sentence):
        return "no"
    if wording.ASKS_EFFICACY.search(question) and wording.INEFFICACY.search(sentence):
        return "no"
    missing = wording.NO_FINDING.search(sentence) if predicate.asks_finding else None
    if missing and not wording.AFFIRMS.search(sentence[: missing.start()]):
        return "no"
    if runs and not wording.AFFIRMS.search(bare):
        return "no" if any(predicate.denied_by(run) for run in runs) else None
    duty = bool(wording.ASKS_DUTY.search(question) and wording.DUTY.search(bare))
    relations = [says for asks, says in _RELATIONS if asks.search(question)]
    related = any(says.search(bare) for says in relations)
    affirms = duty or related or bool(wording.AFFIRMS.search(bare)) and (predicate.asks_finding or predicate.in_text(bare))
    if not (affirms or (not runs and (related or not relations) and not predicate.evaluates and predicate.restated(quoted))) or wording.DENIES.search(whole):
        return None
    stated = change(question, sentence)
    if stated in ("opposite", "uncertain"):
        return "no" if stated == "opposite" and not runs else None
    if wording.QUANTIFIED.search(question) and not duty and not predicate.quantified(quoted):
        return None
    partly = wording.PARTLY.search(quoted)
    less = wording.LESS.search(wording.LESS_HARM.sub(" ", quoted)) and not wording.ASKS_LESS.search(question)
    return None if partly or less else "yes"
