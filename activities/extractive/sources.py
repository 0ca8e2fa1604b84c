"""Which sources a question is for, by what the registry says that each one covers."""

import re
from collections.abc import Sequence

from activities.text.tokens import terms, weak_stems
from activities.types import SourceInfo, SourceOption

LEAST_SHARED = 2
"""Words that a question and a source's description must share for the source to be added to those that the
profile prefers; the profile's own are only reordered."""


def choose_sources(
    question: str, offered: Sequence[SourceOption], preferred: Sequence[str]
) -> tuple[str, ...]:
    """The enabled sources for a question: those it names, then those whose description shares most words with
    it, else in the profile's order. None where nothing is offered."""
    infos = {o.info.name: o.info for o in offered if o.enabled and o.info.role == "search"}
    named = {name for name, info in infos.items() if _names(question, info)}
    asked = set(terms(question)) - weak_stems()
    shared = {name: len(asked & set(terms(info.covers))) for name, info in infos.items()}
    own = [name for name in preferred if name in infos]
    others = [n for n in infos if n not in own and (n in named or shared[n] >= LEAST_SHARED)]
    wanted = [*own, *others]
    return tuple(sorted(wanted, key=lambda name: (name not in named, -shared[name], wanted.index(name))))


def _names(question: str, info: SourceInfo) -> bool:
    """Whether a question names a source, by its name or its title."""
    return any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE)
        for name in {info.name, info.title}
        if name != "library"
    )
