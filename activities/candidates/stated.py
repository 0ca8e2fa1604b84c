"""What works that a run cites say of a drug beside its effect: how it acts, in which phase it was tried, what
harm it did, and for which of the diseases asked about it is in use. Without a network it is all there is of
these fields.

Invariant: each entry is a sentence or the title of the work, in which the drug is named or which reports what
was found of the drug that the title names.
"""

import re
from collections.abc import Iterator, Sequence

from activities.candidates.types import FieldEntry
from activities.text.drugs import drug, drugs_named, names_drug
from activities.text.facets import reports_harm
from activities.text.sentences import NOT_STUDIES, Sentence, sentences
from activities.text.uses import Asked, established_for
from activities.types import Evidence

STATED = "stated"
"""Code of what a work says, where a register has codes of its own."""
MOST = 2
"""Entries of one field."""
_ACTS = re.compile(
    r"\b(?:inhibits?|blocks?|activates?|antagoni[sz]es?|binds?|modulates?|stimulates?|suppresses)\b"
    r"|(?:\b(?:is|are|as)|,) (?:an?|the) (?:[\w-]+[ ,]+){0,6}?(?:inhibitor|agonist|antagonist|blocker"
    r"|modulator|activator|antibody|analogue?|ligand|chelator|donor|precursor)\b",
    re.IGNORECASE,
)
"""How a drug acts: as pharmacology words it."""
_NUMBER = r"(?:[1-4]|IV|I{1,3})"
_PHASE = re.compile(rf"\bphase[ -]({_NUMBER})[ab]?(?:\s?(?:/|-|to|and)\s?({_NUMBER})[ab]?)?\b", re.IGNORECASE)
_ROMAN = {"I": "1", "II": "2", "III": "3", "IV": "4"}


def mechanisms(items: Sequence[Evidence], name: str) -> list[FieldEntry]:
    """Sentences that say how a drug acts."""
    return [
        _entry(item, sentence.quote)
        for item, sentence in _naming(items, name)
        if sentence.part not in ("aim", "methods") and _ACTS.search(sentence.text)
    ][:MOST]


def trials(items: Sequence[Evidence], name: str) -> list[FieldEntry]:
    """The phases of trials of a drug, by the titles of works and their sentences; one of each work."""
    found: dict[str, FieldEntry] = {}
    for item in _works(items):
        own = [item.title] if names_drug(item.title, name) else []
        own += [sentence.quote for other, sentence in _naming([item], name) if other is item]
        for text in own:
            if phase := _phase(text):
                found.setdefault(item.evidence_id, _entry(item, text, STATED, phase=phase))
    return list(found.values())[:MOST]


def safety(items: Sequence[Evidence], name: str) -> list[FieldEntry]:
    """Harms that works report of a drug; one of each work."""
    found: dict[str, FieldEntry] = {}
    for item in _works(items):
        of_it = names_drug(item.title, name) and len(drugs_named(item.title)) == 1
        for sentence in sentences(item):
            named = names_drug(sentence.text, name)
            told = sentence.part in ("results", "conclusion") and (named or of_it)
            if told and reports_harm(sentence.text):
                found.setdefault(item.evidence_id, _entry(item, sentence.quote, STATED))
    return list(found.values())[:MOST]


def established(items: Sequence[Evidence], name: str, asked: Asked) -> list[FieldEntry]:
    """The diseases asked about for which works call a drug approved, indicated or a line of treatment."""
    preferred = drug(name) or name.casefold()
    found: dict[str, FieldEntry] = {}
    for item in _works(items):
        for text in (*(sentence.quote for sentence in sentences(item)), item.title):
            for disease in established_for(text, preferred, asked):
                entry = _entry(item, text, "names_disease_asked").model_copy(update={"text": disease})
                found.setdefault(disease.casefold(), entry)
    return list(found.values())[:MOST]


def _works(items: Sequence[Evidence]) -> list[Evidence]:
    return [item for item in items if item.evidence_type not in NOT_STUDIES]


def _naming(items: Sequence[Evidence], name: str) -> Iterator[tuple[Evidence, Sentence]]:
    for item in _works(items):
        yield from ((item, one) for one in sentences(item) if names_drug(one.text, name))


def _phase(text: str) -> str:
    found = _PHASE.search(text)
    numbers = [_ROMAN.get(part.upper(), part) for part in found.groups() if part] if found else []
    return "; ".join(f"PHASE{number}" for number in numbers)


def _entry(item: Evidence, text: str, code: str = "", **values: str) -> FieldEntry:
    return FieldEntry(
        text=" ".join(text.split()),
        code=code,
        values=values,
        source=item.source,
        url=item.url,
        evidence_id=item.evidence_id,
        quote=text if text in item.text else "",
    )
