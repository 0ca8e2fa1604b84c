"""Publication types by one name for all sources, and the word each source has for them.

Names are those of evidence types, with the short forms people type. Sources' words: PubMed and Europe PMC use
the publication types of MeSH (https://www.nlm.nih.gov/mesh/pubtypes.html), Semantic Scholar those of its
`publicationTypes` parameter, OpenAlex and Crossref those
of their `type` filters.
"""

from collections.abc import Iterable, Mapping

from activities.contracts.evidence import Evidence, EvidenceType, Filters

SHORT_FORMS: Mapping[str, EvidenceType] = {
    "rct": "randomized_trial",
    "trial": "clinical_trial",
    "randomised_trial": "randomized_trial",
    "randomized_controlled_trial": "randomized_trial",
    "randomised_controlled_trial": "randomized_trial",
    "case_reports": "case_report",
    "cohort": "observational",
}
MESH: Mapping[EvidenceType, str] = {
    "meta_analysis": "Meta-Analysis",
    "systematic_review": "Systematic Review",
    "randomized_trial": "Randomized Controlled Trial",
    "clinical_trial": "Clinical Trial",
    "observational": "Observational Study",
    "case_report": "Case Reports",
    "review": "Review",
    "guideline": "Guideline",
    "preprint": "Preprint",
}
SEMANTIC_SCHOLAR: Mapping[EvidenceType, str] = {
    "meta_analysis": "MetaAnalysis",
    "systematic_review": "Review",
    "randomized_trial": "ClinicalTrial",
    "clinical_trial": "ClinicalTrial",
    "case_report": "CaseReport",
    "review": "Review",
}
OPENALEX: Mapping[EvidenceType, str] = {
    "systematic_review": "review",
    "review": "review",
    "preprint": "preprint",
}
CROSSREF: Mapping[EvidenceType, str] = {"preprint": "posted-content"}
MESH_PHASES: Mapping[str, str] = {
    "PHASE1": "Clinical Trial, Phase I",
    "PHASE2": "Clinical Trial, Phase II",
    "PHASE3": "Clinical Trial, Phase III",
    "PHASE4": "Clinical Trial, Phase IV",
}
"""Phase of a trial, in the codes of ClinicalTrials.gov -> publication type of MeSH."""
TYPES: tuple[EvidenceType, ...] = tuple(MESH)
"""Types that a search can be narrowed to."""


def canonical(name: str) -> str:
    """Return the evidence type that a name stands for; one of a source's own vocabulary as it is."""
    plain = name.strip().casefold().replace("-", "_").replace(" ", "_")
    return SHORT_FORMS.get(plain) or (plain if plain in TYPES else name.strip())


def in_years(work: Evidence, filters: Filters) -> bool:
    """Tell whether a work is from the years that were asked for; one without a year is."""
    year = work.year
    return year is None or (filters.year_from or year) <= year <= (filters.year_to or year)


def passes(work: Evidence, filters: Filters) -> bool:
    """Tell whether a work of one's own is from the years and of the types that were asked for."""
    if not in_years(work, filters):
        return False
    types = {canonical(name) for name in filters.publication_types}
    return not types or work.evidence_type in types


def phases(filters: Filters) -> tuple[str, ...]:
    """Return the phases that a search is narrowed to, in the codes of ClinicalTrials.gov, each once."""
    names = (*filters.phases, *filters.options.get("phase", "").replace("|", ",").split(","))
    codes = (name.upper().replace(" ", "") for name in names)
    return tuple(dict.fromkeys(code for code in codes if code))


def mesh_phases(filters: Filters) -> tuple[str, ...]:
    """Return the same as publication types of MeSH; a phase that MeSH has no type for is left out."""
    return tuple(MESH_PHASES[code] for code in phases(filters) if code in MESH_PHASES)


def in_words_of(vocabulary: Mapping[EvidenceType, str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the publication types in a source's own words, each once.

    A type that the source has no word for is left out; a name of the source's own vocabulary stays.
    """
    words_by_type = {str(name): word for name, word in vocabulary.items()}
    words = (words_by_type.get(name, "" if name in TYPES else name) for name in map(canonical, names))
    return tuple(dict.fromkeys(filter(None, words)))
