"""Notices that bear on whether a work may be cited, whatever database reports them.

Crossref, PubMed and Europe PMC each have their own words for the same few things; here they become the five
kinds of `StandingNotice`, and notices become a `Standing`.
"""

import re
from collections.abc import Iterable
from typing import Literal

from activities.identity import normal_doi
from activities.types import Standing, StandingNotice

Kind = Literal["retraction", "concern", "correction", "withdrawal", "reinstatement"]

KINDS: dict[str, Kind] = {
    # Crossref's update types (https://www.crossref.org/documentation/crossmark/) and Retraction Watch's.
    "retraction": "retraction",
    "removal": "retraction",
    "withdrawal": "withdrawal",
    # Part of the work no longer stands, and nobody says which: no sentence of it may be taken on trust.
    "partialretraction": "concern",
    "expressionofconcern": "concern",
    "correction": "correction",
    "corrigendum": "correction",
    "erratum": "correction",
    "clarification": "correction",
    "addendum": "correction",
    "reinstatement": "reinstatement",
    # MEDLINE's RefType as PubMed ("RetractionIn", "Retraction in") and Europe PMC spell it. The other
    # direction ("Retraction of", "Erratum for") marks the notice itself and says nothing of that record.
    "retractionin": "retraction",
    "retractedandrepublishedin": "retraction",
    "expressionofconcernin": "concern",
    "erratumin": "correction",
    "correctedandrepublishedin": "correction",
    "republishedin": "correction",
    # Publication types: of a work itself, in MEDLINE, and of a preprint in Europe PMC.
    "retractedpublication": "retraction",
    "preprintwithdrawal": "withdrawal",
    "preprintremoval": "withdrawal",
}

SEVERITY: dict[Standing, int] = {"unknown": 0, "none": 1, "corrected": 2, "concern": 3, "retracted": 4}
"""The worst has the highest number."""

_MARKED_TITLE = re.compile(
    r"^\W*(retracted|withdrawn|removed)(?: (?:article|paper|chapter|publication))?\W*:", re.IGNORECASE
)
_WITHDRAWN = re.compile(
    r"^\W*(?:this|the)\s+(?:paper|article|submission|manuscript|preprint|work)\s+(?:has been|is|was)\s+"
    r"(?:temporarily\s+)?withdrawn",
    re.IGNORECASE,
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_CITED_DATE = re.compile(r"\b(\d{4})(?:\s+([A-Z][a-z]{2})[a-z]*\.?(?:\s+(\d{1,2}))?)?(?=[;:.\s(]|$)")


def kind_of(name: str | None) -> Kind | None:
    """The kind behind a database's own word, or None for what does not bear on citing."""
    return KINDS.get(re.sub(r"[^a-z]", "", (name or "").lower()))


def standing_of(notices: Iterable[StandingNotice], otherwise: Standing = "none") -> Standing:
    """What notices amount to: the worst one counts, and a retraction is lifted only by a reinstatement that
    is dated no earlier than the last retraction. Without dates on both the retraction stays.

    `otherwise` is the answer when no notice bears on the work.
    """
    notices = list(notices)
    fallen = [n for n in notices if n.kind in ("retraction", "withdrawal")]
    raised = [n.date for n in notices if n.kind == "reinstatement" and n.date]
    if fallen:
        lifted = bool(raised) and all(n.date and _not_before(max(raised), n.date) for n in fallen)
        if not lifted:
            return "retracted"
    kinds = {n.kind for n in notices}
    if "concern" in kinds:
        return "concern"
    return "corrected" if "correction" in kinds else otherwise


def worst(*standings: Standing) -> Standing:
    """The most severe of several standings."""
    return max(standings, key=SEVERITY.__getitem__, default="unknown")


def marked_title(title: str, reported_by: str) -> StandingNotice | None:
    """The notice in a title that begins "RETRACTED:" or "WITHDRAWN:", often the only trace there is."""
    match = _MARKED_TITLE.match(title)
    if match is None:
        return None
    kind: Kind = "withdrawal" if match.group(1).lower() == "withdrawn" else "retraction"
    return StandingNotice(kind=kind, reported_by=f"{reported_by} (title)")


def says_withdrawn(text: str) -> bool:
    """Whether a comment or abstract opens with "This paper has been withdrawn"."""
    return _WITHDRAWN.match(text) is not None


def cited_notice(kind: Kind, citation: str, reported_by: str, pmid: str | None = None) -> StandingNotice:
    """A notice from a citation line: `Lancet. 2010 Feb 6;375(9713):445. doi: 10.1016/...`."""
    return StandingNotice(
        kind=kind, date=cited_date(citation), doi=normal_doi(citation), pmid=pmid, reported_by=reported_by
    )


def cited_date(citation: str) -> str | None:
    """The date of a citation line as `2010-02-06`, `2010-02` or `2010`, as far as the line knows it."""
    match = _CITED_DATE.search(citation)
    if match is None:
        return None
    year, month, day = match.groups()
    if not month or month.lower() not in _MONTHS:
        return year
    found = f"{year}-{_MONTHS.index(month.lower()) + 1:02d}"
    return f"{found}-{int(day):02d}" if day else found


def _not_before(later: str, earlier: str) -> bool:
    """Compare ISO dates as far as both are known: `2011` is not before `2011-05`."""
    length = min(len(later), len(earlier))
    return later[:length] >= earlier[:length]
