"""Exports of reference managers (Zotero, JabRef, Mendeley, EndNote) as records of a library.

BibTeX and RIS become records of the form of `activities.sources.library.records`. An entry's attachments,
which Zotero exports beside the file, become its text; without one its abstract is what may be quoted.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import JsonValue

from activities.documents.text import behind_extra

ATTACHMENTS = "attachments"
"""The field of a record with the paths of the files that hold the work, as the entry has them."""
_BIBTEX = {
    "abstract": "abstract",
    "journal": "venue",
    "journaltitle": "venue",
    "booktitle": "venue",
    "year": "year",
    "date": "date",
    "doi": "doi",
    "url": "url",
    "pmid": "pmid",
    "pmcid": "pmcid",
    "keywords": "keywords",
}
"""Field of BibTeX or BibLaTeX -> field of a record."""


def bibtex_records(text: str) -> Iterator[JsonValue]:
    with behind_extra("a bibliography", "bibliography"):
        from bibtexparser.entrypoint import parse_string
        from bibtexparser.middlewares import LatexDecodingMiddleware

    library = parse_string(text, append_middleware=[LatexDecodingMiddleware()])
    for entry in library.entries:
        fields = {name.lower(): str(field.value) for name, field in entry.fields_dict.items()}
        record: dict[str, JsonValue] = {"title": _plain(fields.get("title", ""))}
        for name, target in _BIBTEX.items():
            if value := fields.get(name):
                record.setdefault(target, _plain(value) if target != "url" else value)
        record["authors"] = [
            _person(name) for name in re.split(r"(?<!\s)\s+and\s+", fields.get("author", "")) if name
        ]
        record[ATTACHMENTS] = list(_files(fields.get("file", "")))
        yield record


def ris_records(text: str) -> Iterator[JsonValue]:
    with behind_extra("a bibliography", "bibliography"):
        import rispy

    for entry in rispy.loads(text, skip_unknown_tags=True):
        yield {
            "title": _first(entry, "title", "primary_title"),
            "abstract": _first(entry, "abstract", "notes_abstract"),
            "authors": [_person(str(name)) for name in entry.get("authors", entry.get("first_authors", []))],
            "year": _first(entry, "year", "publication_year", "date"),
            "venue": _first(entry, "journal_name", "secondary_title", "alternate_title3"),
            "doi": _first(entry, "doi"),
            "url": _first(entry, "urls"),
            "keywords": [str(word) for word in entry.get("keywords", [])],
            ATTACHMENTS: [str(path) for path in entry.get("file_attachments1", [])],
        }


def attached(record: Mapping[str, JsonValue], beside: Path) -> Iterator[Path]:
    """The attachments of a record that are below the folder of its file; links are not followed."""
    folder = beside.parent.resolve()
    named = record.get(ATTACHMENTS)
    for name in named if isinstance(named, list) else []:
        path = (folder / str(name)).resolve()
        if path.is_relative_to(folder) and path.is_file():
            yield path


def _files(field: str) -> Iterator[str]:
    """The paths in a `file` field: `path`, `Title:path:type` (JabRef, Zotero), several behind `;`, with
    backslashes before what separates."""
    for part in re.split(r"(?<!\\);", field):
        pieces = re.split(r"(?<!\\):", part.strip())
        path = pieces[1] if len(pieces) >= 3 else pieces[0]
        if path := re.sub(r"\\([;:\\{}_])", r"\1", path).strip():
            yield path


def _person(name: str) -> str:
    """`Family, Given` -> `Given Family`."""
    family, comma, forename = _plain(name).partition(",")
    return f"{forename.strip()} {family.strip()}" if comma else family.strip()


def _plain(value: str) -> str:
    return " ".join(value.replace("{", "").replace("}", "").split())


def _first(entry: Mapping[str, object], *names: str) -> str:
    for name in names:
        value = entry.get(name)
        if isinstance(value, list):
            value = value[0] if value else None
        if value:
            return str(value)
    return ""
