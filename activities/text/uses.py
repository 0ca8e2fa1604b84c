"""Whether one clause says that a drug is in use for a disease: approved, indicated, first-line, effective."""

import re
from collections.abc import Collection

from activities.text.drugs import drugs_named
from activities.text.entities import of_kind

_USE = re.compile(
    r"\b(?:approved|licen[sc]ed|authori[sz]ed|indicated|(?:first|second)[- ]line|"
    r"(?:treatment|drug|therapy) of choice|standard (?:of care|treatment|therapy)|mainstay|effective|"
    r"efficacious)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:no|not|never|neither|nor|without|yet to be|whether|if|lack of|little evidence)\b[^.;]{0,30}$",
    re.IGNORECASE,
)
"""Words before the word of use that invert it or leave it open."""
_CLAUSE = re.compile(
    r";|,\s+(?:but|although|though|whereas|while|yet)\b|\b(?:whereas|although)\b", re.IGNORECASE
)
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def diseases(text: str) -> frozenset[str]:
    """Ids of the diseases that a text names."""
    return frozenset(entity.id for entity in of_kind(text, ("disease",)))


def without_other_diseases(text: str, asked: Collection[str]) -> str:
    """The text without brackets that belong to another disease than those asked about: brackets that name it,
    and brackets that stand behind its name, as in `arthritis (methotrexate)`. Where no disease is asked about
    nothing is removed."""
    if not asked:
        return text
    kept, end = [], 0
    for aside in _ASIDE.finditer(text):
        within = diseases(aside.group())
        named = of_kind(text[: aside.start()], ("disease",))
        behind = named[-1] if named and not text[named[-1].end : aside.start()].strip() else None
        other = (within and not within & set(asked)) or (behind is not None and behind.id not in asked)
        if other:
            kept.append(text[end : aside.start()])
            end = aside.end()
    return "".join((*kept, text[end:]))


def drugs_in_use(text: str, asked: Collection[str]) -> frozenset[str]:
    """Drugs, by their preferred names, that one clause of a sentence says are in use for a disease asked
    about (`asked`: ids). Empty when no disease is asked about."""
    found: set[str] = set()
    for clause in _CLAUSE.split(without_other_diseases(text, asked)):
        if not diseases(clause) & set(asked):
            continue
        if any(not _DENIED.search(clause[: match.start()]) for match in _USE.finditer(clause)):
            found.update(name for name, _ in drugs_named(clause))
    return frozenset(found)
