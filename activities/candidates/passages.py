"""Where works say what a field of a candidate says, in whatever order of words."""

import re
from collections.abc import Iterator, Sequence

from activities.contracts.evidence import Evidence
from activities.text.normal_form import normalise
from activities.text.tokens import terms

_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")
_LINK = re.compile(r"(?:(?<!\s)\s+)?(?:->|[;|\u2192])\s*")
"""Between the links of a chain of effects."""
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


class Passages:
    """The sentences of works, each alone and with the one after it, and their titles and facts."""

    def __init__(self, works: Sequence[Evidence], *names: str) -> None:
        """Read works; `names`: those of the candidate, which need no support."""
        self._passages = [(work, text, _stems(text)) for work in works for text in _texts(work)]
        self._names = _stems(" ".join(names))

    def places_of(self, field: str) -> list[tuple[Evidence, str]] | None:
        """Return a work and its passage for each part of a field; None where a part is said nowhere."""
        parts = [stems for part in _LINK.split(field) if (stems := _stems(part) - self._names)]
        places = []
        for part in parts:
            place = next(((work, text) for work, text, stems in self._passages if part <= stems), None)
            if place is None:
                return None
            places.append(place)
        return places


def _texts(work: Evidence) -> Iterator[str]:
    sentences = _SENTENCE_END.split(normalise(work.text))
    facts = [f"{name} {value}" for name, value in work.facts.items()]
    yield from sentences
    yield from map(" ".join, zip(sentences, [*sentences[1:], ""], strict=True))
    yield from (work.title, *facts, " ".join(facts))


def _stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words of content; words with digits as they are."""
    coded = (word.casefold() for word in _WORD.findall(normalise(text)) if any(map(str.isdigit, word)))
    return frozenset((*terms(text), *coded))
