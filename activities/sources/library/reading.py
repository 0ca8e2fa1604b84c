"""One file of a library as evidence: a whole file as one document, or a document a JSON record.

Runs in a reading process (`activities.documents.readers`), except for small plain text and records, which
cost more to hand over than to read.
"""

import gzip
import io
import json
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from activities.documents.read import Text, Unreadable, decode, read_html, read_markdown, read_pdf, read_plain
from activities.sources.library import evidence_type
from activities.sources.library.records import read_record, records_in, year_in
from activities.types import Evidence, Identifiers
from activities.verification import identifiers

MAX_FILE_BYTES = 128 * 1024 * 1024
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""Of a `.gz`: a small file may unpack to terabytes."""
PDF_SECONDS = 35.0
"""Of one PDF; the pages read by then are kept. Less than an attempt of a search may take."""

READERS: dict[str, Callable[[bytes], Text]] = {
    ".txt": read_plain,
    ".text": read_plain,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".pdf": partial(read_pdf, seconds=PDF_SECONDS),
}
RECORDS = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


@dataclass(frozen=True, slots=True)
class SetAside:
    """A file or record that was not read, and why."""

    name: str
    reason: str


def kind_of(name: str) -> str:
    """The ending by which a file is read; empty for one that is not."""
    folded = name.casefold()
    return next((end for end in (*READERS, *RECORDS) if folded.endswith(end)), "")


def read_file(_: bytes, path: str, name: str) -> Iterator[Evidence | SetAside]:
    """The documents of a file. One that is unreadable as a whole is set aside, like a single record."""
    try:
        yield from _documents(Path(path), name)
    except (Unreadable, OSError, zlib.error, EOFError, UnicodeError) as error:
        yield SetAside(name, str(error))


def _documents(path: Path, name: str) -> Iterator[Evidence | SetAside]:
    kind = kind_of(name)
    data = _bytes(path)
    if kind in READERS:
        yield _whole(READERS[kind](data), name)
        return
    if kind.endswith(".gz"):
        data = _unpack(data)
    values = _lines(data, name) if ".jsonl" in kind else _json(data)
    for number, value in enumerate(values, start=1):
        if isinstance(value, SetAside):
            yield value
            continue
        try:
            yield read_record(value, name)
        except (Unreadable, ValueError, RecursionError) as error:
            yield SetAside(f"{name}, record {number}", str(error))


def _bytes(path: Path) -> bytes:
    """A file's content. What became a link or a pipe since the folder was listed is not followed."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Unreadable("it is not a regular file")
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(f"it is larger than {MAX_FILE_BYTES >> 20} MiB")
    return data


def _json(data: bytes) -> Iterator[JsonValue]:
    try:
        value: JsonValue = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not JSON: {error}") from error
    yield from records_in(value)


def _lines(data: bytes, name: str) -> Iterator[JsonValue | SetAside]:
    """The lines of the file, decoded one at a time: a large file is never held twice."""
    lines: Iterator[bytes | str] = iter(io.BytesIO(data))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        lines = iter(decode(data).split("\n"))
    for number, line in enumerate(lines, start=1):
        try:
            text = line if isinstance(line, str) else decode(line)
            if text.strip():
                yield json.loads(text)
        except (ValueError, RecursionError, Unreadable) as error:
            yield SetAside(f"{name}, line {number}", f"it is not JSON: {error}")


def _unpack(data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        unpacked = packed.read(MAX_UNPACKED_BYTES + 1)
    if len(unpacked) > MAX_UNPACKED_BYTES:
        raise Unreadable(f"it unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB")
    return unpacked


def _whole(text: Text, name: str) -> Evidence:
    """A whole file as one document."""
    title = text.title or re.sub(r"[_\s]+", " ", Path(name).stem).strip()
    ids = Identifiers(
        pmid=identifiers.normal_pmid(text.meta.get("pmid")),
        doi=identifiers.normal_doi(text.meta.get("doi")),
        url=identifiers.normal_url(text.meta.get("url")),
    )
    kind, because = evidence_type.infer(title, text.text, (), "document")
    facts = {"file": name, "evidence_type_from": because, "cut": text.cut}
    year = year_in(text.meta.get("year", "") or text.meta.get("date", ""))
    return Evidence(
        evidence_id=identifiers.evidence_id(ids, text.text),
        source="library",
        title=title,
        text=text.text,
        authors=text.authors,
        year=year,
        venue=text.meta.get("venue") or name,  # where a reader finds it
        identifiers=ids,
        url=text.meta.get("url") or None,
        evidence_type=kind,
        full_text=True,
        facts={key: fact for key, fact in facts.items() if fact},
    )
