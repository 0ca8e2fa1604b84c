"""What is not printed whatever a second reader says."""

import re
from collections.abc import Sequence

from activities.contracts.evidence import Statement
from activities.text.normal_form import normalise
from activities.text.tokens import terms
from activities.verification.computed import computed_from
from activities.verification.reading import tokens

MIN_SHARED, ROOT = 2, 5
"""Content words that a sentence of some length shares with its quotes, and letters in which two words
agree."""
SHORT = 4
"""Content words of a sentence that shares one with its quotes at least."""
_RECOMMENDS = re.compile(
    r"\b(?:clinicians?|doctors?|physicians?|patients?|hospitals?|governments?|policy ?makers?|"
    r"practitioners?)\s+(?:\w+\s+)?(?:should|must|ought to|need to)\b"
    r"|\b(?:should|must|ought to) (?:\w+ly |therefore |now |always )*(?:adopt\b|be (?:\w+ly )?"
    r"(?:adopted|used|prescribed|given|recommended|avoided|preferred|offered|considered|stopped|replaced)\b)"
    r"|\b(?:we|is|are|be|therefore|strongly) recommend(?:ed)?\b",
    re.IGNORECASE,
)
_UNIVERSAL = re.compile(
    r"\b(?:all|every|any)(?: single)? (?:patients?|people|persons?|humans?|individuals?|populations?|"
    r"countr(?:y|ies)|ages|women|woman|men|man|child|children|adults?|hospitals?)\b"
    r"|\b(?:worldwide|universally|everywhere)\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:all|every|any|each|entire|whole|universal\w*|worldwide|world|everywhere)\b", re.IGNORECASE
)
"""Words of a quote that may be as wide."""
_RECOMMENDING = re.compile(r"\b(?:should|must|ought|recommend\w*|advis\w+|need(?:s|ed)? to)\b", re.IGNORECASE)


def below_floor(text: str, quotes: Sequence[str]) -> Statement | None:
    """Why a sentence is never printed: it shares next to no word with its quotes, recommends what they do
    not, or speaks of all where they do not. None where a second reader may be asked."""
    plain, quote_text = normalise(text), " ".join(map(normalise, quotes))
    own, theirs = ({term[:ROOT] for term in terms(one)} for one in (plain, quote_text))
    least = MIN_SHARED if len(own) > SHORT else 1
    quoted = {token.stem for token in tokens(quote_text) if token.number}
    has_number = any(token.number and token.stem in quoted for token in tokens(plain))
    if len(own & theirs) < least and not has_number and not computed_from(text, quotes):
        return Statement.of("not_of_quotes")
    if _RECOMMENDS.search(plain) and not _RECOMMENDING.search(quote_text):
        return Statement.of("recommends")
    if (match := _UNIVERSAL.search(plain)) and not _WHOLE.search(quote_text):
        return Statement.of("widens", words=match[0])
    return None
