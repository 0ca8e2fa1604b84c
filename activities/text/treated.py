"""The diseases for which a treatment is given, or that people had already, beside those that it caused.

`Women with breast cancer who took an aromatase inhibitor had more fractures` reports fractures. Which nouns
are persons is WordNet's.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from activities.text import thesaurus
from activities.text.entities import Entity, of_kind
from activities.text.tokens import fold

LEAST_SHARE = 0.5
"""Share of the mentions of a disease, at least, that say that it was there before."""
_PERSONS = "18"
"""WordNet's file of nouns for persons."""
_HARMS = re.compile(
    r"\b(?:(?:side|adverse|unwanted|toxic|harmful)[- ](?:effects?|events?|reactions?|outcomes?)|harms?"
    r"|complications?|toxicit(?:y|ies)|risks)\b",
    re.IGNORECASE,
)
_OF_KIND = r"(?:(?!with\b|of\b|for\b|in\b)[\w/+-]+ ){0,4}"
"""Words before the name of a disease that say which one it is (`early`, `hormone receptor-positive`)."""
_WHO_HAVE = re.compile(
    rf"\b(?P<who>[a-z]+)(?: \([^()]*\))? (?:with|having|diagnosed with|who ha[ds]|suffering from|affected by)"
    rf" {_OF_KIND}$",
    re.IGNORECASE,
)
_TREATED = re.compile(
    r"\b(?:treat(?:ment|ments|ed|ing)?|\w*therap(?:y|ies)|management|prevention|prophylaxis|indicated|approved"
    r"|licen[sc]ed|prescribed|given|used|inhibitors?|antagonists?|agonists?|drugs?|agents?|medications?|surgery)"
    rf"(?: \([^()]*\))? (?:\w+ )?(?:of|for|in|against) {_OF_KIND}$|\bto (?:treat|prevent|manage) {_OF_KIND}$"
    rf"|\b(?:treat|treats|treating) {_OF_KIND}$",
    re.IGNORECASE,
)
_WHO = re.compile(r"^ (?P<who>[a-z]+)\b", re.IGNORECASE)
_FOR = re.compile(rf" (?:for|against) {_OF_KIND}$", re.IGNORECASE)
_ITS_CARE = re.compile(r"^[- ](?:treatments?|therap(?:y|ies)|management|care|surgery)\b", re.IGNORECASE)


def asks_harms(focus: str) -> bool:
    """Whether a noun phrase that is asked for is one for harms (`side effects`, `complications`)."""
    return bool(_HARMS.search(focus))


def treated(texts: Iterable[str]) -> Iterator[Entity]:
    """The diseases that most of their mentions say were there before, each as one mention names it."""
    seen: Counter[tuple[str, str]] = Counter()
    before: Counter[tuple[str, str]] = Counter()
    mention: dict[tuple[str, str], Entity] = {}
    for text in texts:
        for entity in of_kind(text, ("disease", "phenotype")):
            mention[entity.id, entity.name] = entity
            seen[entity.id, entity.name] += 1
            before[entity.id, entity.name] += was_there(text, entity)
    yield from (mention[key] for key, times in seen.items() if before[key] >= LEAST_SHARE * times)


def was_there(text: str, entity: Entity) -> bool:
    """Whether a mention of a disease says that people had it or that it is treated."""
    ahead, behind = text[max(0, entity.start - 120) : entity.start], text[entity.end : entity.end + 40]
    having, who = _WHO_HAVE.search(ahead), _WHO.match(behind)
    return bool(
        (having and _is_person(having["who"]))
        or (who and _is_person(who["who"]))
        or _TREATED.search(ahead)
        or _ITS_CARE.match(behind)
        or _of_a_drug(ahead)
    )


def _of_a_drug(ahead: str) -> bool:
    """Whether a drug with `for` stands before: `warfarin for atrial fibrillation`."""
    found = _FOR.search(ahead)
    drugs = of_kind(ahead[: found.start()], ("drug", "drug_class")) if found else ()
    return bool(found and any(drug.end == found.start() for drug in drugs))


def _is_person(word: str) -> bool:
    plain = fold(word)
    forms = (plain, *thesaurus.singulars(plain))
    return plain == "people" or any(_PERSONS in thesaurus.files(form)[:1] for form in forms)
