"""Whether a sentence gives a reason, by the conjunctions and prepositions of cause and purpose of English
(Quirk et al., A Comprehensive Grammar of the English Language, 1985, sections 15.45 to 15.49)."""

import re

from activities.text.amounts import DATE, TIME

_CAUSE = re.compile(
    r"\bbecause\b|\b(?:due|owing|thanks) to\b|\bon account of\b"
    r"|\b(?:as|for) (?:a )?(?:results?|lack|want|fear) of\b"
    r"|\bgiven that\b|\bseeing (?:that|as)\b|\binasmuch as\b|\bnow that\b"
    r"|\breasons?\b|\b(?:is|was|were|are) (?:caused|explained) by\b|\bcauses?\b(?= (?:is|was|are|were)\b)"
    r"|\b(?:that|this|which) is why\b|\btherefore\b|\bhence\b|\bconsequently\b|\bresult(?:s|ed)? from\b",
    re.IGNORECASE,
)
_PURPOSE = re.compile(
    r"\b(?:so that|so as (?:not )?to|in order (?:not )?to|in order that|for the sake of|to avoid|lest)\b",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\bsince\b(?P<rest>[^,;.]*)", re.IGNORECASE)
_AS = re.compile(
    r"(?:,|;) as (?!(?:well|if|though|much|many|long|soon|far|opposed|usual|before|always|of|in|to)\b)"
)
_BEGINS_WITH_AS = re.compile(
    r"^As (?!(?:well|if|though|much|many|long|soon|far|opposed|usual|before|always|of|in|to|an?)\b)[^,]+,"
)
_SO = re.compile(r", so (?!(?:that|far|called|much|many)\b)")
_VERBLESS = re.compile(
    r"^\s*(?:then\b|last\b|early\b|late\b|the (?:end|beginning|start)\b)?\s*[^\s]*\s*$", re.IGNORECASE
)
_WHY = re.compile(
    r"\b(?:why|for what reason|what for|how come)\b|\bwhat (?:is|was) the reason\b", re.IGNORECASE
)


def asks_why(question: str) -> bool:
    """Whether a question asks for a reason."""
    return bool(_WHY.search(question))


def gives_reason(text: str) -> bool:
    """Whether a sentence says why: not by a `since` or an `as` of time."""
    return bool(
        _CAUSE.search(text)
        or _PURPOSE.search(text)
        or _AS.search(text)
        or _BEGINS_WITH_AS.search(text)
        or _SO.search(text)
        or any(not _of_time(found["rest"]) for found in _SINCE.finditer(text))
    )


def _of_time(rest: str) -> bool:
    """Whether `since` stands before a date, another time, or a single word."""
    begins = f"since {rest.strip()}"
    dated = any(
        found is not None and found.start() <= len("since ")
        for found in (DATE.search(begins), TIME.search(begins))
    )
    return dated or bool(_VERBLESS.match(rest))
