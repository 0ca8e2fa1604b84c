"""Which works report one study.

Invariants:

- Works that report one study count once. Two works report one study when they share a trial registration
  number or a DOI but for its version, or have one title and first author, as versions of a review have. Title
  and first author of two abstracts under the DOI of their supplement differ: they are two.
"""

import re
from collections.abc import Sequence

from activities.contracts.evidence import Evidence, EvidenceType
from activities.contracts.identifiers import differ, fingerprint, first_author

SYNTHESES: frozenset[EvidenceType] = frozenset({"meta_analysis", "systematic_review", "review", "guideline"})
"""Kinds that report the studies of others."""
PUBLISHED_AS = "published_as"
"""The fact with the DOI of the article that a preprint became."""
_REGISTRATION = re.compile(
    r"\b(?:NCT\d{8}|ISRCTN\d{8}|ACTRN\d{14}|DRKS\d{8}|ChiCTR(?:-[A-Z]{2,4}-)?\d{8,10}|UMIN\d{9}|KCT\d{7}"
    r"|CTRI/\d{4}/\d{2,3}/\d{6}|IRCT\d{8,}N\d+|PACTR\d{15,16}|TCTR\d{11}|NTR\d{2,5}"
    r"|EudraCT(?: (?:no\.?|number))?:? ?\d{4}-\d{6}-\d{2})\b",
    re.IGNORECASE,
)
"""Identifiers of ClinicalTrials.gov and of the primary registries of the WHO's network."""
_VERSION = re.compile(
    r"^(10\.1002/14651858\..+)\.pub\d+$|^(10\.(?:12688|35241|21956)/\S+\.\d+)\.\d+$|^(10\.\d+/\S+?)(?:[/.-]v\d+|v\d+)$"
)
"""Versions of Cochrane reviews, of F1000 and its sisters, and of preprint servers."""
_OF_EUDRACT = re.compile(r"EUDRACT(?: (?:NO\.?|NUMBER))?:? ?")


def studies(items: Sequence[Evidence]) -> dict[str, int]:
    """Evidence id -> number of the study it reports, counted from 1 in order of appearance."""
    number: dict[tuple[str, ...], int] = {}
    numbers: dict[str, int] = {}
    names: dict[tuple[str, ...], tuple[str, str]] = {}
    for item in items:
        name = fingerprint(item.title, None), first_author(item.authors)
        keys = [
            key for key in _keys(item) if key[0] != "doi" or not differ(names.setdefault(key, name), name)
        ]
        study = next((number[key] for key in keys if key in number), len(set(number.values())) + 1)
        for key in keys:
            number.setdefault(key, study)
        numbers[item.evidence_id] = study
    return numbers


def unversioned(doi: str) -> str:
    """Return a DOI without what names a version of its work.

    `10.1002/14651858.cd001234.pub3`, `10.12688/f1000research.1234.2`, `10.21203/rs.3.rs-1234/v2`."""
    match = _VERSION.match(doi)
    return next(filter(None, match.groups()), doi) if match else doi


def _keys(item: Evidence) -> list[tuple[str, ...]]:
    """Return what identifies the study behind a work.

    A synthesis names the registrations of other people's trials, so that only its own identity counts."""
    keys: list[tuple[str, ...]] = [("work", item.evidence_id)]
    # a preprint names the article that it became
    keys += [("doi", unversioned(doi)) for doi in (item.identifiers.doi, item.facts.get(PUBLISHED_AS)) if doi]
    # a preprint and its article, and the versions of a review, have one title and one first author
    title, author = fingerprint(item.title, None), first_author(item.authors)
    title_keys: list[tuple[str, ...]] = [("title", title, author)] if title and author else []
    if item.evidence_type in SYNTHESES:
        return [*keys, *title_keys]
    # The first registration in a text is its own trial's as a rule; later ones may be mentioned in passing.
    stated = _REGISTRATION.search(item.text)
    registration = item.identifiers.nct or (stated.group() if stated else "")
    trial = _OF_EUDRACT.sub("", registration.upper())
    return [("trial", trial), *keys] if trial else [*keys, *title_keys]
