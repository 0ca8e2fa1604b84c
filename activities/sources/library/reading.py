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
import zipfile
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice, pairwise
from pathlib import Path, PurePosixPath

from pydantic import JsonValue

from activities.contracts import identifiers
from activities.contracts.evidence import Evidence, Identifiers
from activities.documents.encodings import decode, decode_page, decode_text
from activities.documents.html_page import read_own_html
from activities.documents.latex import read_tex
from activities.documents.ocr import read_picture, read_scanned_pdf
from activities.documents.office import (
    read_docx,
    read_epub,
    read_pptx,
    read_table,
    read_xlsx,
    table_rows,
)
from activities.documents.open_document import read_odt, read_rtf
from activities.documents.pdf import read_pdf
from activities.documents.plain import mailbox_messages, read_mail, read_markdown, read_notebook, read_plain
from activities.documents.speech import read_recording
from activities.documents.text import Lacking, NoText, Text, Unreadable, new_text
from activities.sources.library.bibliography import attachments_of, bibtex_records, ris_records
from activities.sources.library.records import SetAside as SetAside
from activities.sources.library.records import has_text, is_row, read_record, records_in
from activities.sources.publication import year_of

MAX_FILE_BYTES = 128 * 1024 * 1024
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""Bytes of what a file unpacks to: a small one may unpack to terabytes."""
MAX_BEFORE_PDF = 1024
"""Bytes that may stand before the mark of a PDF."""
MAX_PART_CHARS = 200_000
"""Characters of one document: some eighty pages. A longer file is as many documents as it has parts of this
size, since of one document only the beginning is split into sentences, and of its sentences some are
searched."""

_DATE = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")
"""The date that the name of a letter or of minutes begins with."""
PROBED_RECORDS = 20
"""Records at the beginning of a file that all have no text, where it is a table: of sales, or of members."""

PLAIN = (".txt", ".text", ".log", ".rst", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf")
MARKDOWN = (".md", ".markdown")
PAGES = (".html", ".htm")
READERS: dict[str, Callable[[bytes], Text]] = {
    **dict.fromkeys(PLAIN, read_plain),
    **dict.fromkeys(MARKDOWN, read_markdown),
    **dict.fromkeys(PAGES, read_own_html),
    ".eml": read_mail,
    ".ipynb": read_notebook,
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".odt": read_odt,
    ".rtf": read_rtf,
    ".pptx": read_pptx,
    ".xlsx": read_xlsx,
    ".epub": read_epub,
    ".tex": read_tex,
}
ZIPPED = (".docx", ".odt", ".pptx", ".xlsx", ".epub")
"""Kinds that are zip archives."""
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""What files of Office before 2007 begin with, and those with a password."""
TABLES = (".csv", ".tsv")
"""Records when their columns are named like those of a record, else a text."""
BIBLIOGRAPHIES = (".bib", ".ris")
MAILBOX = ".mbox"
PACKED = ".gz"
RECORDS = (".json", ".jsonl", ".json.gz", ".jsonl.gz", MAILBOX, *TABLES, *BIBLIOGRAPHIES)
TEXTS = (*PLAIN, *MARKDOWN, *PAGES, ".tex", ".json", ".jsonl", *TABLES, *BIBLIOGRAPHIES)
"""Kinds whose bytes are characters of any encoding."""
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
PAGED_PICTURES = (".tif", ".tiff")
"""Those that may have several pages."""
RECORDINGS = (".wav", ".mp3", ".m4a")
SLOW = (*PICTURES, *RECORDINGS)
"""Kinds that take minutes: their text has to be recognised."""
SAVED_AS = {
    **dict.fromkeys((".doc", ".pages", ".wpd", ".docm", ".dot"), ".docx"),
    **dict.fromkeys((".xls", ".ods", ".numbers", ".xlsb"), ".xlsx"),
    **dict.fromkeys((".ppt", ".odp", ".key"), ".pptx"),
    ".msg": ".eml",
    ".mobi": ".epub",
}
"""Kinds that people have and that are not read -> the kind as which their program can save them."""
WHOLE = (*READERS, *SLOW, *SAVED_AS)
"""Kinds of which a file is one document."""
ENDINGS = (*WHOLE, *RECORDS)


def kind_of(name: str) -> str:
    """Return the ending by which a file is read; empty for one that is not."""
    lower_name = name.casefold()
    return next((end for end in ENDINGS if lower_name.endswith(end)), "")


def read_file(
    _: bytes, path: str, name: str, speech_model: str | None = None
) -> Iterator[Evidence | SetAside]:
    """Yield the documents of a file; with the folder of a `speech_model`, what is recognised in it."""
    yield from _or_set_aside(
        _documents(Path(path), name) if speech_model is None else _recognise(Path(path), name, speech_model),
        name,
    )


def _or_set_aside(documents: Iterator[Evidence | SetAside], name: str) -> Iterator[Evidence | SetAside]:
    try:
        yield from documents
    except Unreadable as error:
        scan, lacking = isinstance(error, NoText), isinstance(error, Lacking)
        yield SetAside(name, str(error), scan=scan, lacking=lacking)
    except (MemoryError, RecursionError):
        raise  # the process ends with it
    except Exception as error:  # noqa: BLE001 - a library fails with whatever the broken part leads to
        yield SetAside(name, f"it cannot be read: {type(error).__name__} {error}"[:300])


def _documents(path: Path, name: str) -> Iterator[Evidence | SetAside]:
    kind, data, note = kind_of(name), _bytes(path), ""
    if data.startswith(b"%PDF-") and kind != ".pdf":
        raise Unreadable("it is a PDF under another ending; name it .pdf")
    if kind in ZIPPED and data.startswith(OLD_OFFICE):
        raise Unreadable(
            f"it is locked with a password or of an old kind; save it as {kind} without a password"
        )
    if (kind in ZIPPED and not data.startswith(b"PK")) or (
        kind == ".pdf" and b"%PDF-" not in data[:MAX_BEFORE_PDF]
    ):
        raise Unreadable(f"it is no {kind} file; open it in its program and save it as {kind}")
    if kind in ZIPPED:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                _check_size(sum(part.file_size for part in archive.infolist()))
        except zipfile.BadZipFile as error:
            raise Unreadable("it is damaged or was cut off; get or save it again") from error
    if kind.endswith(PACKED):
        data, kind = _unpack(data), kind.removesuffix(PACKED)
    if kind in TEXTS:
        data, note = _as_utf8(data, kind)
    for document in _documents_of(data, kind, path, name):
        if note and isinstance(document, Evidence):
            yield document.replace(facts={**document.facts, "encoding": note})
        else:
            yield document


def _as_utf8(data: bytes, kind: str) -> tuple[bytes, str]:
    """Return a text in UTF-8, and a note on its encoding; no other copy of it outlives the call."""
    characters = (decode_page if kind in PAGES else decode_text)(data)
    return characters.text.encode(errors="replace"), characters.note


def _documents_of(data: bytes, kind: str, path: Path, name: str) -> Iterator[Evidence | SetAside]:
    if kind in SAVED_AS:
        raise Unreadable(f"{kind} files are not read; save it as {SAVED_AS[kind]} with the program it is of")
    if kind in READERS:
        yield from _parts(_document(READERS[kind](data), name, path))
        return
    if kind == MAILBOX:
        for number, message in enumerate(mailbox_messages(data), start=1):
            yield from _or_set_aside(
                _parts(_document(read_mail(message), name, path)), f"{name}, message {number}"
            )
        return
    # the first row of a table of records names columns of which they are made: a title and a text
    if kind in TABLES and not has_text(next(iter(table_rows(decode(data))), [])):
        yield from _parts(_document(read_table(data), name, path))
        return
    values = entries_of(kind, data, name)
    probe = list(islice(values, PROBED_RECORDS))
    is_table = all(isinstance(value, dict) and is_row(value) for value in probe)
    if is_table and len(probe) > 1 and kind not in BIBLIOGRAPHIES:
        rows = (_row_text(value) for value in chain(probe, values) if isinstance(value, dict))
        yield from _parts(_document(new_text("\n".join(rows)), name, path))
        return
    owners: dict[str, tuple[str, str]] = {}
    for number, value in enumerate(chain(probe, values), start=1):
        if isinstance(value, SetAside):
            yield value
            continue
        try:
            yield _without_shared_doi(_with_attachment(value, path, name) or read_record(value, name), owners)
        except (Unreadable, ValueError, RecursionError) as error:
            yield SetAside(f"{name}, record {number}", str(error))


def _without_shared_doi(record: Evidence, owners: dict[str, tuple[str, str]]) -> Evidence:
    """Return a record without its DOI where an earlier record of another work has that of a supplement."""
    doi, author = record.identifiers.doi, identifiers.first_author(record.authors)
    title = identifiers.fingerprint(record.title, None)
    if not (doi and title and author):
        return record
    owner = owners.setdefault(doi, (title, author))
    if title == owner[0] or set(author.split()) & set(owner[1].split()):
        return record
    ids = record.identifiers.replace(doi=None)
    return record.replace(
        identifiers=ids, evidence_id=identifiers.evidence_id(ids, f"{record.title}\n{record.text}")
    )


def _recognise(path: Path, name: str, speech_model: str) -> Iterator[Evidence]:
    kind, data = kind_of(name), _bytes(path)
    if kind in RECORDINGS:
        text = read_recording(data, speech_model)
    else:
        text = read_picture(data) if kind in PICTURES else read_scanned_pdf(data)
    yield from _parts(_document(text, name, path))


def entries_of(kind: str, data: bytes, name: str) -> Iterator[JsonValue | SetAside]:
    """Yield the entries of a file of records, as they stand. Raises Unreadable."""
    text = decode(data)
    if kind == ".bib":
        return bibtex_records(text, name)
    if kind == ".ris":
        return ris_records(text, name)
    if kind in TABLES:
        return _rows(text, name)
    return _lines(text, name) if kind == ".jsonl" else _json(text)


def _rows(text: str, name: str) -> Iterator[JsonValue | SetAside]:
    rows = iter(table_rows(text))
    header = next(rows, [])
    for number, row in enumerate(rows, start=1):
        if any(cell.strip() for cell in row[len(header) :]):
            size = f"it has {len(row)} cells below {len(header)} headings"
            yield SetAside(f"{name}, record {number}", f"{size}: a separator in a cell needs quotation marks")
        elif any(map(str.strip, row)):
            yield dict(zip(header, row, strict=False))


def _row_text(record: Mapping[str, JsonValue]) -> str:
    """Return a record without a text as a line of its fields."""
    fields = (
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in record.items()
    )
    return " ".join("; ".join(fields).replace("\0", "").encode(errors="replace").decode().split())


def _with_attachment(record: JsonValue, path: Path, name: str) -> Evidence | None:
    """Return an entry of a bibliography with the text of its first readable attachment; None without one."""
    for file in attachments_of(record, path) if isinstance(record, dict) else ():
        reader = READERS.get(kind_of(file.name))
        if reader is None or not isinstance(record, dict):
            continue
        try:
            text = reader(_bytes(file))
        except Exception:  # noqa: BLE001, S112 - the abstract is used; the file's own reading says why
            continue
        document = read_record({**record, "text": text.text, "full_text": True}, name)
        place = (PurePosixPath(name).parent / file.relative_to(path.parent.resolve()).as_posix()).as_posix()
        facts = {**document.facts, "file": place, **({"cut": text.cut} if text.cut else {})}
        url = document.url or file.as_uri()
        return document.replace(facts=facts, pages=text.pages, url=url)
    return None


def _bytes(path: Path) -> bytes:
    """Return a file's content; a path that became a link or a pipe since it was listed is not followed."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Unreadable("it is not a regular file")
        data = file.read(MAX_FILE_BYTES + 1)
    if not data:
        raise Unreadable("it is empty")
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(f"it is larger than {MAX_FILE_BYTES >> 20} MiB")
    return data


def _json(text: str) -> Iterator[JsonValue]:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not JSON: {error}") from error
    yield from records_in(value)


def _lines(text: str, name: str) -> Iterator[JsonValue | SetAside]:
    # `io.StringIO` would copy the text into four bytes a character
    for number, line in enumerate(re.finditer(r"[^\n]*\n|[^\n]+", text), start=1):
        try:
            if line[0].strip():
                yield json.loads(line[0])
        except (ValueError, RecursionError) as error:
            yield SetAside(f"{name}, line {number}", f"it is not JSON: {error}")


def _unpack(data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        content = file.read(MAX_UNPACKED_BYTES + 1)
    _check_size(len(content))
    return content


def _check_size(size: int) -> None:
    if size > MAX_UNPACKED_BYTES:
        raise Unreadable(f"it unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB")


def _document(text: Text, name: str, path: Path) -> Evidence:
    title = text.title or re.sub(r"[_\s]+", " ", Path(name).stem).strip()
    ids = Identifiers(
        pmid=identifiers.normal_pmid(text.meta.get("pmid")),
        doi=identifiers.normal_doi(text.meta.get("doi")),
        url=identifiers.normal_url(text.meta.get("url")),
    )
    kinds = (f"{kind} ({len(words):,} characters)" for kind, words in sorted(text.apart.items()))
    facts = {
        "file": name,
        "cut": text.cut,
        "title_from": "" if text.title else "file name",
        "apart": ", ".join(kinds),
        **{key: text.meta[key] for key in ("text_from", "length", "ocr_score") if key in text.meta},
    }
    facts |= _date_facts(text, name)
    year = year_of(text.meta.get("year", "") or facts.get("date", ""))
    return Evidence(
        evidence_id=identifiers.evidence_id(ids, text.text),
        source="library",
        title=title,
        text=text.text,
        authors=text.authors,
        year=year,
        venue=text.meta.get("venue") or name,  # where a reader finds it
        identifiers=ids,
        url=text.meta.get("url") or path.as_uri(),
        evidence_type="document",
        full_text=True,
        pages=text.pages,
        times=text.times,
        facts={key: fact for key, fact in facts.items() if fact},
    )


def _date_facts(text: Text, name: str) -> dict[str, str]:
    """Return the date of a document and its place: a message's header, the file's name, its properties."""
    date, origin = text.meta.get("date", ""), text.meta.get("date_from", "properties")
    if origin != "header" and (match := _DATE.match(Path(name).name)):
        date, origin = match[0], "file_name"
    return {"date": date, "date_from": origin} if date else {}


def _parts(document: Evidence) -> Iterator[Evidence]:
    """Yield a document, or as many as it has parts of `MAX_PART_CHARS`, each of which ends with a line."""
    text, starts = document.text, [0]
    while len(text) - starts[-1] > MAX_PART_CHARS:
        limit = starts[-1] + MAX_PART_CHARS
        line = text.rfind("\n", starts[-1] + 1, limit) + 1
        starts.append(line or limit)
    if len(starts) == 1:
        yield document
        return
    for number, (start, end) in enumerate(pairwise((*starts, len(text))), start=1):
        part = text[start:end]
        ids = document.identifiers if number == 1 else Identifiers()
        yield document.replace(
            evidence_id=identifiers.evidence_id(ids, part),
            title=f"{document.title} (part {number} of {len(starts)})",
            text=part,
            identifiers=ids,
            pages=tuple(max(0, page - start) for page in document.pages if page < end),
        )
