"""Exports of reference managers (Zotero, JabRef, Mendeley, EndNote) as records of a library.

BibTeX and RIS become records of the form of `activities.sources.library.records`. An entry's attachments,
which Zotero exports beside the file, become its text; without one its abstract is what may be quoted. Nothing
is dropped without a word: what cannot be read is set aside.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from activities.documents.latex import latex_text
from activities.documents.markup import plain
from activities.documents.text import behind_extra
from activities.sources.library.records import SetAside
from activities.text.person_names import person_name, read_name

if TYPE_CHECKING:
    from bibtexparser.model import Block, Entry

ATTACHMENTS = "attachments"
"""The field of a record with the paths of the files that hold the work, as the entry has them."""
_BIBTEX = {
    **{name: name for name in ("year", "date", "doi", "url", "pmid", "pmcid", "keywords")},
    **dict.fromkeys(("journal", "journaltitle", "booktitle", "howpublished", "publisher"), "venue"),
}
"""Field of BibTeX or BibLaTeX -> field of a record."""
_TAG_LINE = re.compile(r"^([A-Z][A-Z0-9])(?:  -| -|  \u2013)(?: (.*)|)$")


def bibtex_records(text: str, name: str) -> Iterator[JsonValue | SetAside]:
    with behind_extra("a bibliography", "bibliography"):
        from bibtexparser.library import Library
        from bibtexparser.middlewares import RemoveEnclosingMiddleware, ResolveStringReferencesMiddleware
        from bibtexparser.model import (
            DuplicateBlockKeyBlock,
            DuplicateFieldKeyBlock,
            Entry,
            ParsingFailedBlock,
        )
        from bibtexparser.splitter import Splitter

    blocks: list[Block] = []
    set_aside: list[SetAside] = []
    for block in Splitter(text).split().blocks:
        # an entry with the key of another one is another work; one with a field twice has both
        if isinstance(block, DuplicateBlockKeyBlock | DuplicateFieldKeyBlock):
            inner = block.ignore_error_block
            if isinstance(inner, Entry):
                inner.key = f"{inner.key}#{len(blocks)}"
            blocks += [inner] if inner is not None else []
        elif isinstance(block, ParsingFailedBlock):
            line = (block.start_line or 0) + 1
            reason = "it cannot be read as BibTeX: balance its braces and quotation marks"
            set_aside.append(SetAside(f"{name}, entry at line {line}", reason))
        else:
            blocks.append(block)
    library = Library(blocks)
    for middleware in (ResolveStringReferencesMiddleware(), RemoveEnclosingMiddleware()):
        library = middleware.transform(library)
    for entry in library.entries:
        yield _bibtex_record(entry)
    yield from set_aside


def _bibtex_record(entry: "Entry") -> JsonValue:
    fields: dict[str, list[str]] = {}
    for field in entry.fields:
        fields.setdefault(field.key.lower(), []).append(str(field.value))
    texts = (latex_text(value, with_notes=True) for value in fields.pop("abstract", ()))
    abstracts = dict.fromkeys(filter(None, texts))
    record: dict[str, JsonValue] = {
        "title": latex_text(fields.get("title", [""])[0]),
        "abstract": "\n\n".join(abstracts),
    }
    for name, target in _BIBTEX.items():
        values = fields.get(name, [])
        if target == "url":
            values = [re.sub(r"\\([%_&#~])", r"\1", value) for value in values]
        else:
            values = list(map(latex_text, values))
        if value := next(filter(None, values), ""):
            record.setdefault(target, value)
    if "arxiv" in " ".join((*fields.get("archiveprefix", ()), *fields.get("eprinttype", ()))).casefold():
        record["arxiv"] = fields.get("eprint", [""])[0]
        record.setdefault("venue", "arXiv")
    record["authors"] = [person for value in fields.get("author", ()) for person in _people(value)]
    record[ATTACHMENTS] = [path for value in fields.get("file", ()) for path in _files(value)]
    return record


def _people(field: str) -> Iterator[str]:
    """Yield the persons and groups of a field of authors; `and others` is nobody."""
    from bibtexparser.middlewares.names import (
        InvalidNameError,
        parse_single_name_into_parts,
        split_multiple_persons_names,
    )

    names = split_multiple_persons_names(" ".join(field.split()))
    if len(names) == 1 and ";" in field:
        names = field.split(";")
    for name in names:
        if name.strip().casefold() in ("", "others", "et al", "et al."):
            continue
        try:
            parts = parse_single_name_into_parts(name.strip(), strict=False)
        except InvalidNameError:
            yield latex_text(name)
            continue
        rows = (*parts.von, *parts.last), parts.first, parts.jr
        family, given, suffix = (" ".join(map(latex_text, words)).strip() for words in rows)
        # without a comma a name stands in the order of its script
        yield person_name(family, given, suffix) if "," in name else latex_text(name)


def ris_records(text: str, name: str) -> Iterator[JsonValue | SetAside]:
    """Yield the entries of a RIS file: a type begins the next one, whether or not the last was ended."""
    fields: list[tuple[str, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        match = _TAG_LINE.match(line.strip("\r \t\ufeff") if line[:1].isspace() else line.rstrip())
        tag, value = (match[1], (match[2] or "").strip()) if match else ("", line.strip())
        if tag in ("TY", "ER"):
            if any(content for _, content in fields[1:]) or (fields and fields[0][0] != "TY"):
                yield _ris_record(fields)
            fields = [(tag, value)] if tag == "TY" else []
        elif tag:
            fields.append((tag, value))
        elif fields and (value or fields[-1][1]):
            last_tag, content = fields[-1]
            fields[-1] = (last_tag, f"{content} {value}".strip() if value else f"{content}\n\n")
        elif value:
            yield SetAside(f"{name}, line {number}", "it belongs to no entry: an entry begins with TY")
    if fields:
        yield _ris_record(fields)


def _ris_record(fields: Sequence[tuple[str, str]]) -> JsonValue:
    values: dict[str, list[str]] = {}
    for tag, value in fields:
        if value.strip():
            values.setdefault(tag, []).append(value.strip())

    def first(*tags: str) -> str:
        return next((values[tag][0] for tag in tags if tag in values), "")

    abstracts = values.get("AB") or values.get("N2") or []
    accession = first("AN") if "pubmed" in first("DB", "DP").casefold() else ""
    return {
        "title": plain(first("TI", "T1", "CT", "BT", "ST")),
        "abstract": "\n\n".join(
            plain(part) for text in dict.fromkeys(abstracts) for part in text.split("\n\n")
        ),
        "authors": [read_name(plain(value)) for tag, value in fields if tag in ("AU", "A1") and value],
        "year": first("PY", "Y1", "DA"),
        "venue": plain(first("JF", "T2", "JO", "JA", "J1", "J2", "PB")),
        "doi": first("DO"),
        "pmid": accession,
        "url": first("UR"),
        "keywords": [
            part for value in values.get("KW", ()) for part in map(str.strip, value.split("\n")) if part
        ],
        ATTACHMENTS: [*values.get("L1", ())],
    }


def attachments_of(record: Mapping[str, JsonValue], file: Path) -> Iterator[Path]:
    """Yield the attachments of a record that are below the folder of its file; links are not followed."""
    folder = file.parent.resolve()
    paths = record.get(ATTACHMENTS)
    for name in paths if isinstance(paths, list) else []:
        path = (folder / str(name)).resolve()
        if path.is_relative_to(folder) and path.is_file():
            yield path


def _files(field: str) -> Iterator[str]:
    """Yield the paths in a `file` field: `path` or `Title:path:type` (JabRef, Zotero), parted by `;`."""
    for part in re.split(r"(?<!\\);", field):
        pieces = re.split(r"(?<!\\):", part.strip())
        path = pieces[1] if len(pieces) >= 3 else pieces[0]
        if path := re.sub(r"\\([;:\\{}_])", r"\1", path).strip():
            yield path
