"""The references as BibTeX, RIS and CSL-JSON, for reference managers.

BibTeX is written by `bibtexparser` and RIS by `rispy`; CSL-JSON is JSON after
https://docs.citationstyles.org/en/stable/specification.html#appendix-iii-types
"""

import json
import re
from collections.abc import Mapping

import rispy  # type: ignore[import-untyped]
from bibtexparser.entrypoint import write_string
from bibtexparser.library import Library
from bibtexparser.middlewares import LatexEncodingMiddleware
from bibtexparser.model import Entry, Field

from activities.report.formats.text import STANDINGS, best_url, clean
from activities.report.schema import Reference, Report
from activities.types import Evidence, EvidenceType

_BIBTEX: Mapping[EvidenceType, str] = {
    "preprint": "unpublished",
    "trial_registration": "misc",
    "drug_label": "misc",
    "regulatory": "techreport",
    "adverse_events": "misc",
    "web_page": "misc",
    "document": "misc",
}
_RIS: Mapping[EvidenceType, str] = {
    "preprint": "UNPB",
    "trial_registration": "DBASE",
    "drug_label": "GOVDOC",
    "regulatory": "GOVDOC",
    "adverse_events": "DBASE",
    "web_page": "ELEC",
    "document": "GEN",
}
_CSL: Mapping[EvidenceType, str] = {
    "preprint": "article",
    "trial_registration": "dataset",
    "drug_label": "document",
    "regulatory": "report",
    "adverse_events": "dataset",
    "web_page": "webpage",
    "document": "document",
}

_GROUP = re.compile(
    r"\b(?:Group|Team|Consortium|Collaborators|Society|Institute|for|of|the)\b", re.IGNORECASE
)


class _RisWriter(rispy.RisWriter):  # type: ignore[misc]
    def set_header(self, count: int) -> str:
        """No counter before a record: the format knows none, and not every reader skips it."""
        return ""


def bibtex(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    """One entry a reference; special characters are encoded for LaTeX. The key names first author and year
    and ends in the number of the reference."""
    library = Library()
    for reference in report.references:
        fields = {
            "title": _braceless(reference.title),
            "author": " and ".join(_braceless(_comma(name)) for name in reference.authors),
            "year": str(reference.year or ""),
            "journal": _braceless(reference.venue or ""),
            "note": _note(reference),
            "abstract": _braceless(_abstract(reference, evidence)),
        }
        # Identifiers are not text: encoding would break the links that reference managers build from them.
        exact = {
            "doi": reference.identifiers.doi or "",
            "pmid": reference.identifiers.pmid or "",
            "url": best_url(reference) or "",
        }
        entry = Entry(
            _BIBTEX.get(reference.evidence_type, "article"),
            _key(reference),
            [Field(name, value) for name, value in fields.items() if value],
        )
        library.add(entry)
        encoded = LatexEncodingMiddleware(keep_math=False, enclose_urls=False).transform_entry(entry, library)
        assert isinstance(encoded, Entry)
        for name, value in exact.items():
            if value:
                encoded.set_field(Field(name, re.sub(r"[{}\\\s]", "", value)))
        library.replace(entry, encoded)
    return write_string(library).encode()


def ris(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    """One record a reference."""
    records = []
    for reference in report.references:
        record: dict[str, object] = {
            "type_of_reference": _RIS.get(reference.evidence_type, "JOUR"),
            "id": _key(reference),
            "title": reference.title,
            "authors": [_comma(name) for name in reference.authors],
            "year": str(reference.year or ""),
            "journal_name": clean(reference.venue or ""),
            "doi": reference.identifiers.doi or "",
            "accession_number": reference.identifiers.pmid or reference.identifiers.nct or "",
            "urls": [url] if (url := best_url(reference)) else [],
            "abstract": _abstract(reference, evidence),
            "notes": [_note(reference)],
        }
        records.append({name: value for name, value in record.items() if value})
    return str(rispy.dumps(records, implementation=_RisWriter)).encode()


def csl(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    """A CSL-JSON array."""
    items = []
    for reference in report.references:
        item: dict[str, object] = {
            "id": _key(reference),
            "type": _CSL.get(reference.evidence_type, "article-journal"),
            "title": reference.title,
            "author": [_csl_name(name) for name in reference.authors],
            "issued": {"date-parts": [[reference.year]]} if reference.year else None,
            "container-title": clean(reference.venue or ""),
            "DOI": reference.identifiers.doi,
            "PMID": reference.identifiers.pmid,
            "PMCID": reference.identifiers.pmcid,
            "URL": best_url(reference),
            "abstract": _abstract(reference, evidence),
            "note": _note(reference),
        }
        items.append({name: value for name, value in item.items() if value})
    return (json.dumps(items, ensure_ascii=False, indent=2) + "\n").encode()


def _key(reference: Reference) -> str:
    first = re.sub(r"[^A-Za-z]", "", _comma(reference.authors[0]).split(",")[0]) if reference.authors else ""
    return f"{first or 'ref'}{reference.year or ''}_{reference.number}"


def _comma(name: str) -> str:
    """`Doe JA` and `Jane A. Doe` as `Doe, J. A.` and `Doe, Jane A.`; groups and what has a comma stay."""
    name = clean(name)
    family, _, given = name.rpartition(" ")
    if "," in name or not family:
        return name
    if re.fullmatch(r"[A-Z]{1,3}", given):
        return f"{family}, {' '.join(f'{letter}.' for letter in given)}"
    if len(name.split()) <= 4 and not _GROUP.search(name):
        return f"{given}, {family}"
    return name


def _csl_name(name: str) -> dict[str, str]:
    family, comma, given = _comma(name).partition(", ")
    return {"family": family, "given": given} if comma else {"literal": family}


def _note(reference: Reference) -> str:
    standing = STANDINGS[reference.standing] if reference.standing != "unknown" else ""
    parts = [f"{reference.evidence_type.replace('_', ' ')}", f"found in {clean(reference.source)}", standing]
    return "; ".join(part for part in parts if part)


def _abstract(reference: Reference, evidence: Mapping[str, Evidence]) -> str:
    item = evidence.get(reference.evidence_id)
    return clean(item.text) if item and not item.full_text else ""


def _braceless(text: str) -> str:
    """Without braces and backslashes: an unbalanced one breaks the entry and all after it."""
    return re.sub(r"[{}\\]", "", clean(text))
