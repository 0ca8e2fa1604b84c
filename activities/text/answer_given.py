"""Whether a work gives the sort of thing that a question asks for: who, where, when, how much, how many."""

import re
from collections.abc import Sequence

from activities.text import thesaurus
from activities.text.amounts import (
    asks_for_money,
    asks_what_it_costs,
    counted,
    gives_count,
    gives_sum,
    is_unit,
)
from activities.text.directness import log_odds, logistic
from activities.text.embeddings import embedder
from activities.text.modified import on_another
from activities.text.needle import ABBREVIATED, Needle, Reading
from activities.text.numerals import COUNT, number_of
from activities.text.persons_and_places import persons
from activities.text.question import answer_fit, asked, says_what_sort
from activities.text.sentences import sentences
from activities.text.stated_roles import asked_role
from activities.text.tokens import fold, terms
from activities.types import Evidence, EvidenceType

GIVEN = 1.0
"""What is added to the log odds that a work answers where it gives such a thing beside what the question
names: a sum beside the night in the rooms. Chosen on notes of our own and on the half `choosing` of
`benchmarks/own_documents.py`, where it lets no question in that no text answers."""
NOT_GIVEN = -3.0
"""What is added where a text of the user's own has no sentence that may hold the person, the sum of money or
the number of things that is asked for: a note without a sum says no price. Chosen on the part `notes` of the
same benchmark. Abstracts write numbers and names in ways that the patterns do not know."""
_LEAST_TOLD = 0.5
"""Share of the question's information content, at least, in the sentence that gives it."""
LEAST_LIKE = 0.3
"""Cosine with the question, at least, of the sentence that may hold what is asked for, by itself: without the
title, which any question on the same matter comes near to. Chosen on the part `notes` and the half
`choosing`, as `SURE_LIKE` is."""
SURE_LIKE = 0.6
"""The same from which that sentence is held to give it, as `_LEAST_TOLD` of the question's words."""
_TOLD_ITSELF = 0.75
"""Share of the question's information content in a sentence from which it need not be compared."""
_PERSONS = "18"
"""WordNet's file of nouns for persons."""
_WHICH = re.compile(r"^(?:which|what)\b", re.IGNORECASE)
_NUMBERED = re.compile(rf"\b(?P<number>{COUNT})[\s-]+(?P<unit>[^\W\d_]+(?: cent\b)?)", re.IGNORECASE)
_CONDITION = re.compile(
    rf"\bat (?:a \w+ of )?(?P<number>{COUNT})[\s-]+(?P<unit>[^\W\d_]+(?: cent\b)?)", re.IGNORECASE
)
_UNLIKELY = 0.1
"""Probability under which a text is not read further."""
_PRONOUN = re.compile(r"\b(?:it|he|she|they|him|her|them|this|these|that|those)\b", re.IGNORECASE)
_OWN: frozenset[EvidenceType] = frozenset({"document"})


def weighed(question: str, needle: Needle, reading: Reading, document: Evidence, chance: float) -> float:
    """The probability `chance` that a work answers: raised where it gives what is asked for, lowered where it
    is a text of the user's own that gives none."""
    noun = counted(question)
    own = document.evidence_type in _OWN
    if own and under_another_condition(question, f"{document.title}. {document.text[:ABBREVIATED]}"):
        return logistic(log_odds(chance) + NOT_GIVEN)
    if not (noun or says_what_sort(question) or (own and asks_for_person(question))):
        return chance
    said = [sentence.text for sentence in sentences(document)]
    if own and not _gives(question, needle, reading, said, chance):
        return logistic(log_odds(chance) + NOT_GIVEN)
    if noun or asks_what_it_costs(question):
        return chance  # other texts have numbers and sums too
    want = asked(question)
    fitting = [place for place, text in enumerate(said) if answer_fit(want, question, text) == 1]
    given = any(needle.told(reading.sentences[place]) >= _LEAST_TOLD for place in fitting)
    if own and not given and chance >= _UNLIKELY:
        kept = _on_the_same(question, needle, reading, said, fitting)
        given = _like(question, said, kept, 0.0) >= SURE_LIKE
    return logistic(log_odds(chance) + GIVEN) if given else chance


def _gives(question: str, needle: Needle, reading: Reading, said: Sequence[str], chance: float) -> bool:
    """Whether a text has a sentence that may hold what is asked for, and that is itself on what the question
    names: a note on another price, or on another person's part, has a sum or a name as well."""
    held = [place for place, text in enumerate(said) if may_hold(question, text)]
    if len(held) == len(said) and not is_missed(question):
        return True
    kept = _on_the_same(question, needle, reading, said, held)
    if not kept or chance < _UNLIKELY:
        return bool(kept)
    if any(needle.told(reading.sentences[place]) >= _TOLD_ITSELF for place in kept):
        return True
    return _like(question, said, kept, 1.0) >= LEAST_LIKE


def _on_the_same(
    question: str, needle: Needle, reading: Reading, said: Sequence[str], places: Sequence[int]
) -> list[int]:
    """The sentences that do not speak of another thing of the kind that is asked for, and that name, by
    themselves or in their heading, the role that a person is asked for in (the secretary)."""
    role = asked_role(question)
    of_role = {place for place, word in enumerate(needle.words) if role and fold(word.shown) == role}
    spoken = {place: reading.sentences[place] | reading.title for place in places}
    return [
        place
        for place in places
        if of_role <= spoken[place] and not on_another(question, needle.words, spoken[place], said[place])
    ]


def _like(question: str, said: Sequence[str], places: Sequence[int], unknown: float) -> float:
    """The highest cosine of these sentences with the question; `unknown` where no encoder is installed. A
    sentence is read behind the one before it where a pronoun stands for what that one names."""
    encoder = embedder() if places else None
    if encoder is None:
        return unknown
    texts = [
        f"{said[place - 1]} {said[place]}" if place and _PRONOUN.search(said[place]) else said[place]
        for place in places
    ]
    vectors = encoder.encode([question, *texts])
    return float((vectors[1:] * vectors[0]).sum(axis=1).max())


def is_missed(question: str) -> bool:
    """Whether a question asks for a person, a sum of money or a number of things, which a sentence surely
    lacks where none is found in it."""
    noun = counted(question)
    return (
        bool(noun and not is_unit(noun)) or asks_for_money(question) or asked(question).things == ("person",)
    )


def may_hold(question: str, text: str) -> bool:
    """Whether a sentence may hold the person, the sum or the number that is asked for; True for other
    questions: times and places are written in too many ways."""
    if noun := counted(question):
        return is_unit(noun) or gives_count(noun, text)
    if asks_for_money(question):
        return gives_sum(text)
    if not asks_for_person(question):
        return True
    known = fold(question)
    return any(fold(name) not in known for name, _, _ in persons(text))


def asks_for_person(question: str) -> bool:
    """Whether a question asks who, or which person of a kind (`which plumber came?`)."""
    want = asked(question)
    if want.form != "fact" or want.things == ("person",):
        return want.things == ("person",)
    head = fold(want.focus).rpartition(" ")[2]
    return not want.things and bool(_WHICH.match(question)) and _PERSONS in thesaurus.files(head)[:1]


def under_another_condition(question: str, text: str) -> bool:
    """Whether a text gives only other numbers of what a question asks `at` a number of: 40 degrees where it
    asks what happens at 80."""
    for found in _CONDITION.finditer(question):
        (unit,) = terms(found["unit"])[:1] or ("",)
        given = {
            number_of(m["number"])
            for m in _NUMBERED.finditer(text)
            if terms(m["unit"])[:1] == [unit] and unit
        }
        if given and number_of(found["number"]) not in given:
            return True
    return False
