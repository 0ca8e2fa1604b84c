"""What kind of evidence a document is, judged by its words alone.

Conservative: a kind is given only for a cue the authors themselves use of their own work (a publication type,
an indexing term, the title, a sentence about how patients were assigned or found, see
`activities.text.study_design`).
Terms that name a subject rather than a method ("Randomized Controlled Trials as Topic") are no cue. Without
a cue the answer is the one given by the caller.
"""

import re
from collections.abc import Iterable

from activities.text.study_design import EVIDENCE, Design, own_design
from activities.types import EvidenceType

_BY_TYPE: tuple[tuple[str, EvidenceType], ...] = (
    ("meta-analysis", "meta_analysis"),
    ("network meta-analysis", "meta_analysis"),
    ("systematic review", "systematic_review"),
    ("practice guideline", "guideline"),
    ("guideline", "guideline"),
    ("randomized controlled trial", "randomized_trial"),
    ("randomised controlled trial", "randomized_trial"),
    ("pragmatic clinical trial", "clinical_trial"),
    ("controlled clinical trial", "clinical_trial"),
    ("clinical trial", "clinical_trial"),
    ("observational study", "observational"),
    ("case reports", "case_report"),
    ("case report", "case_report"),
    ("review", "review"),
    ("preprint", "preprint"),
    ("journal article", "article"),
    ("web page", "web_page"),
)
"""Publication types of PubMed (https://www.nlm.nih.gov/mesh/pubtypes.html), the strongest evidence first."""

_OBSERVATIONAL = frozenset(
    {
        "cohort studies",
        "retrospective studies",
        "prospective studies",
        "case-control studies",
        "cross-sectional studies",
        "longitudinal studies",
    }
)
"""MeSH terms of study designs (https://meshb.nlm.nih.gov, E05.318.372.500). Follow-Up Studies is left out: it
is given to trials as well."""

_META_TITLE = re.compile(r"\bmeta-?\s?analys[ie]s\b", re.IGNORECASE)
_META_TEXT = re.compile(
    r"\bwe (?:\w+ ){0,3}(?:performed|conducted|undertook|carried out|did) (?:\w+ ){0,6}meta-?analys[ie]s\b",
    re.IGNORECASE,
)
_SYSTEMATIC_TITLE = re.compile(r"\bsystematic (?:literature )?review\b", re.IGNORECASE)
_SYSTEMATIC_TEXT = re.compile(
    r"\bwe (?:\w+ ){0,3}(?:performed|conducted|undertook|carried out|did) (?:\w+ ){0,4}"
    r"systematic (?:\w+ )?review\b",
    re.IGNORECASE,
)
_CASE_TITLE = re.compile(r"\b(?:a )?case report\b|\breport of (?:a|one|two) cases?\b", re.IGNORECASE)
_GUIDELINE_TITLE = re.compile(r"\b(?:clinical practice )?guidelines? (?:for|on) the\b", re.IGNORECASE)
_NO_TRIAL = frozenset({"retrospective studies", "case-control studies", "cross-sectional studies"})
"""MeSH terms of designs in which nobody is assigned: the trial that such a work mentions is where its people
came from."""
_NOT_OF_PEOPLE: tuple[Design, ...] = ("animal study", "laboratory study")


def stated(types: Iterable[str]) -> EvidenceType | None:
    """The strongest kind among publication types as a record states them; None when none is known."""
    named = {t.casefold().replace("_", " ").strip() for t in types}
    return next((kind for name, kind in _BY_TYPE if name in named), None)


def infer(title: str, text: str, terms: Iterable[str], otherwise: EvidenceType) -> tuple[EvidenceType, str]:
    """The kind of a document and the cue it was derived from (empty for `otherwise`)."""
    mesh = {t.casefold() for t in terms}
    start = text[:6_000]  # the abstract of a paper; later text is often about other people's work
    animals = "animals" in mesh and "humans" not in mesh
    unmistakable: tuple[tuple[re.Pattern[str], str, EvidenceType, str], ...] = (
        (_META_TITLE, title, "meta_analysis", "title"),
        (_META_TEXT, start, "meta_analysis", "text"),
        (_SYSTEMATIC_TITLE, title, "systematic_review", "title"),
        (_SYSTEMATIC_TEXT, start, "systematic_review", "text"),
        (_CASE_TITLE, title, "case_report", "title"),
    )
    for pattern, where, kind, cue in unmistakable:
        if match := pattern.search(where):
            return kind, f"{cue}: {_short(match)}"
    if animals:
        return "preclinical", "MeSH: Animals without Humans"
    own = own_design(title, start, named_only=otherwise == "document")
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
    if own is None or (own.design in _NOT_OF_PEOPLE and "humans" in mesh):
        return otherwise, ""
    return EVIDENCE[own.design], f"text: {own.words}"


def _short(match: re.Match[str]) -> str:
    return " ".join(match.group().split())[:80]
