"""Drugs by their names.

Name stems are those of the USAN and INN lists (https://www.ama-assn.org/about/united-states-adopted-names,
WHO INN stem book); frequent drugs without a stem are listed in `vocabulary/drugs.txt`.
"""

import re
from collections import Counter
from functools import lru_cache

from activities.text.tokens import fold
from activities.text.vocabulary import vocabulary
from activities.types import Evidence

_STEM = re.compile(
    r"^(?=.{6,})(?!.*peptide)[a-z]+?(?:mab|tinib|rafenib|ciclib|parib|zomib|nib|statin|vastatin|pril|prilat|olol|alol|"
    r"sartan|dipine|azole|mycin|micin|cillin|cycline|formin|gliptin|gliflozin|glitazone|glutide|natide|"
    r"floxacin|oxacin|tidine|prazole|setron|triptan|azepam|azolam|barbital|oxetine|faxine|peridone|apine|"
    r"azine|triptyline|ipramine|caine|curium|dronate|dronic|profen|fenac|oxicam|coxib|asone|solone|olone|"
    r"onide|terol|tropium|lukast|parin|grel|xaban|gatran|teplase|ciclovir|navir|tegravir|buvir|previr|"
    r"vudine|amivir|virine|fovir|antel|bendazole|quine|platin|rubicin|taxel|trexate|bicin|poside|tecan|"
    r"limus|sulfan|mustine|fibrate|thiazide|semide|lactone|vaptan|entan|afil|osin|steride|oxifene|trozole|"
    r"relin|relix|zepine|bapentin|toin|racetam|giline|capone|stigmine|curonium|cept|kinra|poietin|tide)$"
)
_NOT_DRUGS = vocabulary("not_drugs")
_KNOWN = vocabulary("drugs")
WORDS = re.compile(r"[^\W\d_][\w-]{4,}")


def is_drug(word: str) -> bool:
    """True for a word that is a drug's name by its stem or by the list."""
    name = fold(word).replace("\u2019", "'")
    singular = name.removesuffix("s")
    return (
        name in _KNOWN
        or singular in _KNOWN
        or (not {name, singular} & _NOT_DRUGS and bool(_STEM.match(name)))
    )


@lru_cache(maxsize=2048)
def drugs_named(text: str) -> tuple[tuple[str, int], ...]:
    """Drugs named in a text, with how often."""
    counts: Counter[str] = Counter(fold(w) for w in WORDS.findall(text) if is_drug(w))
    return tuple(counts.items())


def drugs_in(document: Evidence) -> Counter[str]:
    """Drugs named in a document, its title and its facts, with how often."""
    facts = " ".join(
        value
        for key, value in document.facts.items()
        if re.search(r"mesh|drug|generic|interven|substance", key, re.IGNORECASE)
    )
    return Counter(dict(drugs_named(f"{document.title}\n{document.text[:60_000]}\n{facts}")))
