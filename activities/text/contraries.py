"""A quality that excludes the one a question asks for: `an autosomal recessive disease` is no dominant one.

`Is X a QUALITY NOUN?` and `is X QUALITY?` are denied by a sentence that names X and says of it, or of the
same noun, an antonym of the quality (WordNet's) or the other frequency (`rare` of `common`), and not the
quality itself. Where the antonym is denied, or said of something else, nothing is certain.
"""

import re
from collections.abc import Collection, Sequence

from activities.text import thesaurus
from activities.text import verdict_wording as wording
from activities.text.tokens import fold, is_function, terms

_OFTEN = frozenset({"common", "frequent", "usual", "widespread", "prevalent"})
_SELDOM = frozenset({"rare", "uncommon", "infrequent", "unusual"})
_REACH = 3
"""Words between a quality and the noun that it is said of, at most."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_BE = (
    r"\b(?:is|are|was|were|be|been|remains?|remained|seems?|appears?|appeared)\b"
    r"(?: (?:a|an|the|very|still|extremely|often|generally|usually))*"
)
_CLASS = re.compile(
    r"(?:is|are|was|were) (?P<subject>.+?) (?:considered |regarded as |classified as )?an? "
    r"(?P<qualities>(?:[\w-]+ ){1,3}?)(?P<class>[\w-]+)"
    r"(?= (?:of|for|to|in|on|at|with|against|during|after|among|from|by)\b|\s*\?)",
    re.IGNORECASE,
)
_QUALITY = re.compile(
    r"(?:is|are|was|were) (?P<subject>.+?) (?P<quality>[a-z]+)(?= (?:in|among)\b|\s*\?)", re.IGNORECASE
)


def contraries(quality: str) -> frozenset[str]:
    """The adjectives that a thing of this quality cannot have."""
    other = _SELDOM if quality in _OFTEN else _OFTEN if quality in _SELDOM else frozenset()
    return thesaurus.antonyms(quality) | other


def contrary_said(question: str, sentence: str) -> bool:
    """Whether a sentence says a contrary of the quality that a question asks for."""
    asked = _CLASS.match(question) or _QUALITY.match(question)
    if asked is None:
        return False
    subject = [form for word in _content(asked["subject"]) for form in terms(word)]
    plain = fold(wording.DENIED.sub(" ", sentence))
    words = _WORD.findall(plain)
    if not subject or not _names(subject, plain):
        return False
    groups = asked.groupdict()
    beside = f"{groups.get('qualities', '')} {groups.get('class', '')}"
    company = {form for word in _content(beside) for form in terms(word)}
    qualities = _content(groups.get("qualities", "")) or fold(groups.get("quality", "")).split()
    return any(
        _of_class(word, company, words) if company else _of_subject(word, subject, plain)
        for quality in qualities
        if quality not in words
        for word in contraries(quality)
    )


def _content(text: str) -> list[str]:
    return [word for word in _WORD.findall(fold(text)) if not is_function(word)]


def _names(subject: Sequence[str], text: str) -> bool:
    """Whether a text has the first word of a subject and half of all."""
    said = {*terms(text)}
    return subject[0] in said and 2 * sum(form in said for form in subject) >= len(subject)


def _of_class(opposed: str, company: Collection[str], words: Sequence[str]) -> bool:
    """Whether a quality stands beside the noun that is asked about, or what sets that noun apart."""
    for place, word in enumerate(words):
        if word == opposed:
            around = words[max(place - _REACH, 0) : place + 1 + _REACH]
            if any({*company} & {*terms(near)} for near in around):
                return True
    return False


def _of_subject(opposed: str, subject: Sequence[str], text: str) -> bool:
    """Whether a quality is said of the subject."""
    return any(
        _names(subject, text[: match.start()])
        for match in re.finditer(rf"{_BE} {re.escape(opposed)}\b", text)
    )
