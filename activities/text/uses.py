"""Whether one clause says that a drug is in use for a disease: approved, indicated, first-line, effective."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from activities.text.drugs import drugs_named
from activities.text.entities import Entity, of_kind

_USE = re.compile(
    r"\b(?:approved|licen[sc]ed|authori[sz]ed|indicated|(?:first|second)[- ]line|"
    r"(?:treatment|drug|therapy) of choice|standard (?:of care|treatment|therapy)|mainstay|effective|"
    r"efficacious)\b",
    re.IGNORECASE,
)
_ESTABLISHED = re.compile(
    r"\b(?:approved|licen[sc]ed|authori[sz]ed|indicated|(?:first|second|third)[- ]line|"
    r"(?:treatment|drug|therapy) of choice|standard (?:of care|treatment|therapy)|mainstay)\b",
    re.IGNORECASE,
)
"""The same without what a trial of a new use says: effective."""
_DENIED = re.compile(
    r"\b(?:no|not|never|neither|nor|without|yet to be|whether|if|lack of|little evidence)\b[^.;]{0,30}$",
    re.IGNORECASE,
)
"""Words before the word of use that invert it or leave it open."""
_USED_FOR = re.compile(
    r"\b(?:approved|licen[sc]ed|authori[sz]ed|indicated|marketed|prescribed|used)\s(?:\w+\s){0,4}?"
    r"(?:for|in|against|to (?:treat|prevent|control|manage|lower|reduce))\s"
    r"(?P<what>[^,;.()]{3,80})",
    re.IGNORECASE,
)
"""A use with what it is for."""
_ONLY_TRIED = re.compile(
    r"\b(?:stud(?:y|ies)|trials?|group|arm|cohort|cells?|mice|rats|animals?)\b", re.IGNORECASE
)
_CLAUSE = re.compile(
    r";|,\s+(?:but|although|though|whereas|while|yet)\b|\b(?:whereas|although)\b", re.IGNORECASE
)
COMPARED_WITH = re.compile(
    r"\b(?:following|after|refractory to|resistant to|previously treated with|failure of|failed"
    r"|intolerant (?:of|to)|relapsed on|versus|vs|compared (?:with|to)|than|alternatives? to|instead of"
    r"|rather than|(?:superior|inferior|equivalent|similar) to)\s[^,;.]*",
    re.IGNORECASE,
)
"""Drugs that came before or were compared are not those that a clause says are in use."""
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


_NEW_USE = re.compile(
    r"\bre-?(?:purpos|position)\w*|\bnew (?:\w+ )?(?:uses?|indications?)\b|\boff-label\b", re.IGNORECASE
)


def asks_for_a_new_use(question: str) -> bool:
    """Whether a question asks for drugs in use for something else: to repurpose, for a new indication."""
    return bool(_NEW_USE.search(question))


@dataclass(frozen=True, slots=True)
class Asked:
    """The diseases that a question names."""

    ids: frozenset[str]
    names: frozenset[str]
    """In lower case."""

    def __bool__(self) -> bool:
        return bool(self.ids)

    def covers(self, entity: Entity) -> bool:
        """Whether a disease is one of them, or a kind of one by its name (drug-resistant tuberculosis)."""
        called = (entity.name.casefold(), entity.surface.casefold())
        return entity.id in self.ids or any(
            one.endswith((f" {other}", f"-{other}")) for one in called for other in self.names
        )


def asked_about(question: str) -> Asked:
    """The diseases that a question names."""
    found = of_kind(question, ("disease",))
    names = (name.casefold() for entity in found for name in (entity.name, entity.surface))
    return Asked(frozenset(entity.id for entity in found), frozenset(names))


def without_other_diseases(text: str, asked: Asked) -> str:
    """The text without brackets that belong to another disease than those asked about: brackets that name it,
    and brackets that stand behind its name, as in `arthritis (methotrexate)`. Where no disease is asked about
    nothing is removed."""
    if not asked:
        return text
    kept, end = [], 0
    for aside in _ASIDE.finditer(text):
        within = of_kind(aside.group(), ("disease",))
        named = of_kind(text[: aside.start()], ("disease",))
        behind = named[-1] if named and not text[named[-1].end : aside.start()].strip() else None
        other = within and not any(map(asked.covers, within))
        if other or (behind is not None and not asked.covers(behind)):
            kept.append(text[end : aside.start()])
            end = aside.end()
    return "".join((*kept, text[end:]))


def acting(text: str) -> frozenset[str]:
    """Drugs, by their preferred names, that a sentence speaks of and not only compares another with:
    dexamethasone in `dexamethasone is an alternative to prednisone`."""
    return frozenset(name for name, _ in drugs_named(COMPARED_WITH.sub(" ", text)))


def drugs_in_use(text: str, asked: Asked) -> frozenset[str]:
    """Drugs, by their preferred names, that one clause of a sentence says are in use for a disease asked
    about. Empty when no disease is asked about."""
    return frozenset(drug for drug, _ in _uses(text, asked, _USE))


def established_for(text: str, name: str, asked: Asked) -> tuple[str, ...]:
    """The diseases asked about, as a sentence names them, for which one clause of it says that a drug, given
    by its preferred name, is approved, indicated or a line of treatment: it is not repurposed for them."""
    found = (diseases for drug, diseases in _uses(text, asked, _ESTABLISHED) if drug == name)
    return tuple(dict.fromkeys(disease for diseases in found for disease in diseases))


def _uses(text: str, asked: Asked, use: re.Pattern[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each drug that a clause says is in use, with the diseases asked about that the clause names."""
    # a semicolon within brackets ends no clause: `pembrolizumab (KEYTRUDA; Merck)`
    plain = _ASIDE.sub(lambda aside: aside.group().replace(";", ","), without_other_diseases(text, asked))
    for clause in _CLAUSE.split(plain):
        named = tuple(e.surface for e in of_kind(clause, ("disease",)) if asked.covers(e))
        if named and any(
            not _DENIED.search(clause[: match.start()]) and not _of_another(clause, match, asked)
            for match in use.finditer(clause)
        ):
            for name, _ in drugs_named(COMPARED_WITH.sub(" ", clause)):
                yield name, named


def _of_another(clause: str, use: re.Match[str], asked: Asked) -> bool:
    """Whether a use is one for another disease: `approved for type 2 diabetes`."""
    stated = _USED_FOR.match(clause, use.start())
    named = of_kind(stated["what"], ("disease", "phenotype")) if stated else ()
    return bool(named) and not any(map(asked.covers, named))


def uses_elsewhere(text: str, name: str, asked: Asked) -> tuple[str, ...]:
    """The diseases, as the sentence names them, that a drug is said to be in use for and that are not asked
    about: type 2 diabetes of `exenatide, approved for type 2 diabetes`. The drug, by its preferred name, is
    the last one named before the use. Empty when no disease is asked about."""
    found: dict[str, None] = {}
    for stated in _USED_FOR.finditer(text) if asked else ():
        before = text[: stated.start()]
        if _DENIED.search(before) or _ONLY_TRIED.search(stated["what"]):
            continue
        drugs = sorted((place, drug) for drug, place in _last_places(before))
        if not drugs or drugs[-1][1] != name:
            continue
        named = of_kind(stated["what"], ("disease", "phenotype"))
        found.update((e.surface, None) for e in named if not asked.covers(e))
    return tuple(found)


def _last_places(text: str) -> Iterator[tuple[str, int]]:
    """The drugs that a text names, by their preferred names, with where each is named."""
    given = dict(drugs_named(text))
    for entity in of_kind(text, ("drug", "protein")):
        if entity.name.casefold() in given:
            yield entity.name.casefold(), entity.start
