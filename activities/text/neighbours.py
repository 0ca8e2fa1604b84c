"""What a text speaks of in place of a thing that a question names: another of the same kind, as the thesaurus
has it (nephrectomy for prostatectomy, workers for adults)."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from activities.text import thesaurus
from activities.text.concepts import Word
from activities.text.tokens import fold, weak_stems

OFTEN = 2
"""Times that a text mentions things of the same kind at least that it speaks of in place of another."""
_MEASURES = frozenset({"23", "28"})
"""WordNet's files of quantities and of times, of which any text gives several."""
_WORD = re.compile(r"[a-z][a-z-]{2,}")


def in_place_of(words: Sequence[Word], spoken: Collection[int], text: str) -> frozenset[int]:
    """Places of the nouns that a text does not mention in any form although it mentions others of the same
    kind. What the question names beside them stands in place of nothing."""
    weak = weak_stems()
    kinds = {
        place: frozenset(thesaurus.hypernyms(fold(word.shown), levels=1))
        for place, word in enumerate(words)
        if place not in spoken
        and word.noun
        and not set(word.terms) <= weak
        and _MEASURES.isdisjoint(thesaurus.files(fold(word.shown))[:1])
    }
    if not any(kinds.values()):
        return frozenset()
    asked = {fold(word.shown) for word in words}
    said: Counter[int] = Counter()
    for word, times in Counter(_WORD.findall(fold(text))).items():
        if word not in asked:
            for kind in thesaurus.hypernyms(word, levels=1):
                said[kind] += times
    return frozenset(
        place for place, above in kinds.items() if above and sum(said[kind] for kind in above) >= OFTEN
    )
