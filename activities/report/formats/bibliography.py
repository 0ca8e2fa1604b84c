"""The references as BibTeX, RIS and CSL-JSON, for reference managers.

BibTeX is written by `bibtexparser` and RIS by `rispy`, both of the extra `bibliography`. CSL-JSON follows
https://docs.citationstyles.org/en/stable/specification.html#appendix-iii-types
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from activities.contracts.evidence import Evidence, EvidenceType
from activities.report.formats import MissingExtra
from activities.report.formats.references import STANDINGS, best_url, family_first
from activities.report.formats.text import clean
from activities.report.schema import Reference, Report

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

_TYPES: Mapping[EvidenceType, tuple[str, str, str]] = {
    "preprint": ("unpublished", "UNPB", "article"),
    "trial_registration": ("misc", "DBASE", "dataset"),
    "drug_label": ("misc", "GOVDOC", "document"),
    "regulatory": ("techreport", "GOVDOC", "report"),
    "adverse_events": ("misc", "DBASE", "dataset"),
    "database_record": ("misc", "DBASE", "dataset"),
    "knowledge_graph": ("misc", "DBASE", "dataset"),
    "web_page": ("misc", "ELEC", "webpage"),
    "document": ("misc", "GEN", "document"),
}
"""The type of an entry in BibTeX, RIS and CSL-JSON, where it is no article of a journal (`_ARTICLE`)."""
_ARTICLE = ("article", "JOUR", "article-journal")

_LATIN: Mapping[int, str] = {
    **dict(zip((0xF8, 0xD8, 0x142, 0x141, 0x111, 0x110, 0x131), "oOlLdDi", strict=True)),
    0xDF: "ss",
    0xE6: "ae",
    0xC6: "Ae",
    0x153: "oe",
}
"""Latin letters that Unicode does not decompose."""


def bibtex(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    """One entry a reference; special characters are encoded for LaTeX. Raises MissingExtra without the
    `bibliography` extra."""
    try:
        from bibtexparser.entrypoint import write_string
        from bibtexparser.library import Library
        from bibtexparser.middlewares import LatexEncodingMiddleware
        from bibtexparser.model import Entry, Field
        from pylatexenc.latexencode import UnicodeToLatexEncoder
    except ImportError as error:
        raise MissingExtra("bibliography") from error
    # Scripts that LaTeX has no commands for stay as they are: today's engines read UTF-8.
    encoder = UnicodeToLatexEncoder(unknown_char_warning=False)
    library = Library()
    names = keys(report.references)
    for reference in report.references:
        fields = {
            "title": _braceless(reference.title),
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
            _TYPES.get(reference.evidence_type, _ARTICLE)[0],
            names[reference.number],
            [Field(name, value) for name, value in fields.items() if value],
        )
        library.add(entry)
        encoded = LatexEncodingMiddleware(encoder=encoder).transform_entry(entry, library)
        assert isinstance(encoded, Entry)
        if reference.authors:
            authors = (_bibtex_name(_braceless(name), encoder) for name in reference.authors)
            encoded.set_field(Field("author", " and ".join(authors)))
        for name, value in exact.items():
            if value:
                encoded.set_field(Field(name, re.sub(r"[{}\\\s]", "", value)))
        library.replace(entry, encoded)
    return write_string(library).encode()


def _bibtex_name(name: str, encoder: "UnicodeToLatexEncoder") -> str:
    """A person as `Family, Given`; a group in braces, so that its name is not taken apart."""
    family = family_first(name)
    latex = str(encoder.unicode_to_latex(family))
    return latex if "," in family or " " not in family else f"{{{latex}}}"


def ris(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    """One record a reference. Raises MissingExtra without the `bibliography` extra."""
    try:
        import rispy
    except ImportError as error:
        raise MissingExtra("bibliography") from error

    class Writer(rispy.RisWriter):  # type: ignore[misc]
        def set_header(self, count: int) -> str:
            """No counter before a record: the format knows none, and not every reader skips it."""
            return ""

    names = keys(report.references)
    records = []
    for reference in report.references:
        record: dict[str, object] = {
            "type_of_reference": _TYPES.get(reference.evidence_type, _ARTICLE)[1],
            "id": names[reference.number],
            "title": reference.title,
            "authors": [family_first(name) for name in reference.authors],
            "year": str(reference.year or ""),
            "journal_name": clean(reference.venue or ""),
            "doi": reference.identifiers.doi or "",
            "accession_number": reference.identifiers.pmid or reference.identifiers.nct or "",
            "urls": [url] if (url := best_url(reference)) else [],
            "abstract": _abstract(reference, evidence),
            "notes": [_note(reference)],
        }
        records.append({name: value for name, value in record.items() if value})
    return str(rispy.dumps(records, implementation=Writer)).encode()


def csl(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    names = keys(report.references)
    items = []
    for reference in report.references:
        item: dict[str, object] = {
            "id": names[reference.number],
            "type": _TYPES.get(reference.evidence_type, _ARTICLE)[2],
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


def keys(references: Sequence[Reference]) -> dict[int, str]:
    """The citation key of each reference, by its number: `Smith2009`, and `Smith2009a`, `Smith2009b` where
    several have the same author and year."""
    stems = {r.number: _stem(r) for r in references}
    together: dict[str, list[int]] = {}
    for number, stem in stems.items():
        together.setdefault(stem.casefold(), []).append(number)
    return {
        number: stems[number] + (_letters(place) if len(numbers) > 1 else "")
        for numbers in together.values()
        for place, number in enumerate(numbers)
    }


def _stem(reference: Reference) -> str:
    """First author and year in the letters that every reference manager accepts. Where no author is known,
    the PMID and the year, which name one work; else the first long word of the title."""
    if reference.authors:
        name = family_first(reference.authors[0]).split(",")[0]
    elif pmid := reference.identifiers.pmid:
        return f"PMID{pmid}" + (f"-{reference.year}" if reference.year else "")
    else:
        words = re.findall(r"[^\W\d_]{4,}", reference.title)
        name = words[0].capitalize() if words else ""
    plain = unicodedata.normalize("NFKD", name.translate(_LATIN))
    name = re.sub(r"[^A-Za-z]", "", plain) or reference.source.capitalize()
    return f"{name}{reference.year or ''}"


def _letters(place: int) -> str:
    """a, b, ... z, aa, ab, ..."""
    more, letter = divmod(place, 26)
    return (_letters(more - 1) if more else "") + chr(ord("a") + letter)


def _csl_name(name: str) -> dict[str, str]:
    family, comma, forename = family_first(name).partition(", ")
    return {"family": family, "given": forename} if comma else {"literal": family}


def _note(reference: Reference) -> str:
    standing = STANDINGS[reference.standing] if reference.standing != "unknown" else ""
    parts = [reference.evidence_type.replace("_", " "), f"found in {clean(reference.source)}", standing]
    return "; ".join(part for part in parts if part)


def _abstract(reference: Reference, evidence: Mapping[str, Evidence]) -> str:
    item = evidence.get(reference.evidence_id)
    return clean(item.text) if item and not item.full_text else ""


def _braceless(text: str) -> str:
    """The text without braces and backslashes: an unbalanced one breaks the entry and all after it."""
    return re.sub(r"[{}\\]", "", clean(text))
