"""A follow-up question as one that stands alone: it gets the names of the earlier one that it lacks."""

from activities.text.entities import link
from activities.text.tokens import fold, phrases

MAX_ENTITIES = 10
"""Names and phrases that are read from a question."""
MAX_ADDED = 6
"""Names of an earlier question that are added to one that follows it up."""


def stand_alone(question: str, earlier: str) -> str:
    """A follow-up with the names of the earlier question that it lacks, in brackets at its end; the question
    itself where it lacks none. What the earlier question has in such brackets was added to it in turn."""
    head, _, added = earlier.removesuffix(")").partition(" (") if earlier.endswith(")") else (earlier, "", "")
    named = dict.fromkeys((*entities(head), *(name.strip() for name in added.split(","))))
    lacking = [name for name in named if name and fold(name) not in fold(question)]
    return f"{question} ({', '.join(lacking[:MAX_ADDED])})" if lacking else question


def entities(question: str) -> tuple[str, ...]:
    """What a question names, as typed and in order: names of the vocabularies, and its other noun phrases."""
    named = [entity.surface for entity in link(question)]
    rest = [p for p in phrases(question) if not any(fold(n) in fold(p) or fold(p) in fold(n) for n in named)]
    every = sorted((*named, *rest), key=question.find)
    return tuple(dict.fromkeys(every))[:MAX_ENTITIES]
