"""Guess what a person wants with a message about a finished report. Nothing acts on the guess: it is shown to
its writer, who decides."""

from typing import Literal, get_args

from activities.text.embeddings import embedder

Verb = Literal["ask", "change", "on"]
VERBS: tuple[Verb, ...] = get_args(Verb)
"""Ask the report, change it, or ask on with new searches."""
LIKE: dict[Verb, tuple[str, ...]] = {
    "ask": (
        "What does the report say about side effects?",
        "How many patients were in the trial?",
        "Which study is the strongest, and why?",
        "Explain this sentence.",
    ),
    "change": (
        "Make the report shorter.",
        "Rewrite it for a general reader.",
        "Leave out the section on methods.",
        "Add this work to the text.",
    ),
    "on": (
        "Search for newer studies on this.",
        "Find out whether it also holds for children.",
        "Look for trials of another drug of this class.",
        "Research the mechanism behind it as well.",
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
