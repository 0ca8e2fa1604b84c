"""Which sources a question is for, by what the registry says that each one covers."""

import re
from collections.abc import Sequence

from activities.text.tokens import terms, weak_stems
from activities.types import SourceInfo, SourceOption

LEAST_SHARED = 2
"""Words that a question and a source's description must share to count: one alone may mean something else
(`error correction`, `corrections` of records)."""


def choose_sources(
    question: str, offered: Sequence[SourceOption], preferred: Sequence[str]
) -> tuple[str, ...]:
    """The enabled sources for a question: those it names, then those whose description shares most words with
    it, else in the profile's order. Sources that the profile does not prefer are among them only for one of
    these reasons."""
    infos = {o.info.name: o.info for o in offered if o.enabled and o.info.role == "search"}
    named = {name for name, info in infos.items() if _names(question, info)}
    asked = set(terms(question)) - weak_stems()
    found = {name: len(asked & set(terms(info.covers))) for name, info in infos.items()}
    shared = {name: count if count >= LEAST_SHARED else 0 for name, count in found.items()}
    own = [name for name in preferred if name in infos]
    others = [n for n in infos if n not in own and (n in named or shared[n])]
    wanted = [*own, *others]
    return tuple(sorted(wanted, key=lambda name: (name not in named, -shared[name], wanted.index(name))))


def _names(question: str, info: SourceInfo) -> bool:
    """Whether a question names a source, by its name or its title."""
    return any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE)
        for name in {info.name, info.title}
        if name != "library"
    )
