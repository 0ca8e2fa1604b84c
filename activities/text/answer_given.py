"""Whether a work gives the sort of thing that a question asks for: who, where, when, how much money."""

from activities.text.directness import log_odds, logistic
from activities.text.needle import Needle, Reading
from activities.text.question import answer_fit, asked, says_what_sort
from activities.text.sentences import sentences
from activities.types import Evidence

GIVEN = 1.0
"""What is added to the log odds that a work answers where it gives such a thing beside what the question
names: a sum beside the night in the rooms. Chosen on notes of our own and on the half `choosing` of
`benchmarks/own_documents.py`, where it lets no question in that no text answers."""
_LEAST_TOLD = 0.5
"""Share of the question's information content, at least, in the sentence that gives it."""


def raised(question: str, needle: Needle, reading: Reading, document: Evidence, chance: float) -> float:
    """The probability `chance` that a work answers, raised where it gives what is asked for."""
    if not says_what_sort(question):
        return chance
    want = asked(question)
    given = any(
        needle.told(spoken) >= _LEAST_TOLD and answer_fit(want, question, sentence.text) == 1
        for sentence, spoken in zip(sentences(document), reading.sentences, strict=True)
    )
    return logistic(log_odds(chance) + GIVEN) if given else chance
