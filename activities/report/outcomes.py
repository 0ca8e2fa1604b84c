"""Which works measured the same: by a word that their outcomes share."""

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass

from activities.text.pico import parts_of
from activities.text.study_wording import PEOPLE
from activities.text.tokens import is_function, terms, weak_stems

_PEOPLE = re.compile(rf"\b{PEOPLE}\b(?:['\u2019]s?)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OutcomeGroup:
    """Works that measured the same."""

    name: str
    """A word that their outcomes share, as one of them writes it."""
    places: tuple[int, ...]
    """Among the outcomes given."""


def by_outcome(outcomes: Sequence[str], question: str) -> tuple[OutcomeGroup, ...]:
    """The groups of two or more, the largest first. An outcome is in one group at most; what shares no word
    with another is in none. People and the population of the question are no outcome: every work on prostate
    cancer names the prostate."""
    known = {*terms(parts_of(question).population), *weak_stems()}
    left = [place for place, outcome in enumerate(outcomes) if outcome]
    groups: list[OutcomeGroup] = []
    while True:
        counts = Counter(key for place in left for key in _keys(outcomes[place], known))
        best = max(counts, key=lambda key: (counts[key], len(key)), default="")
        if counts[best] < 2:
            return tuple(groups)
        members = tuple(place for place in left if best in _keys(outcomes[place], known))
        groups.append(OutcomeGroup(_named(best, [outcomes[place] for place in members]), members))
        left = [place for place in left if place not in members]


def _keys(outcome: str, known: Container[str]) -> list[str]:
    """Comparison forms of the words that say what was measured (`rate` and `score` do not), each once."""
    named = _PEOPLE.sub(" ", outcome)
    return [term for term in dict.fromkeys(terms(named)) if term not in known and term.isalpha()]


def _named(key: str, outcomes: Sequence[str]) -> str:
    """The key as the outcomes write it."""
    written = (word.strip(",;:()'\"") for outcome in outcomes for word in outcome.split())
    word = next((w for w in written if not is_function(w) and key in terms(w)), key)
    return word[:1].upper() + word[1:]
