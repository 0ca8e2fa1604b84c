"""What a question asks for and a sentence that seems to affirm it leaves unsaid.

`It starts before the age of 20` does not affirm `does it start after the age of 40?`, nor does `it is a
procedure` affirm `is it a minor procedure?` or `side effects occur` affirm `do they occur often?`: the
number, the quality and the frequency that are asked for have to be in the sentence. Forms of English grammar.
"""

import re

from activities.text.numerals import COUNT, number_of
from activities.text.predicate import Predicate

_NUMBER = re.compile(r"(?<![\w.,'-])(?:\d+(?:[.,]\d+)*|II|III|IV|VI{1,3}|IX)(?![\w'-]|[.,]\d)")
_WORDS = re.compile(rf"\b(?:{COUNT})\b", re.IGNORECASE)
_OFTEN = re.compile(
    r"\b(?:often|frequent(?:ly)?|common(?:ly)?|usual(?:ly)?|typical(?:ly)?|mostly|mainly|generally|regularly"
    r"|routine(?:ly)?|most|majority)\b",
    re.IGNORECASE,
)
_SELDOM = re.compile(
    r"\b(?:rare(?:ly)?|seldom|uncommon(?:ly)?|infrequent(?:ly)?|sporadic(?:ally)?|unusual(?:ly)?)\b",
    re.IGNORECASE,
)


def unsaid(question: str, predicate: Predicate, sentence: str) -> bool:
    """Whether a sentence lacks a number, a frequency or a quality that is asked for."""
    if not set(_NUMBER.findall(question)) <= _numbers(sentence):
        return True
    if any(asked.search(question) and not asked.search(sentence) for asked in (_OFTEN, _SELDOM)):
        return True
    return predicate.lacks_quality(sentence)


def _numbers(text: str) -> set[str]:
    """The numbers of a text that are no part of a name; `twenty` is 20."""
    counts = {str(number) for word in _WORDS.findall(text) if (number := number_of(word)) is not None}
    return counts.union(_NUMBER.findall(text))
