"""A direction that a conclusion gives as a whole, where the wording of no single sentence is certain.

A conclusion that affirms answers yes where nothing in it denies, weighs, doubts or restricts, and a sentence
that covers enough of the question says what is asked. What is to be done, what is awaited, a hedge against
the tests of the work and the opposite of a change say nothing. There is no such rule for no: a denial may be
of anything.
"""

from collections.abc import Sequence

from activities.text import verdict_relations as relations
from activities.text import verdict_wording as wording
from activities.text.opposites import change, undirected
from activities.text.predicate import Predicate

_OTHER_TONES = (wording.DENIES, wording.WEIGHS, wording.DOUBTS, wording.PARTLY)


def affirmed_throughout(
    question: str, predicate: Predicate, near: Sequence[str], findings: Sequence[str], tests: int
) -> str | None:
    """The sentence that affirms what is asked. `near`: the sentences that cover enough of the question, the
    nearest first; `findings`: all of the conclusion; `tests`: the balance of the work's tests."""
    whole = wording.HARMLESS.sub(" ", " ".join(findings))
    if any(tone.search(whole) for tone in _OTHER_TONES):
        return None
    if wording.QUANTIFIED.search(question) or wording.ASKS_DENIED_WITHIN.search(question):
        return None
    if tests < 0 and wording.HEDGES.search(whole):
        return None
    return next((text for text in near if _affirms(question, predicate, text)), None)


def _affirms(question: str, predicate: Predicate, sentence: str) -> bool:
    """Whether a sentence of a conclusion that denies nothing says what is asked."""
    affirms = bool(wording.AFFIRMS.search(sentence))
    if predicate.evaluates and not affirms:
        return False
    if not (predicate.states(sentence) or (affirms and predicate.has_own_in(sentence))):
        return False
    less = wording.LESS.search(wording.LESS_HARM.sub(" ", sentence))
    if less and not (wording.ASKS_LESS.search(question) or wording.ASKS_EITHER_WAY.search(question)):
        return False
    if wording.ALIKE.search(sentence) and not wording.ASKS_ALIKE.search(question):
        return False
    if predicate.denied_by_prefix(sentence) or wording.DEMANDS.search(sentence):
        return False
    if relations.pending(question, sentence) or undirected(question, sentence):
        return False
    return change(question, sentence) not in ("opposite", "uncertain")
