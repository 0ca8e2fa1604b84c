"""Whether a sentence says that one thing is of a class: `alterations such as frost cracks`.

`Is X (considered) a Y?` is affirmed by `X is a Y`, by an apposition (`X, a Y`; `the Y X`), by an enumeration
of Ys that has X in it (Hearst 1992, Proceedings of COLING, 539-545: `Y such as X`, `Y including X`, `X and
other Ys`) and by X as an example or a type of Y. That both are mentioned does not suffice.
"""

import re

from activities.text.predicate import Predicate

_LIST = r"(?:(?!\b(?:that|which|who|is|are|was|were|has|have|had|can|may|to)\b)[^.;]){0,120}"
_AMONG = re.compile(
    r"\b(?:such as|including|includ(?:es?|ed)|e\.?g\.|viz\.?|namely|like|especially|particularly)[,:]? "
    rf"(?P<members>{_LIST})",
    re.IGNORECASE,
)
_OTHER = re.compile(r"(?P<members>[^.;]{0,120}?),? (?:and|or) other (?P<class>[^.;,]{0,60})", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"(?P<members>[^.;]{0,120}?)\b(?:examples?|types?|kinds?|forms?|class(?:es)?) of (?P<class>[^.;,]{0,60})",
    re.IGNORECASE,
)
_BEFORE = 6
"""Words before an enumeration among which its class is named."""
_IS = re.compile(
    r"\b(?:is|are|was|were|be|been|as|represents?|constitutes?|called|termed|becomes?)\b|, (?=an? |the |one )"
    r"|\((?=an? |the )",
    re.IGNORECASE,
)
_SUBJECT, _CLASS, _TOGETHER = 14, 10, 4
"""Words before a copula and behind it among which a subject and its class stand; those of `the Y X`."""
_ELSEWHERE = re.compile(r"[;:]|\b(?:that|which|who|whose|whom|where|when|while)\b", re.IGNORECASE)
"""What begins another clause."""


def counted_among(predicate: Predicate, sentence: str) -> bool:
    """Whether a sentence has the subject of a question `is X a Y?` among the Ys."""
    for match in _AMONG.finditer(sentence):
        before = " ".join(sentence[: match.start()].split()[-_BEFORE:])
        if _is_class(predicate, before) and predicate.names_first(match["members"]):
            return True
    found = (match for form in (_OTHER, _EXAMPLE) for match in form.finditer(sentence))
    return any(_is_class(predicate, m["class"]) and predicate.names_first(m["members"]) for m in found)


def said_to_be(predicate: Predicate, sentence: str) -> bool:
    """Whether a sentence says that the subject of such a question is of its class, and does not only mention
    both."""
    words = _ELSEWHERE.split(sentence)[0].split()
    runs = (" ".join(words[n : n + _TOGETHER]) for n in range(max(len(words) - _TOGETHER, 0) + 1))
    if any(predicate.names_first(run) and predicate.class_in(run) for run in runs):
        return True
    for match in _IS.finditer(sentence):
        before = " ".join(sentence[: match.start()].split()[-_SUBJECT:])
        behind = " ".join(_ELSEWHERE.split(sentence[match.end() :])[0].split()[:_CLASS])
        if predicate.names_first(before) and predicate.class_in(behind):
            return True
    return counted_among(predicate, sentence)


def _is_class(predicate: Predicate, text: str) -> bool:
    return predicate.class_in(text) and not predicate.lacks_quality(text)
