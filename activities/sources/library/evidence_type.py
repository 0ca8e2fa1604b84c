"""What kind of evidence a document is, judged by its words alone.

Conservative: a kind is given only for a cue the authors themselves use of their own work (a publication type,
an indexing term, a label of the structured abstract, the title, a sentence about how patients were assigned).
Terms that name a subject rather than a method ("Randomized Controlled Trials as Topic") are no cue. Without
a cue the answer is the one given by the caller.
"""

import re
from collections.abc import Iterable

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
_NOT_RANDOM = re.compile(r"\b(?:non-?|not |quasi-?|un)randomi[sz]ed|\bnot randomly\b", re.IGNORECASE)
_RANDOM_TITLE = re.compile(
    r"\brandomi[sz]ed(?:[\w\s,-]{0,60})\b(?:trial|study)\b|\bdouble-blind\b", re.IGNORECASE
)
_RANDOM_TEXT = re.compile(
    r"\b(?:patients|participants|subjects|women|men|children|adults|volunteers|infants|individuals|practices)"
    r"\b[^.]{0,80}\b(?:were|was|are) (?:then )?(?:randomi[sz]ed|randomly (?:assigned|allocated|divided))\b"
    r"|\bwe (?:then )?(?:randomi[sz]ed|randomly (?:assigned|allocated)) "
    r"|\b(?:in|this is|was) an? (?:[\w-]+,? ){0,5}randomi[sz]ed(?:,? [\w-]+){0,4} trial\b",
    re.IGNORECASE,
)
_RANDOM_DESIGN = re.compile(
    r"^(?:STUDY )?DESIGN[^:\n]{0,40}:[^.\n]{0,120}\brandomi[sz]ed\b", re.MULTILINE | re.IGNORECASE
)
_OBSERVATIONAL_TEXT = re.compile(
    r"\b(?:retrospective|prospective|cross-sectional|case-control|population-based|observational|longitudinal)"
    r"[\w\s,-]{0,40}\b(?:cohort|study|survey|analysis|review of (?:\w+ ){0,3}records)\b|\bcohort study\b",
    re.IGNORECASE,
)
_CASE_TITLE = re.compile(r"\b(?:a )?case report\b|\breport of (?:a|one|two) cases?\b", re.IGNORECASE)
_GUIDELINE_TITLE = re.compile(r"\b(?:clinical practice )?guidelines? (?:for|on) the\b", re.IGNORECASE)
_ANIMAL_TEXT = re.compile(
    r"\b(?:wistar|sprague-dawley|c57bl|balb/c|in mice|in rats|cell lines?)\b", re.IGNORECASE
)


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
    if not _NOT_RANDOM.search(title + " " + start):
        for pattern, where, cue in (
            (_RANDOM_TITLE, title, "title"),
            (_RANDOM_DESIGN, start, "design"),
            (_RANDOM_TEXT, start, "text"),
        ):
            if match := pattern.search(where):
                return "randomized_trial", f"{cue}: {_short(match)}"
        if "double-blind method" in mesh:
            return "randomized_trial", "MeSH: Double-Blind Method"
    designs = sorted(mesh & _OBSERVATIONAL)
    if designs and "randomized controlled trials as topic" not in mesh:
        return "observational", f"MeSH: {designs[0].title()}"
    if match := _GUIDELINE_TITLE.search(title):
        return "guideline", f"title: {_short(match)}"
    if not mesh and _ANIMAL_TEXT.search(title):
        return "preclinical", "title"
    if match := _OBSERVATIONAL_TEXT.search(title + "\n" + start):
        return "observational", f"text: {_short(match)}"
    return otherwise, ""


def _short(match: re.Match[str]) -> str:
    return " ".join(match.group().split())[:80]
