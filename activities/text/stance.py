"""Whether two sentences say the same, or the opposite of each other, by their words."""

import re
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz import fuzz

from activities.text.evidence_strength import opposed, trend
from activities.text.negation import NEGATIONS
from activities.text.tokens import pairs, terms, weak_stems
from activities.types import Support

SAME = 90
"""`rapidfuzz` ratio of sorted words from which two sentences may say the same."""
LIKE = 0.45
"""Overlap (Jaccard) of specific terms from which two sentences are about the same thing."""
LIKE_ASKED = 0.25
"""The same where both hold all that the question names."""
LEAST_SHARED = 3
_REMEMBERED = 2048
"""Sentences whose numbers, negations and direction are remembered: each is compared with many others."""
_NOT_KNOWN = re.compile(
    r"\b(?:has|have|had|is|are|was|were) not (?:yet )?(?:been )?(?:\w+ly |well )*"
    r"(?:studied|investigated|examined|explored|evaluated|assessed|determined|known|understood|clear)\b"
    r"|\bremains? (?:\w+ly )?(?:unknown|unclear|controversial|uncertain|to be \w+)\b"
    r"|\b(?:unknown|unclear|uncertain) (?:whether|if|how)\b",
    re.IGNORECASE,
)
"""What nobody has studied is not denied."""


def same(one: str, other: str) -> bool:
    """True for two wordings of one statement: nearly the same words, and the same names, numbers, direction
    and negations."""
    if one == other:
        return True
    if fuzz.token_sort_ratio(one, other, score_cutoff=SAME) < SAME:
        return False
    weak = weak_stems()
    return (
        set(terms(one)) - weak == set(terms(other)) - weak
        and _numbers(one) == _numbers(other)
        and same_direction(one, other)
    )


def same_direction(one: str, other: str) -> bool:
    """Whether two sentences have as many negations and point in one direction."""
    return _negations(one) == _negations(other) and _trend(one) == _trend(other)


@lru_cache(maxsize=_REMEMBERED)
def _negations(text: str) -> int:
    return len(NEGATIONS.findall(text))


_trend = lru_cache(maxsize=_REMEMBERED)(trend)


def contradicts(one: str, other: str, question: str = "") -> bool:
    """True when two sentences are about the same thing and point in opposite directions.

    The same thing: most of their specific terms in common, or each holding every specific term of the
    question and of its names. Cues only: a person must check both.
    """
    if not opposed(one, other) or _NOT_KNOWN.search(one) or _NOT_KNOWN.search(other):
        return False
    weak = weak_stems()
    a, b = [t for t in terms(one) if t not in weak], [t for t in terms(other) if t not in weak]
    shared = set(a) & set(b)
    if len(shared) >= LEAST_SHARED and len(shared) / len({*a, *b}) >= LIKE:
        return True
    asked = [t for t in terms(question) if t not in weak]
    if len(shared) < LIKE_ASKED * len({*a, *b}):
        return False
    wanted = {*asked, *(p for p in pairs(asked) if p in set(pairs(a)) | set(pairs(b)))}
    return len(set(asked)) >= 2 and wanted <= {*a, *pairs(a)} and wanted <= {*b, *pairs(b)}


def one_work(one: Sequence[Support], other: Sequence[Support]) -> bool:
    """True when two claims rest on a common work: one that weighs both sides does not contradict itself."""
    return bool({s.evidence_id for s in one} & {s.evidence_id for s in other})


@lru_cache(maxsize=_REMEMBERED)
def _numbers(text: str) -> tuple[str, ...]:
    return tuple(sorted(w.strip(".,;()%") for w in text.split() if any(c.isdigit() for c in w)))
