"""The words that literature databases share: types of publications, and notices about them.

PubMed, PubMed Central and Europe PMC share NLM's vocabulary of publication types
(https://www.nlm.nih.gov/mesh/pubtypes.html) and of links between a work and the notices on it
(https://www.nlm.nih.gov/bsd/mms/medlineelements.html#cc). Europe PMC writes the links in words ("Retraction
in"), PubMed in one ("RetractionIn"); here they are compared without case and punctuation.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from activities.contracts.evidence import Evidence, EvidenceType, NoticeKind, Standing, StandingNotice
from activities.contracts.identifiers import is_preprint_doi, normal_doi, normal_pmid
from activities.retractions.rules import standing_of, worst
from activities.retractions.wording import notice_kind, says_retracted, title_mark

_TYPES: tuple[tuple[EvidenceType, frozenset[str]], ...] = (
    # Not peer-reviewed, whatever else it is.
    ("preprint", frozenset({"preprint"})),
    ("meta_analysis", frozenset({"metaanalysis", "networkmetaanalysis"})),
    ("systematic_review", frozenset({"systematicreview"})),
    ("guideline", frozenset({"guideline", "practiceguideline", "consensusdevelopmentconference"})),
    (
        "randomized_trial",
        frozenset({"randomizedcontrolledtrial", "randomisedcontrolledtrial", "equivalencetrial"}),
    ),
    (
        "clinical_trial",
        frozenset(
            {
                *("clinicaltrial", *(f"clinicaltrialphase{phase}" for phase in ("i", "ii", "iii", "iv"))),
                *("adaptiveclinicaltrial", "controlledclinicaltrial", "pragmaticclinicaltrial"),
            }
        ),
    ),
    ("observational", frozenset({"observationalstudy", "twinstudy", "epidemiologicstudy"})),
    ("case_report", frozenset({"casereports", "casereport"})),
    ("review", frozenset({"review", "reviewarticle", "scopingreview"})),
)
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?=(?:\d\d){0,2}(?!\d))")
_OBSERVATIONAL_MESH = frozenset(
    {
        "Case-Control Studies",
        "Cohort Studies",
        "Cross-Sectional Studies",
        "Longitudinal Studies",
        "Prospective Studies",
        "Retrospective Studies",
    }
)
"""MeSH terms of study designs (https://meshb.nlm.nih.gov, E05.318.372.500). Follow-Up Studies is left out: it
is given to trials as well."""
_NOTICE_LINKS: dict[str, NoticeKind] = {
    "retractionin": "retraction",
    "partialretractionin": "retraction",
    "retractedandrepublishedin": "retraction",
    "expressionofconcernin": "concern",
    "erratumin": "correction",
    "correctionin": "correction",
    "correctedandrepublishedin": "correction",
    "republishedin": "correction",
    "withdrawalin": "withdrawal",
    "removalin": "withdrawal",
}
_NOTICE_TYPES = {
    "retractionofpublication": "retraction notice",
    "retractionnotice": "retraction notice",
    "retraction": "retraction notice",
    "expressionofconcern": "expression of concern",
    "publishederratum": "correction notice",
    "correction": "correction notice",
}
_RETRACTED_TYPES = frozenset(
    {
        *("retractedpublication", "retractedarticle"),
        *("preprintwithdrawal", "preprintremoval", "withdrawnpublication"),
    }
)
PREPRINT_SERVERS = (
    *("arxiv", "biorxiv", "medrxiv", "chemrxiv", "psyarxiv", "socarxiv", "research square", "ssrn"),
    *("preprints.org", "osf preprints", "authorea", "techrxiv", "eartharxiv", "europe pmc preprints"),
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DATE = re.compile(r"\b((?:19|20)\d{2})(?:\s+(" + "|".join(_MONTHS) + r")\b(?:\s+(\d{1,2})\b)?)?")


def is_preprint(venue: str, doi: str | None = None) -> bool:
    """Tell whether a work is at a preprint server, by the name of the server or by its DOI."""
    return is_preprint_doi(doi) or any(server in venue.casefold() for server in PREPRINT_SERVERS)


def stated_type(types: Collection[str]) -> EvidenceType | None:
    """Return the strongest kind of evidence among publication types; None when none is known."""
    plain_types = {_plain(name) for name in types}
    return next((kind for kind, names in _TYPES if plain_types & names), None)


def evidence_type(types: Collection[str], mesh: Collection[str] = ()) -> EvidenceType:
    """Return the kind of evidence by the publication types, else by how indexers described the study.

    `article` where neither says it.
    """
    return stated_type(types) or indexed_type(mesh)[0] or "article"


def indexed_type(mesh: Iterable[str]) -> tuple[EvidenceType | None, str]:
    """Return the kind of evidence that MeSH terms tell, and the term.

    Terms that name a subject rather than a method ("Randomized Controlled Trials as Topic") tell none.
    """
    terms = {term.casefold() for term in mesh}
    if "animals" in terms and "humans" not in terms:
        return "preclinical", "MeSH: Animals without Humans"
    if "double-blind method" in terms:
        return "randomized_trial", "MeSH: Double-Blind Method"
    designs = sorted(name for name in _OBSERVATIONAL_MESH if name.casefold() in terms)
    if designs and "randomized controlled trials as topic" not in terms:
        return "observational", f"MeSH: {designs[0]}"
    return None, ""


def notices(links: Iterable[tuple[str, str, str | None]], reported_by: str) -> tuple[StandingNotice, ...]:
    """Return the notices that links from a work point to, each with its citation line and its PMID."""
    candidates = (notice(link, reference, pmid, reported_by) for link, reference, pmid in links)
    return tuple(filter(None, candidates))


def notice(link: str, reference: str, pmid: str | None, reported_by: str) -> StandingNotice | None:
    """Return the notice a link from a work points to; None for links that say nothing of its standing.

    `reference` is the notice's citation line; its date and DOI are read from there. Links in the other
    direction ("RetractionOf", "ErratumFor") belong to the notice's own record and are no notice about it.
    """
    kind = _NOTICE_LINKS.get(_plain(link))
    if kind is None:
        return None
    return StandingNotice(
        kind=kind,
        date=citation_date(reference),
        doi=normal_doi(reference),
        pmid=normal_pmid(pmid),
        reported_by=reported_by,
    )


def standing(types: Collection[str], notices: Sequence[StandingNotice]) -> Standing:
    """Return the most serious standing among the types and notices; `none` without any."""
    return "retracted" if _RETRACTED_TYPES & set(map(_plain, types)) else standing_of(notices)


def notice_itself(types: Collection[str]) -> str | None:
    """Return what a record is when it is not a work but a notice on one (`retraction notice` ...)."""
    for name in types:
        if kind := _NOTICE_TYPES.get(_plain(name)):
            return kind
    return None


def citation_date(reference: str) -> str | None:
    """`Ginekol Pol. 1998 Jul;69(7):559-60` -> `1998-07`; as precise as the citation line is."""
    match = _DATE.search(reference)
    if not match:
        return None
    year, month, day = match.groups()
    if not month:
        return year
    date = f"{year}-{_MONTHS.index(month) + 1:02}"
    return f"{date}-{int(day):02}" if day else date


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def notice_of(record: Evidence, types: Sequence[str] = ()) -> str:
    """Return what a record is when it is a notice on another work; empty for a work."""
    notice = record.facts.get("notice") or notice_itself(types)
    return notice or notice_kind(record.title, record.text)


def read_marks(record: Evidence, types: Sequence[str] = ()) -> Evidence | None:
    """Return the record with the standing that it states itself; None for a notice, which is no evidence.

    `types` are publication types that the record's fields do not hold. What its source knows stays: a mark
    never makes a standing milder.
    """
    if record.standing == "retracted":
        return record
    if notice_of(record, types):
        return None
    place = _mark_place(record, types)
    if not place:
        return record
    mark = StandingNotice(
        kind="withdrawal" if title_mark(record.title) == "withdrawn" else "retraction",
        reported_by=f"{record.source} ({place})",
    )
    notices = (*record.notices, mark)
    standing = worst(record.standing, standing_of(notices))
    return record.replace(notices=notices, standing=standing)


def _mark_place(record: Evidence, types: Sequence[str]) -> str:
    """Return the part of a record that says it is retracted; empty when none does."""
    if title_mark(record.title):
        return "title"
    if standing(types, ()) == "retracted":
        return "publication type"
    return "text" if says_retracted(record.text) else ""


def year_of(date: str | None) -> int | None:
    """Return the first year from 1500 to 2199 in a date (`2024-05-08`, `20240508`, `8 May 2024`), or None."""
    match = _YEAR.search(date or "")
    return int(match.group()) if match else None
