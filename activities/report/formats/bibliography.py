"""The references as BibTeX, RIS and CSL-JSON, for reference managers.

BibTeX needs the extra `bibliography`. CSL-JSON follows
https://docs.citationstyles.org/en/stable/specification.html#appendix-iii-types
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from activities.contracts.evidence import Evidence, EvidenceType, Identifiers
from activities.report.formats import MissingExtra
from activities.report.formats.blocks import letter_of
from activities.report.formats.references import STANDINGS, best_url, family_first
from activities.report.formats.text import clean
from activities.report.schema import Reference, Report

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
"""The type of an entry in BibTeX, RIS and CSL-JSON, where it is no article of a journal (`ARTICLE`)."""
ARTICLE = ("article", "JOUR", "article-journal")

_LATIN: Mapping[int, str] = {
    **dict(zip((0xF8, 0xD8, 0x142, 0x141, 0x111, 0x110, 0x131), "oOlLdDi", strict=True)),
    0xDF: "ss",
    0xE6: "ae",
    0xC6: "Ae",
    0x153: "oe",
}
"""Latin letters that Unicode does not decompose."""


def bibtex(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    """Write one entry a reference; special characters are encoded for LaTeX. Raises MissingExtra."""
    try:
        from pylatexenc.latexencode import UnicodeToLatexEncoder
    except ImportError as error:
        raise MissingExtra("bibliography") from error
    # scripts that LaTeX has no commands for stay as they are: today's engines read UTF-8
    encode = UnicodeToLatexEncoder(unknown_char_warning=False).unicode_to_latex

    def latex(text: str) -> str:
        return str(encode(_braceless(text)))

    def author(name: str) -> str:
        """Write a person as `Family, Given`; a group in braces, so that its name is not taken apart."""
        text = latex(family_first(name))
        return text if "," in text or " " not in text else f"{{{text}}}"

    entries = []
    for item in items(report, evidence):
        # identifiers are not text: encoding would break the links that reference managers build from them
        exact = {name.lower(): re.sub(r"[{}\\\s]", "", item.ids[name]) for name in ("DOI", "PMID", "URL")}
        fields = {
            "title": latex(item.title),
            "year": item.year,
            "journal": latex(item.venue),
            "note": latex(item.note),
            "abstract": latex(item.abstract),
            "author": " and ".join(map(author, item.authors)),
            **exact,
        }
        rows = "".join(f",\n\t{name} = {{{value}}}" for name, value in fields.items() if value)
        entries.append(f"@{item.types[0]}{{{item.key}{rows}\n}}\n")
    return "\n".join(entries).encode()


def ris(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    return ris_of(items(report, evidence))


def ris_of(works: Iterable["Item"]) -> bytes:
    lines = []
    for item in works:
        number = item.ids["PMID"] or item.ids["NCT"]
        rows = [("TY", item.types[1]), ("ID", item.key), ("TI", item.title), ("PY", item.year)]
        rows += [("AU", family_first(name)) for name in item.authors]
        rows += [("JO", item.venue), ("DO", item.ids["DOI"]), ("AN", number), ("UR", item.ids["URL"])]
        rows += [("AB", item.abstract), ("KW", item.keyword)]
        rows += [("N1", line) for line in item.note.splitlines()]
        lines += [f"{tag}  - {clean(value)}" for tag, value in rows if value]
        lines += ["ER  - ", ""]
    return "\n".join(lines).encode()


def csl(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    rows = []
    for item in items(report, evidence):
        row: dict[str, object] = {
            "id": item.key,
            "type": item.types[2],
            "title": item.title,
            "author": [_csl_name(name) for name in item.authors],
            "issued": {"date-parts": [[int(item.year)]]} if item.year else None,
            "container-title": item.venue,
            **{name: item.ids[name] for name in ("DOI", "PMID", "PMCID", "URL")},
            "abstract": item.abstract,
            "note": item.note,
        }
        rows.append({name: value for name, value in row.items() if value})
    return (json.dumps(rows, ensure_ascii=False, indent=2) + "\n").encode()


class Item(NamedTuple):
    """A reference as each of the formats has it."""

    key: str
    types: tuple[str, str, str]
    title: str
    authors: tuple[str, ...]
    year: str
    venue: str
    ids: Mapping[str, str]
    abstract: str
    note: str
    keyword: str = ""


def items(report: Report, evidence: Mapping[str, Evidence]) -> Iterator[Item]:
    """Collect what is known of each reference; `evidence`: the cited items, whose abstracts are added."""
    names = keys(report.references)
    for reference in report.references:
        item = evidence.get(reference.evidence_id)
        notice = STANDINGS[reference.standing] if reference.standing != "unknown" else ""
        kind = reference.evidence_type.replace("_", " ")
        note = (kind, f"found in {clean(reference.source)}", notice)
        yield Item(
            key=names[reference.number],
            types=_TYPES.get(reference.evidence_type, ARTICLE),
            title=reference.title,
            authors=reference.authors,
            year=str(reference.year or ""),
            venue=clean(reference.venue or ""),
            ids=ids_of(reference.identifiers, best_url(reference)),
            abstract=clean(item.text) if item and not item.full_text else "",
            note="; ".join(filter(None, note)),
        )


def ids_of(identifiers: Identifiers, url: str | None) -> dict[str, str]:
    """Name the identifiers of a work as the formats do, with its address; empty for one that it has not."""
    names = ("doi", "pmid", "pmcid", "nct")
    return {name.upper(): getattr(identifiers, name) or "" for name in names} | {"URL": url or ""}


def keys(references: Sequence[Reference]) -> dict[int, str]:
    """Key each reference by its number: `Smith2009`, or `Smith2009a` and `Smith2009b` where two are alike."""
    stems = {r.number: _stem(r) for r in references}
    together: dict[str, list[int]] = {}
    for number, stem in stems.items():
        together.setdefault(stem.casefold(), []).append(number)
    return {
        number: stems[number] + (letter_of(place) if len(numbers) > 1 else "")
        for numbers in together.values()
        for place, number in enumerate(numbers)
    }


def _stem(reference: Reference) -> str:
    """Begin a key: first author, PMID or first long word of the title, with the year, in plain letters."""
    if reference.authors:
        name = family_first(reference.authors[0]).split(",")[0]
    elif pmid := reference.identifiers.pmid:
        return f"PMID{pmid}" + (f"-{reference.year}" if reference.year else "")
    else:
        words = re.findall(r"[^\W\d_]{4,}", reference.title)
        name = words[0].capitalize() if words else ""
    letters = unicodedata.normalize("NFKD", name.translate(_LATIN))
    name = re.sub(r"[^A-Za-z]", "", letters) or reference.source.capitalize()
    return f"{name}{reference.year or ''}"


def _csl_name(name: str) -> dict[str, str]:
    family, comma, forename = family_first(name).partition(", ")
    return {"family": family, "given": forename} if comma else {"literal": family}


def _braceless(text: str) -> str:
    """Leave out braces and backslashes: an unbalanced one breaks the entry and all after it."""
    return re.sub(r"[{}\\]", "", clean(text))
