"""What kind of evidence a document is, judged by its words alone.

Conservative: a kind is given only for a cue the authors themselves use of their own work (a publication type,
an indexing term, the name of a design in the title or in a sentence on the work itself, see
`activities.text.study_design`).
Terms that name a subject rather than a method ("Randomized Controlled Trials as Topic") are no cue. Without
a cue the answer is the one given by the caller.
"""

import re
from collections.abc import Iterable

from activities.contracts.evidence import EvidenceType
from activities.sources.publication import OBSERVATIONAL_MESH
from activities.text.study_design import EVIDENCE, Design, own_design

_OBSERVATIONAL = frozenset(map(str.casefold, OBSERVATIONAL_MESH))
_GUIDELINE_TITLE = re.compile(r"\b(?:clinical practice )?guidelines? (?:for|on) the\b", re.IGNORECASE)
_SAID_BY_TITLES: tuple[Design, ...] = ("meta-analysis", "systematic review", "case report")
_NO_TRIAL = frozenset({"retrospective studies", "case-control studies", "cross-sectional studies"})
"""MeSH terms of designs in which nobody is assigned: the trial that such a work mentions is where its people
came from."""


def infer(title: str, text: str, terms: Iterable[str], otherwise: EvidenceType) -> tuple[EvidenceType, str]:
    """The kind of a document and the cue it was derived from (empty for `otherwise`)."""
    mesh = {t.casefold() for t in terms}
    animals = "animals" in mesh and "humans" not in mesh
    own = own_design(title, text, named_only=otherwise == "document")
    if own and own.design in _SAID_BY_TITLES:
        return EVIDENCE[own.design], f"text: {own.words}"
    if animals:
        return "preclinical", "MeSH: Animals without Humans"
    if own and own.design == "randomized trial" and not (mesh & _NO_TRIAL):
        return "randomized_trial", f"text: {own.words}"
    if "double-blind method" in mesh:
        return "randomized_trial", "MeSH: Double-Blind Method"
    if own and own.design == "non-randomized trial":
        return "clinical_trial", f"text: {own.words}"
    designs = sorted(mesh & _OBSERVATIONAL)
    if designs and "randomized controlled trials as topic" not in mesh:
        return "observational", f"MeSH: {designs[0].title()}"
    if match := _GUIDELINE_TITLE.search(title):
        return "guideline", f"title: {_short(match)}"
    return (EVIDENCE[own.design], f"text: {own.words}") if own else (otherwise, "")


def _short(match: re.Match[str]) -> str:
    return " ".join(match.group().split())[:80]
