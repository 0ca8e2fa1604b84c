"""What is not printed whatever a second reader says."""

import re
from collections.abc import Sequence

from activities.text.tokens import terms
from activities.types import Statement
from activities.verification.normal_form import normalise
from activities.verification.reading import tokens

MIN_SHARED = 2
"""Content words that a sentence shares with its quotes, or all that it has."""
_RECOMMENDS = re.compile(
    r"\b(?:clinicians?|doctors?|physicians?|patients?|hospitals?|governments?|policy ?makers?|everyone|"
    r"you|we|people|practitioners?|readers?)\s+(?:\w+ly\s+)?(?:should|must|ought to|need to)\b"
    r"|\b(?:should|must) (?:therefore |now |always |routinely )*"
    r"(?:adopt|take|use|avoid|be (?:adopted|used|prescribed|given|recommended|avoided|preferred|first))\b"
    r"|\b(?:we|is|are|therefore|strongly) recommend(?:ed)?\b",
    re.IGNORECASE,
)
_UNIVERSAL = re.compile(
    r"\b(?:in|for|to|among|of)\s+(?:all|every|any|each)\s+(?:\w+\s+){0,2}?"
    r"(?:patients?|people|persons?|humans?|individuals?|populations?|countr(?:y|ies)|ages|women|men|children)\b"
    r"|\b(?:worldwide|universally|everybody|everyone|everywhere|in the whole world|around the world|"
    r"globally)\b"
    r"|\bevery(?:\s+single)?\s+(?:patient|person|hospital|human|woman|man|child|country)\b",
    re.IGNORECASE,
)
_RECOMMENDING = re.compile(r"\b(?:should|must|ought|recommend\w*|advis\w+|need(?:s|ed)? to)\b", re.IGNORECASE)


def below_floor(text: str, quotes: Sequence[str]) -> Statement | None:
    """Why a sentence is never printed: it shares next to no word with its quotes, recommends what they do
    not, or speaks of all where they do not. None where a second reader may be asked."""
    plain, said = normalise(text), " ".join(map(normalise, quotes))
    own = set(terms(plain))
    if len(own & set(terms(said))) < min(MIN_SHARED, len(own)) and not _numbers_shared(plain, said):
        return Statement(code="not_of_quotes")
    if _RECOMMENDS.search(plain) and not _RECOMMENDING.search(said):
        return Statement(code="recommends")
    if (match := _UNIVERSAL.search(plain)) and not _UNIVERSAL.search(said):
        return Statement(code="widens", values={"words": match[0]})
    return None


def _numbers_shared(text: str, said: str) -> bool:
    stated = {token.stem for token in tokens(said) if token.number}
    return any(token.number and token.stem in stated for token in tokens(text))
