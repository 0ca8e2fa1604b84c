"""Whether a work gives the sort of thing that a question asks for: who, where, when, how much, how many."""

from activities.text.amounts import (
    asks_for_money,
    asks_what_it_costs,
    counted,
    gives_count,
    gives_sum,
    is_unit,
)
from activities.text.directness import log_odds, logistic
from activities.text.needle import Needle, Reading
from activities.text.question import answer_fit, asked, says_what_sort
from activities.text.sentences import sentences
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
_OWN: frozenset[EvidenceType] = frozenset({"document"})


def weighed(question: str, needle: Needle, reading: Reading, document: Evidence, chance: float) -> float:
    """The probability `chance` that a work answers: raised where it gives what is asked for, lowered where it
    is a text of the user's own that gives none."""
    noun = counted(question)
    if not (noun or says_what_sort(question)):
        return chance
    said = [sentence.text for sentence in sentences(document)]
    if document.evidence_type in _OWN and not any(may_hold(question, text) for text in said):
        return logistic(log_odds(chance) + NOT_GIVEN)
    if noun or asks_what_it_costs(question):
        return chance  # other texts have numbers and sums too
    want = asked(question)
    given = any(
        needle.told(spoken) >= _LEAST_TOLD and answer_fit(want, question, text) == 1
        for text, spoken in zip(said, reading.sentences, strict=True)
    )
    return logistic(log_odds(chance) + GIVEN) if given else chance


def may_hold(question: str, text: str) -> bool:
    """Whether a sentence may hold the person, the sum or the number that is asked for; True for other
    questions: times and places are written in too many ways."""
    if noun := counted(question):
        return is_unit(noun) or gives_count(noun, text)
    if asks_for_money(question):
        return gives_sum(text)
    want = asked(question)
    return want.things != ("person",) or answer_fit(want, question, text) == 1
