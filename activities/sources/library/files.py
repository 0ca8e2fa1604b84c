"""The files of a library folder as evidence.

Read are `.txt .text .md .markdown .html .htm .pdf` (one document a file), and `.json .jsonl`, also with `.gz`
(one document a record; see `activities.sources.library.records`). Files and folders whose name starts with a
dot are passed over. What cannot be read is set aside with its reason and voids nothing else. Nothing outside
the folder is opened, whatever a symbolic link says.
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
from pathlib import Path

from pydantic import JsonValue

from activities.documents.read import Text, Unreadable, decode, read_html, read_markdown, read_pdf, read_plain
from activities.errors import Refused
from activities.sources.library import evidence_type
from activities.sources.library.records import read_record, records_in, year_in
from activities.types import Evidence, Identifiers
from activities.verification import identifiers

MAX_FILE_BYTES = 128 * 1024 * 1024
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""Of a `.gz`: a small file may unpack to terabytes."""
MAX_DOCUMENTS = 100_000

_READERS: dict[str, Callable[[bytes], Text]] = {
    ".txt": read_plain,
    ".text": read_plain,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".pdf": read_pdf,
}
_RECORDS = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells whether a file has changed."""

    path: Path
    """Where it really is; no link."""
    name: str
    """As found, relative to the folder, with forward slashes."""
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class SetAside:
    """A file or record that was not read, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The readable files of a folder."""

    files: tuple[FileStamp, ...]
    set_aside: tuple[SetAside, ...]


@dataclass(frozen=True, slots=True)
class Collection:
    """The documents of a folder, each evidence id once."""

    documents: tuple[Evidence, ...]
    set_aside: tuple[SetAside, ...]


def list_folder(folder: Path) -> Listing:
    """The files of a library, in a fixed order.

    Raises Refused when the folder is missing, is no folder, or cannot be opened.
    """
    root = _root(folder)
    files: list[FileStamp] = []
    aside: list[SetAside] = []
    for path in _walk(root):
        name = path.relative_to(root).as_posix()
        try:
            real = path.resolve(strict=True)
            status = real.stat()
        except (OSError, RuntimeError) as error:
            aside.append(SetAside(name, f"it cannot be opened: {error}"))
            continue
        if not real.is_relative_to(root):
            aside.append(SetAside(name, "it is a link that leads out of the library"))
        elif stat.S_ISDIR(status.st_mode) or not _kind(path):
            continue
        elif not stat.S_ISREG(status.st_mode):
            aside.append(SetAside(name, "it is not a regular file"))
        elif status.st_size > MAX_FILE_BYTES:
            aside.append(SetAside(name, f"it is larger than {MAX_FILE_BYTES >> 20} MiB"))
        else:
            files.append(FileStamp(real, name, status.st_size, status.st_mtime_ns))
    return Listing(tuple(files), tuple(aside))


def read_files(listing: Listing) -> Collection:
    """Every document of the listed files; of two with the same evidence id the first stays."""
    documents: dict[str, Evidence] = {}
    aside = list(listing.set_aside)
    for file in listing.files:
        try:
            for item in _read_file(file):
                if isinstance(item, SetAside):
                    aside.append(item)
                elif len(documents) >= MAX_DOCUMENTS:
                    aside.append(SetAside(file.name, f"a library holds at most {MAX_DOCUMENTS} documents"))
                    break
                else:
                    documents.setdefault(item.evidence_id, item)
        except (Unreadable, OSError, zlib.error, EOFError) as error:
            aside.append(SetAside(file.name, str(error)))
    return Collection(tuple(documents.values()), tuple(aside))


def _root(folder: Path) -> Path:
    try:
        root = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise Refused(f"the library folder {folder} does not exist; give a folder of documents") from error
    if not root.is_dir():
        raise Refused(f"the library {folder} is not a folder; give the folder that holds the documents")
    if not os.access(root, os.R_OK | os.X_OK):
        raise Refused(f"the library folder {folder} may not be read; give it read permission")
    return root


def _walk(root: Path) -> Iterator[Path]:
    """Every visible file, and links to folders (which are never followed), sorted."""
    for current, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here = Path(current)
        yield from (here / name for name in folders if (here / name).is_symlink())
        yield from (here / name for name in sorted(names) if not name.startswith("."))


def _kind(path: Path) -> str:
    name = path.name.casefold()
    return next((end for end in (*_READERS, *_RECORDS) if name.endswith(end)), "")


def _read_file(file: FileStamp) -> Iterator[Evidence | SetAside]:
    data = _bytes(file.path)
    kind = _kind(Path(file.name))
    if kind in _READERS:
        yield _whole(_READERS[kind](data), file)
        return
    if kind.endswith(".gz"):
        data = _unpack(data)
    values = _lines(data, file.name) if ".jsonl" in kind else _json(data)
    for number, value in enumerate(values, start=1):
        if isinstance(value, SetAside):
            yield value
            continue
        try:
            yield read_record(value, file.name)
        except Unreadable as error:
            yield SetAside(f"{file.name}, record {number}", str(error))


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
    for number, line in enumerate(decode(data).split("\n"), start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                yield SetAside(f"{name}, line {number}", f"it is not JSON: {error}")


def _unpack(data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        unpacked = packed.read(MAX_UNPACKED_BYTES + 1)
    if len(unpacked) > MAX_UNPACKED_BYTES:
        raise Unreadable(f"it unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB")
    return unpacked


def _whole(text: Text, file: FileStamp) -> Evidence:
    """A whole file as one document."""
    title = text.title or re.sub(r"[_\s]+", " ", Path(file.name).stem).strip()
    ids = Identifiers(
        pmid=identifiers.normal_pmid(text.meta.get("pmid")),
        doi=identifiers.normal_doi(text.meta.get("doi")),
        url=identifiers.normal_url(text.meta.get("url")),
    )
    kind, because = evidence_type.infer(title, text.text, (), "document")
    facts = {"file": file.name, "evidence_type_from": because}
    year = year_in(text.meta.get("year", "") or text.meta.get("date", ""))
    return Evidence(
        evidence_id=identifiers.evidence_id(ids, text.text),
        source="library",
        title=title,
        text=text.text,
        authors=text.authors,
        year=year,
        venue=text.meta.get("venue") or file.name,  # where a reader finds it
        identifiers=ids,
        url=text.meta.get("url") or None,
        evidence_type=kind,
        full_text=True,
        facts={key: fact for key, fact in facts.items() if fact},
    )
