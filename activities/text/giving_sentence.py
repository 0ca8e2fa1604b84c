"""Which of several sentences gives what a question asks for: the reason of a why, the person of a who, the
time of a when, the sum or the number of a how much.

A text often names its subject in one sentence and says what is asked for in the next. That one answers,
though it holds less of the question's words.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from activities.text.amounts import counted, gives_count, is_unit
from activities.text.concepts import Concepts
from activities.text.modified import on_another
from activities.text.question import answer_fit, asked, says_what_sort
from activities.text.reasons import asks_why, gives_reason
from activities.text.tokens import terms

LEAST_SHARE = 0.5
"""Share of what the sentence that holds most of the question holds of it, from which a sentence is on it."""
_NEXT, _BEFORE = 2, 1
"""Sentences behind that one, and before it, that may go on about the same without its words."""
_REFERS = re.compile(r"\b(?:it|he|she|they|him|her|them|this|these|that|those)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of a work."""

    work: str
    place: int
    """Its place among the sentences of the work; less than 0 where that is not known."""
    text: str


def giving(question: str, said: Sequence[Said]) -> int | None:
    """The place among `said` of the sentence that gives what is asked for; None where the one that holds most
    of the question gives it, where none does, or where the question asks for nothing of these."""
    gives = _gives(question)
    if gives is None or not said:
        return None
    concepts = Concepts(question)
    texts = [one.text for one in said]
    spoken = concepts.read([terms(text) for text in texts], texts)
    weights = [0.3 + word.technical for word in concepts.words]
    shares = [sum(weights[place] for place in places) for places in spoken]
    best = max(range(len(said)), key=lambda n: (shares[n], -n))
    if not shares[best] or gives(texts[best]):
        return None
    giving = [
        n
        for n, text in enumerate(texts)
        if gives(text) and not on_another(question, concepts.words, spoken[n], text)
    ]
    on_it = [n for n in giving if shares[n] >= LEAST_SHARE * shares[best]]
    if on_it:
        return max(on_it, key=lambda n: (shares[n], -n))
    near = [n for n in giving if _goes_on(said[best], said[n], shared=shares[n] > 0)]
    return min(near, key=lambda n: abs(said[n].place - said[best].place), default=None)


def _goes_on(first: Said, other: Said, *, shared: bool) -> bool:
    """Whether a sentence stands so near to another of its work that it goes on about the same."""
    if first.work != other.work or min(first.place, other.place) < 0:
        return False
    distance = other.place - first.place
    return -_BEFORE <= distance <= _NEXT and (shared or distance == 1 or bool(_REFERS.search(other.text)))


def _gives(question: str) -> Callable[[str], bool] | None:
    """What says of a sentence whether it gives what a question asks for."""
    if asks_why(question):
        return gives_reason
    noun = counted(question)
    if noun and not is_unit(noun):
        return lambda text: gives_count(noun, text)
    want = asked(question)
    if says_what_sort(question):
        return lambda text: answer_fit(want, question, text) == 1
    return None
