"""Does a sentence in someone's own words say what the sentence it rests on says? Decided by code.

A wording that fails costs nothing: the sentence it rests on replaces it. The check may therefore be strict.
"""

from collections.abc import Sequence

from activities.text.tokens import is_function, looks_special, terms, weak_stems
from activities.verification.claim_check import missing_number, reversal
from activities.verification.quote_check import normalise

LEAST_SHARED = 0.6
"""Share of a wording's content words that must be in its quotes. It was chosen on wordings of one model of
1.5 billion parameters, where it refused no good one and most of the bad ones; others were not measured."""


def wording_problem(text: str, quotes: Sequence[str], titles: Sequence[str], years: Sequence[int]) -> str:
    """Why a wording is not supported by its quotes; empty when it is.

    Most of its content words, all of its numbers, names and its direction must be in the quotes; a name may
    be in the title of a cited work instead, for which a quote says "the drug". `years` are those of the cited
    works.
    """
    plain, said = normalise(text), [normalise(quote) for quote in quotes]
    held = {term for quote in said for term in terms(quote)}
    words = terms(plain)
    if not words:
        return "it says nothing"
    shared = sum(word in held for word in words) / len(words)
    if shared < LEAST_SHARED:
        return "most of its words are not in its quote"
    if number := missing_number(plain, said, years, len(titles)):
        return f"it has a number that its quote does not have: {number}"
    known = {*held, *(term for title in titles for term in terms(title))}
    if name := next((n for n in names_in(plain) if not set(terms(n)) <= known), ""):
        return f"it has a name that its quote does not have: {name}"
    flips = [reversal(plain, quote) for quote in said]
    return flips[0] if flips and all(flips) else ""


def names_in(text: str) -> list[str]:
    """Words that are names by their look: a capital, digits beside letters, a technical ending. The first
    word has a capital anyhow: it counts unless it is one that any sentence may begin with."""
    words = [word.strip(".,;:()[]\"'") for word in text.split()]
    return [
        word
        for place, word in enumerate(words)
        if word and ((word[0].isupper() and (place or not _common(word))) or looks_special(word))
    ]


def _common(word: str) -> bool:
    return is_function(word) or set(terms(word)) <= weak_stems()
