"""Files that people give to a review: records of other databases, and full texts."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lxml import etree
from pydantic import JsonValue

from activities.contracts.errors import DeterminatorError, Refused
from activities.contracts.evidence import FULL_TEXT_FROM, Evidence
from activities.documents.encodings import decode
from activities.documents.text import HEAD_CHARS, Unreadable, has_title
from activities.review.protocol import MEDLINE, PUBMED_XML, Columns
from activities.review.records import UnreadableRecords
from activities.sources.library.files import documents_of, list_folder
from activities.sources.library.reading import entries_of
from activities.sources.library.records import TEXTS, TITLES, SetAside, read_record
from activities.sources.pubmed import RECORDS
from activities.sources.pubmed import read_record as read_pubmed_record
from activities.sources.records import by_title
from activities.text.person_names import read_name

ENDINGS = (".ris", MEDLINE, ".bib", ".csv", ".tsv", ".json", ".jsonl", PUBMED_XML)
MEDLINE_TAGS = {
    "TI": "title",
    "BTI": "title",
    "AB": "abstract",
    "FAU": "authors",
    "CN": "authors",
    "DP": "year",
    "JT": "journal",
    "PMID": "pmid",
    "PMC": "pmcid",
    "MH": "mesh",
    "PT": "publication_types",
}
"""Tags of PubMed's own format (https://pubmed.ncbi.nlm.nih.gov/help/#pubmed-format) -> field of a record."""
_TAG = re.compile(r"([A-Z]{2,4}) *- (.*)")
MAX_FILE_BYTES = 256 * 2**20
NO_COLUMNS = Columns()
MAX_CHARS = 400_000
"""Characters of a full text that is stored."""


def read_records_file(path: Path, columns: Columns = NO_COLUMNS) -> Iterator[Evidence | SetAside]:
    """Read the records of an export (RIS, BibTeX, CSV, JSON, PubMed's .nbib and XML).

    One without an abstract is screened by its title; one without either is set aside. `columns`: headings of
    a table that are named otherwise. Raises UnreadableRecords.
    """
    ending = path.suffix.casefold()
    if ending not in ENDINGS:
        raise UnreadableRecords(f"{path} is no file of records; export one of {', '.join(ENDINGS)}")
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UnreadableRecords(f"{path.name} is over {MAX_FILE_BYTES // 2**20} MB; export it in parts")
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableRecords(f"cannot read {path}: {error.strerror or error}") from error
    if ending == PUBMED_XML:
        yield from _read_pubmed(data, path.name)
        return
    names = {heading: name for name, heading in columns if heading}
    try:
        rows = _medline_rows(decode(data)) if ending == MEDLINE else entries_of(ending, data, path.name)
        for number, row in enumerate(rows, start=1):
            if isinstance(row, dict):
                row = {names.get(key.strip("\ufeff "), key): value for key, value in row.items()}
            yield row if isinstance(row, SetAside) else _read_row(row, path.name, number)
    except Unreadable as error:
        raise UnreadableRecords(f"{path.name}: {error}") from error


def _medline_rows(text: str) -> Iterator[JsonValue]:
    """Yield the records of an export of PubMed for citation managers, each of which begins with its PMID."""
    records: list[list[tuple[str, str]]] = []
    for line in text.splitlines():
        if match := _TAG.match(line):
            if match[1] == "PMID" or not records:
                records.append([])
            records[-1].append((match[1], match[2].strip()))
        elif line.strip() and records:  # the line before goes on
            tag, value = records[-1][-1]
            records[-1][-1] = (tag, f"{value} {line.strip()}")
    for fields in records:
        row: dict[str, list[JsonValue]] = {}
        for tag, value in fields:
            if name := MEDLINE_TAGS.get(tag):
                row.setdefault(name, []).append(value)
            elif tag in ("LID", "AID") and value.endswith("[doi]"):
                row["doi"] = [value.removesuffix("[doi]").strip()]
            elif tag == "SI" and value.startswith("ClinicalTrials.gov/"):
                row.setdefault("nct", []).append(value.partition("/")[2])
        lists = ("authors", "mesh", "publication_types")
        row["authors"] = [*map(read_name, map(str, row.get("authors", ())))]
        yield {name: values if name in lists else values[0] for name, values in row.items()}


def _read_row(row: JsonValue, name: str, number: int) -> Evidence | SetAside:
    try:
        return read_record(row, name).replace(full_text=False)
    except Unreadable:
        if not isinstance(row, dict):
            return SetAside(f"{name}, record {number}", "it has no fields")
        values = {key.casefold(): value for key, value in row.items()}
        title = next((values[key] for key in TITLES if values.get(key)), None)
        if not isinstance(title, str):
            headings = ", ".join(key for key, value in row.items() if value)[:200]
            reason = f"it has no `title`; its fields are {headings}. Name them in the protocol's first lines"
            example = 'columns = { title = "HEADING", abstract = "HEADING" }'
            return SetAside(f"{name}, record {number}", f"{reason}: {example}")
    texts = {key: value for key, value in row.items() if key.casefold() not in TEXTS}
    return by_title(read_record({**texts, "abstract": title}, name).replace(full_text=False))


def _read_pubmed(data: bytes, name: str) -> Iterator[Evidence | SetAside]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=False)
    try:
        tree = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableRecords(f"{name} is no XML: {error}") from error
    if tree.tag != "PubmedArticleSet":
        raise UnreadableRecords(f"{name} is no PubMed XML: save search results in the format PubMed XML")
    for number, element in enumerate(filter(lambda node: node.tag in RECORDS, tree), start=1):
        try:
            record = read_pubmed_record(element)
        except DeterminatorError as error:
            yield SetAside(f"{name}, record {number}", str(error))
            continue
        yield record if record.text else by_title(record)


def read_full_texts(
    path: Path, works: Sequence[Evidence], *, is_sure: bool = False
) -> tuple[dict[str, Evidence], list[str]]:
    """Read the full texts of works from a folder, or from one file of a folder: id -> the work with its text.

    Also the files of which none was made, a line each. A file is that of a work by its name (`pmid_123.pdf`,
    or the DOI with `_` for `/`), by the identifiers in it, or by the title near its beginning; `is_sure`: a
    person says that the file is that of the one work. Raises Refused where there is no such file or folder,
    or it cannot be read.
    """
    if not path.exists():
        raise Refused(f"there is no {path}")
    listing = list_folder(path if path.is_dir() else path.parent)
    files = [entry for entry in listing.files if path.is_dir() or entry.path == path.resolve()]
    texts: dict[str, Evidence] = {}
    lines = [
        f"{entry.name}: {entry.reason}"
        for entry in listing.set_aside
        if path.is_dir() or entry.name == path.name
    ]
    for file in files:
        items = list(documents_of(file))
        parts = [item for item in items if isinstance(item, Evidence)]
        lines += [f"{item.name}: {item.reason}" for item in items if isinstance(item, SetAside)]
        if not parts:
            continue
        work = work_of(file.name, parts[0], works)
        if is_sure and len(works) == 1:
            if work is None:
                lines.append(
                    f"{file.name} has neither the title nor an identifier of the record: is it its text?"
                )
            work = works[0]
        if work is None:
            lines.append(f"{file.name} is the text of no awaited record, or of several: say of which")
        else:
            texts[work.evidence_id] = with_text(work, parts, file.name)
    return texts, lines


def work_of(name: str, document: Evidence, works: Sequence[Evidence]) -> Evidence | None:
    """Return the one work that a file is the text of; None where none or several fit."""
    stem, names = file_key(Path(name).stem), set(_identifiers(document))
    head = f"{document.title}\n{document.text}"
    start = file_key(head[:HEAD_CHARS])
    tests: tuple[Callable[[Evidence], bool], ...] = (
        lambda work: stem in map(file_key, (work.evidence_id, *_identifiers(work))),
        lambda work: bool(names.intersection(_identifiers(work))),
        lambda work: file_key(work.title) in start,
        lambda work: has_title(head, work.title),
    )
    for test in tests:
        matches = [work for work in works if test(work)]
        if matches:
            return matches[0] if len(matches) == 1 else None
    return None


def file_key(name: str) -> str:
    """Write an identifier as a file name may have it: `10.1/x.1` as `10-1-x-1`."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.casefold()).split())


def _identifiers(work: Evidence) -> tuple[str, ...]:
    return tuple(value for kind, value in work.identifiers.items_in_order() if kind != "url")


def with_text(work: Evidence, parts: Sequence[Evidence], where: str) -> Evidence:
    """Put a full text behind the abstract of a work, so that what was quoted before keeps standing."""
    text, pages = f"{work.text}\n\n", list[int]()
    for part in parts:
        pages += [len(text) + start for start in part.pages]
        text += f"{part.text}\n"
    text = text.rstrip("\n")[:MAX_CHARS]
    return work.replace(
        text=text,
        full_text=True,
        facts={**work.facts, FULL_TEXT_FROM: where},
        pages=tuple(start for start in pages if start < len(text)),
    )
