"""Files of records from other databases as evidence: RIS, BibTeX, CSV, JSON and PubMed XML."""

from collections.abc import Iterator
from pathlib import Path

from lxml import etree
from pydantic import JsonValue

from activities.contracts.errors import DeterminatorError
from activities.contracts.evidence import Evidence
from activities.documents.text import Unreadable
from activities.review.records import NO_ABSTRACT, UnreadableRecords
from activities.sources.library.reading import entries_of
from activities.sources.library.records import TEXTS, TITLES, SetAside, read_record
from activities.sources.pubmed import RECORDS
from activities.sources.pubmed import read_record as read_pubmed_record

PUBMED_XML = ".xml"
ENDINGS = (".ris", ".bib", ".csv", ".tsv", ".json", ".jsonl", PUBMED_XML)
MAX_FILE_BYTES = 256 * 2**20


def read_records_file(path: Path) -> Iterator[Evidence | SetAside]:
    """The records of an export (RIS, BibTeX, CSV, JSON, PubMed XML). One without an abstract is screened by
    its title; one without either is set aside. Raises UnreadableRecords."""
    kind = path.suffix.casefold()
    if kind not in ENDINGS:
        raise UnreadableRecords(f"{path.name} is no file of records; export one of {', '.join(ENDINGS)}")
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UnreadableRecords(f"{path.name} is over {MAX_FILE_BYTES // 2**20} MB; export it in parts")
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableRecords(f"cannot read {path}: {error.strerror or error}") from error
    if kind == PUBMED_XML:
        yield from _pubmed(data, path.name)
        return
    try:
        for number, row in enumerate(entries_of(kind, data, path.name), start=1):
            yield row if isinstance(row, SetAside) else _record(row, path.name, number)
    except Unreadable as error:
        raise UnreadableRecords(f"{path.name}: {error}") from error


def _record(row: JsonValue, name: str, number: int) -> Evidence | SetAside:
    try:
        return read_record(row, name).replace(full_text=False)
    except Unreadable as error:
        titled = isinstance(row, dict) and {key.casefold(): value for key, value in row.items()}
        title = next((titled[key] for key in TITLES if titled and titled.get(key)), None)
        if not isinstance(row, dict) or not isinstance(title, str):
            return SetAside(f"{name}, record {number}", str(error))
    read = read_record(
        {**{k: v for k, v in row.items() if k.casefold() not in TEXTS}, "abstract": title}, name
    )
    return read.replace(full_text=False, facts={**read.facts, NO_ABSTRACT: "yes"})


def _pubmed(data: bytes, name: str) -> Iterator[Evidence | SetAside]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=False)
    try:
        tree = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableRecords(f"{name} is no XML: {error}") from error
    if tree.tag != "PubmedArticleSet":
        raise UnreadableRecords(f"{name} is no PubMed XML: save search results in the format PubMed XML")
    for number, element in enumerate(filter(lambda one: one.tag in RECORDS, tree), start=1):
        try:
            read = read_pubmed_record(element)
        except DeterminatorError as error:
            yield SetAside(f"{name}, record {number}", str(error))
            continue
        yield read if read.text else read.replace(text=read.title, facts={**read.facts, NO_ABSTRACT: "yes"})
