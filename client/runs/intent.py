"""Guess what a person wants with a message about a finished report. Nothing acts on the guess: it is shown to
its writer, who decides."""

from typing import Literal, get_args

from activities.text.embeddings import embedder

Verb = Literal["ask", "change", "on"]
VERBS: tuple[Verb, ...] = get_args(Verb)
"""Ask the report, change it, or ask on with new searches."""
LIKE: dict[Verb, tuple[str, ...]] = {
    "ask": (
        "What does the report say about it?",
        "How many were in the study?",
        "Which of them is the strongest, and why?",
        "Explain this to me.",
        "Is this true?",
    ),
    "change": (
        "Make the report shorter.",
        "Rewrite it for other readers.",
        "Leave this part out of the report.",
        "Add this to the text.",
        "Use a simpler language.",
    ),
    "on": (
        "Search for newer studies.",
        "Look for more trials.",
        "Find other works on this.",
        "Research this as well.",
        "Search again for something else.",
    ),
}
"""Messages of each kind."""


def likely(text: str) -> Verb:
    """What a message is most like, by the meaning of whole sentences; a question where no model of sentences
    is installed. It is shown and not acted upon."""
    encoder = embedder()
    if encoder is None:
        return "ask"
    vectors = encoder.encode([text, *(like for verb in VERBS for like in LIKE[verb])])
    nearness = [float(vectors[0] @ other) for other in vectors[1:]]
    best: dict[Verb, float] = {}
    place = 0
    for verb in VERBS:
        best[verb] = max(nearness[place : place + len(LIKE[verb])])
        place += len(LIKE[verb])
    return max(VERBS, key=lambda verb: best[verb])
